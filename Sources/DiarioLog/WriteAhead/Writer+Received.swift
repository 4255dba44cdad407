import DiarioCore
import DiarioFormat
import DiarioSchema
import Synchronization

// Rows that came from elsewhere are copied as they are: nothing of them is taken apart.

extension Writer {
    /// Finds every reason to refuse an append of rows that came from elsewhere.
    ///
    /// When it passes, `space` knows the last sequences of the replicas that wrote them.
    mutating func checkReceived(_ append: Append, _ space: inout Staged) throws(LogError) {
        let allowed: Append.Kinds =
            space.isAuthority ? [.received, .authority] : [.received, .promoted, .lane]
        guard append.kinds.isSubset(of: allowed) else {
            throw .outOfOrder(what: "rows that came from elsewhere come apart from new events")
        }
        let now = time.milliseconds
        var arrivals = Arrivals(store.index.withLock { $0[append.space] })
        guard arrivals.head == space.head else {
            throw .outOfOrder(what: "rows that came from elsewhere share a frame with others")
        }
        var sequences = space.allSequences
        var seeds: [SpaceIndex.SeedKey: Salt] = [:]
        for content in append.contents {
            switch content {
            case .received(let rows):
                try check(rows, in: append.space, space, &sequences, &seeds, &arrivals, now: now)
            case .promoted(let runs): try arrivals.take(runs)
            case .lane(let rows): try checkLane(rows, in: append.space, &sequences, &seeds)
            case .authority(let drafts):
                let count = drafts.reduce(0) { $0 + UInt64($1.events.count) }
                let time = max(now, arrivals.acceptedAt)
                try arrivals.take(count: count, acceptedAt: time...time)
            case .batch, .batches, .singles, .preserved, .accepted:
                preconditionFailure("the kinds were checked above")
            }
        }
        try checkReplicas(append.space, sequences, isAuthority: space.isAuthority)
        space.take(sequences)
    }

    private mutating func check(
        _ rows: ReceivedRows,
        in id: SpaceID,
        _ space: Staged,
        _ sequences: inout [ReplicaID: UInt64],
        _ seeds: inout [SpaceIndex.SeedKey: Salt],
        _ arrivals: inout Arrivals,
        now: Int64
    ) throws(LogError) {
        guard space.isAuthority == (rows.firstPosition == nil) else {
            throw .outOfOrder(what: "an authority gives positions, and nobody else does")
        }
        guard !space.isAuthority || !rows.head.summary.isAuthority else {
            throw .outOfOrder(what: "an authority writes its events itself")
        }
        guard rows.head.summary.highestClock <= HybridTime.highest else {
            throw .outOfOrder(what: "a clock is out of all bounds")
        }
        try checkSequences(of: rows, in: id, &sequences, arrivals)
        try checkSeeds(of: rows, in: id, &seeds)
        let highest = rows.head.summary.highestClock
        let time = highest.accepted(at: now, after: arrivals.acceptedAt)
        var acceptedAt = time...time
        if let position = rows.firstPosition {
            guard position == arrivals.head + 1 else {
                throw .outOfOrder(what: "position \(arrivals.head + 1) comes next, not \(position)")
            }
            let times = rows.head.times
            guard let first = times.first, let last = times.last else {
                throw .outOfOrder(what: "rows at position \(position) have no times")
            }
            acceptedAt = first.acceptedAt.milliseconds...last.acceptedAt.milliseconds
        }
        try arrivals.take(count: UInt64(rows.count), acceptedAt: acceptedAt)
        do throws(FormatError) {
            let facts = try store.engine.facts(in: rows.block.span, rows.head.summary)
            arrivals.take(facts.refusals)
        } catch {
            throw .format(error)
        }
    }

    /// The sequences of each replica increase, and none of them is pending here.
    private func checkSequences(
        of rows: ReceivedRows,
        in id: SpaceID,
        _ sequences: inout [ReplicaID: UInt64],
        _ arrivals: Arrivals?
    ) throws(LogError) {
        for run in rows.head.runs {
            let last =
                sequences[run.replica]
                ?? store.index.withLock { $0.lastSequence(of: run.replica, in: id) }
            guard run.firstSequence > last, arrivals?.isPending(run) != true else {
                throw .outOfOrder(
                    what: "\(run.replica.text)-\(run.firstSequence) comes after sequence \(last) "
                        + "of its replica"
                )
            }
            guard LogNumber.isValid(run.firstSequence, count: run.count) else {
                throw .outOfOrder(what: "a sequence of \(run.replica.text) is out of all bounds")
            }
            sequences[run.replica] = run.lastSequence
        }
    }

