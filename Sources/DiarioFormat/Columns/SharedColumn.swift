import DiarioCore

/// One column of several types, as a reader keeps it: schema/format/segments.md, section 7.
struct SharedColumn {
    private let strings: ByteStrings
    /// The indices of the texts, one type after the other.
    private let codes: [UInt32]
    /// By type index, where its codes start and where they end.
    private let places: [Range<Int>]

    /// The values of some rows of a type; nil if the type has no part in the column.
    func values(ofType type: Int, _ rows: Range<Int>) -> TextValues? {
        let place = places[type]
        guard rows.upperBound <= place.count else { return nil }
        let start = place.lowerBound
        let own = codes[start + rows.lowerBound..<start + rows.upperBound]
        return TextValues(codes: Array(own), strings: strings)
    }

    /// The column that can be a key of a shared one, whose values are those of `events`.
    static func keys<Index: FixedWidthInteger & BitwiseCopyable>(
        _ events: [Int32],
        replicas: [Index],
        replicaCount: Int
    ) -> KeyLayer {
        let (source, events) = (replicas.span, events.span)
        // Safe: each code is written; the source checks the event.
        let codes = unsafe [UInt32](count: events.count) { target in
            for index in events.indices {
                let replica = source[Int(unsafe events[unchecked: index])]
                unsafe target[index] = UInt32(truncatingIfNeeded: replica)
            }
        }
        let keys = KeyLayer(rowCount: codes.count)
        keys.add(ColumnNumber.replica, codes, distinctCount: replicaCount)
        return keys
    }

    /// Takes texts apart whose indices are in the order of `events`, all those of the types that
    /// are listed; `types` has the type of each event.
    fileprivate init(
        _ codes: [UInt32],
        _ strings: ByteStrings,
        _ events: [Int32],
        _ types: [UInt32],
        _ listed: ListedTypes
    ) {
        var next = listed.places.map(\.lowerBound)
        var apart = [UInt32](repeating: 0, count: codes.count)
        var target = apart.mutableSpan
        let (source, events, types) = (codes.span, events.span, types.span)
        for index in source.indices {
            let type = Int(types[Int(events[index])])
            target[next[type]] = source[index]
            next[type] += 1
        }
        self.strings = strings
        self.codes = apart
        places = listed.places
    }
}

/// The types that share a column.
private struct ListedTypes {
    /// By type index: 1 if it is one of them.
    private var marks: [UInt8]
    /// By type index: the rows of those before, and of it; nothing for the others.
    private(set) var places: [Range<Int>] = []

    /// Nil unless they are types of the segment and have `count` events together.
    init?(_ types: [Int], _ eventCounts: [Int], count: Int) {
        guard let last = types.last, last < eventCounts.count else { return nil }
        marks = [UInt8](repeating: 0, count: eventCounts.count)
        for type in types { marks[type] = 1 }
        var next = 0
        for (type, eventCount) in eventCounts.enumerated() {
            let end = next + (marks[type] == 0 ? 0 : eventCount)
            places.append(next..<end)
            next = end
        }
        guard next == count else { return nil }
    }

    /// Their events, where `types` has the type of each.
    func events(_ types: [UInt32]) -> [Int32] {
        let (source, marks) = (types.span, marks.span)
        // Safe: `count` is of events before the one at hand, and what lies before it was written.
        return unsafe [Int32](unsafeUninitializedCapacity: source.count) { target, count in
            count = 0
            guard let target = target.baseAddress else { return }
            for event in source.indices {
                // Written always and kept if the type is listed: chance has no branch here.
                unsafe target[count] = Int32(truncatingIfNeeded: event)
                count &+= Int(marks[Int(unsafe source[unchecked: event])])
            }
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
        let (types, replicas) = (try typeIndices(), try replicaIndices())
        // Makes sure that each type has as many events as the index says.
        for type in index.types.indices { _ = try events(ofType: type) }
        let eventCounts = index.types.map(\.eventCount)
        let replicaCount = index.replicas.count
        let count = index.blocks[place].rowCount
        // No pools and nothing shared.
        var texts = TextScope()
        texts.replicas = cache.texts.replicas
        cache.shared[number] = try decode(place) { [texts] (reader, memory) throws(FormatError) in
            guard
                let listed = ListedTypes(
                    try reader.nextNumbers(least: 1),
                    eventCounts,
                    count: count
                )
            else { throw .malformed(.body, at: 0) }
            let events = listed.events(types)
            let scope = ColumnScope(
                keys: SharedColumn.keys(events, replicas: replicas, replicaCount: replicaCount)
            )
            let all = ColumnPart(all: count)
            let values = try reader.nextTexts(all, isText: true, scope, texts, &memory)
            // Of the methods that are left, only `dictionary` has codes.
            guard let codes = values.codes else { throw .malformed(.body, at: 0) }
            return SharedColumn(codes, values.strings, events, types, listed)
        }
    }
}
