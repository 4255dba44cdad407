import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import DiarioStorage
import Synchronization

/// What the one who writes to a log needs: handed from thread to thread, used by one at a time.
struct Writer: ~Copyable {
    let store: LogShared
    var log: FrameLog
    let lock: (any DirectoryLock)?
    /// Spaces that were written to, with who writes.
    var homes: [SpaceID: SpaceHome] = [:]
    /// What survives a power cut of spaces, as this process has made sure.
    var lasting: [SpaceID: SpaceHome] = [:]
    var builder = BlockBuilder()
    /// The frame under construction: room for its header, then records.
    var frame: [UInt8] = []
    var recordCount = 0
    /// Where the records of the frame end; zeros follow.
    var bodyEnd = 0
    /// The block under construction, whose rows `builder` has.
    var open: OpenBlock?
    /// When its rows were accepted; empty if they are pending, or if there are none.
    var times: [AcceptedRun] = []
    /// What the frame under construction changes, by space.
    var staged: [SpaceID: Staged] = [:]
    /// The space that was staged last, taken out of the others: mostly it is the next one too.
    var lastStaged: (SpaceID, Staged)?
    /// True while `lastStaged` is what an earlier commit left, and nothing happened since.
    var isCarried = false
    /// The time of the commit.
    var time = Timestamp(milliseconds: 0)
    /// The rows of the frame under construction, as long as it holds nothing else.
    var ownRows: [OwnRows] = []
    /// Spaces whose state is due, and did not fit in the frame in which it was.
    var lateStates: Set<SpaceID> = []
    /// Bytes of frames after which it is looked whether the log holds too much.
    var bytesToLook = 0
    /// What reading the log found.
    private(set) var report = RecoveryReport()
    /// Damage that reading the log alone does not show.
    private var noted: Fault?
    /// True while what was read of the log may lack what others wrote.
    private var isBehind = false
    /// True while only a part of the log was read: reading it anew did not come to its end.
    private var isPartial = false
    /// True if it is not known whether the last frame of others is on disk: it was taken up without
    /// the lock, or could not be synced.
    ///
    /// Then it is written again before another one follows it.
    private var isDoubtful = false

    init(store: LogShared, lock: (any DirectoryLock)?) {
        self.store = store
        self.lock = lock
        log = FrameLog(store, lock: lock)
    }

    /// Reads the log for the first time, and cuts what a crash left if this process may write.
    mutating func start(isDraft: Bool) throws(LogError) {
        guard let lock else {
            try reload(mayCut: false)
            return
        }
        try storing { () throws(StorageError) in
            try lock.acquire(waitSeconds: Limits.lockWaitSecondsMax)
        }
        defer { lock.release() }
        if !isDraft { try DirectoryFormat.makeDurable(in: store.directory) }
        try reload(mayCut: true)
        Reserve.restore(in: store.directory, size: store.sizes.reserve)
    }

    /// Leaves a mark of a clean stop.
    mutating func close() throws(LogError) {
        // A log that failed or is damaged has no clean stop, and says so already.
        guard log.stopped == nil, report.fault == nil else { return }
        try begin()
        defer { end() }
        try log.writeMark()
    }

    /// Notes that the frame lies on disk at `place`, and that its events are to be hashed.
    mutating func noteUnhashed(at place: FramePlace) {
        guard lastStaged != nil || !staged.isEmpty else { return }
        let others = staged.isEmpty ? [] : Array(staged.keys)
        store.hashes.follow(frame, at: place, lastStaged?.0, others: others)
    }

    /// Notes damage that reading the log alone does not show: nothing is written from now on.
    mutating func note(_ fault: Fault) {
        noted = fault
        report.fault = report.fault ?? fault
    }

    // MARK: The lock

    /// Takes the lock and takes up what other processes wrote meanwhile.
    mutating func begin() throws(LogError) {
        guard let lock else { throw .readOnly }
        if let fault = report.fault { throw .corrupt(fault) }
        try storing { () throws(StorageError) in
            try lock.acquire(waitSeconds: Limits.lockWaitSecondsMax)
        }
        do {
            // The lock alone does not tell: it was held last by this process as well if catching up
            // failed then.
            isBehind = isBehind || !lock.wasLastHolder
            if isBehind || isPartial || isDoubtful { try catchUp() }
            isBehind = false
        } catch {
            lock.release()
            throw error
        }
    }

    /// Gives up the lock; what was written before is on disk, or will be by the next writer.
    func end() { lock?.release() }

    private mutating func catchUp() throws(LogError) {
        forgetStaged()
        let note = try storing { () throws(StorageError) in try lock?.note ?? 0 }
        // A file without frames may have been begun anew by others, under another generation.
        if !isPartial, note == log.files.last?.number, try log.hasLast() {
            if try readOn(isDoubtful ? .writtenAgain : .synced) > 0 { homes.removeAll() }
            isDoubtful = false
        } else {
            try reload(mayCut: true)
        }
    }

    /// Takes up what other processes wrote, without the lock; true if there was something.
    mutating func refresh() throws(LogError) -> Bool {
        let hasNewFile = try log.hasNewFile()
        if isPartial || hasNewFile {
            try reload(mayCut: false)
            return true
        }
        guard try readOn(.synced) > 0 else { return false }
        isDoubtful = true
        homes.removeAll()
        return true
    }

