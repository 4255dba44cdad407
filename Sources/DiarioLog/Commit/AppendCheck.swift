import DiarioCore
import DiarioFormat
import Synchronization

/// Finds every reason to refuse an append before anything of it is staged.
struct AppendCheck {
    let store: LogShared
    /// The space.
    let id: SpaceID
    /// The time of the commit.
    let time: Timestamp

    /// When it passes, `space` knows the last sequences of the rows that keep their own.
    func check(_ append: Append, _ space: inout StagedSpace) throws(LogError) {
        if let expected = append.firstSequence {
            let next = store.lastSequence(of: space.replica, in: id, space) + 1
            guard next == expected else {
                throw .outOfOrder(what: "the next sequence is \(next), not \(expected)")
            }
        }
        if let expected = append.lastPosition, space.head != expected {
            throw .outOfOrder(what: "the last position is \(space.head), not \(expected)")
        }
        guard append.sizeEstimate < store.sizes.frameMax else {
            throw .outOfOrder(what: "\(append.sizeEstimate) bytes do not fit in one frame")
        }
        guard space.clock.rawValue >> 32 < UInt64(1) << 31 - 1 else {
            throw .outOfOrder(what: "the clock of this space cannot go on")
        }
        var found = Kinds()
        append.contents.forEach { found.note($0) }
        // What others accepted, or wrote, has times of its own.
        guard !space.isAuthority && !found.hasOwn || HybridTime.canFollow(time) else {
            throw .unusableClock(time)
        }
        if found.hasOwn { try checkIDs(of: append, space) }
        guard !found.needsAuthority || space.isAuthority else { throw .notAuthority(id) }
        guard !found.needsOther || !space.isAuthority else { throw .isAuthority(id) }
        if found.hasReceived {
            guard !found.hasOwn, !found.hasPreserved else {
                throw .outOfOrder(what: "rows that came from elsewhere come apart from new events")
            }
            return try checkReceived(append, &space)
        }
        guard found.hasPreserved else { return }
        guard !found.hasOwn, !found.hasEngine else {
            throw .outOfOrder(what: "rows that keep their origins come apart from new events")
        }
        var (sequences, acceptedAt) = (space.allSequences, space.acceptedAt)
        for case .preserved(let blocks) in append.contents {
            for rows in blocks { try check(rows, &sequences, &acceptedAt) }
        }
        try checkReplicas(sequences, isAuthority: space.isAuthority)
        space.take(sequences)
    }

    /// No new event is given as its id the origin that it is about to get: whoever foresees that
    /// leaves the id out, and a row that has it is one that nobody can read.
    private func checkIDs(of append: Append, _ space: StagedSpace) throws(LogError) {
        var next = store.lastSequence(of: space.replica, in: id, space) + 1
        for case .new(let drafts, let author) in append.contents where author != .authority {
            for draft in drafts {
                for event in draft.events {
                    let origin = Origin(replica: space.replica, sequence: next)
                    next += 1
                    guard let given = event.given,
                        OriginText.matches(origin, draft.bytes.span, given)
                    else { continue }
                    throw .outOfOrder(
                        what: "\(origin.text) is the origin that the event gets; leave its id out"
                    )
                }
            }
        }
    }

    /// What there is in an append.
    private struct Kinds {
        var hasOwn = false
        var hasEngine = false
        var hasPreserved = false
        var hasReceived = false
        var needsAuthority = false
        var needsOther = false

        mutating func note(_ content: Append.Content) {
            switch content {
            case .new(_, .authority): hasEngine = true
            case .new: hasOwn = true
            case .preserved: hasPreserved = true
            case .received, .promoted: hasReceived = true
            }
            if let needs = content.needsAuthority {
                needsAuthority = needsAuthority || needs
                needsOther = needsOther || !needs
            }
        }
    }

    // MARK: Rows from elsewhere

    private func checkReceived(
        _ append: Append,
        _ space: inout StagedSpace
    ) throws(LogError) {
        var arrivals = Arrivals(store.index.withLock { $0[id] })
        guard arrivals.head == space.head else {
            throw .outOfOrder(what: "rows that came from elsewhere share a frame with others")
        }
        var sequences = space.allSequences
        var seeds: [SpaceIndex.SeedKey: Salt] = [:]
        for content in append.contents {
            switch content {
            case .received(let rows):
                if rows.isPending {
                    try checkPending(rows, &sequences, &seeds)
                } else {
                    try check(rows, space, &sequences, &seeds, &arrivals)
                }
            case .promoted(let runs): try arrivals.take(runs)
            case .new(let drafts, _):
                let count = drafts.reduce(0) { $0 + UInt64($1.events.count) }
                let accepted = max(time.milliseconds, arrivals.acceptedAt)
                try arrivals.take(count: count, acceptedAt: accepted...accepted)
            case .preserved: preconditionFailure("the kinds were checked above")
            }
        }
        try checkReplicas(sequences, isAuthority: space.isAuthority)
        space.take(sequences)
    }