    /// Rows that are pending in another space that this one is to take the place of.
    private func checkLane(
        _ rows: ReceivedRows,
        in id: SpaceID,
        _ sequences: inout [ReplicaID: UInt64],
        _ seeds: inout [SpaceIndex.SeedKey: Salt]
    ) throws(LogError) {
        guard rows.firstPosition == nil, !rows.head.summary.isAuthority, rows.head.runs.count == 1
        else { throw .outOfOrder(what: "a lane has rows of one replica without positions") }
        guard rows.head.summary.highestClock <= HybridTime.highest else {
            throw .outOfOrder(what: "a clock is out of all bounds")
        }
        try checkSequences(of: rows, in: id, &sequences, nil)
        try checkSeeds(of: rows, in: id, &seeds)
    }

    /// Each personal part has a seed, and no group gets another one than it has.
    ///
    /// `seeds` are those that came before in the same append.
    private func checkSeeds(
        of rows: ReceivedRows,
        in id: SpaceID,
        _ seeds: inout [SpaceIndex.SeedKey: Salt]
    ) throws(LogError) {
        for node in rows.head.saltNodes {
            guard node.level == 0 else {
                throw .outOfOrder(what: "a salt of \(node.replica.text) was erased")
            }
            let key = SpaceIndex.SeedKey(replica: node.replica, group: node.group)
            let known = seeds[key] ?? store.index.withLock { $0.seed(key, in: id) }
            guard known == nil || known == node.value else {
                throw .outOfOrder(what: "\(node.replica.text) has two seeds for one group")
            }
            seeds[key] = node.value
        }
        let seeded = Set(
            rows.head.saltNodes.map { SpaceIndex.SeedKey(replica: $0.replica, group: $0.group) }
        )
        let block = rows.block.span
        do throws(FormatError) {
            var cursor = RowCursor(block, rows.head.summary)
            while let row = try cursor.next() {
                guard case .present = row.personal else { continue }
                let key = SpaceIndex.SeedKey(
                    replica: row.replica,
                    group: SaltSeed.group(of: row.sequence)
                )
                guard seeded.contains(key) else {
                    throw FormatError.malformed(.saltNode, at: row.publicPart.lowerBound)
                }
            }
        } catch {
            throw .format(error)
        }
    }

    /// Copies rows to the frame.
    mutating func stage(
        _ rows: ReceivedRows,
        in id: SpaceID,
        _ space: inout Staged,
        _ result: inout AppendedBatches
    ) {
        copy(
            rows,
            BlockKey(
                space: id,
                isAuthority: rows.head.summary.isAuthority,
                laneReplica: nil,
                isReceived: true
            ),
            &space
        )
        if space.isAuthority {
            space.accept(rows.head.summary.highestClock, at: time)
            note(count: rows.count, acceptedAt: space.acceptedAt)
        } else {
            for time in rows.head.times {
                space.acceptedAt = time.acceptedAt.milliseconds
                note(count: time.count, acceptedAt: space.acceptedAt)
            }
        }
        space.clock = space.clock.merged(
            with: rows.head.summary.highestClock,
            acceptedAt: space.acceptedAt
        )
        for run in rows.head.runs {
            result.append(
                AppendedBatch(
                    firstOrigin: Origin(replica: run.replica, sequence: run.firstSequence),
                    count: Int(run.count),
                    firstPosition: space.head + 1,
                    acceptedAt: space.acceptedAt
                )
            )
            space.head += run.count
        }
    }

    /// Copies pending rows to the frame.
    mutating func stageLane(
        _ rows: ReceivedRows,
        in id: SpaceID,
        _ space: inout Staged,
        _ result: inout AppendedBatches
    ) {
        guard let run = rows.head.runs.first else { return }
        copy(rows, BlockKey(space: id, isAuthority: false, laneReplica: run.replica), &space)
        space.clock = max(space.clock, rows.head.summary.highestClock)
        result.append(
            AppendedBatch(
                firstOrigin: Origin(replica: run.replica, sequence: run.firstSequence),
                count: Int(run.count),
                firstPosition: nil
            )
        )
    }

    private mutating func copy(_ rows: ReceivedRows, _ key: BlockKey, _ space: inout Staged) {
        for node in rows.head.saltNodes {
            take(
                SaltSeed(replica: node.replica, group: node.group, root: node.value),
                of: key.space,
                &space
            )
        }
        openBlock(for: rows, key, position: space.head + 1)
        do throws(FormatError) {
            try builder.append(rows.block.span, rows.head)
        } catch {
            preconditionFailure("a block is checked before its rows are staged: \(error.message)")
        }
    }

    /// Writes down that pending events have positions now.
    mutating func stage(_ runs: [PromotedRun], in id: SpaceID, _ space: inout Staged) {
        guard let last = runs.last else { return }
        flushRows()
        Record.append(.promotion, id, to: &frame) { PromotedRun.append(runs, to: &$0) }
        recordCount += 1
        space.head = last.lastPosition
        space.acceptedAt = max(space.acceptedAt, last.acceptedAt.milliseconds)
    }
}
