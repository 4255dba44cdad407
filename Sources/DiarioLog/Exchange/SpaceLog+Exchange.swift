package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
import Synchronization

// Events as blocks between the two sides of a sync: schema/format/sync.md.

/// An event of the log with a requested origin.
package struct KnownEvent: Hashable, Sendable {
    package let origin: Origin
    package let position: UInt64
    package let acceptedAt: Timestamp
    package let eventHash: Hash32
}

extension SpaceLog {
    /// Appends received events in order, in as few frames as the limits allow.
    ///
    /// With a position it throws `.outOfOrder` if other events follow that by now. When this
    /// throws, a first part of the events may be there. Each frame goes to the log by `commit`, if
    /// that is given.
    @discardableResult
    package func append(
        _ contents: [Append.Content],
        behind lastPosition: UInt64? = nil,
        by commit: Append.Commit? = nil
    ) throws(LogError) -> [AppendedBatch] {
        var appended: [AppendedBatch] = []
        var (gathered, size): ([Append.Content], Int) = ([], 0)
        func flush() throws(LogError) {
            guard !gathered.isEmpty else { return }
            let last = appended.last.flatMap { batch in
                batch.firstPosition.map { $0 + UInt64(batch.count) - 1 }
            }
            let append = Append(
                space: space,
                contents: gathered,
                behind: lastPosition.map { last ?? $0 }
            )
            appended += try (commit ?? log.append)(append)
            (gathered, size) = ([], 0)
        }
        for content in contents {
            let next = content.sizeEstimate
            if size + next >= shared.sizes.frameMax { try flush() }
            gathered.append(content)
            size += next
        }
        try flush()
        return appended
    }

    /// Pending events in blocks, oldest first, as many as one exchange takes; if they are many and
    /// it is asked for, in columns.
    package func pendingBlocks(
        _ pending: PendingEvents,
        countMax: Int = Limits.exchangeCountMax,
        inColumns: Bool = false
    ) throws(LogError) -> (blocks: [[UInt8]], count: Int) {
        var wire = try WireBlocks(shared, space, countMax: countMax, inColumns: inColumns)
        var cursor = log.cursor(space, pending)
        loop: while let events = try cursor.next() {
            for stored in events.rows {
                if try wire.isFull(for: stored, of: events) { break loop }
                try wire.append(stored, of: events)
            }
        }
        try wire.flush()
        let blocks = wire.pieces.compactMap { piece -> [UInt8]? in
            guard case .block(let block) = piece else { return nil }
            return block
        }
        return (blocks, wire.eventCount)
    }

    /// The events after a position, as many as one exchange takes.
    ///
    /// Events in `own`, sequences by replica, come as runs without rows, and long runs of others
    /// in columns, if requested. With `afterContext` the reader has the context of the events up
    /// to the position.
    package func news(
        after position: UInt64,
        own: [ReplicaID: [ClosedRange<UInt64>]],
        countMax: Int,
        inColumns: Bool = false,
        afterContext: Bool = false
    ) throws(LogError) -> (pieces: [WirePiece], end: UInt64) {
        var wire = try WireBlocks(shared, space, countMax: countMax, inColumns: inColumns)
        let head = head()
        guard position < head else { return ([], position) }
        var context = try afterContext ? self.context(position, head) : nil
        let first = context?.positions.lowerBound ?? position + 1
        var cursor = try log.cursor(space, positions: first...head, .canonical)
        var hashing = RowHashing(shared, space)
        loop: while let events = try cursor.next() {
            for stored in events.rows {
                if let place = stored.position, place <= position {
                    context?.append(stored, of: events)
                    continue
                }
                if let bytes = context.take()?.bytes() { try wire.use(context: bytes) }
                if try wire.isFull(for: stored, of: events) { break loop }
                let origin = stored.row.origin
                if let position = stored.position, let acceptedAt = stored.acceptedAt,
                    own[origin.replica]?.contains(where: { $0.contains(origin.sequence) }) == true
                {
                    let hash = try hashing.hash(of: stored, in: events)
                    try wire.append(own: origin, at: position, acceptedAt: acceptedAt, hash)
                } else {
                    try wire.append(stored, of: events)
                }
            }
        }
        try wire.flush()
        return (wire.pieces, position + UInt64(wire.eventCount))
    }

