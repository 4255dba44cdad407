/// Rows of one type in a block of fields that verifies.
package struct ReadableRows: Equatable, Sendable {
    package let type: Int
    /// From the event of the first row to that of the last: events of other types may lie between.
    package var events: Range<Int>
    /// False if their personal parts cannot be read.
    package let hasPersonal: Bool
}

extension SegmentReader {
    /// How much of a block of fields can be read: nothing, the public parts, or all of it.
    ///
    /// After a fault this reader is of no use any more.
    package mutating func readableRows(
        ofType type: Int,
        block: Int,
        withPersonal: Bool
    ) throws(SegmentError) -> ReadableRows? {
        let events = try events(ofType: type, index.blocks[block].rows)
        guard let first = events.first, let last = events.last else { return nil }
        if withPersonal {
            _ = try personalFields(inBlock: block)
        } else {
            try checkRules(try fields(inBlock: block), block: block)
            _ = try eventType(type)
        }
        return ReadableRows(
            type: type,
            events: Int(first)..<Int(last) + 1,
            hasPersonal: withPersonal
        )
    }
}
