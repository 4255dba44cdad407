import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioStorage

// What the files of a damaged write-ahead log still say: schema/format/salvage.md, section 3.

/// Where blocks of events lie in the frames that verify, whatever lies between them.
///
/// Memory holds places of blocks and no events; one log file is read at a time.
struct LogPieces {
    /// What frames say of one space.
    struct Space {
        /// By position.
        var canonical = RunList()
        /// By sequence.
        var lanes: [ReplicaID: RunList] = [:]
        /// Where promoted events, and those of private segments, stand.
        var placements: [PromotedRun] = []
        var seeds: [SpaceIndex.SeedKey: Salt] = [:]
        /// The last position that anything tells of.
        var head: UInt64 = 0
        /// The last sequence of each replica that anything tells of.
        var lastSequences: [ReplicaID: UInt64] = [:]

        mutating func note(_ replica: ReplicaID, _ sequence: UInt64) {
            lastSequences[replica] = max(lastSequences[replica] ?? 0, sequence)
        }
    }

    private(set) var spaces: [SpaceID: Space] = [:]
    private(set) var faults: [Fault] = []
    private let directory: any LogDirectory

    /// The files that are still to be read, the next one last.
    private var rest: [UInt64]
    private var last: UInt64?
    private var expected: UInt64?

    init(_ directory: any LogDirectory) throws(LogError) {
        self.directory = directory
        rest = try storing { () throws(StorageError) -> [UInt64] in
            guard try directory.exists(FramePaths.folder) else { return [] }
            return try directory.list(FramePaths.folder).compactMap { FramePaths.number($0) }
                .sorted(by: >)
        }
        if rest.isEmpty { fault(FramePaths.folder, 0, "no file of the write-ahead log is there") }
    }

    /// Reads the next file; gives its size, or nil once all were read and rows are where they
    /// stand.
    mutating func step() throws(LogError) -> Int? {
        guard let number = rest.popLast() else {
            place()
            return nil
        }
        if let last, last + 1 != number {
            fault(FramePaths.file(last + 1), 0, "the file is missing")
        }
        last = number
        return try read(number, before: rest.last.flatMap { header($0) }, isLast: rest.isEmpty)
    }

    private mutating func fault(_ file: String, _ offset: Int, _ what: String) {
        faults.append(Fault(file: file, offset: offset, what: what))
    }

    private func header(_ number: UInt64) -> LogFileHeader? {
        var bytes: [UInt8] = []
        guard let file = try? directory.open(FramePaths.file(number), .read),
            (try? file.read(at: 0, count: LogFileHeader.size, into: &bytes)) != nil,
            let header = LogFileHeader(bytes.span), header.number == number
        else { return nil }
        return header
    }

    // MARK: Frames

    /// Takes all frames of a file that verify; `next` is the header of the file after it, which
    /// says where this one ends.
    private mutating func read(
        _ number: UInt64,
        before next: LogFileHeader?,
        isLast: Bool
    ) throws(LogError) -> Int {
        let path = FramePaths.file(number)
        guard let bytes = contents(path) else { return 0 }
        let content = bytes.span
        var header = LogFileHeader(content)
        if header?.number != number { header = nil }
        guard let generation = header?.generation ?? Self.newestGeneration(content) else {
            // A crash may leave the newest file without a frame and without a header.
            if !isLast { fault(path, 0, "no frame of the file verifies") }
            return content.count
        }
        if header == nil { fault(path, 0, "the header of the file does not verify") }
        var limit = content.count
        if let next, next.previousGeneration == generation {
            limit = min(limit, Int(clamping: next.previousLength))
        }
        expected = expected ?? header?.firstFrame
        var (offset, end) = (LogFileHeader.size, LogFileHeader.size)
        while limit - offset >= FrameHeader.size {
            guard
                case .frame(let frame) = FrameHeader.read(
                    content,
                    at: offset,
                    generation: generation
                ), offset + frame.frameSize <= limit
            else {
                offset += FrameHeader.alignment
                continue
            }
            offset += frame.frameSize
            // Those of an earlier use of the file were copied forward since, or released.
            guard frame.number >= expected ?? 0 else { continue }
            if let expected, frame.number > expected {
                fault(path, end, "\(frame.number - expected) frames do not verify")
            }
            expected = frame.number &+ 1
            take(frame, content, at: offset - frame.frameSize, of: number)
            end = offset
        }
        let length = isLast ? markedLength(generation) : next == nil ? nil : limit
        if let length, end < length {
            fault(path, end, "the last frames do not verify, or are missing")
        }
        return content.count
    }

    private mutating func contents(_ path: String) -> [UInt8]? {
        do throws(StorageError) {
            return try Files.contents(of: path, in: directory, sizeMax: Limits.logFileSizeMax)
        } catch {
            fault(path, 0, error.message)
            return nil
        }
    }

    /// How long the newest file was at the last clean stop, if that is known.
    private func markedLength(_ generation: UInt64) -> Int? {
        guard let mark = (try? SyncedMark.read(in: directory)) ?? nil,
            mark.generation == generation
        else { return nil }
        return Int(clamping: mark.length)
    }

    /// Of several uses of a file the newest has the highest frame numbers.
    private static func newestGeneration(_ bytes: Span<UInt8>) -> UInt64? {
        var newest: (number: UInt64, generation: UInt64)?
        var offset = LogFileHeader.size
        while bytes.count - offset >= FrameHeader.size {
            let generation = bytes.littleEndian(UInt64.self, at: offset + 8)
            let reading = FrameHeader.read(bytes, at: offset, generation: generation)
            guard case .frame(let frame) = reading else {
                offset += FrameHeader.alignment
                continue
            }
            if frame.number >= newest?.number ?? 0 { newest = (frame.number, generation) }
            offset += frame.frameSize
        }
        return newest?.generation
    }

