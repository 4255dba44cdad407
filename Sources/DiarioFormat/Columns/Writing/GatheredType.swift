import DiarioCore
import DiarioSchema

/// The rows of one type of a segment.
struct GatheredType {
    let type: EventType
    let entry: TypeEntry
    private let plan: PayloadPlan
    /// For each row its event index.
    private(set) var rows: [Int32] = []
    private(set) var chunks: [Chunk] = []
    /// Bytes of the rows of the last chunk.
    private var chunkSize = 0
    private(set) var times = TimeRange()

    /// Rows that are written as one block of fields, and perhaps one of personal fields.
    struct Chunk {
        let firstRow: Int
        var publicFields: GatheredFields
        /// Of the rows that have a personal part.
        var personalFields: GatheredFields

        var rows: Range<Int> { firstRow..<firstRow + publicFields.rowCount }
    }

    /// The fields of the public part, in order.
    var publicFields: [PlannedField] { plan.publicFields }

    init(_ type: EventType, _ entry: TypeEntry) {
        self.type = type
        self.entry = entry
        plan = PayloadPlan(type)
    }

    mutating func append(
        _ part: PublicPart,
        _ personal: BlockRow.Personal,
        of bytes: Span<UInt8>,
        row: Int
    ) throws(FormatError) {
        guard !part.flags.contains(.derived) || plan.newIDField >= 0,
            part.subject == nil || !plan.hasSubjectField
        else { throw .malformed(.rowFlags, at: part.payload.lowerBound) }
        let rowCount = chunks.last?.publicFields.rowCount ?? 0
        if rowCount == 0 || chunkSize > SegmentLimits.chunkSizeMax
            || (rowCount + 1) * (plan.fieldCount + 1) > SegmentLimits.cellCountMax
        {
            let chunk = Chunk(
                firstRow: rows.count,
                publicFields: GatheredFields(plan.publicFields),
                personalFields: GatheredFields(plan.personalFields)
            )
            chunks.append(chunk)
            chunkSize = 0
        }
        let last = chunks.count - 1
        try chunks[last].publicFields.append(bytes.raw, part.payload)
        chunkSize += part.payload.count
        if case .present(let range) = personal {
            guard !plan.personalFields.isEmpty else {
                throw .malformed(.personalPart, at: range.lowerBound)
            }
            try chunks[last].personalFields.append(bytes.raw, range)
            chunkSize += range.count
        }
        times.add(part.envelope.at.milliseconds)
        rows.append(Int32(row))
    }
}

/// The lowest and the highest of some times.
struct TimeRange {
    private var lowest = Int64.max
    private var highest = Int64.min

    var range: ClosedRange<Int64> { lowest...max(lowest, highest) }

    mutating func add(_ time: Int64) {
        lowest = min(lowest, time)
        highest = max(highest, time)
    }
}