    /// The context of news, if their number is neither too small to be worth it nor too large.
    private func context(
        _ position: UInt64,
        _ head: UInt64
    ) throws(LogError) -> ExchangeContext? {
        let count = head - position
        guard position > 0, count >= UInt64(shared.sizes.contextCountMin),
            count < UInt64(LogSizes.standard.columnsCountMin)
        else { return nil }
        let context = ExchangeContext(size: position)
        return try canRead(from: context.positions.lowerBound) ? context : nil
    }

    /// The hash of an event that was read, the same for its author and everybody else.
    package func hash(of stored: StoredRow, in events: StoredEvents) throws(LogError) -> Hash32 {
        var hashing = RowHashing(shared, space)
        return try hashing.hash(of: stored, in: events)
    }

    /// The envelope of the event at a position; nil if none is there.
    package func envelope(at position: UInt64) throws(LogError) -> RowEnvelope? {
        guard position > 0 else { return nil }
        var cursor = try log.cursor(space, positions: position...position, .canonical)
        guard let events = try cursor.next(), let row = events.rows.last?.row else { return nil }
        return try events.envelope(of: row)
    }

    /// The canonical events of a replica with these sequences, in order.
    package func known(
        _ sequences: ClosedRange<UInt64>,
        of replica: ReplicaID
    ) throws(LogError) -> [KnownEvent] {
        var cursor = try backwards(sequences, of: replica)
        var hashing = RowHashing(shared, space)
        var found: [KnownEvent] = []
        search: while let events = try cursor.next() {
            for stored in events.rows where stored.row.replica == replica {
                let row = stored.row
                // Sequences increase with position: what is below is not further back.
                if row.sequence < sequences.lowerBound { break search }
                guard row.sequence <= sequences.upperBound, let position = stored.position,
                    let acceptedAt = stored.acceptedAt
                else { continue }
                found.append(
                    KnownEvent(
                        origin: row.origin,
                        position: position,
                        acceptedAt: acceptedAt,
                        eventHash: try hashing.hash(of: stored, in: events)
                    )
                )
                if row.sequence == sequences.lowerBound { break search }
            }
        }
        return found.reversed()
    }

    /// The clock of the last event of a replica up to a sequence; nil if none has a position.
    package func lastClock(
        of replica: ReplicaID,
        through sequence: UInt64
    ) throws(LogError) -> HybridTime? {
        var cursor = try backwards(1...sequence, of: replica)
        while let events = try cursor.next() {
            for stored in events.rows
            where stored.row.replica == replica && stored.row.sequence <= sequence {
                return try events.envelope(of: stored.row).clock
            }
        }
        return nil
    }

    /// Gives groups the seeds that rows which are to be appended have of them, in place of seeds
    /// from which no salt here comes any more; durable when this returns.
    ///
    /// Another device that has our old id drew a seed of its own for the same group.
    package func takeSeeds(of blocks: some Sequence<ReceivedRows>) throws(LogError) {
        var seeds: [SaltSeed] = []
        for node in blocks.flatMap({ $0.head.saltNodes }) where node.level == 0 {
            let key = SpaceIndex.SeedKey(replica: node.replica, group: node.group)
            let known = shared.index.withLock { $0.seed(key, in: space) }
            guard let known, known != node.value,
                !seeds.contains(where: { $0.replica == node.replica && $0.group == node.group }),
                try !hasSalts(of: key)
            else { continue }
            seeds.append(SaltSeed(replica: node.replica, group: node.group, root: node.value))
        }
        let found = seeds
        guard !found.isEmpty else { return }
        try log.withWriter { (writer) throws(LogError) in
            writer.beginFrame()
            for seed in found {
                try writer.makeRoom(SpaceIndex.seedSize)
                writer.draft.append(seed, of: space)
            }
            try writer.finishFrame()
            shared.hashes.remove(space)
        }
    }

    /// True if a row of a group has a personal part.
    private func hasSalts(of key: SpaceIndex.SeedKey) throws(LogError) -> Bool {
        let sequences = SaltSeed.sequences(ofGroup: key.group)
        let pending = PendingEvents(replica: key.replica, sequences: sequences)
        for var cursor in [
            log.cursor(space, pending), try backwards(sequences, of: key.replica),
        ] {
            while let events = try cursor.next() {
                let hasOne = events.rows.contains { stored in
                    guard stored.row.replica == key.replica,
                        sequences.contains(stored.row.sequence),
                        case .present = stored.row.personal
                    else { return false }
                    return true
                }
                if hasOne { return true }
            }
        }
        return false
    }

