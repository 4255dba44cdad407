import DiarioCore

extension SegmentReader {
    /// What texts of a type's public fields may refer to; all pools are read with the first.
    mutating func textScope(
        ofType type: Int,
        _ rows: Range<Int>
    ) throws(SegmentError) -> TextScope {
        var texts = TextScope(replicas: try textReplicas())
        texts.pools = try pools()
        (texts.type, texts.rows) = (type, rows)
        return texts
    }

    private mutating func pools() throws(SegmentError) -> [TextPool] {
        if let known = cache.pools { return known }
        var found: [TextPool] = []
        for number in index.blocks.indices
        where index.blocks[number].kind == SegmentBlockKind.pool.rawValue {
            found.append(try readPool(number))
        }
        cache.pools = found
        return found
    }

    /// Texts, and if some types share one column of them, its indices by type.
    private mutating func readPool(_ number: Int) throws(SegmentError) -> TextPool {
        let (types, replicas) = (try typeIndices(), try replicaIndices())
        let (typeCount, replicaCount) = (index.types.count, index.replicas.count)
        let (count, names) = (index.blocks[number].rowCount, try textReplicas())
        let eventsOfTypes = try eventsByType()
        return try decode(number) { (reader) throws(FormatError) in
            let start = reader.offset
            let sharing = try reader.nextNumbers()
            guard sharing.last.map({ $0 < typeCount }) ?? true else {
                throw .malformed(.body, at: start)
            }
            var pool = TextPool(strings: try reader.nextStrings(count, isText: true, names))
            guard !sharing.isEmpty else { return pool }
            var isSharing = [Bool](repeating: false, count: typeCount)
            for type in sharing { isSharing[type] = true }
            let events = types.rows { isSharing[Int($0)] }
            let keys = KeyColumns(rowCount: events.count)
            keys.add(KeyColumns.replicas, replicas.picked(events), distinctCount: replicaCount)
            let codes = try reader.nextCodes(events.count, below: count, ColumnScope(keys))
            var codesOfEvents = [UInt32](repeating: 0, count: types.count)
            for place in events.indices { codesOfEvents[Int(events[place])] = codes[place] }
            for type in sharing { pool.codes[type] = codesOfEvents.picked(eventsOfTypes[type]) }
            return pool
        }
    }
}
