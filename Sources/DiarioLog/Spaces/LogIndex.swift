import DiarioCore
import DiarioFormat

/// What memory holds of a data directory: its spaces, and how many bytes of each file are needed.
struct LogIndex: Sendable {
    private(set) var spaces: [SpaceID: SpaceIndex] = [:]
    /// Bytes that are live, by the number of the file.
    private(set) var liveBytes = LiveBytes()

    /// The generations of the files that were read, by number.
    private(set) var generations: [UInt64: UInt64] = [:]

    mutating func note(_ place: FramePlace) { generations[place.file] = place.generation }

    var liveBytesTotal: Int { liveBytes.total }

    subscript(space: SpaceID) -> SpaceIndex { spaces[space] ?? SpaceIndex() }

    /// The little of a space that an append needs.
    struct Brief {
        var head: UInt64 = 0
        var acceptedAt = Int64.min
        var clock = HybridTime(rawValue: 0)
        var bytesSinceState = 0
    }

    /// Mutating only so that the space is looked at where it is: a copy would retain all its lists.
    mutating func brief(of space: SpaceID) -> Brief { spaces[space]?.brief() ?? Brief() }

    func seed(_ key: SpaceIndex.SeedKey, in space: SpaceID) -> Salt? {
        spaces[space]?.seeds[key]?.root
    }

    func lastSequence(of replica: ReplicaID, in space: SpaceID) -> UInt64 {
        spaces[space]?.lastSequence(of: replica) ?? 0
    }

    /// The spaces that keep something in a file alive, in order.
    func liveSpaces(in file: UInt64) -> [SpaceID] {
        spaces.filter { _, space in
            space.state?.file == file || space.seeds.values.contains { $0.file == file }
                || space.canonical.runs.contains { UInt64($0.file) == file }
                || space.lanes.contains { $0.runs.runs.contains { UInt64($0.file) == file } }
        }.keys.sorted()
    }

    /// The rows of a block that lie at `place`, as recovery or an append found them.
    struct BlockPlace {
        let file: UInt64
        let offset: Int
        /// Of the block alone.
        let size: Int
    }

    /// Takes up the rows of a block; pending ones if the block gives no positions.
    mutating func apply(
        _ block: Span<UInt8>,
        _ summary: BlockSummary,
        of space: SpaceID,
        at place: BlockPlace,
        adoptions: [Adoption]
    ) throws(FormatError) {
        var run = Run(
            first: 0,
            count: UInt32(summary.eventCount),
            skip: 0,
            file: UInt32(place.file),
            offset: UInt32(place.offset),
            blockSize: UInt32(place.size),
            liveBytes: UInt32(place.size + Record.headerSize),
            promotedAt: nil
        )
        // The dictionary is asked once: looking a space up again costs as much as its append.
        try update(space) { (index, live) throws(FormatError) in
            index.clock = max(index.clock, summary.highestClock)
            index.bytesSinceState += place.size
            var cursor = RunCursor(block, summary)
            var lane: BlockRun?
            while let blockRun = try cursor.next() {
                guard LogNumber.isValid(blockRun.firstSequence, count: blockRun.count) else {
                    throw .malformed(.runs, at: 0)
                }
                index.note(
                    blockRun.replica,
                    sequence: blockRun.lastSequence,
                    isAuthority: summary.isAuthority
                )
                lane = blockRun
            }
            if let first = summary.firstPosition, let last = summary.lastPosition {
                guard last <= LogNumber.max else { throw .malformed(.position, at: 0) }
                guard last > index.released else { return }
                run.first = first
                live.add(Int(run.liveBytes), to: place.file)
                index.canonical.insert(run) { Self.drop($0, &live) }
                if let acceptedAt = summary.lastAcceptedAt {
                    index.acceptedAt = max(index.acceptedAt, acceptedAt.milliseconds)
                }
                index.head = max(index.head, last)
                for adoption in adoptions { index.note(adoption) }
                if first <= index.released { index.drop(through: index.released, &live) }
            } else if let lane {
                run.first = lane.firstSequence
                live.add(Int(run.liveBytes), to: place.file)
                index.insert(
                    run,
                    of: lane.replica,
                    clock: summary.highestClock,
                    &live
                )
            }
        }
    }