    private mutating func take(
        _ frame: FrameHeader,
        _ bytes: Span<UInt8>,
        at offset: Int,
        of number: UInt64
    ) {
        var place = offset + FrameHeader.size
        let end = place + frame.bodySize
        for _ in 0..<frame.recordCount {
            guard let record = Record.read(bytes, at: place, end: end) else {
                return fault(FramePaths.file(number), place, "this is no record")
            }
            do throws(FormatError) {
                try take(record, bytes, of: number)
            } catch {
                fault(FramePaths.file(number), place, error.message)
            }
            place = record.content.upperBound
        }
    }

    // MARK: Records

    private mutating func take(
        _ record: Record,
        _ bytes: Span<UInt8>,
        of number: UInt64
    ) throws(FormatError) {
        let content = bytes.extracting(record.content)
        guard record.kind != .dropped else {
            spaces[record.space] = nil
            return
        }
        var space = spaces.removeValue(forKey: record.space) ?? Space()
        defer { spaces[record.space] = space }
        switch record.kind {
        case .rows: try space.take(content, file: number, offset: record.content.lowerBound)
        case .seed:
            var reader = ByteReader(content.raw)
            guard let replica = ReplicaID(rawValue: try reader.next(UInt64.self)) else {
                throw .malformed(.replica, at: 0)
            }
            let group = try reader.next(UInt64.self)
            space.seeds[SpaceIndex.SeedKey(replica: replica, group: group)] = try Salt(&reader)
        case .promotion:
            guard let runs = PromotedRun.read(content) else { throw .malformed(.runs, at: 0) }
            space.placements += runs
        case .state:
            guard let state = SpaceState(content) else { throw .malformed(.position, at: 0) }
            space.head = max(space.head, state.range.size)
            for tally in state.tallies { space.note(tally.replica, tally.lastSequence) }
        case .sealed:
            guard let rows = SealedRows(content) else { throw .malformed(.runs, at: 0) }
            space.note(rows.replica, rows.lastSequence)
            if let run = PromotedRun(rows) { space.placements.append(run) }
        case .dropped: break
        }
    }

    /// Puts rows of lanes where promotions say that they stand.
    private mutating func place() {
        for (id, var space) in spaces {
            for run in space.placements {
                space.head = max(space.head, run.lastPosition)
                space.note(run.replica, run.lastSequence)
                guard var lane = space.lanes.removeValue(forKey: run.replica) else { continue }
                var found: [Run] = []
                lane.remove(from: run.firstSequence, through: run.lastSequence) {
                    found.append($0)
                }
                space.lanes[run.replica] = lane
                for var part in found {
                    part.first = run.firstPosition + (part.first - run.firstSequence)
                    part.promotedAt = run.acceptedAt.milliseconds
                    space.canonical.insert(part) { _ in }
                }
            }
            spaces[id] = space
        }
    }

    // MARK: Reading

    /// The events of a run; `isPending` if it is one of a lane.
    func events(_ run: Run, isPending: Bool) throws(LogError) -> StoredEvents {
        let number = UInt64(run.file)
        var bytes: [UInt8] = []
        try storing { () throws(StorageError) in
            let file = try directory.open(FramePaths.file(number), .read)
            try file.read(at: Int64(run.offset), count: Int(run.blockSize), into: &bytes)
        }
        return try StoredEvents(bytes, run, isPending: isPending)
    }
}

extension LogPieces.Space {
    /// Notes where the rows of a block are.
    fileprivate mutating func take(
        _ block: Span<UInt8>,
        file: UInt64,
        offset: Int
    ) throws(FormatError) {
        let summary = try BlockSummary.parse(block, verifyChecksum: false)
        var (cursor, lane): (RunCursor, BlockRun?) = (RunCursor(block, summary), nil)
        while let run = try cursor.next() {
            guard LogNumber.isValid(run.firstSequence, count: run.count) else {
                throw .malformed(.runs, at: 0)
            }
            note(run.replica, run.lastSequence)
            lane = run
        }
        guard let lane else { throw .malformed(.runs, at: 0) }
        let first = summary.firstPosition ?? lane.firstSequence
        guard LogNumber.isValid(first, count: UInt64(summary.eventCount)) else {
            throw .malformed(.position, at: 0)
        }
        let run = Run(
            first: first,
            count: UInt32(summary.eventCount),
            skip: 0,
            file: UInt32(file),
            offset: UInt32(offset),
            blockSize: UInt32(block.count),
            liveBytes: 0,
            promotedAt: nil
        )
        if summary.firstPosition == nil {
            lanes[lane.replica, default: RunList()].insert(run) { _ in }
        } else {
            canonical.insert(run) { _ in }
            head = max(head, run.last)
        }
    }
}

extension PromotedRun {
    /// What a sealed record says of rows with positions; nil if they are pending.
    fileprivate init?(_ rows: SealedRows) {
        guard let placed = rows.placed else { return nil }
        self.init(
            replica: rows.replica,
            firstSequence: rows.firstSequence,
            count: UInt64(rows.count),
            firstPosition: placed.firstPosition,
            acceptedAt: Timestamp(milliseconds: placed.acceptedAt)
        )
    }
}
