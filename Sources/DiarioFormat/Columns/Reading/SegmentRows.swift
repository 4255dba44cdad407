import DiarioCore
import DiarioCrypto
import DiarioSchema

/// One event as it comes out of a segment.
package struct SegmentRow: Equatable, Sendable {
    /// Its number in the segment, from 0.
    package var index: Int
    /// The index of its type in the segment.
    package var typeIndex: Int
    /// Nil while the event is pending.
    package var position: UInt64?
    /// Where its parts lie in `SegmentRows.bytes`, and the rest of it.
    package var event: SegmentEvent
}

/// The rows of a segment in order of position, across all types: bytes as blocks have them.
///
///     var rows = try SegmentRows(reader)
///     while let row = try rows.next() { use(rows.bytes, row.event.publicPart) }
///
/// Holds the envelope and, of each type, the block of fields with the row at hand. Each row that
/// comes out is one that rows.md allows.
package struct SegmentRows: ~Copyable {
    /// Holds the parts of the rows that came last.
    package private(set) var bytes: [UInt8] = []
    package var reader: SegmentReader
    let envelope: RowEnvelopes
    private let erasures: [Erasure]
    private var types: [RowsOfType]
    /// The types whose rows are given; nil for all.
    private var wantedTypes: Set<Int>?
    /// Whether personal parts come as erased.
    private var withholdsPersonal = false
    /// The rows that were put together last, and the one of them that comes next.
    private var rows: [SegmentRow] = []
    private var nextRow = 0
    private var place = EnvelopePlace()

    /// Rows that are put together at once.
    private static let windowCount = 1024

    /// Reads the envelope; `reader` needs the sidecar if an event has a personal part.
    package init(_ reader: consuming SegmentReader) throws(SegmentError) {
        var reader = reader
        let envelope = try RowEnvelopes(&reader)
        self.init(reader, envelope, try reader.erasures())
    }

    private init(
        _ reader: consuming SegmentReader,
        _ envelope: RowEnvelopes,
        _ erasures: [Erasure]
    ) {
        self.envelope = envelope
        self.erasures = erasures
        types = reader.index.types.indices.map { RowsOfType(reader.index.fieldBlocks(ofType: $0)) }
        self.reader = reader
    }

    /// Leaves out rows of other types than these from now on, and never reads their blocks.
    package mutating func want(types: Set<Int>) { wantedTypes = types }

    /// Gives rows of one type alone from now on, or of all.
    ///
    /// Personal parts that are withheld come as erased, with a commitment of zeros: none of their
    /// blocks is read.
    package mutating func choose(type: Int?, withholdsPersonal: Bool) {
        wantedTypes = type.map { [$0] }
        self.withholdsPersonal = withholdsPersonal
        for type in types.indices { types[type] = RowsOfType(types[type].blocks) }
    }

    /// The next event, whose parts are in `bytes` until the one after it; nil at the end.
    package mutating func next() throws(SegmentError) -> SegmentRow? {
        while nextRow == rows.count {
            let (start, count) = (place.event, reader.header.eventCount)
            guard start < count else { return nil }
            _ = try rows(in: start..<min(start + Self.windowCount, count))
            nextRow = 0
        }
        defer { nextRow += 1 }
        return rows[nextRow]
    }

    /// The rows of these events, leaving out types that are not wanted; parts are in `bytes` until
    /// the next call.
    ///
    /// Any range may follow any other; ranges that follow one another cost least.
    package mutating func rows(in events: Range<Int>) throws(SegmentError) -> [SegmentRow] {
        precondition(
            events.lowerBound >= 0 && events.upperBound <= reader.header.eventCount,
            "only events of the segment are asked for"
        )
        if events.lowerBound != place.event { seek(events.lowerBound) }
        rows.removeAll(keepingCapacity: true)
        var output = RowOutput()
        for event in events { try append(event, to: &output) }
        bytes = output.take()
        nextRow = rows.count
        return rows
    }

    private mutating func seek(_ event: Int) {
        for type in types.indices { types[type].forgetPlace() }
        place = EnvelopePlace(
            event: event,
            actor: envelope.actors.place(of: event),
            subject: envelope.subjects.place(of: event),
            erasure: erasures.firstIndex { $0.event >= event } ?? erasures.count
        )
    }

    private mutating func append(
        _ event: Int,
        to output: inout RowOutput
    ) throws(SegmentError) {
        let type = Int(envelope.types[event])
        let flags = RowFlags(rawValue: envelope.flags[event] & RowFlags.all.rawValue)
        let isErased = place.erasure < erasures.count && erasures[place.erasure].event == event
        defer { place.advance(flags, isErased: isErased) }
        guard wantedTypes?.contains(type) ?? true else { return }
        let start = output.count
        envelope.append(event, flags, place, to: &output)
        let hasPersonal = !withholdsPersonal
        try types[type].appendPublic(event, type, to: &output, &reader, hasPersonal: hasPersonal)
        let publicPart = start..<output.count
        var personal = BlockRow.Personal.absent
        if isErased {
            output.append(erasures[place.erasure].commitment.bytes.span, 0..<Hash32.size)
            personal = .erased(commitment: publicPart.upperBound..<output.count)
        } else if flags.contains(.personal), withholdsPersonal {
            output.append(zeros: Hash32.size)
            personal = .erased(commitment: publicPart.upperBound..<output.count)
        } else if flags.contains(.personal) {
            try types[type].appendPersonal(to: &output, &reader)
            personal = .present(publicPart.upperBound..<output.count)
        }
        let isPositioned = reader.header.isPositioned
        rows.append(
            SegmentRow(
                index: event,
                typeIndex: type,
                position: isPositioned ? reader.header.firstPosition + UInt64(event) : nil,
                event: SegmentEvent(
                    replica: reader.index.replicas[Int(envelope.replicas[event])].replica,
                    sequence: UInt64(bitPattern: envelope.sequences[event]),
                    acceptedAt: isPositioned
                        ? Timestamp(milliseconds: envelope.accepted[event]) : nil,
                    isAuthority: envelope.flags[event] & UInt8(EnvelopeColumns.authorityFlag) != 0,
                    publicPart: publicPart,
                    personal: personal
                )
            )
        )
    }
}

