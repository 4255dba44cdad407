import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioStorage
import Synchronization

// Hashes follow the events: they are computed after an append was acknowledged, while others gather
// for the next one, and at the latest when somebody asks for the root or a state is written.

extension Writer {
    /// Brings the hash state of each space that the last frame touched up to its head.
    ///
    /// The events are acknowledged already, so a failure is left to whoever asks for the hashes.
    mutating func hashRecent() {
        guard recent != nil else { return }
        if let (id, _) = lastStaged { try? hash(id) }
        for id in staged.keys { try? hash(id) }
    }

    /// The hash state of all canonical events of a space.
    mutating func range(of id: SpaceID) throws(LogError) -> CompactRange {
        try hash(id)
        return ranges[id] ?? CompactRange()
    }

    mutating func hash(_ id: SpaceID) throws(LogError) {
        let known = ranges[id]
        let (state, head, runs) = store.index.withLock { index in
            let space = index[id]
            let start = known?.size ?? space.state?.range.size ?? 0
            let first = space.canonical.firstIndex(endingFrom: start + 1)
            return (space.state?.range, space.head, Array(space.canonical.runs[first...]))
        }
        var range = known ?? state ?? CompactRange()
        var seeds = Seeds(store: store, space: id)
        for run in runs { try hash(run, seeds: &seeds, into: &range) }
        guard range.size == head else {
            throw .corrupt(
                Fault(
                    file: LogPaths.log,
                    offset: 0,
                    what: "position \(range.size + 1) of space \(id.text) is missing"
                )
            )
        }
        ranges[id] = range
    }

    /// Appends the leaves of a run, as far as the range does not have them.
    private mutating func hash(
        _ run: Run,
        seeds: inout Seeds,
        into range: inout CompactRange
    ) throws(LogError) {
        let (bytes, block) = try bytes(of: run)
        do throws(FormatError) {
            try hasher.append(bytes.span.extracting(block), run, seeds: &seeds, to: &range)
        } catch {
            throw run.fault(error)
        }
    }

    /// The block of a run, and where it lies in the bytes: in the last frame if it is there still.
    mutating func bytes(of run: Run) throws(LogError) -> ([UInt8], Range<Int>) {
        if let recent, recent.file == UInt64(run.file) {
            let offset = Int(run.offset) - recent.offset
            if offset >= 0, offset < frame.count {
                return (frame, offset..<offset + Int(run.blockSize))
            }
        }
        var bytes: [UInt8] = []
        let isThere = try storing { () throws(StorageError) in
            try store.read(
                at: Int(run.offset),
                count: Int(run.blockSize),
                of: UInt64(run.file),
                into: &bytes
            )
        }
        // Only without the lock, and then a refresh tells where the events are by now.
        guard isThere else { throw run.fault(.truncated(at: 0)) }
        guard bytes.count == Int(run.blockSize) else {
            throw run.fault(.truncated(at: bytes.count))
        }
        return (bytes, 0..<bytes.count)
    }
}

/// Looks up the seeds of a space, and remembers the last one.
struct Seeds {
    let store: LogShared
    let space: SpaceID
    private var last: SaltSeed?

    init(store: LogShared, space: SpaceID) {
        self.store = store
        self.space = space
    }

    mutating func seed(of replica: ReplicaID, sequence: UInt64) -> SaltSeed? {
        let group = SaltSeed.group(of: sequence)
        if let last, last.replica == replica, last.group == group { return last }
        let key = SpaceIndex.SeedKey(replica: replica, group: group)
        last = store.index.withLock { $0.seed(key, in: space) }.map {
            SaltSeed(replica: replica, group: group, root: $0)
        }
        return last
    }
}