    /// Blocks that may hold these sequences of a replica with positions, the last one first.
    package func backwards(
        _ sequences: ClosedRange<UInt64>,
        of replica: ReplicaID
    ) throws(LogError) -> LogCursor {
        var filter = LogFilter()
        filter.sequences = LogFilter.Sequences(sequences, of: replica)
        return try log.cursor(
            space,
            positions: try sealedPositions(of: sequences, of: replica),
            .canonical,
            filter: filter,
            isReversed: true
        )
    }

    /// The positions up to the end of a segment that has the last of these sequences of a replica,
    /// or a later one; nil if no segment has.
    ///
    /// This avoids reading all blocks of the log after the segments.
    private func sealedPositions(
        of sequences: ClosedRange<UInt64>,
        of replica: ReplicaID
    ) throws(LogError) -> ClosedRange<UInt64>? {
        let released = shared.index.withLock { $0.brief(of: space).released }
        let first = try shared.firstReadable(space, released: released)
        let (shelf, directory) = (shared.segments, shared.directory)
        var lists = shelf.known(of: space)
        if lists == nil { lists = try shelf.readLists(of: space, in: directory) }
        for entry in lists?.segments.reversed() ?? [] {
            if shelf.index(of: entry.name) == nil,
                let segment = try OpenSegment.open(entry, of: space, in: shared)
            {
                shelf.keep(segment.reader.index, of: entry.name)
            }
            guard let index = shelf.index(of: entry.name) else { return nil }
            guard let own = index.replicas.first(where: { $0.replica == replica }),
                let last = own.runs.last(where: { !$0.isRefused })
            else { continue }
            return sequences.upperBound <= last.last && first <= entry.last
                ? first...entry.last : nil
        }
        return nil
    }

    /// The hash of the hashes of pending events; nil if they are not all pending.
    package func pendingHash(of pending: PendingEvents) throws(LogError) -> Hash32? {
        var cursor = log.cursor(space, pending)
        var hashing = RowHashing(shared, space)
        var hashes: [UInt8] = []
        while let events = try cursor.next() {
            for stored in events.rows {
                hashes.append(try hashing.hash(of: stored, in: events))
            }
        }
        guard hashes.count == pending.sequences.count * Hash32.size else { return nil }
        return SHA256.hash(hashes.span)
    }

    /// The authority's refusals at these positions, in order.
    package func refusals(in positions: ClosedRange<UInt64>) throws(LogError) -> [RefusedRun] {
        var filter = LogFilter()
        let wanted = Array(EngineReader.refusalName.utf8)
        filter.wantsType = { $0 == wanted }
        var cursor = try log.cursor(space, positions: positions, .canonical, filter: filter)
        var found: [RefusedRun] = []
        while let events = try cursor.next() {
            for stored in events.rows where events.types[stored.row.typeIndex].name == wanted {
                do throws(FormatError) {
                    let type = events.types[stored.row.typeIndex]
                    found += try shared.engine.facts(of: stored, in: events.bytes.span, type)
                        .refusals
                } catch {
                    throw .format(error)
                }
            }
        }
        return found
    }

    /// The last sequence of a replica that is known here, refused or not; 0 if it is not known.
    package func lastSequence(of replica: ReplicaID) -> UInt64 {
        shared.index.withLock { $0.lastSequence(of: replica, in: space) }
    }

    /// The latest time that the events of a space have, as far as it is believed.
    package func clock() -> HybridTime {
        shared.index.withLock { $0.brief(of: space).clock }
    }

    /// The last position, and how many events up to there authorities wrote, each under an id of
    /// its own.
    package func authorityMark() -> (head: UInt64, count: UInt64) {
        shared.index.withLock { index in
            index.read(space) { space in
                (space.head, space.authorityCount)
            } ?? (0, 0)
        }
    }

    /// True if a replica writes here as an authority.
    package func isAuthority(_ replica: ReplicaID) -> Bool {
        shared.index.withLock { index in
            index.read(space) { $0.isAuthority(replica) } ?? false
        }
    }

    /// True if the seed differs from the known one of its group, if that is known.
    package func contradicts(_ seed: SaltSeed) -> Bool {
        let key = SpaceIndex.SeedKey(replica: seed.replica, group: seed.group)
        return shared.index.withLock { $0.seed(key, in: space) }.map { $0 != seed.root } ?? false
    }
}
