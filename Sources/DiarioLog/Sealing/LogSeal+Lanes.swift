import DiarioCore
import DiarioFormat
import Synchronization

// A long lane is sealed too: schema/format/directory.md, section 8, steps 7 to 9. The files come
// first, then the manifest that lists them, and at last the records that release the rows in the
// log. A crash between leaves rows in both places, which the next one who seals releases.
extension LogSeal {
    /// How far the lanes of a space are.
    struct Lanes: ~Copyable {
        /// The replicas whose lanes are still to be looked at, the next one last; nil before the
        /// first step.
        fileprivate var rest: [ReplicaID]?
        /// How often rows of the lane at hand were looked for that got positions meanwhile.
        fileprivate var attemptCount = 0
        fileprivate var writing: LaneWriting?
    }

    /// Private segments that are being made.
    fileprivate struct LaneWriting: ~Copyable {
        let plan: LanePlan
        var files: SegmentFiles
        var cursor: LogCursor
        var next: UInt64
    }

    /// How often rows are looked for again that got positions while they were read.
    private static var attemptCountMax: Int { 4 }

    /// Goes on putting pending events into private segments; gives how many bytes of them, nil at
    /// the end.
    mutating func sealLanes() throws(LogError) -> Int? {
        guard let replica = lanes.rest?.last else {
            guard lanes.rest == nil else {
                try retireLanes()
                report.sealedPending = store.shared.index.withLock {
                    $0[space].sealedPendingCount
                }
                return nil
            }
            // What a crash left in both places.
            if !manifest.lanes.isEmpty { try releaseLanes() }
            lanes.rest = replicas.reversed()
            return 0
        }
        guard let writing = lanes.writing.take() else {
            guard let plan = nextPlan(of: replica) else {
                leaveLane()
                return 0
            }
            lanes.writing = LaneWriting(
                plan: plan,
                files: SegmentFiles(store.shared, space, of: replica),
                cursor: LogCursor(store, space, runs(plan, of: replica)),
                next: plan.sequences.lowerBound
            )
            return 0
        }
        return try write(writing)
    }

    private mutating func leaveLane() {
        lanes.rest?.removeLast()
        lanes.attemptCount = 0
    }

    /// Lets go of pending rows in the log that private segments of the manifest hold: what readers
    /// see of them from now on is there.
    private func releaseLanes() throws(LogError) {
        let (shared, space) = (store.shared, space)
        try store.withWriter { (writer) throws(LogError) in
            let listed = try writer.lastingManifest(of: space).lanes
            let rows = shared.index.withLock { $0[space].unsealed(in: listed) }
            guard !rows.isEmpty else { return }
            let range = try shared.hashes.range(of: space, in: shared)
            writer.beginFrame()
            // First, because the rows will not tell any more what the highest clock is.
            writer.appendState(of: space, range)
            for rows in rows {
                try writer.makeRoom(SealedRows.recordSize)
                writer.append(rows, of: space)
            }
            try writer.finishFrame()
            try writer.compact()
        }
    }

    /// The replicas that have a lane, or had one that is still needed.
    private var replicas: [ReplicaID] {
        let pending = store.shared.index.withLock { $0[space].lanes.map { $0.replica } }
        return pending + Set(manifest.lanes.compactMap { $0.replica }).subtracting(pending).sorted()
    }

    /// Takes the next rows of a plan, or ends it.
    private mutating func write(_ current: consuming LaneWriting) throws(LogError) -> Int {
        let events: StoredEvents?
        do throws(LogError) { events = try current.cursor.next() } catch {
            guard case .outOfOrder = error else { throw error }
            tryAgain()
            return 0
        }
        if let events {
            guard events.rows.first?.row.sequence == current.next else {
                tryAgain()
                return 0
            }
            do throws(LogError) { try current.files.append(events) } catch {
                guard case .outOfOrder = error else { throw error }
                tryAgain()
                return 0
            }
            current.next += UInt64(events.rows.count)
            lanes.writing = consume current
            return events.bytes.count
        }
        guard current.next == current.plan.sequences.upperBound + 1 else {
            tryAgain()
            return 0
        }
        try current.files.finish()
        let entries = current.files.entries
        try end(current.plan, entries)
        return entries.reduce(0) { $0 + $1.fileSize }
    }

