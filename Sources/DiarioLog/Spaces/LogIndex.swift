import DiarioCore
import DiarioFormat
import DiarioFrames

/// The index of a data directory in memory: its spaces, and the live bytes of each file.
struct LogIndex: Sendable {
    private(set) var spaces = SpaceTable()
    /// Bytes that are live, by the number of the file.
    private(set) var liveBytes = LiveBytes()

    /// The generations of the files that were read, by number.
    private(set) var generations: [UInt64: UInt64] = [:]
    private var lastNoted: FramePlace?

    mutating func note(_ place: FramePlace) {
        // Mostly it is the file that was noted last, and the dictionary need not be asked.
        guard lastNoted?.file != place.file || lastNoted?.generation != place.generation else {
            return
        }
        generations[place.file] = place.generation
        lastNoted = place
    }

    var liveBytesTotal: Int { liveBytes.total }

    subscript(space: SpaceID) -> SpaceIndex { spaces[space] ?? SpaceIndex() }

    /// The little of a space that an append needs.
    struct Brief {
        var head: UInt64 = 0
        var acceptedAt = Int64.min
        var clock = HybridTime(rawValue: 0)
        var bytesSinceState = 0
        var stateSizeMax = 0
        var released: UInt64 = 0
        /// Events of the longest lane that lie in blocks of the log.
        var unsealed: UInt64 = 0
    }

    /// Looks at a space where it is, and changes nothing; nil if it is not known.
    mutating func read<Value>(_ space: SpaceID, _ body: (inout SpaceIndex) -> Value) -> Value? {
        spaces.read(space, body)
    }

    mutating func brief(of space: SpaceID) -> Brief { read(space) { $0.brief() } ?? Brief() }

    mutating func seed(_ key: SpaceIndex.SeedKey, in space: SpaceID) -> Salt? {
        read(space) { $0.seeds[key]?.root } ?? nil
    }

    mutating func lastSequence(of replica: ReplicaID, in space: SpaceID) -> UInt64 {
        read(space) { $0.lastSequence(of: replica) } ?? 0
    }

    mutating func unhashed(of space: SpaceID, behind size: UInt64) -> SpaceIndex.Unhashed {
        read(space) { $0.unhashed(behind: size) } ?? SpaceIndex.Unhashed()
    }

    mutating func replicaCount(of space: SpaceID) -> Int { read(space) { $0.tallies.count } ?? 0 }

    /// The spaces that keep something in a file alive, in order.
    func liveSpaces(in file: UInt64) -> [SpaceID] {
        var found: [SpaceID] = []
        spaces.forEach { id, space in
            let isLive =
                space.state?.file == file || space.seeds.values.contains { $0.file == file }
                || space.canonical.runs.contains { UInt64($0.file) == file }
                || space.lanes.contains { $0.runs.runs.contains { UInt64($0.file) == file } }
            if isLive { found.append(id) }
        }
        return found.sorted()
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
        facts: EngineReader.Facts
    ) throws(FormatError) {
        var lane: BlockRun?
        // The dictionary is asked once: looking a space up again costs as much as its append.
        try update(space) { (index, live) throws(FormatError) in
            var cursor = RunCursor(block, summary)
            while let run = try cursor.next() {
                guard LogNumber.isValid(run.firstSequence, count: run.count) else {
                    throw .malformed(.runs, at: 0)
                }
                index.note(
                    run.replica,
                    sequence: run.lastSequence,
                    isAuthority: summary.isAuthority
                )
                lane = run
            }
            if let last = summary.lastPosition, last > LogNumber.max {
                throw .malformed(.position, at: 0)
            }
            index.take(
                summary.eventCount,
                at: place,
                clock: summary.highestClock,
                position: summary.firstPosition,
                acceptedAt: summary.lastAcceptedAt?.milliseconds,
                lane: lane,
                &live
            )
            for adoption in facts.adoptions where adoption.position > index.released {
                index.note(adoption)
            }
            for refusal in facts.refusals { index.refuse(refusal, &live) }
        }
    }

    /// Takes up rows of one run, which no authority wrote.
    mutating func apply(_ rows: PlainRows, of space: SpaceID, at place: BlockPlace) {
        update(space) { index, live in
            index.note(rows.run.replica, sequence: rows.run.lastSequence, isAuthority: false)
            index.take(
                Int(rows.run.count),
                at: place,
                clock: rows.clock,
                position: rows.position,
                acceptedAt: rows.acceptedAt,
                lane: rows.run,
                &live
            )
        }
    }

    /// Takes up rows of one replica, which no authority wrote.
    mutating func apply(_ rows: PlainStretch) {
        update(rows.space) { index, live in
            index.note(rows.replica, sequence: rows.lastSequence, isAuthority: false)
            index.take(rows, &live)
        }
    }

