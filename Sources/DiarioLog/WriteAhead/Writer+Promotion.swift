import DiarioCore
import DiarioFormat
import Synchronization

extension Writer {
    /// Gives pending events the positions that the authority gave them; durable when it returns.
    ///
    /// The runs start at the position after the head and follow each other without gaps; each is
    /// the first part of its replica's lane that is still pending (F6).
    mutating func promote(_ runs: [PromotedRun], in id: SpaceID) throws(LogError) {
        try begin()
        defer { end() }
        let home = try writableHome(id)
        guard home.manifest.authority == nil else { throw .isAuthority(id) }
        var arrivals = Arrivals(store.index.withLock { $0[id] })
        try arrivals.take(runs)
        beginFrame()
        Record.append(.promotion, id, to: &frame) { PromotedRun.append(runs, to: &$0) }
        recordCount += 1
        try finishFrame()
        // They have their positions by now: if rows cannot be read to be hashed, whoever asks for
        // the root is told.
        _ = try? store.hashes.range(of: id, in: store)
        let space = store.index.withLock { $0[id] }
        let step = UInt64(store.sizes.segmentCount)
        guard space.head >= space.released + step else { return }
        store.sealing.note(id, mark: space.sealMark, step: step)
    }
}
