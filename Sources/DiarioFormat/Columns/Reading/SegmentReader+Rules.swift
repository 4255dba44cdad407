import DiarioCore
import DiarioSchema

// What schema/format/rows.md, sections 3 and 4, ask of a row beyond what its columns say each for
// themselves.

extension SegmentReader {
    /// Throws unless the rows of a block have no flag that their type has no use for, and a new id
    /// just where it is not derived (R1).
    mutating func checkRules(_ columns: FieldColumns, block number: Int) throws(SegmentError) {
        let block = index.blocks[number]
        let type = try eventType(block.key)
        let events = try events(ofType: block.key)
        let flags = try flags()
        var anywhere: UInt8 = 0
        var everywhere = ~UInt8(0)
        for row in block.rows {
            let flag = flags[Int(events[row])]
            anywhere |= flag
            everywhere &= flag
        }
        let refused = Self.refusedFlags(type)
        guard anywhere & refused.rawValue == 0 else {
            throw fault(.rowFlags, block: number)
        }
        guard let field = type.newIDFieldIndex,
            let column = columns.columns.first(where: { $0.field == field })
        else { return }
        let derived = RowFlags.derived.rawValue
        let isAsDerived =
            if let present = column.present {
                anywhere & derived != 0
                    && Self.areOthersDerived(present, block.rows, events.span, flags.span)
            } else {
                anywhere & derived == 0
            }
        guard isAsDerived else { throw fault(.identifier, block: number) }
        if everywhere & derived == 0 { try checkOrigins(column, block: number, events) }
    }

    /// The flags that no row of a type may have.
    private static func refusedFlags(_ type: EventType) -> RowFlags {
        var refused: RowFlags = []
        if type.newIDFieldIndex == nil { refused.insert(.derived) }
        if type.subjectFieldIndex != nil { refused.insert(.subject) }
        if type.personalFieldIndices.isEmpty { refused.insert(.personal) }
        return refused
    }

    /// Whether just those rows have a derived id that are not among the `present` ones.
    private static func areOthersDerived(
        _ present: [Int32],
        _ rows: Range<Int>,
        _ events: Span<Int32>,
        _ flags: Span<UInt8>
    ) -> Bool {
        var next = 0
        for row in rows {
            let isGiven = next < present.count && Int(present[next]) == row - rows.lowerBound
            if isGiven { next += 1 }
            let flag = flags[Int(events[row])]
            guard isGiven == (flag & RowFlags.derived.rawValue == 0) else { return false }
        }
        return true
    }

    /// Throws if an event's own origin is written out.
    private mutating func checkOrigins(
        _ column: FieldColumn,
        block number: Int,
        _ events: [Int32]
    ) throws(SegmentError) {
        guard case .texts(let texts) = column.values else { return }
        let replicas = try replicaIndices()
        let sequences = try numbers(.sequences)
        let start = index.blocks[number].firstRow
        let bytes = texts.strings.bytes.span
        for place in 0..<texts.count {
            let range = texts.range(place)
            // Hardly any text looks like an origin.
            guard range.count > OriginText.lineIndex,
                bytes[range.lowerBound + OriginText.lineIndex] == UInt8(ascii: "-")
            else { continue }
            let row = column.present.map { Int($0[place]) } ?? place
            let event = Int(events[start + row])
            let origin = Origin(
                replica: index.replicas[Int(replicas[event])].replica,
                sequence: UInt64(bitPattern: sequences[event])
            )
            guard !OriginText.matches(origin, bytes, range) else {
                throw fault(.identifier, block: number)
            }
        }
    }
}
