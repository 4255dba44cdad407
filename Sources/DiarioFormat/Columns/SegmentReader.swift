package import DiarioCore
package import DiarioSchema
import DiarioZstd

/// Reads a segment: its index at once, its blocks when they are asked for.
///
///     var reader = try SegmentReader(source, sidecar: personal)   // reads header and index
///     reader.index                            // types, runs, times: enough to skip the segment
///     try reader.numbers(.clocks)             // one envelope column, as an array
///     try reader.fields(ofType: 0)            // the public columns of a type, by block
///     try reader.personalFields(ofType: 0)    // the personal ones, from the sidecar
///     try reader.mayContain(subject, type: 0)
///     var rows = SegmentRows(reader)          // all rows in order, as bytes
///
/// What was read of the envelope, of pools and of shared columns is kept; blocks of fields are not.
/// Each block is read in one piece, checked against its checksum, and counted.
package struct SegmentReader: ~Copyable {
    package let header: SegmentHeader
    package let index: SegmentIndex
    /// Nil without a sidecar.
    package let sidecarHeader: SegmentHeader?
    package let sidecarBlocks: [SegmentBlock]
    /// Blocks of both files that were read so far.
    package private(set) var blocksRead = 0
    /// Their stored bytes.
    package private(set) var bytesRead = 0

    private var segment: any SegmentSource
    private var sidecar: (any SegmentSource)?
    private let checksums: SegmentChecksums
    var memory: ColumnMemory
    var cache: SegmentCache
    /// The events that are wanted; as a rule, all.
    private(set) var wanted: Range<Int>

    /// Opens a segment, and with it the sidecar if one is given, which must be its own.
    ///
    /// `known` are types whose schemas need not be read again, if their fingerprints are right.
    /// Checksums are left out only to test what comes behind them.
    package init(
        _ segment: any SegmentSource,
        sidecar: (any SegmentSource)?,
        known: [TypeEntry: EventType] = [:],
        checksums: SegmentChecksums = .verified
    ) throws(SegmentError) {
        var memory = try Self.makeMemory()
        let opened = try Self.open(segment, sidecar, checksums, &memory)
        self.init(opened, memory, known)
    }

    private init(
        _ opened: Opened,
        _ memory: consuming ColumnMemory,
        _ known: [TypeEntry: EventType]
    ) {
        header = opened.header
        index = opened.index
        sidecarHeader = opened.sidecarHeader
        sidecarBlocks = opened.sidecarBlocks
        segment = opened.segment
        sidecar = opened.sidecar
        checksums = opened.checksums
        cache = SegmentCache(known: known, typeCount: opened.index.types.count)
        self.memory = memory
        wanted = 0..<opened.header.eventCount
    }

    /// Reads of most columns no more than the rows of these events from now on, which are checked
    /// no further than that each of their values is in order.
    ///
    /// Comes before any block is read. Of texts that are named by index, and of numbers that
    /// others are predicted from, there may be more.
    package mutating func want(_ events: Range<Int>) {
        precondition(blocksRead == 0, "what was read cannot be read anew")
        precondition(
            events.lowerBound >= 0 && events.upperBound <= header.eventCount,
            "only events of the segment are asked for"
        )
        wanted = events
    }

    /// Keeps the compressed streams that are read from now on; of use for measuring alone.
    package mutating func keepFrames() { memory.frames = KeptFrames() }

    package var keptFrames: KeptFrames { memory.frames ?? KeptFrames() }

    /// Reads from now on no more than the rows from the first to the last event of a replica with
    /// these sequences; gives them, or nil if there is none, and then all stays as it was.
    ///
    /// Costs reading types and origins of all events. Comes before other columns are read.
    package mutating func want(
        _ sequences: ClosedRange<UInt64>,
        of replica: ReplicaID
    ) throws(SegmentError) -> Range<Int>? {
        precondition(wantsAll && cache.hasOriginsAlone, "what was read cannot be read anew")
        guard let number = index.replicas.firstIndex(where: { $0.replica == replica }) else {
            return nil
        }
        let replicas = try replicaIndices()
        let own = try numbers(.sequences)
        guard
            let events = Self.events(of: UInt32(number), sequences, replicas.span, own.span)
        else { return nil }
        wanted = events
        cache.sequencesFromStart = Array(own[..<events.upperBound])
        cache.numbers[.sequences] = Array(own[events])
        return events
    }

    /// From the first to the last event of a replica with these sequences, which increase.
    private static func events(
        of number: UInt32,
        _ wanted: ClosedRange<UInt64>,
        _ replicas: Span<UInt32>,
        _ sequences: Span<Int64>
    ) -> Range<Int>? {
        precondition(replicas.count == sequences.count, "each event has a replica and a sequence")
        var found: Range<Int>?
        // Safe: both have the index of each event.
        for event in replicas.indices where unsafe replicas[unchecked: event] == number {
            // Safe: as in the line above.
            let sequence = UInt64(bitPattern: unsafe sequences[unchecked: event])
            guard sequence >= wanted.lowerBound else { continue }
            guard sequence <= wanted.upperBound else { break }
            found = (found?.lowerBound ?? event)..<event + 1
        }
        return found
    }

    /// Whether all events are wanted.
    package var wantsAll: Bool { wanted.count == header.eventCount }

    /// The wanted rows of a block of fields, counted from its first; nil if all are.
    mutating func wantedRows(inBlock number: Int) throws(SegmentError) -> Range<Int>? {
        guard !wantsAll else { return nil }
        let block = index.blocks[number]
        let events = try events(ofType: block.key)
        let rows = events.places(of: wanted).clamped(to: block.rows)
        return rows.lowerBound - block.firstRow..<rows.upperBound - block.firstRow
    }

    /// What the start of both files says.
    private struct Opened {
        var segment: any SegmentSource
        var sidecar: (any SegmentSource)?
        var checksums: SegmentChecksums
        var header: SegmentHeader
        var index: SegmentIndex
        var sidecarHeader: SegmentHeader?
        var sidecarBlocks: [SegmentBlock] = []
    }

    private static func makeMemory() throws(SegmentError) -> ColumnMemory {
        try checked(.segment, at: 0) { () throws(FormatError) in try ColumnMemory() }
    }

    private static func open(
        _ segment: any SegmentSource,
        _ sidecar: (any SegmentSource)?,
        _ checksums: SegmentChecksums,
        _ memory: inout ColumnMemory
    ) throws(SegmentError) -> Opened {
        var segment = segment
        let (header, bytes) = try readIndex(&segment, .segment, checksums, &memory)
        let index = try checked(.segment) { () throws(FormatError) in
            try SegmentIndex.parse(bytes.span, header)
        }
        var opened = Opened(
            segment: segment,
            sidecar: nil,
            checksums: checksums,
            header: header,
            index: index
        )
        guard var source = sidecar else { return opened }
        let (own, list) = try readIndex(&source, .sidecar, checksums, &memory)
        guard own.identity == header.identity, own.eventCount == header.eventCount,
            own.firstPosition == header.firstPosition
        else { throw .otherSidecar }
        opened.sidecar = source
        opened.sidecarHeader = own
        opened.sidecarBlocks = try checked(.sidecar) { () throws(FormatError) in
            try blocks(ofSidecar: list, own)
        }
        return opened
    }

    /// The blocks that the index of a segment or a sidecar lists, whose header was parsed before.
    static func blocks(
        of source: inout any SegmentSource,
        _ file: SegmentFile
    ) throws(SegmentError) -> [SegmentBlock] {
        var memory = try makeMemory()
        let (header, bytes) = try readIndex(&source, file, .verified, &memory)
        return try checked(file) { () throws(FormatError) in
            guard file == .sidecar else { return try SegmentIndex.parse(bytes.span, header).blocks }
            return try blocks(ofSidecar: bytes, header)
        }
    }

    private static func blocks(
        ofSidecar index: [UInt8],
        _ header: SegmentHeader
    ) throws(FormatError) -> [SegmentBlock] {
        var reader = ByteReader(index.span.raw)
        return try SegmentBlock.readList(
            &reader,
            offset: header.blocksOffset,
            fileSize: header.fileSize
        )
    }

    /// The bytes of header and index that a reader of this segment needs first.
    private static func readIndex(
        _ source: inout any SegmentSource,
        _ file: SegmentFile,
        _ checksums: SegmentChecksums,
        _ memory: inout ColumnMemory
    ) throws(SegmentError) -> (SegmentHeader, [UInt8]) {
        var start: [UInt8] = []
        try source.read(at: 0, count: SegmentHeader.size, into: &start)
        let header = try checked(file) { () throws(FormatError) in
            try SegmentHeader.parse(start.span, file)
        }
        var stored: [UInt8] = []
        try source.read(at: SegmentHeader.size, count: header.storedIndexSize, into: &stored)
        if checksums == .verified {
            try checked(file) { () throws(FormatError) in
                try header.check(start.span, stored.span)
            }
        }
        guard header.isIndexCompressed else { return (header, stored) }
        let bytes = try memory.decompress(stored.span, size: header.indexSize, file)
        return (header, bytes)
    }

    /// The index of the segment as it is stored, read anew.
    mutating func storedIndex() throws(SegmentError) -> [UInt8] {
        var stored: [UInt8] = []
        try segment.read(at: SegmentHeader.size, count: header.storedIndexSize, into: &stored)
        return stored
    }

    static func checked<Value: ~Copyable>(
        _ file: SegmentFile,
        block: Int? = nil,
        at offset: Int = SegmentHeader.size,
        _ body: () throws(FormatError) -> Value
    ) throws(SegmentError) -> Value {
        do throws(FormatError) { return try body() } catch {
            throw .fault(SegmentFault(file: file, block: block, offset: offset, reason: error))
        }
    }

    /// The stored bytes of a block, checked.
    mutating func contents(
        _ number: Int,
        of file: SegmentFile = .segment
    ) throws(SegmentError) -> [UInt8] {
        let block = file == .segment ? index.blocks[number] : sidecarBlocks[number]
        var bytes: [UInt8] = []
        switch file {
        case .segment:
            try segment.read(at: block.offset, count: block.storedSize, into: &bytes)
        case .sidecar:
            guard var source = sidecar else { throw .noSidecar }
            try source.read(at: block.offset, count: block.storedSize, into: &bytes)
            sidecar = source
        }
        blocksRead += 1
        bytesRead += bytes.count
        let computed = Checksum.crc32c(bytes.span.raw)
        guard computed == block.checksum || checksums == .ignored else {
            let error = FormatError.checksumMismatch(stored: block.checksum, computed: computed)
            throw .fault(
                SegmentFault(file: file, block: number, offset: block.offset, reason: error)
            )
        }
        return bytes
    }

    /// Reads a block's columns by `body`, which must read all of it.
    mutating func decode<Value>(
        _ number: Int,
        of file: SegmentFile = .segment,
        _ body: (inout ColumnReader, inout ColumnMemory) throws(FormatError) -> Value
    ) throws(SegmentError) -> Value {
        let bytes = try contents(number, of: file)
        let block = file == .segment ? index.blocks[number] : sidecarBlocks[number]
        do throws(FormatError) {
            var reader = ColumnReader(bytes.span, expandedSize: block.expandedSize)
            let value = try body(&reader, &memory)
            try reader.finish()
            return value
        } catch {
            throw .fault(
                SegmentFault(
                    file: file,
                    block: number,
                    offset: block.offset + error.offset,
                    reason: error
                )
            )
        }
    }

    /// Throws an error of a block whose columns contradict each other or the index.
    func fault(
        _ part: FormatPart,
        block: Int,
        of file: SegmentFile = .segment
    ) -> SegmentError {
        let entry = file == .segment ? index.blocks[block] : sidecarBlocks[block]
        return .fault(
            SegmentFault(
                file: file,
                block: block,
                offset: entry.offset,
                reason: .malformed(part, at: 0)
            )
        )
    }

    /// False if certainly no event of the type has the subject.
    ///
    /// Reads the type's blocks of heads and its filter.
    ///
    /// The subject that is an event's own origin is not asked for here: `index.find` knows it.
    package mutating func mayContain(
        _ subject: Span<UInt8>,
        type: Int
    ) throws(SegmentError) -> Bool {
        for block in index.fieldBlocks(ofType: type) {
            if index.headsBlock(of: block) != nil, try heads(ofBlock: block).mayContain(subject) {
                return true
            }
        }
        guard let number = index.block(.filter, key: type) else {
            let type = try eventType(type)
            guard let field = type.subjectFieldIndex else { return false }
            return type.fields[field].kind != .string
        }
        if cache.filters[type] == nil {
            let bytes = try contents(number)
            let block = index.blocks[number]
            do throws(FormatError) {
                cache.filters[type] = try SubjectFilter.read(
                    bytes.span,
                    expandedSize: block.expandedSize,
                    countMax: index.types[type].eventCount,
                    &memory
                )
            } catch {
                throw fault(.body, block: number)
            }
        }
        return cache.filters[type]?.mayContain(subject) ?? true
    }
}