    private func check(
        _ rows: ReceivedRows,
        _ space: StagedSpace,
        _ sequences: inout [ReplicaID: UInt64],
        _ seeds: inout [SpaceIndex.SeedKey: Salt],
        _ arrivals: inout Arrivals
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
        try checkSequences(of: rows, &sequences, arrivals)
        try checkSeeds(of: rows, &seeds)
        let highest = rows.head.summary.highestClock
        let accepted = highest.accepted(at: time.milliseconds, after: arrivals.acceptedAt)
        var acceptedAt = accepted...accepted
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
    private func checkPending(
        _ rows: ReceivedRows,
        _ sequences: inout [ReplicaID: UInt64],
        _ seeds: inout [SpaceIndex.SeedKey: Salt]
    ) throws(LogError) {
        guard rows.firstPosition == nil, !rows.head.summary.isAuthority, rows.head.runs.count == 1
        else { throw .outOfOrder(what: "a lane has rows of one replica without positions") }
        guard rows.head.summary.highestClock <= HybridTime.highest else {
            throw .outOfOrder(what: "a clock is out of all bounds")
        }
        try checkSequences(of: rows, &sequences, nil)
        try checkSeeds(of: rows, &seeds)
    }

    /// Each personal part has a seed, and no group gets another one than it has.
    ///
    /// `seeds` are those that came before in the same append.
    private func checkSeeds(
        of rows: ReceivedRows,
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

    /// The state names each replica, and is one record of one frame.
    ///
    /// A replica takes what its authority has: that one kept to the bound.
    private func checkReplicas(
        _ sequences: [ReplicaID: UInt64],
        isAuthority: Bool
    ) throws(LogError) {
        let countMax = store.sizes.replicaCountMax
        guard isAuthority else { return }
        let isWithin = store.index.withLock { index in
            let known = index.replicaCount(of: id)
            // Mostly that is enough, and nothing has to be looked up.
            if known + sequences.count <= countMax { return true }
            let new = sequences.keys.count { index.lastSequence(of: $0, in: id) == 0 }
            return new == 0 || known + new <= countMax
        }
        guard isWithin else { throw .tooManyReplicas(countMax: countMax) }
    }

    // MARK: Preserved rows

    /// Makes sure that rows which keep their origins and times do not contradict the log (B2, B3).
    private func check(
        _ rows: PreservedRows,
        _ sequences: inout [ReplicaID: UInt64],
        _ lastAcceptedAt: inout Int64
    ) throws(LogError) {
        // Of the row before: this loop is a good part of what an import costs, and mostly there are
        // several rows of a replica in a row, for which nothing is looked up.
        var known: (replica: ReplicaID, sequence: UInt64)?
        defer { if let known { sequences[known.replica] = known.sequence } }
        for (index, envelope) in rows.envelopes.enumerated() {
            let last: UInt64
            if let known, known.replica == envelope.replica {
                last = known.sequence
            } else {
                if let known { sequences[known.replica] = known.sequence }
                last =
                    sequences[envelope.replica]
                    ?? store.index.withLock { $0.lastSequence(of: envelope.replica, in: id) }
            }
            known = (envelope.replica, envelope.sequence)
            guard envelope.sequence > last else {
                throw .outOfOrder(
                    what: "\(envelope.origin.text) comes after sequence \(last) of its replica"
                )
            }
            guard envelope.sequence <= LogNumber.max else {
                throw .outOfOrder(what: "\(envelope.origin.text) is out of all bounds")
            }
            guard envelope.clock <= HybridTime.highest else {
                throw .outOfOrder(what: "the clock of \(envelope.origin.text) is out of all bounds")
            }
            let acceptedAt =
                rows.acceptedAt[index]?.milliseconds ?? max(time.milliseconds, lastAcceptedAt)
            guard acceptedAt >= lastAcceptedAt else {
                throw .outOfOrder(
                    what: "\(envelope.origin.text) was accepted before the event in front of it"
                )
            }
            guard CivilTime.contains(acceptedAt), CivilTime.contains(envelope.at) else {
                throw .outOfOrder(
                    what: "a time of \(envelope.origin.text) is not in the years 1 to 9999"
                )
            }
            lastAcceptedAt = acceptedAt
        }
    }
}

extension LogShared {
    /// The last sequence of a replica, as the frame under construction leaves it.
    func lastSequence(
        of replica: ReplicaID,
        in id: SpaceID,
        _ space: StagedSpace
    ) -> UInt64 {
        if let known = space.lastSequence(of: replica) { return known }
        return index.withLock { $0.lastSequence(of: replica, in: id) }
    }
}
