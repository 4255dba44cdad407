import DiarioCore
package import DiarioSchema

/// Reads a segment: its index at once, its blocks when they are asked for.
///
///     var reader = try SegmentReader(source, sidecar: personal)   // reads header and index
///     reader.index                            // types, runs, times: enough to skip the segment
///     try reader.numbers(.clocks)             // one envelope column, as an array
///     try reader.fields(inBlock: block)       // the public columns of some rows of a type
///     try reader.mayContain(subject, type: 0)
///     var rows = try SegmentRows(reader)      // all rows in order, as bytes
///
/// The envelope and pools are kept once they were read; blocks of fields are not. Each block is
/// read in one piece, checked against its checksum, and counted.
package struct SegmentReader: ~Copyable {
    package let index: SegmentIndex
    var segment: ColumnFile
    private var sidecar: ColumnFile?
    private let memory: ColumnMemory
    var cache: SegmentCache

    package var header: SegmentHeader { segment.header }
    /// Nil without a sidecar.
    package var sidecarHeader: SegmentHeader? { sidecar?.header }
    package var sidecarBlocks: [SegmentBlock] { sidecar?.blocks ?? [] }
    /// Blocks of both files that were read so far.
    package var blocksRead: Int { segment.blocksRead + (sidecar?.blocksRead ?? 0) }
    /// Their stored bytes.
    package var bytesRead: Int { segment.bytesRead + (sidecar?.bytesRead ?? 0) }

    /// Opens a segment, and with it the sidecar if one is given, which must be its own.
    ///
    /// `known` are types whose schemas need not be read again, if their fingerprints are right.
    package init(
        _ segment: any SegmentSource,
        sidecar: (any SegmentSource)?,
        known: [TypeEntry: EventType] = [:],
        checksums: SegmentChecksums = .verified
    ) throws(SegmentError) {
        let memory = try ColumnFile.checked(.segment) { () throws(FormatError) in
            try ColumnMemory()
        }
        var (opened, bytes) = try ColumnFile.open(segment, .segment, checksums, memory)
        let index = try ColumnFile.checked(.segment) { [opened] () throws(FormatError) in
            try SegmentIndex.parse(bytes.span, opened.header)
        }
        opened.blocks = index.blocks
        let own = try Self.openSidecar(sidecar, of: opened.header, checksums, memory)
        self.init(index, opened, own, memory, known)
    }

    private init(
        _ index: SegmentIndex,
        _ segment: ColumnFile,
        _ sidecar: ColumnFile?,
        _ memory: ColumnMemory,
        _ known: [TypeEntry: EventType]
    ) {
        self.index = index
        self.segment = segment
        self.sidecar = sidecar
        self.memory = memory
        cache = SegmentCache(
            known: known,
            typeCount: index.types.count,
            eventCount: segment.header.eventCount
        )
    }

    private static func openSidecar(
        _ source: (any SegmentSource)?,
        of segment: SegmentHeader,
        _ checksums: SegmentChecksums,
        _ memory: ColumnMemory
    ) throws(SegmentError) -> ColumnFile? {
        guard let source else { return nil }
        var (opened, bytes) = try ColumnFile.open(source, .sidecar, checksums, memory)
        let header = opened.header
        guard header.identity == segment.identity, header.eventCount == segment.eventCount,
            header.firstPosition == segment.firstPosition
        else { throw .otherSidecar }
        opened.blocks = try ColumnFile.checked(.sidecar) { () throws(FormatError) in
            var reader = ByteReader(bytes.span.raw)
            return try SegmentBlock.readList(
                &reader,
                offset: header.blocksOffset,
                fileSize: header.fileSize
            )
        }
        return opened
    }

    /// Calls `body` with one of the two files.
    mutating func with<Value>(
        _ file: SegmentFile,
        _ body: (inout ColumnFile) throws(SegmentError) -> Value
    ) throws(SegmentError) -> Value {
        guard file == .sidecar else { return try body(&segment) }
        guard var own = sidecar else { throw .noSidecar }
        defer { sidecar = own }
        return try body(&own)
    }

    /// Reads a block's columns by `body`, which must read all of it.
    mutating func decode<Value>(
        _ number: Int,
        of file: SegmentFile = .segment,
        _ body: (inout ColumnReader) throws(FormatError) -> Value
    ) throws(SegmentError) -> Value {
        try with(file) { (opened) throws(SegmentError) in try opened.decode(number, body) }
    }

    /// The error of a block whose columns contradict each other or the index.
    func fault(
        _ part: FormatPart,
        block: Int,
        of file: SegmentFile = .segment
    ) -> SegmentError {
        let opened = file == .segment ? segment : sidecar ?? segment
        return opened.fault(.malformed(part, at: 0), block: block)
    }

    /// False if certainly no event of the type has the subject, as far as the type's filter tells.
    ///
    /// The subject that is an event's own origin is not asked for here: `index.find` knows it.
    package mutating func mayContain(
        _ subject: Span<UInt8>,
        type: Int
    ) throws(SegmentError) -> Bool {
        if let known = cache.filters[type] { return known.mayContain(subject) }
        guard let number = index.block(.filter, key: type) else {
            let type = try eventType(type)
            guard let field = type.subjectFieldIndex else { return false }
            return type.fields[field].kind != .string
        }
        let size = index.blocks[number].expandedSize
        let countMax = index.types[type].eventCount
        let filter = try decode(number) { (reader) throws(FormatError) in
            try SubjectFilter(&reader, size: size, countMax: countMax)
        }
        cache.filters[type] = filter
        return filter.mayContain(subject)
    }
}

/// What a reader keeps of blocks that are needed again and again.
struct SegmentCache {
    let known: [TypeEntry: EventType]
    /// By type index.
    var types: [EventType?]
    var plans: [PayloadPlan?]
    var schemas: [Range<Int>]?
    var schemaBytes: [UInt8] = []
    /// Those that texts name by number.
    var replicas: [ReplicaID] = []
    var numbers: [EnvelopeColumn: [Int64]] = [:]
    var typeIndices: [UInt32]?
    var replicaIndices: [UInt32]?
    var flags: [UInt8]?
    var batches: EnvelopeBatches?
    var actors: EnvelopeTexts?
    var subjects: EnvelopeTexts?
    var pools: [TextPool]?
    var filters: [Int: SubjectFilter] = [:]
    /// For each type the events that are its rows.
    var rows: [[Int32]]?
    /// Columns of the envelope as keys.
    let keys: KeyColumns
    /// Event indices of erased events, ascending, and their commitments.
    var erasures: [Erasure]?

    init(known: [TypeEntry: EventType], typeCount: Int, eventCount: Int) {
        self.known = known
        types = [EventType?](repeating: nil, count: typeCount)
        plans = [PayloadPlan?](repeating: nil, count: typeCount)
        keys = KeyColumns(rowCount: eventCount)
    }
}
