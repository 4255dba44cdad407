import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioStorage

/// Writes the events of a damaged space into a new one: schema/format/salvage.md, section 4.
struct SpaceSalvage: ~Copyable {
    private let store: LogStore
    private let space: SpaceID
    private var sources: SalvageSources
    /// Own events that are in the inbox, most of which the authority refused.
    private let inbox: [InboxEntry]
    /// The id under which the replica recorded; nil for an authority.
    private let own: ReplicaID?
    private var stage = Stage.positions
    private(set) var report: SalvagedSpace
    /// The packs that events adopt.
    private(set) var packs: [Hash32] = []
    private(set) var faults: [Fault] = []

    /// What was written of each replica.
    private var heads: [ReplicaID: ReplicaHead] = [:]
    private var authorities: [ReplicaID: Bool] = [:]
    private var refused: [ReplicaID: [ClosedRange<UInt64>]] = [:]
    private var seeds: [SpaceIndex.SeedKey: Salt] = [:]
    private var acceptedAt = Int64.min
    /// The position that is looked for next.
    private var expected: UInt64 = 1
    /// How many positions were missing when the last event of a replica was taken.
    private var missingAt: [ReplicaID: UInt64] = [:]
    private var missing: UInt64 = 0

    /// Consecutive events of one batch, with their old positions.
    private var batch: [Member] = []
    private var batchSize = 0
    private var batchTypes: [TypeEntry] = []
    private var cutter = BlockCutter()
    /// Bytes of the blocks that were cut so far.
    private var cutSize = 0
    private var contents: [Append.Content] = []
    private var contentsSize = 0
    private var lane: LaneBlocks

    private enum Stage {
        case positions
        /// The replicas whose pending events are still to be written, the next one last.
        case lanes([ReplicaID])
    }

    /// How far the pending events of a replica were written.
    private struct Lane {
        var next: UInt64
        /// Up to here they have positions or were refused.
        let decided: UInt64
        /// The last one that was found; nil if that is not known.
        var end: UInt64?
    }

    private var current: Lane?

    private struct Member {
        let found: SalvagedRow
        let envelope: RowEnvelope
        let acceptedAt: Timestamp?
        let node: SaltNode?
        /// Nil if it was not found.
        let position: UInt64?
        let isErased: Bool
    }

    private static let appendSizeMax = Limits.frameSizeMax / 4
    private static let blockSize = 256 * 1024

    init(
        _ store: LogStore,
        _ space: SpaceID,
        _ sources: consuming SalvageSources,
        inbox: [InboxEntry],
        own: ReplicaID?,
        isAuthority: Bool
    ) {
        self.store = store
        self.space = space
        self.sources = sources
        self.inbox = inbox
        self.own = own
        report = SalvagedSpace(space, isAuthority: isAuthority)
        lane = LaneBlocks(store, space)
    }

    /// Writes the next canonical events, and then the pending ones of all replicas; gives how many
    /// bytes of them, or nil at the end.
    mutating func step() throws(LogError) -> Int? {
        switch stage {
        case .positions:
            if let (rows, end) = try sources.next(from: expected) {
                for found in rows { try take(found) }
                expected = max(expected, end)
                return rows.reduce(0) { $0 + $1.stored.size }
            }
            try endBatch()
            try append(isLast: true)
            closeGaps(upTo: sources.head)
            var replicas = sources.replicas
            if let own { replicas.insert(own) }
            stage = .lanes(replicas.filter { authorities[$0] != true }.sorted(by: >))
            return 0
        case .lanes(var replicas):
            guard let replica = replicas.last else {
                try lane.flush()
                faults += sources.faults
                return nil
            }
            if let size = try takeLane(of: replica) { return size }
            replicas.removeLast()
            stage = .lanes(replicas)
            return 0
        }
    }

    private mutating func fault(_ found: SalvagedRow, _ what: String) {
        let what = "\(found.row.origin.text): \(what)"
        faults.append(Fault(file: found.events.file, offset: 0, what: what))
    }

    // MARK: Canonical events

    /// The position behind the last event that was taken.
    private var nextPosition: UInt64 { report.eventCount + UInt64(batch.count) + 1 }

