import DiarioCore
import DiarioFormat
import Synchronization

// A long lane is sealed too: schema/format/directory.md, section 8, steps 7 to 9. The files come
// first, then the manifest that lists them, and at last the records that release the rows in the
// log. A crash between leaves rows in both places, which the next one who seals releases.
extension LogStore {
    /// How often rows are looked for again that got positions while they were read.
    private static var attemptCountMax: Int { 4 }

    /// Puts pending events into private segments; the caller holds the space's sealing lock.
    func sealLanes(
        of space: SpaceID,
        all: Bool,
        _ manifest: inout Manifest,
        _ report: inout SealReport
    ) throws(LogError) {
        // What a crash left in both places.
        if !manifest.lanes.isEmpty { try releaseLanes(of: space) }
        for replica in lanes(of: space, manifest) {
            try sealLane(of: replica, in: space, all: all, &manifest, &report)
        }
        try retireLanes(of: space, &manifest)
        report.sealedPending = shared.index.withLock { $0[space].sealedPendingCount }
    }

    private func releaseLanes(of space: SpaceID) throws(LogError) {
        try withWriter { (writer) throws(LogError) in try writer.releaseLanes(of: space) }
    }

    /// The replicas that have a lane, or had one that is still needed.
    private func lanes(of space: SpaceID, _ manifest: Manifest) -> [ReplicaID] {
        let pending = shared.index.withLock { $0[space].lanes.map { $0.replica } }
        return pending + Set(manifest.lanes.compactMap { $0.replica }).subtracting(pending).sorted()
    }

    private func sealLane(
        of replica: ReplicaID,
        in space: SpaceID,
        all: Bool,
        _ manifest: inout Manifest,
        _ report: inout SealReport
    ) throws(LogError) {
        var attemptCount = 0
        while let plan = nextPlan(manifest, of: replica, in: space, all: all) {
            guard let entries = try write(plan, of: replica, in: space) else {
                attemptCount += 1
                guard attemptCount < Self.attemptCountMax else { return }
                continue
            }
            let (now, replaced) = (shared.time.now, Set(plan.replaced))
            let isSealedAgain = plan.replaced.last?.last == plan.sequences.upperBound
            manifest = try withWriter { (writer) throws(LogError) in
                try writer.changeSegments(of: space) { (manifest) throws(LogError) in
                    manifest.retireLanes(now: now) { replaced.contains($0) }
                    manifest.lanes = (manifest.lanes + entries).sorted(by: Manifest.areInOrder)
                }
            }
            report.add(entries, replacing: replaced.count)
            try releaseLanes(of: space)
            // What does not get fewer would be put together for ever.
            if isSealedAgain, entries.count >= replaced.count { return }
        }
    }

    private func nextPlan(
        _ manifest: Manifest,
        of replica: ReplicaID,
        in space: SpaceID,
        all: Bool
    ) -> LanePlan? {
        let index = shared.index.withLock { $0[space] }
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
            all: all || isEnded,
            shared.sizes
        )
    }

    /// Writes private segments; nil if some of the rows got positions before they were read.
    private func write(
        _ plan: LanePlan,
        of replica: ReplicaID,
        in space: SpaceID
    ) throws(LogError) -> [SegmentEntry]? {
        var files = SegmentFiles(shared, space, of: replica)
        var cursor = LogCursor(self, space, runs(plan, of: replica, in: space))
        var next = plan.sequences.lowerBound
        do throws(LogError) {
            while let events = try cursor.next() {
                guard events.rows.first?.row.sequence == next else { return nil }
                try files.append(events)
                next += UInt64(events.rows.count)
            }
        } catch {
            guard case .outOfOrder = error else { throw error }
            return nil
        }
        guard next == plan.sequences.upperBound + 1 else { return nil }
        try files.finish()
        return files.entries
    }

    /// Where the rows are that a plan names: those it replaces in their segments, whether they are
    /// pending still or not, and the others in the log.
    private func runs(
        _ plan: LanePlan,
        of replica: ReplicaID,
        in space: SpaceID
    ) -> [(ReplicaID, Run)] {
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
        let index = shared.index.withLock { $0[space] }
        var list = index.lanes.first { $0.replica == replica }?.runs ?? RunList()
        list.remove(from: next, through: plan.sequences.upperBound) { runs.append((replica, $0)) }
        return runs
    }

    /// Takes private segments off the list of which nothing is needed any more.
    private func retireLanes(of space: SpaceID, _ manifest: inout Manifest) throws(LogError) {
        let starts = shared.index.withLock { $0[space].sealedStarts }
        guard manifest.lanes.contains(where: { !$0.isNeeded(starts) }) else { return }
        let (shared, now) = (shared, shared.time.now)
        manifest = try withWriter { (writer) throws(LogError) in
            try writer.changeSegments(of: space) { (manifest) throws(LogError) in
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
