import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

// A commit puts the events of several appends into one frame, writes it, syncs it, and only then
// lets anyone see them.

extension Writer {
    /// What the frame under construction changes in a space.
    struct Staged {
        var home: SpaceHome
        var head: UInt64
        var acceptedAt: Int64
        var clock: HybridTime
        var tallies: [ReplicaID: UInt64]
        /// Groups that get their seed in this frame.
        var newSeeds: Set<SpaceIndex.SeedKey>

        var isAuthority: Bool { home.manifest.authority != nil }
    }

    typealias Outcome = Result<[AppendedBatch], LogError>

    /// Appends what is asked for, in order, in as few frames as the limits allow.
    ///
    /// The outcome at the same index belongs to each append. When a frame fails, so do all appends
    /// in it; those of earlier frames are done.
    mutating func commit(_ appends: [Append]) -> [Outcome] {
        guard !appends.isEmpty else { return [] }
        do throws(LogError) {
            try begin()
        } catch {
            return appends.map { _ in .failure(error) }
        }
        defer { end() }
        do throws(LogError) {
            try syncPrevious()
        } catch {
            return appends.map { _ in .failure(error) }
        }
        var outcomes: [Outcome] = []
        outcomes.reserveCapacity(appends.count)
        var next = 0
        while next < appends.count {
            beginFrame()
            let first = next
            var isSynced = false
            repeat {
                outcomes.append(stage(appends[next]))
                isSynced = isSynced || appends[next].durability == .synced
                next += 1
            } while next < appends.count
                && frame.count + builder.size + appends[next].sizeEstimate < store.sizes.frameMax
            do throws(LogError) {
                try finishFrame(isSynced: isSynced || next < appends.count)
            } catch {
                for index in first..<next { outcomes[index] = .failure(error) }
            }
        }
        return outcomes
    }

    /// Syncs the frame that was written last, if it is not synced yet, and lets readers see it.
    mutating func syncPrevious() throws(LogError) {
        try takeUp(try log.sync())
    }

    /// Lets readers see the last frame, which lies at `place`; nil if there is none to see.
    mutating func takeUp(_ place: FramePlace?) throws(LogError) {
        guard let place else { return }
        try store.takeUp(frame.span, FrameHeader.size..<bodyEnd, of: place)
        recent = place
    }

    mutating func beginFrame() {
        precondition(builder.isEmpty, "the last frame took all rows")
        recent = nil
        frame.removeAll(keepingCapacity: true)
        frame.append(contentsOf: repeatElement(0, count: FrameHeader.size))
        recordCount = 0
        staged.removeAll(keepingCapacity: true)
    }

    /// Writes the frame under construction, and shows it if it is synced.
    mutating func finishFrame(isSynced: Bool) throws(LogError) {
        flushRows()
        guard recordCount > 0 else { return }
        bodyEnd = frame.count
        try log.append(&frame, recordCount: recordCount)
        guard isSynced else { return }
        try syncPrevious()
    }

    // MARK: Staging

    /// Adds the events of one append to the frame; the frame is unchanged when it fails.
    private mutating func stage(_ append: Append) -> Outcome {
        do throws(LogError) {
            var space = try staged(append.space)
            space.tallies = try check(append, space)
            var batches: [AppendedBatch] = []
            for content in append.contents {
                switch content {
                case .batches(let drafts):
                    batches += stage(drafts, by: space.home.replica, in: append.space, &space)
                case .singles(let drafts):
                    batches += stageSingles(drafts, in: append.space, &space)
                case .authority(let drafts):
                    guard let authority = space.home.manifest.authority else { break }
                    batches += stage(drafts, by: authority, in: append.space, &space)
                case .preserved(let rows):
                    batches += stage(rows, in: append.space, &space)
                }
            }
            staged[append.space] = space
            return .success(batches)
        } catch {
            return .failure(error)
        }
    }

    /// Finds every reason to refuse an append before anything of it is staged.
    ///
    /// Gives the last sequences after the rows of it that keep their own.
    private func check(
        _ append: Append,
        _ space: Staged
    ) throws(LogError) -> [ReplicaID: UInt64] {
        if let expected = append.firstSequence {
            let next = lastSequence(of: space.home.replica, in: append.space, space) + 1
            guard next == expected else {
                throw .outOfOrder(what: "the next sequence is \(next), not \(expected)")
            }
        }
        guard append.sizeEstimate < store.sizes.frameMax else {
            throw .outOfOrder(what: "\(append.sizeEstimate) bytes do not fit in one frame")
        }
        let now = store.time.now.milliseconds
        var checked = space
        for content in append.contents {
            switch content {
            case .batches, .singles: break
            case .authority:
                guard space.isAuthority else { throw .notAuthority(append.space) }
            case .preserved(let blocks):
                guard space.isAuthority else { throw .notAuthority(append.space) }
                for rows in blocks { try check(rows, in: append.space, &checked, now: now) }
            }
        }
        return checked.tallies
    }

    /// The space as the frame under construction leaves it so far.
    private mutating func staged(_ id: SpaceID) throws(LogError) -> Staged {
        if let known = staged[id] { return known }
        let home = try writableHome(id)
        let space = store.index.withLock { index in
            let space = index[id]
            return (space.head, space.acceptedAt, space.clock, space.bytesSinceState)
        }
        if space.3 >= store.sizes.stateInterval, ranges[id]?.size == space.0 {
            appendState(of: id, released: nil)
        }
        return Staged(
            home: home,
            head: space.0,
            acceptedAt: space.1,
            clock: space.2,
            tallies: [:],
            newSeeds: []
        )
    }

