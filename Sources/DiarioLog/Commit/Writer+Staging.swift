import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioStorage
import Synchronization

// Staging gives events their sequences, clocks and positions, and adds their rows to the frame
// under construction. Nothing of it counts until the frame is on disk.

extension Writer {
    /// Adds the events of one append to the frame; the frame is unchanged when it fails.
    mutating func stage(_ append: Append) -> Outcome {
        let id = append.space
        var space: StagedSpace
        if let known = staged.take(id) {
            space = known
        } else {
            do throws(LogError) { space = try makeStaged(id, append.sizeEstimate) } catch {
                return .failure(error)
            }
        }
        defer { staged.put(space, id) }
        do throws(LogError) {
            try AppendCheck(store: store, id: id, time: time).check(append, &space)
        } catch {
            return .failure(error)
        }
        var batches = AppendedBatches()
        append.contents.forEach { stage($0, in: id, &space, &batches) }
        return .success(batches)
    }

    private mutating func stage(
        _ content: Append.Content,
        in id: SpaceID,
        _ space: inout StagedSpace,
        _ result: inout AppendedBatches
    ) {
        switch content {
        case .new(let drafts, .replica):
            for draft in drafts { stage(draft, by: space.replica, in: id, &space, &result) }
        case .new(let drafts, .replicaSingly):
            stageSingles(drafts.span, in: id, &space, &result)
        case .new(let drafts, .authority):
            guard let authority = space.authority else {
                preconditionFailure("an append is checked before it is staged")
            }
            for draft in drafts { stage(draft, by: authority, in: id, &space, &result) }
        case .preserved(let rows): stage(rows, in: id, &space, &result)
        case .received(let rows) where rows.isPending: stagePending(rows, in: id, &space, &result)
        case .received(let rows): stage(rows, in: id, &space, &result)
        case .promoted(let runs): stage(runs, in: id, &space)
        }
    }

    /// A space that the frame does not change yet; `size` are the bytes that it is to take next.
    private mutating func makeStaged(_ id: SpaceID, _ size: Int) throws(LogError) -> StagedSpace {
        let home = try writableHome(id)
        guard !home.manifest.isWaiting else { throw .waiting(id) }
        let brief = store.index.withLock { $0.brief(of: id) }
        // A long state comes after more rows, or the log would be states for the most part.
        let interval = max(store.sizes.stateInterval, 4 * brief.stateSizeMax)
        var bytesToState = interval - brief.bytesSinceState
        if bytesToState <= 0 {
            if draft.size + brief.stateSizeMax + size < store.sizes.frameMax {
                // Waits for the hashes, which are a few frames behind at the most.
                appendState(of: id, try store.hashes.range(of: id, in: store))
            } else {
                lateStates.insert(id)
            }
            bytesToState = interval
        }
        return StagedSpace(
            home: home,
            brief,
            lastSequence: store.index.withLock { $0.lastSequence(of: home.replica, in: id) },
            bytesToState: bytesToState,
            segmentCount: store.sizes.segmentCount
        )
    }

    // MARK: New events

    private mutating func stage(
        _ batch: DraftBatch,
        by replica: ReplicaID,
        in id: SpaceID,
        _ space: inout StagedSpace,
        _ result: inout AppendedBatches
    ) {
        let sequence = store.lastSequence(of: replica, in: id, space) + 1
        let count = batch.count
        let clock = space.clock.next(at: time)
        let lastClock = HybridTime(rawValue: clock.rawValue + UInt64(count - 1))
        // What is pending was accepted by nobody yet.
        if space.isAuthority { space.accept(lastClock, at: time) }
        makeSeeds(batch, replica, sequence, in: id, &space)
        draft.openBlock(
            for: batch,
            FrameDraft.BlockKey(
                space: id,
                isAuthority: space.authority == replica,
                laneReplica: space.isAuthority ? nil : replica
            ),
            position: space.head + 1
        )
        draft.append(batch, by: replica, from: sequence, clock: clock, base: space.head)
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
        draft.note(count: count, acceptedAt: space.acceptedAt)
    }