/// The event that comes next, and its places among those that have an actor, a subject, or lost
/// their personal part.
private struct EnvelopePlace {
    var event = 0
    var actor = 0
    var subject = 0
    var erasure = 0

    mutating func advance(_ flags: RowFlags, isErased: Bool) {
        event += 1
        if flags.contains(.actor) { actor += 1 }
        if flags.contains(.subject) { subject += 1 }
        if isErased { erasure += 1 }
    }
}

extension EnvelopeTexts {
    /// Where the first text is that of an event from this one on.
    fileprivate func place(of event: Int) -> Int {
        present?.firstPlace(notBefore: event) ?? event
    }
}

/// The envelope of all rows of a segment.
struct RowEnvelopes {
    let types: [UInt32]
    let replicas: [UInt32]
    let flags: [UInt8]
    let sequences: [Int64]
    let clocks: [Int64]
    let times: [Int64]
    let accepted: [Int64]
    let batches: EnvelopeBatches
    let bases: [Int64]
    let actors: EnvelopeTexts
    let subjects: EnvelopeTexts

    init(_ reader: inout SegmentReader) throws(SegmentError) {
        types = try reader.typeIndices()
        replicas = try reader.replicaIndices()
        sequences = try reader.numbers(.sequences)
        clocks = try reader.numbers(.clocks)
        times = try reader.numbers(.times)
        accepted = try reader.numbers(.accepted)
        batches = try reader.batches()
        bases = try reader.numbers(.bases)
        flags = try reader.flags()
        actors = try reader.actors()
        subjects = try reader.subjects()
    }

    /// Appends what comes in front of an event's payload.
    @inline(__always)
    fileprivate func append(
        _ event: Int,
        _ flags: RowFlags,
        _ place: EnvelopePlace,
        to output: inout RowOutput
    ) {
        output.append(varint: UInt64(batches.offsets[event]))
        output.append(varint: UInt64(batches.counts[event]))
        output.append(littleEndian: UInt64(bitPattern: clocks[event]))
        output.append(varint: Varint.zigzag(times[event] &- (clocks[event] >> 16)))
        output.append(varint: UInt64(bitPattern: bases[event]))
        output.append(flags.rawValue)
        if flags.contains(.actor) { output.append(counted: actors.values, place.actor) }
        if flags.contains(.subject) { output.append(counted: subjects.values, place.subject) }
    }
}