    /// Some of the rows got positions before they were read.
    private mutating func tryAgain() {
        lanes.attemptCount += 1
        if lanes.attemptCount >= Self.attemptCountMax { leaveLane() }
    }

    /// Lets private segments that were written take their place.
    private mutating func end(
        _ plan: LanePlan,
        _ entries: [SegmentEntry]
    ) throws(LogError) {
        let (now, space, replaced) = (store.now, space, Set(plan.replaced))
        let isSealedAgain = plan.replaced.last?.last == plan.sequences.upperBound
        manifest = try store.withWriter { (writer) throws(LogError) in
            try writer.changeManifest(of: space) { (manifest) throws(LogError) in
                manifest.retireLanes(now: now) { replaced.contains($0) }
                manifest.lanes = (manifest.lanes + entries).sorted(by: Manifest.areInOrder)
            }
        }
        report.add(entries, replacing: replaced.count)
        try releaseLanes()
        // What does not get fewer would be put together for ever.
        if isSealedAgain, entries.count >= replaced.count { leaveLane() }
    }

    private func nextPlan(of replica: ReplicaID) -> LanePlan? {
        let index = store.shared.index.withLock { $0[space] }
        let lane = index.lanes.first { $0.replica == replica }
        let stretches = lane?.unsealed(within: 1...LogNumber.max) ?? []
        // What ends at a gap, as salvage may leave one, does not grow any more.
        let isEnded = stretches.count > 1
        return LanePlan.next(
            LanePlan.Lane(
                segments: manifest.lanes.filter { $0.replica == replica },
                start: index.sealedStarts[replica],
                unsealed: stretches.first
            ),
            all: extent != .complete || isEnded,
            store.shared.sizes
        )
    }

    /// Where the rows are that a plan names: those it replaces in their segments, whether they are
    /// pending still or not, and the others in the log.
    private func runs(_ plan: LanePlan, of replica: ReplicaID) -> [(ReplicaID, Run)] {
        var runs: [(ReplicaID, Run)] = []
        var next = plan.sequences.lowerBound
        for entry in plan.replaced {
            let run = Run(
                sealed: 1,
                first: next,
                count: UInt32(entry.last - next + 1),
                firstSequence: next,
                file: 0,
                promotedAt: nil
            )
            runs.append((replica, run))
            next = entry.last + 1
        }
        guard next <= plan.sequences.upperBound else { return runs }
        let index = store.shared.index.withLock { $0[space] }
        return runs + index.pendingRuns(of: replica, next...plan.sequences.upperBound)
    }

    /// Takes private segments off the list of which nothing is needed any more.
    private mutating func retireLanes() throws(LogError) {
        let (shared, space, now) = (store.shared, space, store.now)
        let starts = shared.index.withLock { $0[space].sealedStarts }
        guard manifest.lanes.contains(where: { !$0.isNeeded(starts) }) else { return }
        manifest = try store.withWriter { (writer) throws(LogError) in
            try writer.changeManifest(of: space) { (manifest) throws(LogError) in
                // Asked again, now that nobody else writes.
                let starts = shared.index.withLock { $0[space].sealedStarts }
                manifest.retireLanes(now: now) { !$0.isNeeded(starts) }
            }
        }
    }
}

extension SegmentEntry {
    /// Whether some sealed rows of the log are in this private segment.
    fileprivate func isNeeded(_ starts: [ReplicaID: UInt64]) -> Bool {
        guard let replica, let start = starts[replica] else { return false }
        return start <= last
    }
}

extension Manifest {
    /// Whether one private segment stands before another one in the list.
    static func areInOrder(_ left: SegmentEntry, _ right: SegmentEntry) -> Bool {
        guard let first = left.replica, let second = right.replica else {
            preconditionFailure("a private segment has a replica")
        }
        return (first, left.first) < (second, right.first)
    }

    fileprivate mutating func retireLanes(now: Timestamp, _ isGone: (SegmentEntry) -> Bool) {
        let gone = lanes.filter(isGone)
        lanes.removeAll(where: isGone)
        retired += gone.map { RetiredSegment(name: $0.name, since: now) }
    }
}