    private var lastTaken: UInt64 = 0

    private mutating func closeGaps(upTo end: UInt64) {
        guard lastTaken < end else { return }
        missing += end - lastTaken
        report.gaps.append(lastTaken + 1...end)
        lastTaken = end
    }

    private mutating func take(_ found: SalvagedRow) throws(LogError) {
        guard let position = found.stored.position, let time = found.stored.acceptedAt else {
            return
        }
        let row = found.row
        if let what = fault(of: found, at: time.milliseconds) { return fault(found, what) }
        closeGaps(upTo: position - 1)
        try takeUnplaced(of: row.replica, before: row.sequence)
        try member(found, position, time)
        lastTaken = position
        missingAt[row.replica] = missing
    }

    /// Pending events in front of one with a position had positions too, if some are missing.
    private mutating func takeUnplaced(
        of replica: ReplicaID,
        before sequence: UInt64
    ) throws(LogError) {
        let last = heads[replica]?.sequence ?? 0
        guard missing > missingAt[replica] ?? 0, last + 1 < sequence else { return }
        var next = last + 1
        while next < sequence, let (rows, end) = try sources.next(of: replica, from: next) {
            for found in rows
            where found.row.sequence < sequence && !isRefused(found.row) && !isInInbox(found.row) {
                let time = Timestamp(milliseconds: max(acceptedAt, 0))
                guard fault(of: found, at: time.milliseconds) == nil else { continue }
                try member(found, nil, time)
            }
            next = end
        }
    }

    /// What is wrong with an event that comes next; nil if nothing is.
    private mutating func fault(of found: SalvagedRow, at time: Int64?) -> String? {
        let (row, type) = (found.row, found.type)
        let isAuthority = found.stored.isAuthority
        let clock: HybridTime
        do throws(FormatError) {
            clock = try PublicPart.parse(found.events.bytes.span, row).envelope.clock
        } catch {
            return error.message
        }
        guard clock <= HybridTime.highest, LogNumber.isValid(row.sequence, count: 1) else {
            return "a number is out of all bounds"
        }
        let wasAuthority = authorities[row.replica] ?? isAuthority
        guard isAuthority || !type.isAuthority, wasAuthority == isAuthority else {
            return "it is not of an authority"
        }
        if let head = heads[row.replica] {
            guard row.sequence > head.sequence else {
                return OrderFault.sequence(row.origin, after: head.sequence).message
            }
            guard clock.rawValue > head.clock else { return OrderFault.clock(row.origin).message }
        }
        if let time, time < acceptedAt || !CivilTime.contains(time) {
            return "acceptedAt goes back"
        }
        return nil
    }

    /// Adds an event to the batch at hand, or begins one with it.
    private mutating func member(
        _ found: SalvagedRow,
        _ position: UInt64?,
        _ time: Timestamp?
    ) throws(LogError) {
        let row = found.row
        let part: PublicPart
        do throws(FormatError) {
            part = try PublicPart.parse(found.events.bytes.span, row)
        } catch {
            throw .format(error)
        }
        let goesOn =
            batch.last.map { last in
                last.envelope.isFollowed(by: part.envelope)
                    && (last.acceptedAt == nil) == (time == nil)
                    && batchSize + part.size <= Limits.batchSizeMax
                    && batchTypes.allSatisfy { $0 == found.type || !$0.isSameType(as: found.type) }
            } ?? false
        if !goesOn { try endBatch() }
        if !batchTypes.contains(found.type) { batchTypes.append(found.type) }
        var node: SaltNode?
        if case .present = row.personal { node = self.node(of: found) }
        var isErased = found.isWithheld
        if case .present = row.personal, node == nil { isErased = true }
        heads[row.replica] = ReplicaHead(
            sequence: row.sequence,
            clock: part.envelope.clock.rawValue
        )
        authorities[row.replica] = found.stored.isAuthority
        if let time { acceptedAt = time.milliseconds }
        batch.append(
            Member(
                found: found,
                envelope: part.envelope,
                acceptedAt: time,
                node: node,
                position: position,
                isErased: isErased
            )
        )
        batchSize += part.size
        note(found)
        if part.envelope.isLastOfBatch { try endBatch() }
    }

