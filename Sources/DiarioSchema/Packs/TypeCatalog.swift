import DiarioCore

/// The event types of several packs, found by name and version.
package struct TypeCatalog: Sendable {
    /// Sorted by name, then by version.
    package let types: [EventType]

    /// For each distinct name its newest type in use, and how many versions there are.
    private let newest: [Entry]
    /// An open hash table of indices in `newest`, or -1; its size is a power of two.
    private let table: [Int32]

    /// Throws if two packs have one name, or define one version of a type.
    package init(_ packs: [Pack]) throws(PackError) {
        var problems: [PackProblem] = []
        var known: [String: Pack] = [:]
        for pack in packs where known.updateValue(pack, forKey: pack.name) != nil {
            problems.append(
                PackProblem(
                    file: "pack.json",
                    line: nil,
                    rule: "pack-twice",
                    message: "there are two packs named \(pack.name); leave one out"
                )
            )
        }
        guard problems.isEmpty else { throw PackError(problems) }
        try self.init(packs.flatMap { $0.types })
    }

    /// Throws if one version of a type comes twice.
    ///
    /// Of the types that are `used` the newest version there counts as the newest, though others
    /// are known: a pack may have been taken back to an older edition.
    package init(_ types: [EventType], used: [EventType] = []) throws(PackError) {
        let sorted = types.sorted { left, right in
            left.name == right.name
                ? left.version < right.version
                : left.nameBytes.lexicographicallyPrecedes(right.nameBytes)
        }
        var problems: [PackProblem] = []
        for (left, right) in zip(sorted, sorted.dropFirst())
        where left.name == right.name && left.version == right.version {
            problems.append(
                PackProblem(
                    file: left.name,
                    line: nil,
                    rule: "type-twice",
                    message: "version \(left.version) of \(left.name) is defined twice; leave one "
                        + "out"
                )
            )
        }
        guard problems.isEmpty else { throw PackError(problems) }
        self.types = sorted
        let versions = used.reduce(into: [:]) { versions, entry in
            versions[entry.name] = max(versions[entry.name] ?? entry.version, entry.version)
        }
        var newest: [Entry] = []
        for (index, type) in sorted.enumerated() {
            if let last = newest.last, last.type.name == type.name {
                let isInUse = versions[type.name].map { type.version <= $0 } ?? true
                newest[newest.count - 1] = Entry(
                    type: isInUse ? type : last.type,
                    first: last.first,
                    count: last.count + 1
                )
            } else {
                newest.append(Entry(type: type, first: index, count: 1))
            }
        }
        var size = 8
        while size < newest.count * 3 { size *= 2 }
        var table = [Int32](repeating: -1, count: size)
        for (index, entry) in newest.enumerated() {
            let name = entry.type.nameBytes
            var place = Self.hash(name.span) & (size - 1)
            while table[place] >= 0 { place = (place + 1) & (size - 1) }
            table[place] = Int32(index)
        }
        self.newest = newest
        self.table = table
    }

    /// The newest version of the type that is in use.
    package func newest(_ name: String) -> EventType? {
        let bytes = Array(name.utf8)
        return find(bytes.span)?.type
    }

    /// The newest version of the type whose name has these bytes, found without a string.
    package func newest(_ name: Span<UInt8>) -> EventType? { find(name)?.type }

    package func type(_ name: String, version: Int) -> EventType? {
        let bytes = Array(name.utf8)
        return type(bytes.span, version: version)
    }

    package func type(_ name: Span<UInt8>, version: Int) -> EventType? {
        find(name).flatMap { type(of: $0, version: version) }
    }

    /// The type of one version among those of `entry`.
    func type(of entry: Entry, version: Int) -> EventType? {
        types[entry.first..<entry.first + entry.count].first { $0.version == version }
    }

    /// The versions of a type.
    struct Entry: Sendable {
        /// The newest version in use.
        let type: EventType
        /// The index of the oldest version in `types`, which the others follow.
        let first: Int
        /// The number of versions.
        let count: Int
    }

    @inline(__always)
    func find(_ name: Span<UInt8>) -> Entry? {
        let mask = table.count - 1
        var place = Self.hash(name) & mask
        while true {
            let index = Int(table[place])
            guard index >= 0 else { return nil }
            let known = newest[index].type.nameBytes
            if known.span.hasBytes(of: name) { return newest[index] }
            place = (place + 1) & mask
        }
    }

    /// The types that both catalogs have with one version but different schemas, by name.
    package func changedSchemas(against other: TypeCatalog) -> [EventType] {
        types.filter { type in
            guard let known = other.type(type.name, version: type.version) else { return false }
            return known.canonicalSchema != type.canonicalSchema
        }
    }

    /// Packs choose the names, so this need not withstand an attack; the table is small.
    private static func hash(_ name: Span<UInt8>) -> Int {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for index in name.indices { hash = (hash ^ UInt64(name[index])) &* 0x0000_0100_0000_01b3 }
        return Int(truncatingIfNeeded: (hash ^ hash >> 32) & 0x7fff_ffff)
    }
}
