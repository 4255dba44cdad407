import DiarioCore
import DiarioCrypto
import DiarioSchema

/// The rows of a segment in order of position, across all types: bytes as blocks have them.
///
///     var rows = try SegmentRows(reader)
///     while let row = try rows.next() { use(rows.bytes, row.event.publicPart) }
///
/// Holds the envelope and, of each type, the block of fields with the row at hand. Rows are made
/// by the thousand, so that the work on a column is one loop. Each row that comes out is one that
/// rows.md allows.
package struct SegmentRows: ~Copyable {
    /// Holds the parts of the row that came last.
    package private(set) var bytes: [UInt8] = []
    package var reader: SegmentReader
    let envelope: RowEnvelopes
    var types: [RowsOfType]
    let erasures: [Erasure]
    var window = RowWindow()
    /// The rows of the window, and which of them comes next.
    private var rows: [SegmentRow] = []
    private var nextRow = 0
    /// The first event behind the window.
    var nextEvent = 0
    /// False until the rows of each type stand at `nextEvent`.
    var hasStarted = true

    /// Events that are put together at once: many, since each type and field costs a little for
    /// each window; of small segments fewer, since their memory is not used again.
    private var windowCount: Int { min(4096, max(1024, reader.header.eventCount / 4)) }

    /// Reads the envelope; `reader` needs the sidecar if an event has a personal part.
    ///
    /// Begins with the first event that is wanted of the reader.
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
        window.nextSizeMax = envelope.textsSizeMax
        nextEvent = reader.wanted.lowerBound
        self.reader = reader
        hasStarted = nextEvent == 0
    }

    /// The next event, whose parts are in `bytes` until the one after it; nil at the end.
    package mutating func next() throws(SegmentError) -> SegmentRow? {
        if nextRow == rows.count {
            guard nextEvent < reader.wanted.upperBound else { return nil }
            try advance()
        }
        defer { nextRow += 1 }
        return rows[nextRow]
    }

    /// Puts the rows of the next window together.
    private mutating func advance() throws(SegmentError) {
        let end = min(nextEvent + windowCount, reader.wanted.upperBound)
        if !hasStarted { try seek(nextEvent) }
        try assemble(nextEvent..<end)
    }

    /// The rows of these events, leaving out types that are not wanted; parts are in `bytes` until
    /// the next call.
    ///
    /// Memory is taken for all of them at once. Any range may follow any other; ranges that follow
    /// one another cost least.
    package mutating func rows(in events: Range<Int>) throws(SegmentError) -> [SegmentRow] {
        precondition(
            events.lowerBound >= reader.wanted.lowerBound
                && events.upperBound <= reader.wanted.upperBound,
            "only events that are wanted are asked for"
        )
        if events.lowerBound != nextEvent || !hasStarted { try seek(events.lowerBound) }
        try assemble(events)
        nextRow = rows.count
        return rows
    }

    private mutating func assemble(_ events: Range<Int>) throws(SegmentError) {
        nextEvent = events.upperBound
        window.count(events, envelope, erasures, typeCount: types.count)
        for type in types.indices where window.rowCounts[type] > 0 {
            if types[type].isBehind { try seek(events.lowerBound, type: type) }
            try types[type].append(
                window.rowCounts[type],
                isPersonal: false,
                to: &window.publicPayloads,
                &reader
            )
            guard window.personalCounts[type] > 0 else { continue }
            try types[type].append(
                window.personalCounts[type],
                isPersonal: true,
                to: &window.personalPayloads,
                &reader
            )
        }
        window.assemble(events, envelope, erasures, reader.index, reader.header, &bytes, &rows)
        nextRow = 0
    }
}

/// Goes through the rows of one type, block by block.
struct RowsOfType {
    let blocks: [Int]
    /// True if it stands elsewhere than the window begins.
    var isBehind = false
    private var publicRows = Progress()
    private var personalRows = Progress()

    /// How far the public or the personal rows were put together.
    private struct Progress {
        /// The place among the type's blocks of the one that is loaded next.
        var next = 0
        var rowsLeft = 0
        var assembler: PayloadAssembler?
        /// All rows of the block that is loaded.
        var rowCount = 0
        /// Rows of the next block that are left out.
        var skipCount = 0

        /// Goes on with the row `row` of the block at `place`, which is loaded only if need be.
        mutating func seek(_ place: Int, row: Int) {
            if assembler != nil, next == place + 1 {
                assembler?.seek(row)
                rowsLeft = rowCount - row
            } else {
                self = Progress(next: place, skipCount: row)
            }
        }
    }

    init(_ blocks: [Int]) { self.blocks = blocks }

    /// Goes on with these rows of the block at `place` among those of the type.
    mutating func seek(_ place: Int, row: Int, personalRow: Int) {
        publicRows.seek(place, row: row)
        personalRows.seek(place, row: personalRow)
    }

    /// Appends the payloads of the next `count` rows, which may lie in several blocks.
    mutating func append(
        _ count: Int,
        isPersonal: Bool,
        to payloads: inout AssembledPayloads,
        _ reader: inout SegmentReader
    ) throws(SegmentError) {
        // Taken out, and given back below: until then nothing else holds its arrays.
        var progress = Progress()
        if isPersonal { swap(&progress, &personalRows) } else { swap(&progress, &publicRows) }
        var rest = count
        while rest > 0 {
            if progress.rowsLeft == 0 { try load(&progress, isPersonal: isPersonal, &reader) }
            let taken = min(rest, progress.rowsLeft)
            let isWhole = progress.assembler?.append(
                taken,
                isFirst: rest == count,
                isPersonal: isPersonal,
                to: &payloads
            )
            guard isWhole != false else {
                throw reader.fault(
                    isPersonal ? .personalPart : .publicPart,
                    block: blocks[progress.next - 1]
                )
            }
            progress.rowsLeft -= taken
            rest -= taken
        }
        if isPersonal { swap(&progress, &personalRows) } else { swap(&progress, &publicRows) }
    }

    private func load(
        _ progress: inout Progress,
        isPersonal: Bool,
        _ reader: inout SegmentReader
    ) throws(SegmentError) {
        progress.assembler = nil
        while progress.rowsLeft == 0 {
            precondition(progress.next < blocks.count, "the blocks of a type cover its rows")
            let block = blocks[progress.next]
            progress.next += 1
            let columns =
                isPersonal
                ? try reader.personalFields(inBlock: block) : try reader.fields(inBlock: block)
            guard let columns else {
                progress.skipCount = 0
                continue
            }
            if !isPersonal { try reader.checkRules(columns, block: block) }
            let type = try reader.eventType(columns.type)
            progress.assembler = PayloadAssembler(columns, type)
            progress.rowCount = columns.rowCount
            if progress.skipCount > 0 { progress.assembler?.seek(progress.skipCount) }
            progress.rowsLeft = columns.rowCount - progress.skipCount
            progress.skipCount = 0
        }
    }
}