/// Whether what changed since it was written is noticed.
package enum SegmentChecksums: Sendable {
    case verified
    case ignored
}

extension SegmentIndex {
    /// The block with the heads of a block of fields.
    func headsBlock(of fields: Int) -> Int? {
        let block = blocks[fields]
        return blocks.place(SegmentBlockKind.heads.rawValue, block.key, block.firstRow)
    }
}

extension SegmentReader {
    /// The heads of the subjects in a block of fields.
    mutating func heads(ofBlock fields: Int) throws(SegmentError) -> SubjectHeads {
        guard let number = index.headsBlock(of: fields) else { throw fault(.body, block: fields) }
        if let known = cache.heads[number] { return known }
        let count = index.blocks[number].rowCount
        let heads = try decode(number) { (reader, memory) throws(FormatError) in
            try reader.nextHeads(count, &memory)
        }
        cache.heads[number] = heads
        return heads
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
    var numbers: [EnvelopeColumn: [Int64]] = [:]
    var typeIndices: [UInt32]?
    var replicaIndices: [UInt32]?
    var flags: [UInt8]?
    var batches: EnvelopeBatches?
    /// The sequences of all events up to the last one wanted; known with the replicas.
    var sequencesFromStart: [Int64] = []
    var actors: EnvelopeTexts?
    var subjects: EnvelopeTexts?
    var texts = TextScope()
    /// By their number.
    var shared: [Int: SharedColumn] = [:]
    var filters: [Int: SubjectFilter] = [:]
    /// By the number of their block.
    var heads: [Int: SubjectHeads] = [:]
    /// For each type the events that are its rows.
    var rows: [[Int32]]?
    /// For each type how many of its events have, or had, a personal part.
    var personalCounts: [Int]?
    /// Columns of the envelope as keys.
    var keys: KeyLayer?
    /// Public columns as keys, until the personal ones are read, by the number of their block.
    var publicKeys: [Int: KeyLayer] = [:]
    /// A block of the sidecar that was looked at and is read next, and its number.
    var personalContents: (number: Int, bytes: [UInt8])?
    /// Event indices of erased events, ascending, and their commitments.
    var erasures: [Erasure]?

    /// Whether of the columns that depend on which events are wanted no others were read than the
    /// sequences.
    var hasOriginsAlone: Bool {
        numbers.keys.allSatisfy { $0 == .sequences } && batches == nil && actors == nil
            && subjects == nil && shared.isEmpty && publicKeys.isEmpty
    }

    init(known: [TypeEntry: EventType], typeCount: Int) {
        self.known = known
        types = [EventType?](repeating: nil, count: typeCount)
        plans = [PayloadPlan?](repeating: nil, count: typeCount)
    }
}

extension ColumnMemory {
    /// Bytes that were compressed on their own.
    mutating func decompress(
        _ stored: Span<UInt8>,
        size: Int,
        _ file: SegmentFile
    ) throws(SegmentError) -> [UInt8] {
        var bytes: [UInt8] = []
        do throws(ZstdError) { try decompressor.decompress(stored, size: size, into: &bytes) } catch
        {
            throw .fault(
                SegmentFault(
                    file: file,
                    block: nil,
                    offset: SegmentHeader.size,
                    reason: .compression(error)
                )
            )
        }
        return bytes
    }
}