    /// Takes up the frames that follow in the newest file; the count of them.
    private mutating func readOn(_ trust: FrameLog.Trust) throws(LogError) -> Int {
        let store = store
        let wasDoubtful = isDoubtful
        // Until it came to its end: a sync that failed must not be taken for done by the next one.
        isDoubtful = true
        // And a frame that was reached and not taken up must not be passed over.
        let wasPartial = isPartial
        isPartial = true
        let count = try log.readOn(trust) { (place, piece, group) throws(LogError) in
            try store.takeUp(piece, group, of: place)
        }
        (isDoubtful, isPartial) = (wasDoubtful, wasPartial)
        return count
    }

    // MARK: Reading the log

    /// Reads the whole log anew; what memory held of it is forgotten.
    mutating func reload(mayCut: Bool) throws(LogError) {
        isPartial = true
        forgetStaged()
        homes.removeAll()
        store.hashes.removeAll()
        store.files.removeAll()
        let found = try readAnew(mayCut: mayCut)
        report.fault = report.fault ?? noted
        store.index.withLock { $0 = found }
        recycle()
        isPartial = false
        isDoubtful = !mayCut
        if mayCut, let lock {
            try storing { () throws(StorageError) in
                try lock.setNote(log.files.last?.number ?? 0)
            }
        }
    }

    /// Reads all files.
    ///
    /// Without the lock others may put them to another use meanwhile, and what looks like damage
    /// then is none.
    private mutating func readAnew(mayCut: Bool) throws(LogError) -> LogIndex {
        let engine = store.engine
        var attemptCount = 1
        while true {
            var index = LogIndex()
            let isLast = mayCut || attemptCount == Self.readCountMax
            do throws(LogError) {
                report = try log.recover(mayCut: mayCut) { (place, piece, group) throws(LogError) in
                    try index.takeUp(piece, group, of: place, engine: engine)
                }
                if report.fault == nil || isLast { return index }
                if try !log.hasOtherFiles() { return index }
            } catch {
                if isLast { throw error }
                guard try log.hasOtherFiles() else { throw error }
            }
            attemptCount += 1
        }
    }

    private static let readCountMax = 8

    /// Marks the oldest files of which nothing is live as free for another use.
    mutating func recycle() {
        let live = store.index.withLock { $0.liveBytes }
        let count = log.files.dropLast().prefix { live[$0.number] == 0 }.count
        log.recycle(count)
    }
}

extension LogIndex {
    /// Takes up the records of one frame.
    ///
    /// `bytes` are those of its file from `place` on, or all.
    mutating func takeUp(
        _ bytes: Span<UInt8>,
        _ body: Range<Int>,
        of place: FramePlace,
        engine: EngineReader
    ) throws(LogError) {
        note(place)
        // Where the file's byte that `bytes` counts as its first one lies.
        let origin = place.offset + FrameHeader.size - body.lowerBound
        var offset = body.lowerBound
        while offset < body.upperBound {
            guard let record = Record.read(bytes, at: offset, end: body.upperBound) else {
                throw .corrupt(fault(place, offset + origin, "a record does not verify"))
            }
            do throws(FormatError) {
                guard try takeUp(record, bytes, of: place, origin: origin, engine) else {
                    throw FormatError.malformed(.row, at: record.content.lowerBound)
                }
            } catch {
                throw .corrupt(fault(place, offset + origin, error.message))
            }
            offset = record.content.upperBound
        }
    }

    /// Takes up frames of a piece, the first of which lies at `place`.
    mutating func takeUp(
        _ piece: FramePiece,
        _ group: FrameGroup,
        of place: FramePlace,
        engine: EngineReader
    ) throws(LogError) {
        guard let rows = group.rows else {
            return try takeUp(piece.bytes.span, group.body, of: place, engine: engine)
        }
        note(place)
        apply(rows, piece.runs(of: rows))
    }

    /// Takes up plain rows of a frame.
    mutating func takeUp(_ own: OwnRows, of place: FramePlace) {
        note(place)
        let block = BlockPlace(
            file: place.file,
            offset: place.offset + own.offset,
            size: own.size
        )
        apply(own.rows, of: own.space, at: block)
    }

    /// Takes up one record; false if its content is not what its kind demands.
    private mutating func takeUp(
        _ record: Record,
        _ bytes: Span<UInt8>,
        of place: FramePlace,
        origin: Int,
        _ engine: EngineReader
    ) throws(FormatError) -> Bool {
        let content = bytes.extracting(record.content)
        switch record.kind {
        case .rows:
            let summary = try BlockSummary.parse(content, verifyChecksum: false)
            let facts = try engine.facts(in: content, summary)
            try apply(
                content,
                summary,
                of: record.space,
                at: BlockPlace(
                    file: place.file,
                    offset: record.content.lowerBound + origin,
                    size: record.content.count
                ),
                facts: facts
            )
        case .seed:
            var reader = ByteReader(content.raw)
            guard let replica = ReplicaID(rawValue: try reader.next(UInt64.self)) else {
                return false
            }
            let group = try reader.next(UInt64.self)
            apply(
                SaltSeed(replica: replica, group: group, root: try Salt(&reader)),
                of: record.space,
                file: place.file
            )
        case .promotion:
            guard let runs = PromotedRun.read(content) else { return false }
            apply(runs, of: record.space)
        case .state:
            guard let state = SpaceState(content) else { return false }
            apply(state, of: record.space, file: place.file, size: record.size)
        case .sealed:
            guard let rows = SealedRows(content) else { return false }
            apply(rows, of: record.space, file: place.file)
        case .dropped:
            guard record.content.isEmpty else { return false }
            drop(record.space)
        }
        return true
    }

    private func fault(_ place: FramePlace, _ offset: Int, _ what: String) -> Fault {
        Fault(file: LogPaths.logFile(place.file), offset: offset, what: what)
    }
}
