import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

// Staging gives events their sequences, clocks and positions, and adds their rows to the frame
// under construction. Nothing of it counts until the frame is on disk.

extension Writer {
    /// What the frame under construction changes in a space.
    struct Staged {
        /// The id under which this replica writes.
        let replica: ReplicaID
        /// The id under which the authority writes; nil if it is elsewhere.
        let authority: ReplicaID?
        var head: UInt64
        var acceptedAt: Int64
        var clock: HybridTime
        /// The last sequence of this replica; kept apart, since it is asked for most.
        private var ownSequence: UInt64?
        /// The last sequences of others, as far as they were asked for.
        private var sequences: [ReplicaID: UInt64] = [:]
        /// Groups that have their seed already, or get it in this frame.
        var seeded: Set<SpaceIndex.SeedKey> = []
        var lastSeeded: SpaceIndex.SeedKey?
        /// So many bytes of rows may follow before a state does.
        var bytesToState: Int
        /// With this mark there is something to seal.
        var sealMarkNext: UInt64

        /// `lastSequence` is the last one of this replica.
        init(
            home: SpaceHome,
            _ brief: LogIndex.Brief,
            lastSequence: UInt64,
            bytesToState: Int,
            segmentCount: Int
        ) {
            replica = home.replica
            authority = home.manifest.authority
            self.bytesToState = bytesToState
            head = brief.head
            acceptedAt = brief.acceptedAt
            clock = brief.clock
            ownSequence = lastSequence
            let unsealed = max(brief.head - brief.released, brief.unsealed)
            sealMarkNext = 0
            sealMarkNext = sealMark + UInt64(segmentCount) - min(unsealed, UInt64(segmentCount))
        }

        var isAuthority: Bool { authority != nil }

        /// Grows with each event that may be sealed one day.
        var sealMark: UInt64 { head + (isAuthority ? 0 : ownSequence ?? 0) }

        /// The mark, if there is something to seal.
        var dueSealMark: UInt64? { sealMark >= sealMarkNext ? sealMark : nil }

        func lastSequence(of replica: ReplicaID) -> UInt64? {
            replica == self.replica ? ownSequence ?? sequences[replica] : sequences[replica]
        }

        /// Those of others and of this replica, as far as they were asked for.
        var allSequences: [ReplicaID: UInt64] {
            var all = sequences
            if let ownSequence { all[replica] = ownSequence }
            return all
        }

        mutating func take(_ all: [ReplicaID: UInt64]) {
            sequences = all
            ownSequence = all[replica]
        }

        /// Accepts events of which this is the last clock.
        mutating func accept(_ last: HybridTime, at now: Timestamp) {
            acceptedAt = last.accepted(at: now.milliseconds, after: acceptedAt)
        }

        mutating func note(_ replica: ReplicaID, sequence: UInt64) {
            if replica == self.replica {
                ownSequence = sequence
            } else {
                sequences[replica] = sequence
            }
        }
    }

    /// Adds the events of one append to the frame; the frame is unchanged when it fails.
    mutating func stage(_ append: Append) -> Outcome {
        var space: Staged
        do throws(LogError) { space = try takeStaged(append.space, append.sizeEstimate) } catch {
            return .failure(error)
        }
        defer { lastStaged = (append.space, space) }
        do throws(LogError) {
            try check(append, &space)
        } catch {
            return .failure(error)
        }
        var batches = AppendedBatches()
        append.contents.forEach { stage($0, in: append.space, &space, &batches) }
        return .success(batches)
    }

    private mutating func stage(
        _ content: Append.Content,
        in id: SpaceID,
        _ space: inout Staged,
        _ result: inout AppendedBatches
    ) {
        switch content {
        case .batch(let draft):
            stage(draft, by: space.replica, in: id, &space, &result)
        case .batches(let drafts):
            for draft in drafts { stage(draft, by: space.replica, in: id, &space, &result) }
        case .singles(let drafts):
            stageSingles(drafts.span, in: id, &space, &result)
        case .authority(let drafts):
            guard let authority = space.authority else {
                preconditionFailure("an append is checked before it is staged")
            }
            for draft in drafts { stage(draft, by: authority, in: id, &space, &result) }
        case .preserved(let rows), .accepted(let rows):
            stage(rows, in: id, &space, &result)
        case .received(let rows): stage(rows, in: id, &space, &result)
        case .promoted(let runs): stage(runs, in: id, &space)
        case .lane(let rows): stageLane(rows, in: id, &space, &result)
        }
    }