    /// The node that the salt of an event comes from: all of a group have the same here.
    private mutating func node(of found: SalvagedRow) -> SaltNode? {
        let row = found.row
        let key = SpaceIndex.SeedKey(
            replica: row.replica,
            group: SaltSeed.group(of: row.sequence)
        )
        let known = found.events.salts?.node(of: row.replica, sequence: row.sequence)
        let root = known.map { $0.level == 0 ? $0.value : nil } ?? sources.log.seeds[key]
        guard let root, seeds[key] ?? root == root else { return nil }
        seeds[key] = root
        return SaltSeed(replica: row.replica, group: key.group, root: root).node
    }

    /// Notes which packs are used, and what was refused.
    private mutating func note(_ found: SalvagedRow) {
        let facts = try? store.shared.engine.facts(
            of: found.stored,
            in: found.events.bytes.span,
            found.type
        )
        for adoption in facts?.adoptions ?? [] where !packs.contains(adoption.fingerprint) {
            packs.append(adoption.fingerprint)
        }
        for run in facts?.refusals ?? [] { refused[run.replica, default: []].append(run.sequences) }
    }

    private func isRefused(_ row: BlockRow) -> Bool {
        (refused[row.replica] ?? []).contains { $0.contains(row.sequence) }
    }

    private func isInInbox(_ row: BlockRow) -> Bool {
        inbox.contains { $0.replica == row.replica && $0.sequences.contains(row.sequence) }
    }

    // MARK: Batches

    /// Writes the batch at hand; what is left of a larger one becomes one of its own.
    private mutating func endBatch() throws(LogError) {
        guard let first = batch.first else { return }
        defer {
            batch.removeAll(keepingCapacity: true)
            batchTypes.removeAll()
            batchSize = 0
        }
        let isWhole =
            first.envelope.sequence == first.envelope.batchFirst
            && batch.count == first.envelope.batchCount
        do throws(FormatError) {
            if first.acceptedAt == nil {
                try endPending(isWhole: isWhole)
            } else if isWhole, !batch.contains(where: { $0.isErased }) {
                try endWhole()
            } else {
                if let closed = cutter.close() { try keep(closed) }
                try keep(try rewritten(position: report.eventCount + 1))
            }
        } catch {
            throw .format(error)
        }
        guard first.acceptedAt != nil else { return try endPendingAppend() }
        for member in batch {
            let new = report.eventCount + 1
            report.eventCount = new
            if let old = member.position {
                report.move(old, to: new)
            } else {
                report.unplaced.extend(by: new)
            }
            if member.isErased { report.erased.extend(by: new) }
            if member.found.isDisputed { report.disputed.extend(by: new) }
            if !isWhole { report.parted.extend(by: new) }
        }
        try append(isLast: false)
    }

    private mutating func endWhole() throws(FormatError) {
        var position = report.eventCount
        for member in batch {
            position += 1
            let closed = try cutter.append(
                member.found.row,
                of: member.found.events.bytes.span,
                type: member.found.type,
                position: position,
                acceptedAt: member.acceptedAt,
                isAuthority: member.found.stored.isAuthority,
                node: member.node
            )
            if let closed { try keep(closed) }
        }
        // Blocks are read whole, so none needs to be as large as it may be.
        if cutter.size - cutSize > min(Self.blockSize, store.shared.sizes.frameMax / 4) {
            if let closed = cutter.close() { try keep(closed) }
            cutSize = cutter.size
        }
    }

    /// A block of the batch at hand, whose events are one batch, and erased where that must be.
    private func rewritten(position: UInt64?) throws(FormatError) -> [UInt8] {
        var builder = BlockBuilder()
        var times: [AcceptedRun] = []
        var groups: Set<UInt64> = []
        for member in batch {
            var envelope = member.envelope
            envelope.batchFirst = batch[0].envelope.sequence
            envelope.batchCount = batch.count
            guard builder.agrees(with: member.found.type) else { throw .malformed(.types, at: 0) }
            try builder.append(
                member.found.row,
                of: member.found.events.bytes.span,
                type: member.found.type,
                envelope: envelope,
                erased: member.isErased ? .zero : nil
            )
            if !member.isErased, let node = member.node, groups.insert(node.group).inserted {
                builder.append(node)
            }
            guard let time = member.acceptedAt else { continue }
            if let last = times.last, last.acceptedAt == time {
                times[times.count - 1].count += 1
            } else {
                times.append(AcceptedRun(count: 1, acceptedAt: time))
            }
        }
        var block: [UInt8] = []
        builder.write(
            into: &block,
            position: position,
            times: times,
            isAuthority: batch[0].found.stored.isAuthority
        )
        return block
    }

