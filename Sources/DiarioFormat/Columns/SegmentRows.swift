import DiarioCore
import DiarioCrypto
import DiarioSchema

/// The rows of a segment in order of position, across all types: bytes as blocks have them.
///
///     var rows = try SegmentRows(reader)
///     while let row = try rows.next() { use(rows.bytes, row.event.publicPart) }
///
/// Holds the envelope and, of each type, the block of fields with the row at hand.
package struct SegmentRows<Source: SegmentSource>: ~Copyable {
    /// The parts of the row that came last.
    package private(set) var bytes: [UInt8] = []
    package var reader: SegmentReader<Source>
    private let envelope: RowEnvelopes
    private var types: [RowsOfType]
    private var nextIndex = 0
    private var nextActor = 0
    private var nextSubject = 0
    private let erasures: [Erasure]
    private var nextErasure = 0
    private let replicas: [ReplicaID]

    /// Reads the envelope; `reader` needs the sidecar if an event has a personal part.
    package init(_ reader: consuming SegmentReader<Source>) throws(SegmentError) {
        var reader = reader
        let envelope = try RowEnvelopes(&reader)
        self.init(reader, envelope, try reader.erasures())
    }

    private init(
        _ reader: consuming SegmentReader<Source>,
        _ envelope: RowEnvelopes,
        _ erasures: [Erasure]
    ) {
        self.envelope = envelope
        self.erasures = erasures
        types = reader.index.types.indices.map { RowsOfType(reader.index.fieldBlocks(ofType: $0)) }
        replicas = reader.index.replicas.map(\.replica)
        self.reader = reader
    }

    /// The next event, whose parts are in `bytes` until the one after it; nil at the end.
    package mutating func next() throws(SegmentError) -> SegmentRow? {
        let event = nextIndex
        guard event < reader.header.eventCount else { return nil }
        let type = Int(envelope.types[event])
        if types[type].needsBlock { try types[type].load(&reader) }
        bytes.removeAll(keepingCapacity: true)
        let flags = RowFlags(rawValue: UInt8(truncatingIfNeeded: envelope.flags[event] & 31))
        appendEnvelope(event, flags)
        types[type].appendPublic(to: &bytes)
        let publicSize = bytes.count
        var personal = BlockRow.Personal.absent
        if flags.contains(.personal) {
            if nextErasure < erasures.count, erasures[nextErasure].event == event {
                bytes.append(erasures[nextErasure].commitment)
                nextErasure += 1
                personal = .erased(commitment: publicSize..<bytes.count)
            } else {
                try types[type].appendPersonal(to: &bytes, &reader)
                personal = .present(publicSize..<bytes.count)
            }
        }
        types[type].advance()
        nextIndex += 1
        let isPositioned = reader.header.isPositioned
        return SegmentRow(
            index: event,
            typeIndex: type,
            position: isPositioned ? reader.header.firstPosition + UInt64(event) : nil,
            event: SegmentEvent(
                replica: replicas[Int(envelope.replicas[event])],
                sequence: UInt64(bitPattern: envelope.sequences[event]),
                acceptedAt: isPositioned ? Timestamp(milliseconds: envelope.accepted[event]) : nil,
                isAuthority: envelope.flags[event] & EnvelopeColumns.authorityFlag != 0,
                publicPart: 0..<publicSize,
                personal: personal
            )
        )
    }

    private mutating func appendEnvelope(_ event: Int, _ flags: RowFlags) {
        let clock = envelope.clocks[event]
        bytes.append(varint: UInt64(bitPattern: envelope.batchOffsets[event]))
        bytes.append(varint: UInt64(bitPattern: envelope.batchCounts[event]))
        bytes.append(littleEndian: UInt64(bitPattern: clock))
        bytes.append(zigzag: envelope.times[event] &- (clock >> 16))
        bytes.append(varint: UInt64(bitPattern: envelope.bases[event]))
        bytes.append(flags.rawValue)
        if flags.contains(.actor) {
            envelope.actors.append(nextActor, to: &bytes)
            nextActor += 1
        }
        if flags.contains(.subject) {
            envelope.subjects.append(nextSubject, to: &bytes)
            nextSubject += 1
        }
    }
}

/// The envelope of all rows.
private struct RowEnvelopes {
    let types: [Int64]
    let replicas: [Int64]
    let sequences: [Int64]
    let clocks: [Int64]
    let times: [Int64]
    let accepted: [Int64]
    let batchOffsets: [Int64]
    let batchCounts: [Int64]
    let bases: [Int64]
    let flags: [Int64]
    let actors: TextValues
    let subjects: TextValues