    /// Who writes to a space here; a copied directory takes its own ids at this point.
    mutating func writableHome(_ id: SpaceID) throws(LogError) -> SpaceHome {
        if let known = homes[id] { return known }
        var home = try SpaceHome.read(id, in: store.directory)
        try home.settle(in: store.directory, entropy: store.entropy)
        homes[id] = home
        return home
    }

    private mutating func stage(
        _ batches: [DraftBatch],
        by replica: ReplicaID,
        in id: SpaceID,
        _ space: inout Staged
    ) -> [AppendedBatch] {
        let now = store.time.now
        space.acceptedAt = max(space.acceptedAt, now.milliseconds)
        let isAuthority = space.home.manifest.authority == replica
        var result: [AppendedBatch] = []
        result.reserveCapacity(batches.count)
        for batch in batches {
            let sequence = nextSequence(of: replica, in: id, &space)
            let count = batch.events.count
            let clock = space.clock.next(at: now)
            makeSeeds(batch, replica, sequence, in: id, &space)
            openBlock(
                for: batch,
                BlockKey(
                    space: id,
                    isAuthority: isAuthority,
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
            space.clock = HybridTime(rawValue: clock.rawValue + UInt64(count - 1))
            space.tallies[replica] = sequence + UInt64(count - 1)
            result.append(
                AppendedBatch(
                    firstOrigin: Origin(replica: replica, sequence: sequence),
                    count: count,
                    firstPosition: space.isAuthority ? space.head + 1 : nil
                )
            )
            if space.isAuthority { space.head += UInt64(count) }
            note(count: count, acceptedAt: space.acceptedAt)
        }
        return result
    }

    /// Stages events each of which is a batch of its own.
    private mutating func stageSingles(
        _ containers: [DraftBatch],
        in id: SpaceID,
        _ space: inout Staged
    ) -> [AppendedBatch] {
        let now = store.time.now
        let replica = space.home.replica
        space.acceptedAt = max(space.acceptedAt, now.milliseconds)
        var result: [AppendedBatch] = []
        for batch in containers {
            let first = nextSequence(of: replica, in: id, &space)
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
            let count = batch.events.count
            space.tallies[replica] = first + UInt64(count - 1)
            note(count: count, acceptedAt: space.acceptedAt)
            result.append(
                AppendedBatch(
                    firstOrigin: Origin(replica: replica, sequence: first),
                    count: count,
                    firstPosition: firstPosition
                )
            )
        }
        return result
    }

    private mutating func stage(
        _ blocks: [PreservedRows],
        in id: SpaceID,
        _ space: inout Staged
    ) -> [AppendedBatch] {
        let now = store.time.now.milliseconds
        var result: [AppendedBatch] = []
        for rows in blocks {
            openBlock(
                for: rows.batch,
                BlockKey(space: id, isAuthority: rows.isAuthority, laneReplica: nil),
                position: space.head + 1
            )
            for (index, envelope) in rows.envelopes.enumerated() {
                let flags = rows.batch.events[index].flags
                if flags.contains(.personal) {
                    makeSeed(envelope.replica, SaltSeed.group(of: envelope.sequence), id, &space)
                }
                builder.append(event: index, of: rows.batch, envelope: envelope)
                space.acceptedAt = max(
                    space.acceptedAt,
                    rows.acceptedAt[index]?.milliseconds ?? now
                )
                space.clock = max(space.clock, envelope.clock)
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
        return result
    }

    /// Makes sure that rows which keep their origins and times do not contradict the log (L4, L5).
    private func check(
        _ rows: PreservedRows,
        in id: SpaceID,
        _ space: inout Staged,
        now: Int64
    ) throws(LogError) {
        for (index, envelope) in rows.envelopes.enumerated() {
            // One look-up for each row: this loop is a good part of what an import costs.
            let last = take(envelope.sequence, after: &space.tallies[envelope.replica])
            if last == nil {
                let last = store.index.withLock { $0.lastSequence(of: envelope.replica, in: id) }
                guard envelope.sequence > last else { throw Self.refused(envelope, after: last) }
            } else if let last, envelope.sequence <= last {
                throw Self.refused(envelope, after: last)
            }
            let acceptedAt = rows.acceptedAt[index]?.milliseconds ?? max(now, space.acceptedAt)
            guard acceptedAt >= space.acceptedAt else {
                throw .outOfOrder(
                    what: "\(envelope.origin.text) was accepted before the event in front of it"
                )
            }
            space.acceptedAt = acceptedAt
        }
    }

    /// Replaces the last sequence of a replica, and gives what it was; nil if it was not known.
    @inline(__always)
    private func take(_ sequence: UInt64, after last: inout UInt64?) -> UInt64? {
        defer { last = sequence }
        return last
    }

    private static func refused(_ envelope: RowEnvelope, after last: UInt64) -> LogError {
        .outOfOrder(what: "\(envelope.origin.text) comes after sequence \(last) of its replica")
    }

    private func lastSequence(
        of replica: ReplicaID,
        in id: SpaceID,
        _ space: Staged
    ) -> UInt64 {
        if let known = space.tallies[replica] { return known }
        return store.index.withLock { $0.lastSequence(of: replica, in: id) }
    }

    private func nextSequence(
        of replica: ReplicaID,
        in id: SpaceID,
        _ space: inout Staged
    ) -> UInt64 {
        lastSequence(of: replica, in: id, space) + 1
    }
}
