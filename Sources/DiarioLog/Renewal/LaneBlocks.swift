import DiarioCore
import DiarioFormat

/// Gathers pending rows of one replica after the other into blocks for a lane.
struct LaneBlocks: ~Copyable {
    private let store: LogStore
    private let space: SpaceID
    private var builder = BlockBuilder()
    private var blocks: [Append.Content] = []
    private var size = 0
    private var last: Origin?
    /// Which event of the open block begins the batch that came last.
    private var batchStart = 0
    private var groups: Set<UInt64> = []
    /// Seeds of the id under which events are recorded again, by group.
    private var drawn: [UInt64: Salt] = [:]

    private static let appendSizeMax = Limits.frameSizeMax / 4
    /// With so many bytes in it, a block still has room for any one batch.
    private static let blockSizeMax = Limits.blockSizeMax - Limits.batchSizeMax * 7 / 4

    init(_ store: LogStore, _ space: SpaceID) {
        self.store = store
        self.space = space
    }

    /// Makes room for the next row; `isFirst` says that it begins a batch.
    private mutating func makeRoom(
        for origin: Origin,
        _ type: TypeEntry,
        isFirst: Bool
    ) throws(LogError) {
        let follows =
            last.map { $0.replica == origin.replica && $0.sequence + 1 == origin.sequence } ?? true
        let isFull =
            builder.size > Self.blockSizeMax
            || builder.eventCount + Limits.batchCountMax > Limits.blockCountMax
        let agrees = builder.agrees(with: type)
        if !follows || isFirst && (isFull || !agrees) {
            try flushBlock()
        } else if !agrees, batchStart > 0 {
            try flushFront()
        }
        // No batch of ours has two schemas for one version; a damaged one might.
        guard builder.agrees(with: type) else {
            throw .format(.malformed(.types, at: 0))
        }
        if isFirst, size > Self.appendSizeMax { try flush() }
        if isFirst { batchStart = builder.eventCount }
        last = origin
    }

    /// Takes a row as it is; `node` is what its salt comes from.
    mutating func append(
        _ row: BlockRow,
        of bytes: Span<UInt8>,
        _ type: TypeEntry,
        node: SaltNode?,
        isFirst: Bool
    ) throws(LogError) {
        try makeRoom(for: row.origin, type, isFirst: isFirst)
        do throws(FormatError) {
            try builder.append(row, of: bytes, type: type)
        } catch {
            throw .format(error)
        }
        if let node, groups.insert(node.group).inserted { builder.append(node) }
    }

    /// Takes the one event of a draft, which has an origin of its own by now.
    mutating func append(_ draft: DraftBatch, _ envelope: RowEnvelope) throws(LogError) {
        let isFirst = envelope.sequence == envelope.batchFirst
        try makeRoom(for: envelope.origin, draft.entries[0], isFirst: isFirst)
        builder.append(event: 0, of: draft, envelope: envelope)
        if draft.events[0].flags.contains(.personal) { drawSeed(for: envelope) }
    }

    /// Takes a row as it is but for its envelope.
    mutating func append(
        _ row: BlockRow,
        of bytes: Span<UInt8>,
        _ type: TypeEntry,
        _ envelope: RowEnvelope
    ) throws(LogError) {
        let isFirst = envelope.sequence == envelope.batchFirst
        try makeRoom(for: envelope.origin, type, isFirst: isFirst)
        do throws(FormatError) {
            try builder.append(row, of: bytes, type: type, envelope: envelope)
        } catch {
            throw .format(error)
        }
        if case .present = row.personal { drawSeed(for: envelope) }
    }

    /// Adds the node of a new event's salt.
    private mutating func drawSeed(for envelope: RowEnvelope) {
        let group = SaltSeed.group(of: envelope.sequence)
        guard groups.insert(group).inserted else { return }
        let entropy = store.shared.entropy
        let root = drawn[group] ?? Salt(first: entropy.next(), second: entropy.next())
        drawn[group] = root
        builder.append(SaltSeed(replica: envelope.replica, group: group, root: root).node)
    }

    private mutating func flushBlock() throws(LogError) {
        guard !builder.isEmpty else { return }
        var block: [UInt8] = []
        builder.write(into: &block, position: nil, times: [], isAuthority: false)
        builder.removeAll()
        groups.removeAll(keepingCapacity: true)
        batchStart = 0
        try keep(block)
    }

    /// Closes the open block in front of the batch that came last.
    private mutating func flushFront() throws(LogError) {
        var times: [AcceptedRun] = []
        let block: [UInt8]
        do throws(FormatError) {
            block = try builder.split(
                before: batchStart,
                position: nil,
                times: &times,
                isAuthority: false
            )
        } catch {
            throw .format(error)
        }
        groups = Set(builder.saltNodes.map { $0.group })
        batchStart = 0
        try keep(block)
    }

    private mutating func keep(_ block: [UInt8]) throws(LogError) {
        do throws(FormatError) {
            blocks.append(
                .received(ReceivedRows(block, try Block.check(block.span), isPending: true))
            )
        } catch {
            throw .format(error)
        }
        size += block.count
    }

    /// Appends what was gathered.
    mutating func flush() throws(LogError) {
        try flushBlock()
        guard !blocks.isEmpty else { return }
        try store[space].append(blocks)
        blocks.removeAll(keepingCapacity: true)
        size = 0
        last = nil
    }
}