    /// Takes up rows that are in private segments.
    mutating func apply(_ rows: SealedRows, of space: SpaceID, file: UInt64) {
        update(space) { index, live in
            index.note(rows.replica, sequence: rows.lastSequence, isAuthority: false)
            index.take(rows, file: file, &live)
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
        guard let index = spaces.remove(space) else { return }
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
        try spaces.update(space) { (index) throws(Failure) in try body(&index, &liveBytes) }
    }

    fileprivate static func drop(_ run: Run, _ live: inout LiveBytes) {
        live.add(-Int(run.liveBytes), to: UInt64(run.file))
    }
}

extension Run {
    /// All rows of a block.
    fileprivate init(first: UInt64, count: UInt32, at place: LogIndex.BlockPlace) {
        self.init(
            first: first,
            count: count,
            skip: 0,
            file: UInt32(place.file),
            offset: UInt32(place.offset),
            blockSize: UInt32(place.size),
            liveBytes: UInt32(place.size + Record.headerSize),
            promotedAt: nil
        )
    }
}

extension SpaceIndex {
    /// Takes up the rows of a block, whose replicas are noted already.
    fileprivate mutating func take(
        _ count: Int,
        at place: LogIndex.BlockPlace,
        clock: HybridTime,
        position: UInt64?,
        acceptedAt: Int64?,
        lane: BlockRun?,
        _ live: inout LiveBytes
    ) {
        self.clock =
            acceptedAt.map { self.clock.merged(with: clock, acceptedAt: $0) }
            ?? max(self.clock, clock)
        bytesSinceState += place.size
        guard let first = position ?? lane?.firstSequence else { return }
        let run = Run(first: first, count: UInt32(count), at: place)
        if position != nil {
            put(run, acceptedAt: acceptedAt, &live)
        } else if let lane {
            live.add(Int(run.liveBytes), to: place.file)
            insert(run, of: lane.replica, clock: clock, &live)
        }
    }

    /// Takes up rows of one replica, which is noted already.
    fileprivate mutating func take(
        _ rows: PlainStretch,
        _ live: inout LiveBytes
    ) {
        let runs = rows.runs[...]
        clock = clock.merged(with: rows.clock, acceptedAt: rows.acceptedAt)
        bytesSinceState += rows.size
        guard let first = runs.first, let last = runs.last else { return }
        guard first.first > released, canonical.append(runs) else {
            // Times do not decrease, so the last one says it for all.
            for run in runs {
                put(run, acceptedAt: run.last == last.last ? rows.acceptedAt : nil, &live)
            }
            return
        }
        live.add(rows.liveBytes, to: UInt64(first.file))
        acceptedAt = max(acceptedAt, rows.acceptedAt)
        head = max(head, last.last)
    }

    /// Takes up rows in private segments, whose replica is noted already.
    fileprivate mutating func take(_ rows: SealedRows, file: UInt64, _ live: inout LiveBytes) {
        let run = Run(
            sealed: laneNumber(of: rows.replica),
            first: rows.placed?.firstPosition ?? rows.firstSequence,
            count: rows.count,
            firstSequence: rows.firstSequence,
            file: UInt32(file),
            promotedAt: rows.placed?.acceptedAt
        )
        if let placed = rows.placed {
            put(run, acceptedAt: placed.acceptedAt, &live)
        } else {
            live.add(Int(run.liveBytes), to: file)
            insert(run, of: rows.replica, clock: rows.clock, &live)
        }
    }

    /// Puts canonical events in order of position; a copy replaces what it is a copy of.
    fileprivate mutating func put(_ run: Run, acceptedAt: Int64?, _ live: inout LiveBytes) {
        guard run.last > released else { return }
        live.add(Int(run.liveBytes), to: UInt64(run.file))
        canonical.insert(run) { LogIndex.drop($0, &live) }
        if let acceptedAt { self.acceptedAt = max(self.acceptedAt, acceptedAt) }
        head = max(head, run.last)
        if run.first <= released { drop(through: released, &live) }
    }

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

    /// Takes events out of their lane that the authority refused; their sequences count as used.
    fileprivate mutating func refuse(
        _ refusal: RefusedRun,
        _ live: inout LiveBytes
    ) {
        let sequences = refusal.sequences
        note(refusal.replica, sequence: sequences.upperBound, isAuthority: false)
        guard let lane = lanes.firstIndex(where: { $0.replica == refusal.replica }) else {
            return
        }
        lanes[lane].runs.remove(from: sequences.lowerBound, through: sequences.upperBound) {
            LogIndex.drop($0, &live)
        }
        if lanes[lane].runs.isEmpty { lanes.remove(at: lane) }
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
