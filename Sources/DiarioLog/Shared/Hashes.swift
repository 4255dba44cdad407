import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioFrames
import DiarioStorage
import Synchronization

// Hashes follow the events: schema/decisions/0001. They are computed after an append was
// acknowledged, and at the latest when the root is requested or a state is written.

/// The hash state of spaces, as far as it was computed; at most up to their heads.
final class Hashes: Sendable {
    /// Frames that are on disk and in memory still, in the order of their places.
    fileprivate struct Frames: Sendable {
        /// The bytes of the small ones, one after the other: most are so small that a piece of
        /// memory for each would cost more than its bytes.
        var small: [UInt8] = []
        var entries: [Entry] = []
        var size = 0

        struct Entry: Sendable {
            let place: FramePlace
            let size: Int
            /// Its offset in `small`; nil if it has its own bytes.
            let start: Int?
            let bytes: [UInt8]
            /// The space that has events in it, and the others that do.
            let space: SpaceID?
            let others: [SpaceID]
        }
    }

    private struct State: ~Copyable, Sendable {
        var ranges: [SpaceID: CompactRange] = [:]
        var hasher = EventHasher()
        /// Frames that need not be read again.
        var frames = Frames()
    }

    /// Held while hashes are computed, which may read files.
    private let state = Mutex(State())
    /// Frames that wait to be hashed.
    private let queue = Mutex(Frames())
    /// The bytes of the frames that wait.
    private let queuedSize = Atomic(0)

    fileprivate static let smallSizeMax = 16 * 1024
    /// So many bytes of frames keep the memory that they had.
    fileprivate static let keptSizeMax = 1024 * 1024
    /// So many bytes are gathered before the thread is woken.
    ///
    /// Waking it costs who appends as much as hashing some ten events would. Not more, so that it
    /// is done by the end of the sync.
    private static let dueSizeMin = 8 * 1024
    /// A caller that finds as many bytes waiting helps to hash them, so that memory stays bounded.
    private static let queueSizeMax = 8 * 1024 * 1024

    /// Notes that events of a frame are to be hashed.
    ///
    /// They are acknowledged already, so a failure shows only to callers that need the hashes.
    func follow(_ frame: [UInt8], at place: FramePlace, _ space: SpaceID?, others: [SpaceID]) {
        queue.withLock { $0.add(frame, at: place, space, others: others) }
        queuedSize.add(frame.count, ordering: .relaxed)
    }

    /// True if enough waits for the thread to be called.
    var isDue: Bool { queuedSize.load(ordering: .relaxed) >= Self.dueSizeMin }

    /// True if so much waits that the thread alone does not keep up.
    var isOverdue: Bool { queuedSize.load(ordering: .relaxed) >= Self.queueSizeMax }

