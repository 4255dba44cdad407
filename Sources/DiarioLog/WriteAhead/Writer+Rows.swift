import DiarioCore
import DiarioFormat
import Synchronization

// Rows of one space that follow each other in a frame share a block, within the limits.

extension Writer {
    /// What all rows of a block have in common.
    struct BlockKey: Equatable {
        let space: SpaceID
        let isAuthority: Bool
        /// Who wrote, if the rows are pending; nil if they have positions.
        let laneReplica: ReplicaID?
        /// True if they came from elsewhere: their clocks may be out of all measure.
        var isReceived = false
    }

    struct OpenBlock {
        let key: BlockKey
        /// Of the first row; nil if the rows are pending.
        let position: UInt64?
    }

    /// Makes sure that a block is open that takes the rows of `batch` next.
    ///
    /// `frill` are the bytes that the rows take besides what the batch reckons with.
    mutating func openBlock(
        for batch: DraftBatch,
        _ key: BlockKey,
        position: UInt64,
        frill: Int = 0
    ) {
        if open?.key == key {
            let timesSize = times.count * BlockBuilder.acceptedRunSizeMax
            if builder.hasRoom(for: batch, frill: timesSize + frill) { return }
        }
        flushRows()
        open = OpenBlock(key: key, position: key.laneReplica == nil ? position : nil)
    }

    /// Makes sure that a block is open that takes these rows next.
    mutating func openBlock(for rows: ReceivedRows, _ key: BlockKey, position: UInt64) {
        if open?.key == key {
            let timesSize = times.count * BlockBuilder.acceptedRunSizeMax
            let size = timesSize + rows.sizeMax
            // A lane may have gaps, and a block of it has none.
            let follows =
                key.laneReplica == nil
                || builder.onlyRun.map { $0.lastSequence + 1 }
                    == rows.head.runs.first?.firstSequence
            if follows, builder.hasRoom(for: size, rows.count, rows.head.types) { return }
        }
        flushRows()
        open = OpenBlock(key: key, position: key.laneReplica == nil ? position : nil)
    }

    /// Notes that `count` rows were added which were accepted at one time.
    mutating func note(count: Int, acceptedAt: Int64) {
        guard open?.position != nil else { return }
        let time = Timestamp(milliseconds: acceptedAt)
        if let last = times.indices.last, times[last].acceptedAt == time {
            times[last].count += count
        } else {
            times.append(AcceptedRun(count: count, acceptedAt: time))
        }
    }

    /// Closes the open block and puts it into the frame.
    mutating func flushRows() {
        guard let block = open, !builder.isEmpty else { return }
        let start = Record.begin(in: &frame)
        builder.write(
            into: &frame,
            position: block.position,
            times: times,
            isAuthority: block.key.isAuthority
        )
        Record.end(.rows, block.key.space, from: start, in: &frame)
        recordCount += 1
        if let run = builder.onlyRun, !block.key.isAuthority {
            ownRows.append(
                OwnRows(
                    space: block.key.space,
                    offset: start + Record.headerSize,
                    size: frame.count - start - Record.headerSize,
                    rows: PlainRows(
                        run: run,
                        clock: builder.highestClock,
                        position: block.position,
                        acceptedAt: times.last?.acceptedAt.milliseconds
                    )
                )
            )
        }
        closeBlock()
    }

    /// Forgets the open block and its rows, and keeps their memory.
    mutating func closeBlock() {
        builder.removeAll()
        times.removeAll(keepingCapacity: true)
        open = nil
    }

    /// Draws the seeds from which the salts of a batch come, as far as they are new.
    mutating func makeSeeds(
        _ batch: DraftBatch,
        _ replica: ReplicaID,
        _ first: UInt64,
        in id: SpaceID,
        _ space: inout Staged
    ) {
        guard batch.hasPersonal else { return }
        let last = first + UInt64(batch.count - 1)
        for group in SaltSeed.group(of: first)...SaltSeed.group(of: last) {
            makeSeed(replica, group, id, &space)
        }
    }

    mutating func makeSeed(
        _ replica: ReplicaID,
        _ group: UInt64,
        _ id: SpaceID,
        _ space: inout Staged
    ) {
        let key = SpaceIndex.SeedKey(replica: replica, group: group)
        guard key != space.lastSeeded else { return }
        space.lastSeeded = key
        guard space.seeded.insert(key).inserted else { return }
        guard store.index.withLock({ $0.seed(key, in: id) }) == nil else { return }
        let root = Salt(first: store.entropy.next(), second: store.entropy.next())
        append(SaltSeed(replica: replica, group: group, root: root), of: id)
    }

    /// Writes a seed down that came from elsewhere, unless it is known.
    mutating func take(_ seed: SaltSeed, of id: SpaceID, _ space: inout Staged) {
        let key = SpaceIndex.SeedKey(replica: seed.replica, group: seed.group)
        guard space.seeded.insert(key).inserted,
            store.index.withLock({ $0.seed(key, in: id) }) == nil
        else { return }
        append(seed, of: id)
    }

    mutating func append(_ seed: SaltSeed, of id: SpaceID) {
        Record.append(.seed, id, to: &frame) { bytes in
            bytes.append(littleEndian: seed.replica.rawValue)
            bytes.append(littleEndian: seed.group)
            seed.root.write(into: &bytes)
        }
        recordCount += 1
    }

    /// Writes down what is known of a space whose hashes are computed up to its head.
    mutating func appendState(
        of id: SpaceID,
        _ range: CompactRange,
        released: UInt64?
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
        Record.append(.state, id, to: &frame) { state.append(to: &$0) }
        recordCount += 1
    }
}