    private mutating func keep(_ block: [UInt8]) throws(FormatError) {
        contents.append(.received(ReceivedRows(block, try Block.check(block.span))))
        contentsSize += block.count
    }

    private mutating func append(isLast: Bool) throws(LogError) {
        guard isLast || contentsSize > Self.appendSizeMax else { return }
        if isLast, let closed = cutter.close() {
            do throws(FormatError) { try keep(closed) } catch { throw .format(error) }
        }
        try store[space].append(contents)
        contents.removeAll(keepingCapacity: true)
        contentsSize = 0
    }

    // MARK: Pending events

    /// Writes the next events of a replica behind those that have positions or were refused; nil
    /// at the end.
    private mutating func takeLane(of replica: ReplicaID) throws(LogError) -> Int? {
        var lane = current ?? begin(replica)
        guard let (rows, windowEnd) = try sources.next(of: replica, from: lane.next) else {
            try endBatch()
            let last = sources.log.lastSequences[replica] ?? 0
            if last > lane.decided { lose(replica, after: lane.end ?? last, before: last + 1) }
            current = nil
            return nil
        }
        for found in rows where !isRefused(found.row) {
            if let what = fault(of: found, at: nil) {
                fault(found, what)
                continue
            }
            let sequence = found.row.sequence
            lose(replica, after: lane.end, before: sequence)
            try member(found, nil, nil)
            lane.end = sequence
        }
        lane.next = windowEnd
        current = lane
        return rows.reduce(0) { $0 + $1.stored.size }
    }

    private func begin(_ replica: ReplicaID) -> Lane {
        let decided = max(
            heads[replica]?.sequence ?? 0,
            (refused[replica] ?? []).reduce(0) { max($0, $1.upperBound) }
        )
        // Behind a gap in the positions it is not known which sequences had some.
        let end = report.gaps.isEmpty ? decided : nil
        return Lane(next: decided + 1, decided: decided, end: end)
    }

    private mutating func lose(_ replica: ReplicaID, after: UInt64?, before next: UInt64) {
        guard let after, after + 1 < next else { return }
        let sequences = after + 1...next - 1
        let isKnown = inbox.contains {
            $0.replica == replica && $0.sequences.lowerBound <= sequences.lowerBound
                && $0.sequences.upperBound >= sequences.upperBound
        }
        if !isKnown { report.lostPending.extend(replica, by: sequences) }
    }

    private var pendingBlock: (bytes: [UInt8], head: BlockHead)?

    private mutating func endPending(isWhole: Bool) throws(FormatError) {
        let block = try rewritten(position: nil)
        pendingBlock = (block, try Block.check(block.span))
        let replica = batch[0].envelope.replica
        for member in batch {
            let sequence = member.envelope.sequence
            if member.isErased { report.erasedPending.extend(replica, by: sequence...sequence) }
            if member.found.isDisputed {
                report.disputedPending.extend(replica, by: sequence...sequence)
            }
        }
        report.pendingCount += UInt64(batch.count)
    }

    private mutating func endPendingAppend() throws(LogError) {
        guard let (bytes, head) = pendingBlock.take() else { return }
        var cursor = RowCursor(bytes.span, head.summary)
        while let row = try Self.next(&cursor) {
            let member = batch[row.index]
            try lane.append(
                row,
                of: bytes.span,
                head.types[row.typeIndex],
                node: member.isErased ? nil : member.node,
                isFirst: row.index == 0
            )
        }
    }

    private static func next(_ cursor: inout RowCursor) throws(LogError) -> BlockRow? {
        do throws(FormatError) { return try cursor.next() } catch { throw .format(error) }
    }
}
