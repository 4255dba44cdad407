import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioStorage
import Synchronization

// Hashes follow the events: schema/decisions/0001. They are computed after an append was
// acknowledged, and at the latest when somebody asks for the root or a state is written.

/// The hash state of spaces, as far as it was computed; at most up to their heads.
final class Hashes: Sendable {
    /// A frame that is on disk, with the spaces that have events in it.
    struct Frame: Sendable {
        let bytes: [UInt8]
        let place: FramePlace
        let spaces: [SpaceID]
    }

    private struct State: ~Copyable, Sendable {
        var ranges: [SpaceID: CompactRange] = [:]
        var hasher = EventHasher()
        /// Frames that are still in memory, so that they need not be read again.
        var frames: [Frame] = []
    }

    /// Held while hashes are computed, which may read files.
    private let state = Mutex(State())
    /// Frames that wait for the thread.
    private struct Queue: Sendable {
        var frames: [Frame] = []
        var size = 0
    }

    private let queue = Mutex(Queue())

    /// So many bytes are gathered before the thread is woken, which costs as much as hashing some
    /// hundred of them.
    private static let wakeSizeMin = 64 * 1024
    /// Who finds as many bytes waiting helps with them, so that memory stays bounded.
    private static let queueSizeMax = 8 * 1024 * 1024

    /// Notes that events of a frame are to be hashed: now, or soon by the thread if there is one.
    ///
    /// They are acknowledged already, so a failure is left to whoever asks for the hashes.
    func follow(_ frame: Frame, in store: LogShared, _ thread: CalledThread?) {
        guard let thread else {
            hash([frame], in: store)
            return
        }
        let size = queue.withLock { queue in
            queue.frames.append(frame)
            queue.size += frame.bytes.count
            return queue.size
        }
        if size >= Self.queueSizeMax {
            hashQueue(in: store)
        } else if size >= Self.wakeSizeMin {
            thread.call()
        }
    }

    /// Hashes the frames that wait.
    func hashQueue(in store: LogShared) {
        let frames = queue.withLock { queue in
            defer { queue = Queue() }
            return queue.frames
        }
        if !frames.isEmpty { hash(frames, in: store) }
    }

    /// The hash state of all canonical events of a space.
    func range(of space: SpaceID, in store: LogShared) throws(LogError) -> CompactRange {
        hashQueue(in: store)
        var result: Result<CompactRange, LogError> = .success(CompactRange())
        state.withLock { state in
            do throws(LogError) {
                result = .success(try Self.hash(space, in: store, &state))
            } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }

    func root(of space: SpaceID, in store: LogShared) throws(LogError) -> Hash32 {
        let range = try range(of: space, in: store)
        return state.withLock { state in range.root(&state.hasher) }
    }

    func remove(_ space: SpaceID) { state.withLock { $0.ranges[space] = nil } }

    func removeAll() { state.withLock { $0.ranges.removeAll() } }

    private func hash(_ frames: [Frame], in store: LogShared) {
        state.withLock { state in
            state.frames = frames
            for frame in frames {
                for space in frame.spaces { _ = try? Self.hash(space, in: store, &state) }
            }
            state.frames = []
        }
    }

    private static func hash(
        _ id: SpaceID,
        in store: LogShared,
        _ state: inout State
    ) throws(LogError) -> CompactRange {
        let known = state.ranges.removeValue(forKey: id)
        let (stated, head, runs) = store.index.withLock { index in
            let space = index[id]
            let stated = space.state?.range ?? CompactRange()
            let start = max(known?.size ?? 0, stated.size)
            let first = space.canonical.firstIndex(endingFrom: start + 1)
            return (stated, space.head, Array(space.canonical.runs[first...]))
        }
        // Another process may have come further, and released the events up to there.
        var range = known.map { $0.size >= stated.size ? $0 : stated } ?? stated
        var seeds = Seeds(store: store, space: id)
        for run in runs {
            let (bytes, block) = try bytes(of: run, in: store, state.frames)
            do throws(FormatError) {
                let block = bytes.span.extracting(block)
                try state.hasher.append(block, run, seeds: &seeds, to: &range)
            } catch {
                throw run.fault(error)
            }
        }
        guard range.size == head else {
            throw .corrupt(
                Fault(
                    file: LogPaths.log,
                    offset: 0,
                    what: "position \(range.size + 1) of space \(id.text) is missing"
                )
            )
        }
        state.ranges[id] = range
        return range
    }

    /// The block of a run, and where it lies in the bytes: in a frame if it is in memory still.
    private static func bytes(
        of run: Run,
        in store: LogShared,
        _ frames: [Frame]
    ) throws(LogError) -> ([UInt8], Range<Int>) {
        for frame in frames where frame.place.file == UInt64(run.file) {
            let offset = Int(run.offset) - frame.place.offset
            if offset >= 0, offset < frame.bytes.count {
                return (frame.bytes, offset..<offset + Int(run.blockSize))
            }
        }
        let bytes = try store.block(of: run)
        return (bytes, 0..<bytes.count)
    }
}

extension LogShared {
    /// The block that a run lies in.
    func block(of run: Run) throws(LogError) -> [UInt8] {
        var bytes: [UInt8] = []
        let isThere = try storing { () throws(StorageError) in
            try read(
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
        return bytes
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
