package import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioStorage
import Synchronization

/// What sealing a space did.
package struct SealReport: Equatable, Sendable {
    /// Segments that were written.
    package var segmentCount = 0
    /// Events in them; those that were in a segment before count too.
    package var eventCount: UInt64 = 0
    /// Bytes of their files.
    package var byteCount = 0
    /// Segments in whose place they are.
    package var replacedCount = 0
    /// The last position that is in a segment.
    package var sealedEnd: UInt64 = 0
    /// Pending events that are in private segments.
    package var sealedPending = 0

    mutating func add(_ entries: [SegmentEntry], replacing replacedCount: Int) {
        segmentCount += entries.count
        self.replacedCount += replacedCount
        for entry in entries {
            eventCount += UInt64(entry.count)
            byteCount += entry.fileSize
        }
    }
}

// Everything is written and durable before something refers to it: the files, then the manifest,
// then the tiles, and at last the state that lets go of the rows in the write-ahead log. A crash
// leaves files that nobody names, or rows that are in both places; the next one who seals mends
// that.

/// Puts canonical events of a space into segments: complete runs, and segments that make up a
/// larger one; and pending ones in the same way into private segments.
///
/// Holds the space's lock of sealing for as long as it is there, and the directory's only for
/// moments. Between two steps every event is where it was, or in a segment that is durable; a
/// segment that is being made then is forgotten with the machine.
// Usable from inline, or other modules do not find its `deinit` in Embedded Swift (6.3.1).
@usableFromInline package struct LogSeal: ~Copyable {
    let store: LogStore
    let space: SpaceID
    let extent: SealExtent
    private let lock: any DirectoryLock
    var manifest: Manifest
    /// What was done so far.
    package internal(set) var report = SealReport()
    private var stage = Stage.positions
    private var writing: Writing?
    private var releasing: Releasing?
    var lanes = Lanes()

    private enum Stage {
        case positions
        case lanes
        case done
    }

    /// Segments that are being made.
    private struct Writing: ~Copyable {
        let plan: SealPlan
        var files: SegmentFiles
        var cursor: LogCursor
        var next: UInt64
    }

    /// Positions of segments that are let go of in the write-ahead log.
    private struct Releasing: ~Copyable {
        let end: UInt64
        var tiles: TileExtension?
    }

    /// Leaves of a step while tiles are made.
    private static var leafCount: UInt64 { 1024 }
    /// Bytes of rows that a leaf stands for in a budget: they are read, and hashed.
    private static var leafSize: Int { 64 }

    /// With `all`, also what fills no run yet, in a short segment that a later one replaces.
    ///
    /// - Throws: `.sealing` if another process is at it for longer than `waitSeconds`.
    package init(
        _ store: LogStore,
        _ space: SpaceID,
        all: Bool,
        waitSeconds: Int = 0
    ) throws(LogError) {
        try self.init(store, space, all ? .all : .complete, waitSeconds: waitSeconds)
    }

    init(
        _ store: LogStore,
        _ space: SpaceID,
        _ extent: SealExtent,
        waitSeconds: Int = 0
    ) throws(LogError) {
        guard store.access == .readWrite else { throw .readOnly }
        let directory = store.shared.directory
        _ = try SpaceHome.readManifest(space, in: directory)
        let lock = try storing { () throws(StorageError) in
            try directory.lock(LogPaths.sealingLock(space))
        }
        do throws(StorageError) {
            if waitSeconds > 0 {
                try lock.acquire(waitSeconds: waitSeconds)
            } else if try !Files.tryAcquire(lock) {
                throw StorageError.locked(LogPaths.sealingLock(space), owner: nil)
            }
        } catch {
            if case .locked = error { throw .sealing(space) }
            throw .storage(error)
        }
        do throws(LogError) {
            try store.catchUp()
            manifest = try Self.tidySegments(store, space)
        } catch {
            lock.release()
            throw error
        }
        self.lock = lock
        self.store = store
        self.space = space
        self.extent = extent
    }

    deinit { lock.release() }

    /// Removes files that a crash left, and those that were replaced long ago.
    ///
    /// The caller holds the space's sealing lock, so nobody else is writing such files.
    private static func tidySegments(
        _ store: LogStore,
        _ space: SpaceID
    ) throws(LogError) -> Manifest {
        let (now, sizes) = (store.now, store.shared.sizes)
        let manifest = try store.withWriter { (writer) throws(LogError) in
            try writer.changeManifest(of: space) { (manifest) throws(LogError) in
                // A clock that was turned back keeps nothing for ever.
                manifest.retired.removeAll { entry in
                    let age = now.milliseconds &- entry.since.milliseconds
                    return age.magnitude >= UInt64(sizes.retirementMilliseconds)
                }
            }
        }
        let named =
            (manifest.segments + manifest.lanes).map { $0.name } + manifest.retired.map { $0.name }
        let paths = Set(
            named.flatMap { [LogPaths.segment($0, of: space), LogPaths.sidecar($0, of: space)] }
        )
        let folder = LogPaths.segments(space)
        let directory = store.shared.directory
        try storing { () throws(StorageError) in
            guard try directory.exists(folder) else { return }
            var isChanged = false
            for name in try directory.list(folder) where !paths.contains(folder + "/" + name) {
                try directory.remove(folder + "/" + name)
                isChanged = true
            }
            if isChanged { try directory.syncDirectory(folder) }
        }
        return manifest
    }

    /// Goes on by about so many bytes of rows, or to the end of one segment; false once all is
    /// done.
    ///
    /// - Throws: `.noSchema` if a type's schema is missing.
    package mutating func step(_ budget: Int) throws(LogError) -> Bool {
        try spend(budget) { () throws(LogError) in
            if let releasing = releasing.take() { return try release(releasing) }
            switch stage {
            case .positions: return try sealPositions()
            case .lanes:
                if let size = try sealLanes() { return size }
                stage = .done
                report.sealedEnd = manifest.segments.last?.last ?? 0
                return nil
            case .done: return nil
            }
        }
    }

    private mutating func sealPositions() throws(LogError) -> Int {
        guard var current = writing.take() else {
            guard let plan = try nextPlan() else {
                try endPositions()
                return 0
            }
            try store.goOnSealing()
            // Segment, sidecar, and the manifest before it takes the place of the old one.
            let directory = store.shared.directory
            try storing { () throws(StorageError) in try directory.prepare(files: 3) }
            writing = Writing(
                plan: plan,
                files: SegmentFiles(
                    store.shared,
                    space,
                    expected: plan.positions.count,
                    plan.isShort ? extent : .complete
                ),
                cursor: try store.cursor(space, positions: plan.positions, .canonical),
                next: plan.positions.lowerBound
            )
            return 0
        }
        if let events = try current.cursor.next(), events.rows.first?.position == current.next {
            try current.files.append(events)
            current.next += UInt64(events.rows.count)
            writing = consume current
            return events.bytes.count
        }
        guard current.next == current.plan.positions.upperBound + 1 else {
            throw .corrupt(
                Fault(
                    file: FramePaths.folder,
                    offset: 0,
                    what: "position \(current.next) of space \(space.text) is missing"
                )
            )
        }
        try current.files.finish()
        let entries = current.files.entries
        try end(current.plan, entries)
        return entries.reduce(0) { $0 + $1.fileSize }
    }

    /// Lets segments that were written take their place.
    private mutating func end(
        _ plan: SealPlan,
        _ entries: [SegmentEntry]
    ) throws(LogError) {
        let (now, space) = (store.now, space)
        let replaced = Set(plan.replaced)
        let isSealedAgain = plan.positions.upperBound <= manifest.segments.last?.last ?? 0
        manifest = try store.withWriter { (writer) throws(LogError) in
            try writer.changeManifest(of: space) { (manifest) throws(LogError) in
                manifest.replace(replaced, with: entries, from: plan.positions, now: now)
            }
        }
        report.add(entries, replacing: replaced.count)
        // What does not get fewer would be put together for ever.
        if isSealedAgain, entries.count >= replaced.count { return try endPositions() }
        // Events may come as fast as this cuts them off.
        if extent == .tail, plan.isShort { return try endPositions() }
        // Not only at the end, which does not come while others write faster than this seals.
        try beginReleasing(countMin: store.shared.sizes.mergedCount)
    }

    private mutating func endPositions() throws(LogError) {
        let step = extent == .tail ? store.shared.sizes.segmentCount : 1
        try beginReleasing(countMin: 1, tilesMin: step)
        stage = .lanes
    }

    private func nextPlan() throws(LogError) -> SealPlan? {
        let (head, released) = store.shared.index.withLock { ($0[space].head, $0[space].released) }
        let first = try store.shared.firstReadable(space, released: released)
        let end = manifest.segments.last?.last ?? 0
        let isJoined = end == 0 || end >= released
        return SealPlan.next(
            isJoined ? manifest.segments : [],
            first: first,
            head: head,
            extent,
            store.shared.sizes
        )
    }

    /// Keeps the tiles of what is sealed, and lets go of it in the write-ahead log, if that is
    /// `countMin` events at least; tiles only if `tilesMin` are without.
    private mutating func beginReleasing(
        countMin: Int,
        tilesMin: Int = 1
    ) throws(LogError) {
        let released = store.shared.index.withLock { $0[space].released }
        guard let end = manifest.segments.last?.last, end >= released + UInt64(countMin) else {
            return
        }
        let size = try store[space].proofs.tileSize()
        // Where positions were released that no segment holds, tiles cannot be made any more.
        let first = try store.shared.firstReadable(space, released: released)
        let needsTiles = size + 1 >= first && end >= size + UInt64(tilesMin)
        releasing = Releasing(
            end: end,
            tiles: needsTiles ? try TileExtension(store[space].proofs, to: end) : nil
        )
    }

    /// Makes some of the tiles, and then lets go of what has them.
    private mutating func release(_ current: consuming Releasing) throws(LogError) -> Int {
        if var tiles = current.tiles.take() {
            let isMore = try tiles.step(Self.leafCount)
            releasing = Releasing(end: current.end, tiles: isMore ? consume tiles : nil)
        } else {
            try store[space].release(upTo: current.end)
        }
        return Int(Self.leafCount) * Self.leafSize
    }
}

