import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioStorage
import Synchronization

// How the log stays bounded: what is kept elsewhere is released, what little is left of the oldest
// file is written again at the end, and the file is used anew.

extension Writer {
    mutating func append(_ rows: SealedRows, of id: SpaceID) {
        draft.append(.sealed, of: id) { rows.append(to: &$0) }
    }

    /// Writes down that there is a space without events; durable when it returns.
    mutating func beginSpace(_ id: SpaceID) throws(LogError) {
        // Somebody may have come so far already and died.
        guard store.index.withLock({ !$0[id].isKnown }) else { return }
        try writeState(of: id, CompactRange())
    }

    /// Writes a frame by which other processes notice that they have to read a space's files again.
    mutating func writeState(of id: SpaceID) throws(LogError) {
        try writeState(of: id, store.hashes.range(of: id, in: store))
    }

    /// Writes down what is known of a space whose hashes are computed up to its head, and up to
    /// where its positions are kept elsewhere from now on.
    mutating func writeState(
        of id: SpaceID,
        _ range: CompactRange,
        released: UInt64? = nil
    ) throws(LogError) {
        beginFrame()
        appendState(of: id, range, released: released)
        try finishFrame()
    }

    /// Says that a space is about to take the place of another one.
    ///
    /// Whoever comes next looks whether it has, before anything is recorded into the old one.
    mutating func beginReplacing(_ old: SpaceID, by new: SpaceID) throws(LogError) {
        let directory = store.directory
        _ = try writableHome(old)
        try storing { () throws(StorageError) in
            try Files.replace(
                LogPaths.successor(old),
                with: Array((new.text + "\n").utf8),
                in: directory
            )
        }
        try writeState(of: old)
        homes[old] = nil
        staged.removeAll()
    }

    /// Writes down that a space is not there any more.
    mutating func writeDropped(_ id: SpaceID) throws(LogError) {
        try writeFrame { $0.append(.dropped, of: id) { _ in } }
        homes[id] = nil
        lasting[id] = nil
        store.hashes.remove(id)
    }

    /// Forgets those of the spaces whose removal somebody did not come to the end of: of such rows
    /// nothing tells any more where they are.
    mutating func dropRemoved(_ spaces: Set<SpaceID>) throws(LogError) {
        let directory = store.directory
        for id in spaces.sorted() where try SpaceHome.isRemoved(id, in: directory) {
            // Or a power cut might bring the space back, without its events.
            try storing { () throws(StorageError) in
                try directory.syncDirectory(LogPaths.space(id))
            }
            try writeDropped(id)
        }
    }

    /// Frees the oldest files for another use; what is live in them is written again, as long as
    /// the log is too long for its worth.
    mutating func compact() throws(LogError) {
        frames.recycle()
        while frames.log.files.count > frames.log.spareCount + 1 {
            let length = frames.log.files.dropFirst(frames.log.spareCount).reduce(0) {
                $0 + $1.length
            }
            guard length > worthMax else { break }
            let file = frames.log.files[frames.log.spareCount].number
            try copyForward(file: file)
            let rest = store.index.withLock { $0.liveBytes[file] }
            precondition(rest == 0, "all that is live in a file is copied, or this never ends")
            frames.recycle()
        }
        frames.log.removeSpares(beyond: worthMax)
        // What is open of a removed file would still take its space.
        store.files.removeAll()
    }

    /// Bytes that the log may have for what it holds.
    private var worthMax: Int {
        max(store.sizes.quietMax, 2 * store.index.withLock { $0.liveBytesTotal })
    }

    private mutating func copyForward(file: UInt64) throws(LogError) {
        try dropRemoved(Set(store.index.withLock { $0.liveSpaces(in: file) }))
        let spaces = store.index.withLock { $0.liveSpaces(in: file) }
        beginFrame()
        for id in spaces {
            let space = store.index.withLock { $0[id] }
            // In order, so that the same log is written again in the same way.
            let seeds = space.seeds.filter { $0.value.file == file }
            for (key, entry) in seeds.sorted(by: { $0.key < $1.key }) {
                try makeRoom(SpaceIndex.seedSize)
                let seed = SaltSeed(replica: key.replica, group: key.group, root: entry.root)
                draft.append(seed, of: id)
            }
            if let state = space.state, state.file == file {
                let range = try store.hashes.range(of: id, in: store)
                try makeRoom(2 * state.size)
                appendState(of: id, range)
            }
            for run in space.canonical.runs where UInt64(run.file) == file {
                try copy(run, lane: nil, of: id)
            }
            for lane in space.lanes {
                for run in lane.runs.runs where UInt64(run.file) == file {
                    try copy(run, lane: lane, of: id)
                }
            }
        }
        try finishFrame()
    }

    /// Makes sure that the frame takes `size` more bytes; else it is written and another begun.
    mutating func makeRoom(_ size: Int) throws(LogError) {
        guard draft.bytes.count + size + Record.headerSize > store.sizes.frameMax else { return }
        try finishFrame()
        beginFrame()
    }

    /// Writes a block again as it is; false if some of its rows, or what it says of them, changed.
    private mutating func copyWhole(
        _ run: Run,
        lane: Lane?,
        of id: SpaceID
    ) throws(LogError) -> Bool {
        guard run.skip == 0, run.promotedAt == nil else { return false }
        let bytes = try store.block(of: run)
        do throws(FormatError) {
            let summary = try BlockSummary.parse(bytes.span, verifyChecksum: true)
            guard summary.eventCount == Int(run.count) else { return false }
        } catch {
            throw run.fault(error)
        }
        try makeRoom(Record.headerSize + bytes.count)
        draft.append(.rows, of: id) { $0.append(contentsOf: bytes) }
        return true
    }

    /// Writes the events of a run again, with their positions if they have any by now.
    private mutating func copy(_ run: Run, lane: Lane?, of id: SpaceID) throws(LogError) {
        if run.isSealed {
            try makeRoom(SealedRows.recordSize)
            let replica = store.index.withLock { $0[id].replica(of: run) }
            return append(SealedRows(run, by: replica, clock: lane?.clock), of: id)
        }
        if try copyWhole(run, lane: lane, of: id) { return }
        let bytes = try store.block(of: run)
        try makeRoom(bytes.count + store.sizes.frameMax / 16)
        let rows = Int(run.skip)..<Int(run.skip) + Int(run.count)
        do throws(FormatError) {
            let block = bytes.span
            let key = FrameDraft.BlockKey(
                space: id,
                isAuthority: try BlockSummary.parse(block, verifyChecksum: false).isAuthority,
                laneReplica: lane?.replica
            )
            try draft.append(
                rows,
                of: block,
                key,
                position: lane == nil ? run.first : nil,
                acceptedAt: run.promotedAt
            )
        } catch {
            throw run.fault(error)
        }
    }
}
