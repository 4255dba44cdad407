import DiarioCore

/// One column of several types, as a reader keeps it: schema/format/segments.md, section 7.
struct SharedColumn {
    private let strings: ByteStrings
    /// By type index: for each of its rows the index of the text; empty for types without one.
    private var codes: [[UInt32]]

    /// The values of some rows of a type; nil if the type has no part in the column.
    func values(ofType type: Int, _ rows: Range<Int>) -> TextValues? {
        let own = codes[type]
        guard rows.upperBound <= own.count else { return nil }
        return TextValues(codes: rows == own.indices ? own : Array(own[rows]), strings: strings)
    }

    /// The columns that can be keys of a shared one, whose values are those of `events`.
    static func keys(
        _ events: [Int32],
        types: [Int64],
        replicas: [Int64],
        typeCount: Int,
        replicaCount: Int
    ) -> KeyLayer {
        let keys = KeyLayer(rowCount: events.count)
        keys.add(
            ColumnNumber.type,
            KeySource(events.map { types[Int($0)] }, distinctCount: typeCount)
        )
        keys.add(
            ColumnNumber.replica,
            KeySource(events.map { replicas[Int($0)] }, distinctCount: replicaCount)
        )
        return keys
    }

    /// Takes the `values` apart; `types` has the type of each event.
    fileprivate init(
        _ codes: [UInt32],
        _ strings: ByteStrings,
        _ events: [Int32],
        _ types: [Int64],
        _ typeCount: Int
    ) {
        self.strings = strings
        self.codes = [[UInt32]](repeating: [], count: typeCount)
        for (place, event) in events.enumerated() {
            self.codes[Int(types[Int(event)])].append(codes[place])
        }
    }
}

extension SegmentReader {
    /// Reads a column that several types share, which stays.
    mutating func readShared(_ number: Int, for block: Int) throws(SegmentError) {
        guard cache.shared[number] == nil else { return }
        guard let place = index.block(.shared, key: number) else {
            throw fault(.body, block: block)
        }
        try readSchemas()
        let (types, replicas) = (try numbers(.types), try numbers(.replicas))
        // Makes sure that each type has as many events as the index says.
        for type in index.types.indices { _ = try events(ofType: type) }
        let eventCounts = index.types.map(\.eventCount)
        let replicaCount = index.replicas.count
        let count = index.blocks[place].rowCount
        let texts = cache.texts.withoutPools
        cache.shared[number] = try decode(place) { (reader, memory) throws(FormatError) in
            let listed = try reader.nextNumbers(least: 1)
            guard let last = listed.last, last < eventCounts.count,
                listed.reduce(0, { $0 + eventCounts[$1] }) == count
            else { throw .malformed(.body, at: 0) }
            var isListed = [Bool](repeating: false, count: eventCounts.count)
            for type in listed { isListed[type] = true }
            var events: [Int32] = []
            events.reserveCapacity(count)
            for event in types.indices where isListed[Int(types[event])] {
                events.append(Int32(truncatingIfNeeded: event))
            }
            let scope = ColumnScope(
                keys: SharedColumn.keys(
                    events,
                    types: types,
                    replicas: replicas,
                    typeCount: eventCounts.count,
                    replicaCount: replicaCount
                )
            )
            let values = try reader.nextTexts(count, isText: true, scope, texts, &memory)
            // Of the methods that are left, only `dictionary` has codes.
            guard let codes = values.codes else { throw .malformed(.body, at: 0) }
            return SharedColumn(codes, values.strings, events, types, eventCounts.count)
        }
    }
}

extension TextScope {
    /// The replicas alone.
    fileprivate var withoutPools: TextScope {
        var own = TextScope()
        own.replicas = replicas
        return own
    }
}
