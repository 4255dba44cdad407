import DiarioSchema

/// How a column of texts uses a pool.
struct PoolUse {
    var pool: Int
    /// For each value the index of its text.
    var codes: [Int64]
    /// The first index that no column before has.
    var start: Int64
    /// How many texts there are.
    var textCount = 0
    /// Whether the pool has the indices too, for all types that share the column.
    var isShared = false
}

/// Finds columns of texts that name the same things, and gives them pools.
///
/// Ids that one type makes are mentioned by others: they go to one pool, in the order in which they
/// were made. Types of one pack whose subjects have one name, such as keys of another system, share
/// a column: their events mostly tell of what another of them told of just before.
struct TextPools {
    /// A column of a type, or the part of it in one chunk.
    struct Column: Hashable {
        var type: Int
        var chunk: Int
        var place: Int
    }

    /// The texts of a pool, and what types share of it.
    struct Pool {
        var strings = StringTable()
        /// Ascending; none if each column has its own indices.
        var types: [Int] = []
        /// For each event of these types the index of its text.
        var codes: [Int64] = []
        /// What the shared column is called: its pack and field.
        var name = ""
    }

    private(set) var pools: [Pool] = []
    private(set) var uses: [Column: PoolUse] = [:]

    init(_ types: [GatheredType], typeOfEvents: [Int64]) {
        for (name, columns) in Self.sharedColumns(types) {
            share(columns, name, types, typeOfEvents)
        }
        let sharing = Set(uses.keys.map { $0.type })
        for columns in Self.mentions(types, sharing) { add(columns, types) }
    }

    /// By pack and field, the public subjects that are neither made nor mentioned here, if several
    /// types have some in all their rows; in order of the first type.
    private static func sharedColumns(
        _ types: [GatheredType]
    ) -> [(name: String, columns: [Column])] {
        var found: [(name: String, columns: [Column])] = []
        for (index, type) in types.enumerated() {
            guard let place = type.subjectPlace else { continue }
            let field = type.type.fields[type.publicFields[place].index]
            let isEverywhere = type.chunks.allSatisfy { chunk in
                chunk.publicFields.columns[place].valueCount == chunk.publicFields.rowCount
            }
            guard !field.isNewID, field.referenceKind == nil, isEverywhere else { continue }
            let name = "\(type.type.pack) \(field.name)"
            let columns = type.chunks.indices.map { Column(type: index, chunk: $0, place: place) }
            if let known = found.firstIndex(where: { $0.name == name }) {
                found[known].columns += columns
            } else {
                found.append((name, columns))
            }
        }
        return found.filter { Set($0.columns.map { $0.type }).count > 1 }
    }

    /// Gives types one column, unless most of its texts come once.
    private mutating func share(
        _ columns: [Column],
        _ name: String,
        _ types: [GatheredType],
        _ typeOfEvents: [Int64]
    ) {
        let own = Set(columns.map { Int64($0.type) })
        var next = [Int](repeating: 0, count: types.count)
        let texts = columns.reduce(into: [Int: ByteStrings]()) { texts, column in
            let strings = types[column.type].strings(column)
            for index in 0..<strings.count {
                texts[column.type, default: ByteStrings()].append(strings[index].raw)
            }
        }
        var pool = Pool(types: own.sorted().map { Int($0) }, name: name)
        var codes: [Int: [Int64]] = [:]
        for type in typeOfEvents where own.contains(type) {
            let type = Int(type)
            guard let strings = texts[type] else { continue }
            let code = Int64(pool.strings.index(adding: strings[next[type]]))
            next[type] += 1
            pool.codes.append(code)
            codes[type, default: []].append(code)
        }
        guard pool.strings.isPool, pool.strings.count * 4 <= pool.codes.count * 3 else { return }
        for column in columns {
            let rows = types[column.type].chunks[column.chunk].rows
            uses[column] = PoolUse(
                pool: pools.count,
                codes: Array((codes[column.type] ?? [])[rows]),
                start: 0,
                textCount: pool.strings.count,
                isShared: true
            )
        }
        pools.append(pool)
    }