    /// Stages events each of which is a batch of its own.
    private mutating func stageSingles(
        _ containers: Span<DraftBatch>,
        in id: SpaceID,
        _ space: inout StagedSpace,
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
            let first = store.lastSequence(of: replica, in: id, space) + 1
            makeSeeds(batch, replica, first, in: id, &space)
            draft.openBlock(
                for: batch,
                FrameDraft.BlockKey(
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
                draft.append(
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
            draft.note(count: count, acceptedAt: space.acceptedAt)
            result.append(
                AppendedBatch(
                    firstOrigin: Origin(replica: replica, sequence: first),
                    count: count,
                    firstPosition: firstPosition
                )
            )
        }
    }

    // MARK: Rows from elsewhere

    /// Adds rows that keep their origins and times.
    private mutating func stage(
        _ blocks: [PreservedRows],
        in id: SpaceID,
        _ space: inout StagedSpace,
        _ result: inout AppendedBatches
    ) {
        let now = time.milliseconds
        for rows in blocks {
            draft.openBlock(
                for: rows.batch,
                FrameDraft.BlockKey(space: id, isAuthority: rows.isAuthority, laneReplica: nil),
                position: space.head + 1,
                frill: rows.frillMax
            )
            for (index, envelope) in rows.envelopes.enumerated() {
                if rows.batch.flags(of: index).contains(.personal) {
                    makeSeed(envelope.replica, SaltSeed.group(of: envelope.sequence), id, &space)
                }
                draft.append(event: index, of: rows.batch, envelope: envelope)
                space.acceptedAt = max(
                    space.acceptedAt,
                    rows.acceptedAt[index]?.milliseconds ?? now
                )
                space.clock = space.clock.merged(
                    with: envelope.clock,
                    acceptedAt: space.acceptedAt
                )
                space.head += 1
                draft.note(count: 1, acceptedAt: space.acceptedAt)
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

    /// Copies rows to the frame.
    private mutating func stage(
        _ rows: ReceivedRows,
        in id: SpaceID,
        _ space: inout StagedSpace,
        _ result: inout AppendedBatches
    ) {
        copy(
            rows,
            FrameDraft.BlockKey(
                space: id,
                isAuthority: rows.head.summary.isAuthority,
                laneReplica: nil,
                isReceived: true
            ),
            &space
        )
        if space.isAuthority {
            space.accept(rows.head.summary.highestClock, at: time)
            draft.note(count: rows.count, acceptedAt: space.acceptedAt)
        } else {
            for time in rows.head.times {
                space.acceptedAt = time.acceptedAt.milliseconds
                draft.note(count: time.count, acceptedAt: space.acceptedAt)
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
    private mutating func stagePending(
        _ rows: ReceivedRows,
        in id: SpaceID,
        _ space: inout StagedSpace,
        _ result: inout AppendedBatches
    ) {
        guard let run = rows.head.runs.first else { return }
        copy(
            rows,
            FrameDraft.BlockKey(space: id, isAuthority: false, laneReplica: run.replica),
            &space
        )
        space.clock = max(space.clock, rows.head.summary.highestClock)
        result.append(
            AppendedBatch(
                firstOrigin: Origin(replica: run.replica, sequence: run.firstSequence),
                count: Int(run.count),
                firstPosition: nil
            )
        )
    }

    private mutating func copy(
        _ rows: ReceivedRows,
        _ key: FrameDraft.BlockKey,
        _ space: inout StagedSpace
    ) {
        for node in rows.head.saltNodes {
            take(
                SaltSeed(replica: node.replica, group: node.group, root: node.value),
                of: key.space,
                &space
            )
        }
        draft.openBlock(for: rows, key, position: space.head + 1)
        draft.append(rows)
    }

    /// Writes down that pending events have positions now.
    private mutating func stage(_ runs: [PromotedRun], in id: SpaceID, _ space: inout StagedSpace) {
        guard let last = runs.last else { return }
        draft.flushRows()
        draft.append(.promotion, of: id) { PromotedRun.append(runs, to: &$0) }
        space.head = last.lastPosition
        space.acceptedAt = max(space.acceptedAt, last.acceptedAt.milliseconds)
    }

    // MARK: Seeds

    /// Draws the seeds from which the salts of a batch come, as far as they are new.
    private mutating func makeSeeds(
        _ batch: DraftBatch,
        _ replica: ReplicaID,
        _ first: UInt64,
        in id: SpaceID,
        _ space: inout StagedSpace
    ) {
        guard batch.hasPersonal else { return }
        let last = first + UInt64(batch.count - 1)
        for group in SaltSeed.group(of: first)...SaltSeed.group(of: last) {
            makeSeed(replica, group, id, &space)
        }
    }

    private mutating func makeSeed(
        _ replica: ReplicaID,
        _ group: UInt64,
        _ id: SpaceID,
        _ space: inout StagedSpace
    ) {
        let key = SpaceIndex.SeedKey(replica: replica, group: group)
        guard key != space.lastSeeded else { return }
        space.lastSeeded = key
        guard space.seeded.insert(key).inserted else { return }
        guard store.index.withLock({ $0.seed(key, in: id) }) == nil else { return }
        let root = Salt(first: store.entropy.next(), second: store.entropy.next())
        draft.append(SaltSeed(replica: replica, group: group, root: root), of: id)
    }

    /// Writes a seed down that came from elsewhere, unless it is known.
    private mutating func take(_ seed: SaltSeed, of id: SpaceID, _ space: inout StagedSpace) {
        let key = SpaceIndex.SeedKey(replica: seed.replica, group: seed.group)
        guard space.seeded.insert(key).inserted,
            store.index.withLock({ $0.seed(key, in: id) }) == nil
        else { return }
        draft.append(seed, of: id)
    }

    /// Writes down what is known of a space whose hashes are computed up to its head.
    mutating func appendState(
        of id: SpaceID,
        _ range: CompactRange,
        released: UInt64? = nil
    ) {
        let space = store.index.withLock { $0[id] }
        precondition(range.size == space.head, "the state is that of the head")
        let state = SpaceState(
            released: released ?? space.released,
            acceptedAt: range.size == 0 ? 0 : space.acceptedAt,
            clock: space.clock.rawValue,
            tallies: space.tallies,
            adoptions: space.adoptions,
            range: range
        )
        draft.append(.state, of: id) { state.append(to: &$0) }
    }
}