/// Goes through the rows of one type, block by block.
private struct RowsOfType {
    let blocks: [Int]
    /// The row that comes next; nil if it has to be looked for.
    private var row: Int?
    /// The block at hand, and its rows.
    private var block = 0
    private var rows = 0..<0
    private var publicPart = RowPart()
    private var personalPart = RowPart()
    /// The rows that have a personal part, and the one of them that comes next.
    private var personalRows: [Int32] = []
    private var nextPersonal = 0

    init(_ blocks: [Int]) { self.blocks = blocks }

    mutating func forgetPlace() { row = nil }

    /// Appends the public part of an event of the type.
    mutating func appendPublic(
        _ event: Int,
        _ type: Int,
        to output: inout RowOutput,
        _ reader: inout SegmentReader,
        hasPersonal: Bool
    ) throws(SegmentError) {
        if row == nil || !rows.contains(row ?? 0) {
            try load(event, type, &reader, hasPersonal: hasPersonal)
        }
        let next = row ?? 0
        guard publicPart.append(next - rows.lowerBound, to: &output) else {
            throw reader.fault(.publicPart, block: block)
        }
        row = next + 1
    }

    /// Appends the personal part of the event whose public part came last.
    mutating func appendPersonal(
        to output: inout RowOutput,
        _ reader: inout SegmentReader
    ) throws(SegmentError) {
        let start = output.count
        // The flags of events told which rows have one.
        guard personalPart.append(nextPersonal, to: &output),
            output.hasBits(of: personalPart.bitmapSize, at: start)
        else { throw reader.fault(.personalPart, block: block) }
        nextPersonal += 1
    }

    /// Goes to the row of an event, in the block that has it.
    private mutating func load(
        _ event: Int,
        _ type: Int,
        _ reader: inout SegmentReader,
        hasPersonal: Bool
    ) throws(SegmentError) {
        if self.row == nil {
            self.row = try reader.events(ofType: type).firstPlace(notBefore: event)
        }
        let row = row ?? 0
        if !rows.contains(row) {
            guard let found = blocks.first(where: { reader.index.blocks[$0].rows.contains(row) })
            else { preconditionFailure("the blocks of a type cover its rows") }
            let columns = try reader.fields(inBlock: found)
            try reader.checkRules(columns, block: found)
            let personal = hasPersonal ? try reader.personalFields(inBlock: found) : nil
            let eventType = try reader.eventType(type)
            block = found
            rows = reader.index.blocks[found].rows
            personalRows = personal == nil ? [] : try reader.personalRows(inBlock: found)
            publicPart = RowPart(columns, eventType)
            personalPart = personal.map { RowPart($0, eventType) } ?? RowPart()
        }
        let place = row - rows.lowerBound
        nextPersonal = personalRows.firstPlace(notBefore: place)
        publicPart.seek(place)
        personalPart.seek(nextPersonal)
    }
}

/// The columns of one part of payloads.
private struct RowPart {
    private(set) var bitmapSize = 0
    private var columns: [RowColumn] = []

    init() {}

    init(_ fields: FieldColumns, _ type: EventType) {
        columns = fields.columns.map { RowColumn($0, type.fields[$0.field].kind) }
        bitmapSize = PayloadCodec.bitmapSize(columns.count)
    }

    mutating func seek(_ row: Int) {
        for place in columns.indices { columns[place].seek(row) }
    }

    /// Appends the part of a row; false if it is larger than an event may be.
    mutating func append(_ row: Int, to output: inout RowOutput) -> Bool {
        let start = output.count
        output.append(zeros: bitmapSize)
        var columns = columns.mutableSpan
        for place in columns.indices where columns[place].append(of: row, to: &output) {
            output.setBit(place, at: start)
            guard output.count - start <= Limits.eventSizeMax else { return false }
        }
        return true
    }
}
