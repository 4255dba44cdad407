import DiarioCore
import DiarioFormat
import DiarioSchema
import DiarioStorage
import Synchronization

/// The segments in memory: the lists of all manifests, and the indexes of some.
///
/// Bounded: one small entry for each segment, and the indexes of those used last.
final class SegmentShelf: Sendable {
    private struct State: Sendable {
        var lists: [SpaceID: SegmentLists] = [:]
        var indexes: [SegmentName: Known] = [:]
        var indexSize = 0
        var useCount: UInt64 = 0
        var counters = SegmentCounters()
        /// Types of segments that were read; parsing a schema costs more than opening a file.
        var types: [TypeEntry: EventType] = [:]
    }

    private struct Known: Sendable {
        let index: SegmentIndex
        let size: Int
        var lastUse: UInt64
    }

    /// Bytes that all indexes together may take, as far as that is reckoned.
    private static let indexSizeMax = 8 * 1024 * 1024
    /// Types that are kept.
    private static let typeCountMax = 4096

    private let state = Mutex(State())

    // MARK: Lists

    /// The segments of a space, as far as they are known.
    func known(of space: SpaceID) -> SegmentLists? { state.withLock { $0.lists[space] } }

    func set(_ manifest: Manifest) {
        state.withLock { $0.lists[manifest.space] = SegmentLists(manifest) }
    }

    func forget(_ space: SpaceID) { state.withLock { $0.lists[space] = nil } }

    /// Reads the lists of a space from its manifest; a space that is gone has none.
    func readLists(
        of space: SpaceID,
        in directory: any LogDirectory
    ) throws(LogError) -> SegmentLists {
        do throws(LogError) {
            let manifest = try SpaceHome.readManifest(space, in: directory)
            set(manifest)
            return SegmentLists(manifest)
        } catch {
            guard case .unknownSpace = error else { throw error }
            return SegmentLists()
        }
    }

    /// The segment that holds a position, or the private one that holds a sequence of `replica`;
    /// looked for in the manifest if it is not known.
    func entry(
        at number: UInt64,
        by replica: ReplicaID? = nil,
        of space: SpaceID,
        in directory: any LogDirectory
    ) throws(LogError) -> SegmentEntry? {
        if let found = known(of: space)?.find(number, by: replica) { return found }
        return try readLists(of: space, in: directory).find(number, by: replica)
    }

    // MARK: Indexes

    /// The index of a segment, if it is still cached.
    func index(of name: SegmentName) -> SegmentIndex? {
        state.withLock { state in
            state.useCount += 1
            state.indexes[name]?.lastUse = state.useCount
            return state.indexes[name]?.index
        }
    }

    func keep(_ index: SegmentIndex, of name: SegmentName) {
        let size = index.memorySize
        state.withLock { state in
            guard state.indexes[name] == nil, size <= Self.indexSizeMax else { return }
            while state.indexSize + size > Self.indexSizeMax,
                let oldest = state.indexes.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.indexes[oldest.key] = nil
                state.indexSize -= oldest.value.size
            }
            state.useCount += 1
            state.indexes[name] = Known(index: index, size: size, lastUse: state.useCount)
            state.indexSize += size
        }
    }

    // MARK: Types

    var types: [TypeEntry: EventType] { state.withLock { $0.types } }

    func keep(_ types: [TypeEntry: EventType]) {
        state.withLock { state in
            if state.types.count + types.count > Self.typeCountMax { state.types.removeAll() }
            for (entry, type) in types { state.types[entry] = type }
        }
    }

    // MARK: Counters

    var counters: SegmentCounters { state.withLock { $0.counters } }

    func count(_ new: SegmentCounters) { state.withLock { $0.counters.add(new) } }
}

/// The segments that a manifest lists.
struct SegmentLists: Sendable {
    /// In order of position.
    var segments: [SegmentEntry] = []
    /// In order of replica and sequence.
    var lanes: [SegmentEntry] = []

    init() {}

    init(_ manifest: Manifest) {
        segments = manifest.segments
        lanes = manifest.lanes
    }

    /// The segment that holds a position, or a sequence of a replica.
    func find(_ number: UInt64, by replica: ReplicaID?) -> SegmentEntry? {
        let list = replica == nil ? segments : lanes
        let index = list.sortedIndex(behindAll: { entry in
            if let replica, let other = entry.replica, other != replica { return other < replica }
            return entry.last < number
        })
        guard index < list.count, list[index].replica == replica, list[index].first <= number else {
            return nil
        }
        return list[index]
    }
}

/// The cost of reading sealed events so far.
package struct SegmentCounters: Equatable, Sendable {
    /// Segments that were opened, which reads their index.
    package var segments = 0
    /// Blocks that were read and decompressed.
    package var blocks = 0
    /// Their stored bytes.
    package var bytes = 0

    /// The cost since `earlier`.
    package func since(_ earlier: SegmentCounters) -> SegmentCounters {
        SegmentCounters(
            segments: segments - earlier.segments,
            blocks: blocks - earlier.blocks,
            bytes: bytes - earlier.bytes
        )
    }

    mutating func add(_ other: SegmentCounters) {
        segments += other.segments
        blocks += other.blocks
        bytes += other.bytes
    }
}

extension SegmentIndex {
    /// About how many bytes of memory it takes.
    fileprivate var memorySize: Int {
        types.count * 160 + blocks.count * 72
            + replicas.reduce(0) { $0 + 40 + $1.runs.count * 24 }
    }
}