    mutating func apply(_ seed: SaltSeed, of space: SpaceID, file: UInt64) {
        update(space) { index, live in
            let key = SpaceIndex.SeedKey(replica: seed.replica, group: seed.group)
            let entry = SpaceIndex.SeedEntry(root: seed.root, file: file)
            if let old = index.seeds.updateValue(entry, forKey: key) {
                live.add(-SpaceIndex.seedSize, to: old.file)
            }
            live.add(SpaceIndex.seedSize, to: file)
        }
    }

    mutating func apply(_ runs: [PromotedRun], of space: SpaceID) {
        update(space) { index, live in
            for run in runs { index.promote(run, &live) }
        }
    }

    mutating func apply(_ state: SpaceState, of space: SpaceID, file: UInt64, size: Int) {
        update(space) { index, live in
            index.clock = max(index.clock, HybridTime(rawValue: state.clock))
            for tally in state.tallies {
                index.note(
                    tally.replica,
                    sequence: tally.lastSequence,
                    isAuthority: tally.isAuthority
                )
            }
            for adoption in state.adoptions { index.note(adoption) }
            if let old = index.state {
                guard old.range.size <= state.range.size else { return }
                live.add(-old.size, to: old.file)
            }
            index.state = SpaceIndex.StateEntry(range: state.range, file: file, size: size)
            index.bytesSinceState = 0
            live.add(size, to: file)
            index.head = max(index.head, state.range.size)
            if state.range.size > 0 { index.acceptedAt = max(index.acceptedAt, state.acceptedAt) }
            if state.released > index.released {
                index.released = state.released
                index.drop(through: state.released, &live)
            }
        }
    }

    /// Forgets a space and all it keeps alive.
    mutating func drop(_ space: SpaceID) {
        guard let index = spaces.removeValue(forKey: space) else { return }
        for run in index.canonical.runs { Self.drop(run, &liveBytes) }
        for lane in index.lanes {
            for run in lane.runs.runs { Self.drop(run, &liveBytes) }
        }
        for seed in index.seeds.values { liveBytes.add(-SpaceIndex.seedSize, to: seed.file) }
        if let state = index.state { liveBytes.add(-state.size, to: state.file) }
    }

    mutating func forget(file: UInt64) {
        precondition(liveBytes[file] == 0, "a file in use again holds nothing live")
        liveBytes.forget(file)
    }

    private mutating func update<Failure: Error>(
        _ space: SpaceID,
        _ body: (inout SpaceIndex, inout LiveBytes) throws(Failure) -> Void
    ) throws(Failure) {
        try body(&spaces[space, default: SpaceIndex()], &liveBytes)
    }

    fileprivate static func drop(_ run: Run, _ live: inout LiveBytes) {
        live.add(-Int(run.liveBytes), to: UInt64(run.file))
    }
}

extension SpaceIndex {
    /// Lets go of positions up to `position`, and of the seeds that only they needed.
    fileprivate mutating func drop(through position: UInt64, _ live: inout LiveBytes) {
        canonical.remove(from: 1, through: position) { LogIndex.drop($0, &live) }
    }

    /// Puts pending events in order of sequence; a copy replaces what it is a copy of.
    fileprivate mutating func insert(
        _ run: Run,
        of replica: ReplicaID,
        clock: HybridTime,
        _ live: inout LiveBytes
    ) {
        let index = lanes.firstIndex { $0.replica == replica } ?? lanes.count
        if index == lanes.count { lanes.append(Lane(replica: replica, clock: clock)) }
        lanes[index].clock = min(lanes[index].clock, clock)
        lanes[index].runs.insert(run) { LogIndex.drop($0, &live) }
        // An id that was given up comes before the one that was taken then: its clocks are lower.
        lanes.sort { $0.clock < $1.clock }
    }

    /// Gives pending events their positions; what is not in the lane was copied forward meanwhile.
    fileprivate mutating func promote(_ promoted: PromotedRun, _ live: inout LiveBytes) {
        guard let lane = lanes.firstIndex(where: { $0.replica == promoted.replica }) else { return }
        var found: [Run] = []
        lanes[lane].runs.remove(
            from: promoted.firstSequence,
            through: promoted.firstSequence + promoted.count - 1
        ) { found.append($0) }
        if lanes[lane].runs.isEmpty { lanes.remove(at: lane) }
        for var run in found {
            run.first = promoted.firstPosition + (run.first - promoted.firstSequence)
            run.promotedAt = promoted.acceptedAt.milliseconds
            canonical.insert(run) { LogIndex.drop($0, &live) }
            head = max(head, run.last)
        }
        acceptedAt = max(acceptedAt, promoted.acceptedAt.milliseconds)
    }
}