    /// Hashes the frames that wait.
    func hashQueue(in store: LogShared) {
        guard queue.withLock({ !$0.entries.isEmpty }) else { return }
        state.withLock { state in
            // The two change places, and with them the memory that they have.
            queue.withLock { queue in swap(&queue, &state.frames) }
            let size = state.frames.size
            queuedSize.subtract(size, ordering: .relaxed)
            var last: SpaceID?
            for index in state.frames.entries.indices {
                let (space, others) = state.frames.spaces(of: index)
                for space in others { _ = try? Self.hash(space, in: store, &state) }
                guard let space, space != last else { continue }
                last = space
                _ = try? Self.hash(space, in: store, &state)
            }
            state.frames.removeAll()
        }
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

    /// Hashes canonical events of a space until `isOver`; false once all are hashed.
    func step(
        _ space: SpaceID,
        in store: LogShared,
        isOver: () -> Bool
    ) throws(LogError) -> Bool {
        var result: Result<Bool, LogError> = .success(false)
        state.withLock { state in
            do throws(LogError) {
                let range = try Self.hash(space, in: store, &state, isOver: isOver)
                result = .success(range.size < store.index.withLock { $0[space].head })
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

    private static func hash(
        _ id: SpaceID,
        in store: LogShared,
        _ state: inout State,
        isOver: () -> Bool = { false }
    ) throws(LogError) -> CompactRange {
        let known = state.ranges.removeValue(forKey: id)
        let due = store.index.withLock { $0.unhashed(of: id, behind: known?.size ?? 0) }
        // Another process may have come further, and released the events up to there.
        var range = known.map { $0.size >= due.stated.size ? $0 : due.stated } ?? due.stated
        var seeds = Seeds(store: store, space: id)
        for (run, writer) in due.runs {
            if let writer {
                var reader = SealedRunReader(store, id)
                repeat {
                    try append(run, by: writer, of: id, from: &reader, to: &range, &seeds, &state)
                } while range.size < run.last && !isOver()
            } else {
                let (bytes, block) = try bytes(of: run, in: store, state.frames)
                do throws(FormatError) {
                    let block = bytes.span.extracting(block)
                    try state.hasher.append(block, run, seeds: &seeds, to: &range)
                } catch {
                    throw run.fault(error)
                }
            }
            if range.size < due.head, range.size < run.last || isOver() {
                state.ranges[id] = range
                return range
            }
        }
        guard range.size == due.head else {
            throw .corrupt(
                Fault(
                    file: FramePaths.folder,
                    offset: 0,
                    what: "position \(range.size + 1) of space \(id.text) is missing"
                )
            )
        }
        state.ranges[id] = range
        return range
    }

    /// Appends the leaves of some promoted events that lie in private segments.
    private static func append(
        _ run: Run,
        by replica: ReplicaID,
        of space: SpaceID,
        from reader: inout SealedRunReader,
        to range: inout CompactRange,
        _ seeds: inout Seeds,
        _ state: inout State
    ) throws(LogError) {
        let wanted = max(run.first, range.size + 1)..<run.last + 1
        guard
            let piece = try reader.piece(of: run, by: replica, wanted, isPending: false),
            piece.covered.lowerBound == range.size + 1
        else {
            throw .corrupt(
                Fault(
                    file: LogPaths.manifest(space),
                    offset: 0,
                    what: "no private segment holds position \(range.size + 1)"
                )
            )
        }
        do throws(FormatError) {
            try state.hasher.append(piece.events, seeds: &seeds, to: &range)
        } catch {
            throw .format(error)
        }
    }

    /// The block of a run, and where it lies in the bytes: in a frame if it is in memory still.
    private static func bytes(
        of run: Run,
        in store: LogShared,
        _ frames: Frames
    ) throws(LogError) -> ([UInt8], Range<Int>) {
        if let found = frames.block(of: run) { return found }
        let bytes = try store.block(of: run)
        return (bytes, 0..<bytes.count)
    }
}

extension Hashes.Frames {
    /// The space that has events in a frame, and the others that do.
    func spaces(of index: Int) -> (SpaceID?, [SpaceID]) {
        (entries[index].space, entries[index].others)
    }

    /// Forgets all frames, and keeps the memory if it is not much.
    mutating func removeAll() {
        let keeps = size <= Hashes.keptSizeMax
        small.removeAll(keepingCapacity: keeps)
        entries.removeAll(keepingCapacity: keeps)
        size = 0
    }

    mutating func add(
        _ frame: [UInt8],
        at place: FramePlace,
        _ space: SpaceID?,
        others: [SpaceID]
    ) {
        size += frame.count
        let isSmall = frame.count <= Hashes.smallSizeMax
        let start = small.count
        if isSmall { small.append(contentsOf: frame) }
        entries.append(
            Entry(
                place: place,
                size: frame.count,
                start: isSmall ? start : nil,
                bytes: isSmall ? [] : frame,
                space: space,
                others: others
            )
        )
    }

    /// The bytes in which the block of `run` lies, and where.
    func block(of run: Run) -> ([UInt8], Range<Int>)? {
        let (file, offset) = (UInt64(run.file), Int(run.offset))
        // The last frame that starts before the block is the only one that can hold it.
        let index = entries.sortedIndex(behindAll: {
            ($0.place.file, $0.place.offset) <= (file, offset)
        })
        guard index > 0 else { return nil }
        let entry = entries[index - 1]
        let start = offset - entry.place.offset
        let end = start + Int(run.blockSize)
        guard entry.place.file == file, end <= entry.size else { return nil }
        guard let base = entry.start else { return (entry.bytes, start..<end) }
        return (small, base + start..<base + end)
    }
}

extension LogShared {
    /// The block that a run lies in.
    func block(of run: Run) throws(LogError) -> [UInt8] {
        // Only without the lock, and then a refresh tells where the events are by now.
        guard let bytes = try read(run) else { throw run.fault(.truncated(at: 0)) }
        guard bytes.count == Int(run.blockSize) else {
            throw run.fault(.truncated(at: bytes.count))
        }
        return bytes
    }
}

/// Looks up where the salts of a space come from, and remembers the last place.
struct Seeds {
    let store: LogShared
    let space: SpaceID
    /// The salts of the current segment; they take precedence over those in the write-ahead log.
    var segment: SaltNodes?
    private var last: SaltNode?

    init(store: LogShared, space: SpaceID) {
        self.store = store
        self.space = space
    }

    /// The node that gives the salt of a row's personal part; nil if there is none.
    mutating func node(of row: BlockRow) -> SaltNode? {
        guard case .present = row.personal else { return nil }
        return node(of: row.replica, sequence: row.sequence)
    }

    /// The node that gives the salt of an event; nil if there is none.
    mutating func node(of replica: ReplicaID, sequence: UInt64) -> SaltNode? {
        if let segment, let node = segment.node(of: replica, sequence: sequence) { return node }
        let group = SaltSeed.group(of: sequence)
        if let last, last.replica == replica, last.group == group { return last }
        let key = SpaceIndex.SeedKey(replica: replica, group: group)
        last = store.index.withLock { $0.seed(key, in: space) }.map {
            SaltSeed(replica: replica, group: group, root: $0).node
        }
        return last
    }
}