    init<Source: SegmentSource>(_ reader: inout SegmentReader<Source>) throws(SegmentError) {
        types = try reader.numbers(.types)
        for type in reader.index.types.indices { _ = try reader.events(ofType: type) }
        replicas = try reader.numbers(.replicas)
        sequences = try reader.numbers(.sequences)
        clocks = try reader.numbers(.clocks)
        times = try reader.numbers(.times)
        accepted = try reader.numbers(.accepted)
        batchOffsets = try reader.numbers(.batchOffsets)
        batchCounts = try reader.numbers(.batchCounts)
        bases = try reader.numbers(.bases)
        flags = try reader.numbers(.flags)
        actors = try reader.actors().values
        subjects = try reader.subjects().values
    }
}

/// Goes through the rows of one type, block by block.
private struct RowsOfType {
    /// The blocks that were not reached yet, last first.
    private var blocks: [Int]
    private var block = -1
    private var rowsLeft = 0
    private var row = 0
    private var publicFields: [RowField] = []
    private var personalFields: [RowField]?
    private var personalRow = 0
    private var publicColumns: FieldColumns?

    init(_ blocks: [Int]) { self.blocks = blocks.reversed() }

    var needsBlock: Bool { rowsLeft == 0 }

    mutating func load<Source: SegmentSource>(
        _ reader: inout SegmentReader<Source>
    ) throws(SegmentError) {
        guard let next = blocks.popLast() else {
            preconditionFailure("the blocks of a type cover its rows")
        }
        let type = try reader.eventType(reader.index.blocks[next].key)
        let columns = try reader.fields(inBlock: next)
        publicFields = columns.columns.map { RowField($0, type.fields[$0.field].kind) }
        publicColumns = columns
        personalFields = nil
        personalRow = 0
        block = next
        row = 0
        rowsLeft = reader.index.blocks[next].rowCount
    }

    mutating func advance() {
        row += 1
        rowsLeft -= 1
        if rowsLeft == 0 { publicColumns = nil }
    }

    mutating func appendPublic(to bytes: inout [UInt8]) {
        Self.append(&publicFields, row, to: &bytes)
    }

    mutating func appendPersonal<Source: SegmentSource>(
        to bytes: inout [UInt8],
        _ reader: inout SegmentReader<Source>
    ) throws(SegmentError) {
        if personalFields == nil {
            let type = try reader.eventType(reader.index.blocks[block].key)
            let columns = try reader.personalFields(inBlock: block, publicColumns: publicColumns)
            personalFields = columns?.columns.map { RowField($0, type.fields[$0.field].kind) } ?? []
        }
        let start = bytes.count
        Self.append(&personalFields, personalRow, to: &bytes)
        personalRow += 1
        // Without a personal value there is no personal part.
        guard bytes[start...].contains(where: { $0 != 0 }) else {
            throw reader.fault(.personalPart, block: block)
        }
    }

    private static func append(_ fields: inout [RowField]?, _ row: Int, to bytes: inout [UInt8]) {
        guard var taken = fields else { return }
        fields = nil
        append(&taken, row, to: &bytes)
        fields = taken
    }

    private static func append(_ fields: inout [RowField], _ row: Int, to bytes: inout [UInt8]) {
        let bitmap = bytes.count
        for _ in 0..<PayloadCodec.bitmapSize(fields.count) { bytes.append(0) }
        for place in fields.indices where fields[place].append(row, to: &bytes) {
            bytes[bitmap + place >> 3] |= 1 << UInt8(place & 7)
        }
    }
}

/// The values of one field, row by row.
private struct RowField {
    private let kind: Field.Kind
    private let present: [Int32]?
    private let values: ColumnValues
    private var next = 0

    init(_ column: FieldColumn, _ kind: Field.Kind) {
        self.kind = kind
        present = column.present
        values = column.values
    }

    /// Appends the value of a row, as the payload has it; false if there is none.
    mutating func append(_ row: Int, to bytes: inout [UInt8]) -> Bool {
        if let present {
            guard next < present.count, Int(present[next]) == row else { return false }
        }
        switch values {
        case .none: return false
        case .integers(let values):
            switch kind {
            case .boolean, .enumeration: bytes.append(varint: UInt64(bitPattern: values[next]))
            default: bytes.append(zigzag: values[next])
            }
        case .numbers(let values): bytes.append(littleEndian: values[next].bitPattern)
        case .texts(let values):
            if kind == .uuid {
                bytes.append(contentsOf: values[next].raw)
            } else {
                bytes.append(counted: values[next].raw)
            }
        }
        next += 1
        return true
    }
}
