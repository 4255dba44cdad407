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
extension LogStore {
    /// Puts canonical events into segments: complete runs, and segments that make up a larger one;
    /// and pending ones in the same way into private segments.
    ///
    /// With `all`, also what fills no run yet, in a short segment that a later one replaces. Needs
    /// the directory's lock only for moments. When it returns, the segments are durable; when it
    /// throws, every event is where it was, or in a segment.
    ///
    /// - Throws: `.sealing` if another process is at it for longer than `waitSeconds`;
    ///   `.noSchema` if a type's schema is missing.
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
        guard access == .readWrite else { throw .readOnly }
        let directory = shared.directory
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
        defer { lock.release() }
        var report = SealReport()
        try catchUp()
        var manifest = try tidySegments(of: space)
        while let plan = try nextPlan(manifest.segments, of: space, extent) {
            try goOnSealing()
            let entries = try write(plan, of: space, extent)
            let now = shared.time.now
            let replaced = Set(plan.replaced)
            let isSealedAgain = plan.positions.upperBound <= manifest.segments.last?.last ?? 0
            manifest = try withWriter { (writer) throws(LogError) in
                try writer.changeSegments(of: space) { (manifest) throws(LogError) in
                    manifest.replace(
                        replaced,
                        with: entries,
                        from: plan.positions,
                        now: now
                    )
                }
            }
            report.add(entries, replacing: replaced.count)
            // What does not get fewer would be put together for ever.
            if isSealedAgain, entries.count >= replaced.count { break }
            // Not only at the end, which does not come while others write faster than this seals.
            try releaseSealed(manifest.segments, of: space, countMin: shared.sizes.mergedCount)
            // Events may come as fast as this cuts them off.
            if extent == .tail, plan.isShort { break }
        }
        let step = extent == .tail ? shared.sizes.segmentCount : 1
        try releaseSealed(manifest.segments, of: space, countMin: 1, tilesMin: step)
        try sealLanes(of: space, all: extent != .complete, &manifest, &report)
        report.sealedEnd = manifest.segments.last?.last ?? 0
        return report
    }

    private func nextPlan(
        _ segments: [SegmentEntry],
        of space: SpaceID,
        _ extent: SealExtent
    ) throws(LogError) -> SealPlan? {
        let (head, released) = shared.index.withLock { ($0[space].head, $0[space].released) }
        let first = try shared.firstReadable(space, released: released)
        let end = segments.last?.last ?? 0
        let isJoined = end == 0 || end >= released
        return SealPlan.next(
            isJoined ? segments : [],
            first: first,
            head: head,
            extent,
            shared.sizes
        )
    }

    private func write(
        _ plan: SealPlan,
        of space: SpaceID,
        _ extent: SealExtent
    ) throws(LogError) -> [SegmentEntry] {
        var files = SegmentFiles(
            shared,
            space,
            expected: plan.positions.count,
            plan.isShort ? extent : .complete
        )
        var cursor = try cursor(space, positions: plan.positions, .canonical)
        var next = plan.positions.lowerBound
        while let events = try cursor.next() {
            guard events.rows.first?.position == next else { break }
            try files.append(events)
            next += UInt64(events.rows.count)
        }
        guard next == plan.positions.upperBound + 1 else {
            throw .corrupt(
                Fault(
                    file: FramePaths.folder,
                    offset: 0,
                    what: "position \(next) of space \(space.text) is missing"
                )
            )
        }
        try files.finish()
        return files.entries
    }

    /// Keeps the tiles of what is sealed, and lets go of it in the write-ahead log, if that is
    /// `countMin` events at least; tiles only if `tilesMin` are without.
    private func releaseSealed(
        _ segments: [SegmentEntry],
        of space: SpaceID,
        countMin: Int,
        tilesMin: Int = 1
    ) throws(LogError) {
        let released = shared.index.withLock { $0[space].released }
        guard let end = segments.last?.last, end >= released + UInt64(countMin) else { return }
        let tiles = try TileStore(shared.directory, space: space)
        // Where positions were released that no segment holds, tiles cannot be made any more.
        let first = try shared.firstReadable(space, released: released)
        if tiles.size + 1 >= first, end >= tiles.size + UInt64(tilesMin) {
            try extendTiles(of: space, to: end)
        }
        try release(space, upTo: end)
    }

    /// Removes files that a crash left, and those that were replaced long ago.
    ///
    /// The caller holds the space's sealing lock, so nobody else is writing such files.
    private func tidySegments(of space: SpaceID) throws(LogError) -> Manifest {
        let (now, sizes) = (shared.time.now, shared.sizes)
        let manifest = try withWriter { (writer) throws(LogError) in
            try writer.changeSegments(of: space) { (manifest) throws(LogError) in
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
        let directory = shared.directory
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

    // MARK: What there is

    /// The sealed segments of a space, in order of position.
    package func segments(of space: SpaceID) throws(LogError) -> [SegmentEntry] {
        try shared.segments.readLists(of: space, in: shared.directory).segments
    }

    /// The private segments of a space, in order of replica and of sequence.
    package func laneSegments(of space: SpaceID) throws(LogError) -> [SegmentEntry] {
        try shared.segments.readLists(of: space, in: shared.directory).lanes
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
