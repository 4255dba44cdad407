import DiarioCore
import DiarioFormat
import Synchronization

extension Writer {
    /// Gives pending events the positions that the authority gave them; durable when it returns.
    ///
    /// The runs start at the position after the head and follow each other without gaps; each is
    /// the first part of its replica's lane that is still pending (W5).
    mutating func promote(_ runs: [PromotedRun], in id: SpaceID) throws(LogError) {
        try begin()
        defer { end() }
        try syncPrevious()
        let home = try writableHome(id)
        guard home.manifest.authority == nil else { throw .isAuthority(id) }
        try check(runs, in: id)
        beginFrame()
        Record.append(.promotion, id, to: &frame) { PromotedRun.append(runs, to: &$0) }
        recordCount += 1
        try finishFrame(isSynced: true)
        _ = try store.hashes.range(of: id, in: store)
        let space = store.index.withLock { $0[id] }
        let step = UInt64(store.sizes.segmentCount)
        guard space.head >= space.released + step else { return }
        store.sealing.note(id, mark: space.sealMark, step: step)
    }

    private func check(_ runs: [PromotedRun], in id: SpaceID) throws(LogError) {
        let space = store.index.withLock { $0[id] }
        var head = space.head
        var acceptedAt = space.acceptedAt
        var lanes = space.lanes
        for run in runs {
            guard run.isValid else {
                throw .outOfOrder(what: "a run of \(run.count) events is none")
            }
            guard run.firstPosition == head + 1 else {
                throw .outOfOrder(what: "position \(head + 1) comes next, not \(run.firstPosition)")
            }
            guard run.acceptedAt.milliseconds >= acceptedAt else {
                throw .outOfOrder(what: "acceptedAt goes back at position \(run.firstPosition)")
            }
            let last = run.firstSequence + run.count - 1
            var found: UInt64 = 0
            var isFirst = false
            if let lane = lanes.firstIndex(where: { $0.replica == run.replica }) {
                isFirst = lanes[lane].runs.runs.first?.first == run.firstSequence
                lanes[lane].runs.remove(from: run.firstSequence, through: last) {
                    found += UInt64($0.count)
                }
            }
            guard isFirst, found == run.count else {
                throw .outOfOrder(
                    what: "\(run.replica.text)-\(run.firstSequence) and the \(run.count - 1) "
                        + "events after it are not what is pending first"
                )
            }
            head += run.count
            acceptedAt = run.acceptedAt.milliseconds
        }
    }
}