    /// By kind, the columns that mention things of it; in front of them those that make these, as
    /// far as can be told: of which more than a few are mentioned.
    private static func mentions(
        _ types: [GatheredType],
        _ sharing: Set<Int>
    ) -> [[Column]] {
        var kinds: [(pack: String, name: String, columns: [Column], texts: StringTable)] = []
        for (index, type) in types.enumerated() {
            for (place, planned) in type.publicFields.enumerated() where planned.kind == .string {
                guard let kind = type.type.fields[planned.index].referenceKind else { continue }
                let pack = type.type.pack
                var known = kinds.firstIndex { $0.pack == pack && $0.name == kind }
                if known == nil {
                    known = kinds.count
                    kinds.append((pack, kind, [], StringTable()))
                }
                for chunk in type.chunks.indices {
                    let column = Column(type: index, chunk: chunk, place: place)
                    let strings = type.strings(column)
                    for text in 0..<strings.count {
                        _ = kinds[known ?? 0].texts.index(adding: strings[text])
                    }
                    kinds[known ?? 0].columns.append(column)
                }
            }
        }
        var makers = kinds.map { _ in [Column]() }
        for (index, type) in types.enumerated() where !sharing.contains(index) {
            guard let place = type.makingPlace else { continue }
            let columns = type.chunks.indices.map { Column(type: index, chunk: $0, place: place) }
            var best: (kind: Int, count: Int)?
            for kind in kinds.indices where kinds[kind].pack == type.type.pack {
                let texts = kinds[kind].texts
                var (count, all) = (0, 0)
                for column in columns {
                    let strings = type.strings(column)
                    all += strings.count
                    for text in 0..<strings.count where texts.index(of: strings[text]) != nil {
                        count += 1
                    }
                }
                if count > max(all / 32, best?.count ?? 0) { best = (kind, count) }
            }
            if let best { makers[best.kind] += columns }
        }
        return kinds.indices.map { makers[$0] + kinds[$0].columns }
    }

    /// Gives columns a pool; they keep their texts if that would grow too large.
    private mutating func add(_ columns: [Column], _ types: [GatheredType]) {
        var pool = Pool()
        var found: [PoolUse] = []
        for column in columns {
            let strings = types[column.type].strings(column)
            let start = Int64(pool.strings.count)
            let codes = (0..<strings.count).map { Int64(pool.strings.index(adding: strings[$0])) }
            guard pool.strings.isPool else { return }
            found.append(PoolUse(pool: pools.count, codes: codes, start: start))
        }
        guard pool.strings.count > 0 else { return }
        for (column, var use) in zip(columns, found) {
            use.textCount = pool.strings.count
            uses[column] = use
        }
        pools.append(pool)
    }
}

extension StringTable {
    /// Whether a pool may hold the texts.
    fileprivate var isPool: Bool {
        count <= SegmentLimits.poolCountMax && strings.bytes.count <= SegmentLimits.poolSizeMax
    }
}

extension GatheredType {
    /// The place among the public fields of the subject, if that is a string.
    var subjectPlace: Int? {
        publicFields.firstIndex { $0.index == type.subjectFieldIndex && $0.kind == .string }
    }

    /// The place of the ids that the type makes: of the new id, or of a subject that is no mention.
    fileprivate var makingPlace: Int? {
        let isNew = { (field: PlannedField) in
            field.kind == .string && self.type.fields[field.index].isNewID
        }
        guard let place = publicFields.firstIndex(where: isNew) ?? subjectPlace,
            type.fields[publicFields[place].index].referenceKind == nil
        else { return nil }
        return place
    }

    fileprivate func strings(_ column: TextPools.Column) -> ByteStrings {
        chunks[column.chunk].publicFields.columns[column.place].strings
    }
}