extension LogStore {
    /// Seals a space by a machine that runs to its end, after which the segments are durable.
    package func seal(
        _ space: SpaceID,
        all: Bool,
        waitSeconds: Int = 0
    ) throws(LogError) -> SealReport {
        try seal(space, all ? .all : .complete, waitSeconds: waitSeconds)
    }

    func seal(
        _ space: SpaceID,
        _ extent: SealExtent,
        waitSeconds: Int = 0
    ) throws(LogError) -> SealReport {
        var seal = try LogSeal(self, space, extent, waitSeconds: waitSeconds)
        while try seal.step(Limits.stepSize) {}
        return seal.report
    }

    /// What reading sealed events has cost since the log was opened.
    package var segmentCounters: SegmentCounters { shared.segments.counters }
}

extension Manifest {
    /// Puts new segments in the place of others, and of what lies before a gap.
    fileprivate mutating func replace(
        _ old: Set<SegmentEntry>,
        with new: [SegmentEntry],
        from positions: ClosedRange<UInt64>,
        now: Timestamp
    ) {
        var kept = segments.filter { !old.contains($0) }
        var gone = segments.filter { old.contains($0) }
        if let last = kept.last(where: { $0.last < positions.lowerBound }),
            last.last + 1 != positions.lowerBound
        {
            // Released by hand meanwhile: what lies before cannot be read on from.
            gone += kept
            kept = []
        }
        retired += gone.map { RetiredSegment(name: $0.name, since: now) }
        segments = (kept + new).sorted { $0.first < $1.first }
    }
}