    /// Finds every reason to refuse an append before anything of it is staged.
    ///
    /// When it passes, `space` knows the last sequences of the rows that keep their own.
    private mutating func check(_ append: Append, _ space: inout Staged) throws(LogError) {
        if let expected = append.firstSequence {
            let next = lastSequence(of: space.replica, in: append.space, space) + 1
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
        // What others accepted, or wrote, has times of its own.
        let usesClock = space.isAuthority || !append.kinds.isDisjoint(with: .own)
        guard !usesClock || HybridTime.canFollow(time) else { throw .unusableClock(time) }
        guard append.kinds.isDisjoint(with: [.authority, .preserved]) || space.isAuthority else {
            throw .notAuthority(append.space)
        }
        guard append.kinds.isDisjoint(with: [.accepted, .promoted, .lane]) || !space.isAuthority
        else {
            throw .isAuthority(append.space)
        }
        if !append.kinds.isDisjoint(with: [.received, .promoted, .lane]) {
            return try checkReceived(append, &space)
        }
        guard !append.kinds.isDisjoint(with: [.preserved, .accepted]) else { return }
        guard append.kinds == .preserved || append.kinds == .accepted else {
            throw .outOfOrder(what: "rows that keep their origins come apart from new events")
        }
        let now = time.milliseconds
        var (sequences, acceptedAt) = (space.allSequences, space.acceptedAt)
        for content in append.contents {
            for rows in content.preservedRows ?? [] {
                try check(rows, in: append.space, &sequences, &acceptedAt, now: now)
            }
        }
        try checkReplicas(append.space, sequences, isAuthority: space.isAuthority)
        space.take(sequences)
    }

    /// The state names each replica, and is one record of one frame.
    ///
    /// A replica takes what its authority has: that one kept to the bound.
    func checkReplicas(
        _ id: SpaceID,
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

    /// The space as the frame under construction leaves it so far; the caller puts it back.
    ///
    /// `size` are the bytes that the frame is to take next.
    private mutating func takeStaged(_ id: SpaceID, _ size: Int) throws(LogError) -> Staged {
        if let (lastID, space) = lastStaged.take() {
            let wasCarried = isCarried
            isCarried = false
            if lastID == id, !wasCarried || space.bytesToState > 0 { return space }
            if !wasCarried { staged[lastID] = space }
        }
        if let known = staged.removeValue(forKey: id) { return known }
        let home = try writableHome(id)
        guard !home.manifest.isWaiting else { throw .waiting(id) }
        let brief = store.index.withLock { $0.brief(of: id) }
        // A long state comes after more rows, or the log would be states for the most part.
        let interval = max(store.sizes.stateInterval, 4 * brief.stateSizeMax)
        var bytesToState = interval - brief.bytesSinceState
        if bytesToState <= 0 {
            if frame.count + builder.size + brief.stateSizeMax + size < store.sizes.frameMax {
                // Waits for the hashes, which are a few frames behind at the most.
                appendState(of: id, try store.hashes.range(of: id, in: store), released: nil)
            } else {
                lateStates.insert(id)
            }
            bytesToState = interval
        }
        return Staged(
            home: home,
            brief,
            lastSequence: store.index.withLock { $0.lastSequence(of: home.replica, in: id) },
            bytesToState: bytesToState,
            segmentCount: store.sizes.segmentCount
        )
    }

    private mutating func stage(
        _ batch: DraftBatch,
        by replica: ReplicaID,
        in id: SpaceID,
        _ space: inout Staged,
        _ result: inout AppendedBatches
    ) {
        let sequence = lastSequence(of: replica, in: id, space) + 1
        let count = batch.count
        let clock = space.clock.next(at: time)
        let lastClock = HybridTime(rawValue: clock.rawValue + UInt64(count - 1))
        // What is pending was accepted by nobody yet.
        if space.isAuthority { space.accept(lastClock, at: time) }
        makeSeeds(batch, replica, sequence, in: id, &space)
        openBlock(
            for: batch,
            BlockKey(
                space: id,
                isAuthority: space.authority == replica,
                laneReplica: space.isAuthority ? nil : replica
            ),
            position: space.head + 1
        )
        builder.append(
            batch,
            replica: replica,
            firstSequence: sequence,
            clock: clock,
            base: space.head
        )
        space.clock = lastClock
        space.note(replica, sequence: sequence + UInt64(count - 1))
        result.append(
            AppendedBatch(
                firstOrigin: Origin(replica: replica, sequence: sequence),
                count: count,
                firstPosition: space.isAuthority ? space.head + 1 : nil,
                acceptedAt: space.isAuthority ? space.acceptedAt : nil
            )
        )
        if space.isAuthority { space.head += UInt64(count) }
        note(count: count, acceptedAt: space.acceptedAt)
    }

    /// Stages events each of which is a batch of its own.
    private mutating func stageSingles(
        _ containers: Span<DraftBatch>,
        in id: SpaceID,
        _ space: inout Staged,
        _ result: inout AppendedBatches
    ) {
        let now = time
        let replica = space.replica
        // What is pending was accepted by nobody yet.
        if space.isAuthority {
            let count = containers.indices.reduce(0) { $0 + UInt64(containers[$1].count) }
            let first = space.clock.next(at: now)
            space.accept(HybridTime(rawValue: first.rawValue + count - 1), at: now)
        }
        for index in containers.indices {
            let batch = containers[index]
            let first = lastSequence(of: replica, in: id, space) + 1
            makeSeeds(batch, replica, first, in: id, &space)
            openBlock(
                for: batch,
                BlockKey(
                    space: id,
                    isAuthority: false,
                    laneReplica: space.isAuthority ? nil : replica
                ),
                position: space.head + 1
            )
            let firstPosition = space.isAuthority ? space.head + 1 : nil
            for (index, event) in batch.events.enumerated() {
                let sequence = first + UInt64(index)
                space.clock = space.clock.next(at: now)
                builder.append(
                    event: index,
                    of: batch,
                    envelope: RowEnvelope(
                        replica: replica,
                        sequence: sequence,
                        batchFirst: sequence,
                        batchCount: 1,
                        clock: space.clock,
                        at: Timestamp(
                            milliseconds: event.atMilliseconds ?? space.clock.milliseconds
                        ),
                        base: space.head
                    )
                )
                if space.isAuthority { space.head += 1 }
            }
            let count = batch.count
            space.note(replica, sequence: first + UInt64(count - 1))
            note(count: count, acceptedAt: space.acceptedAt)
            result.append(
                AppendedBatch(
                    firstOrigin: Origin(replica: replica, sequence: first),
                    count: count,
                    firstPosition: firstPosition
                )
            )
        }
    }

    private mutating func stage(
        _ blocks: [PreservedRows],
        in id: SpaceID,
        _ space: inout Staged,
        _ result: inout AppendedBatches
    ) {
        let now = time.milliseconds
        for rows in blocks {
            openBlock(
                for: rows.batch,
                BlockKey(space: id, isAuthority: rows.isAuthority, laneReplica: nil),
                position: space.head + 1,
                frill: rows.frillMax
            )
            for (index, envelope) in rows.envelopes.enumerated() {
                if rows.batch.flags(of: index).contains(.personal) {
                    makeSeed(envelope.replica, SaltSeed.group(of: envelope.sequence), id, &space)
                }
                builder.append(event: index, of: rows.batch, envelope: envelope)
                space.acceptedAt = max(
                    space.acceptedAt,
                    rows.acceptedAt[index]?.milliseconds ?? now
                )
                space.clock = space.clock.merged(
                    with: envelope.clock,
                    acceptedAt: space.acceptedAt
                )
                space.head += 1
                note(count: 1, acceptedAt: space.acceptedAt)
            }
            if let first = rows.envelopes.first {
                result.append(
                    AppendedBatch(
                        firstOrigin: first.origin,
                        count: rows.envelopes.count,
                        firstPosition: space.head + 1 - UInt64(rows.envelopes.count)
                    )
                )
            }
        }
    }

    /// Makes sure that rows which keep their origins and times do not contradict the log (B2, B3).
    private func check(
        _ rows: PreservedRows,
        in id: SpaceID,
        _ sequences: inout [ReplicaID: UInt64],
        _ lastAcceptedAt: inout Int64,
        now: Int64
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
            let acceptedAt = rows.acceptedAt[index]?.milliseconds ?? max(now, lastAcceptedAt)
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

    func lastSequence(
        of replica: ReplicaID,
        in id: SpaceID,
        _ space: Staged
    ) -> UInt64 {
        if let known = space.lastSequence(of: replica) { return known }
        return store.index.withLock { $0.lastSequence(of: replica, in: id) }
    }
}
