import DiarioCore
package import DiarioCrypto
package import DiarioFormat

/// Gathers events into blocks as they travel: compressed, with the salt nodes of personal parts.
///
/// A batch stays whole; whoever gathers looks at `isFull` where one begins.
struct WireBlocks: ~Copyable {
    private(set) var pieces: [WirePiece] = []
    private(set) var eventCount = 0
    /// Bytes of the blocks before compression.
    private(set) var size = 0
    private var builder = BlockBuilder()
    private var packer: BlockPacker
    private var times: [AcceptedRun] = []
    /// Of the first event in the open block; nil if the events are pending.
    private var position: UInt64?
    private var isAuthority = false
    private var salts: Set<SaltKey> = []
    private var seeds: Seeds
    private var ownRun: PromotedRun?
    /// Of the events of the open own run.
    private var ownHashes: [UInt8] = []
    private let countMax: Int

    private struct SaltKey: Hashable {
        let replica: ReplicaID
        let group: UInt64
        let level: Int
        let index: Int
    }

    /// With so many bytes in it, a block still has room for any one batch.
    private static let blockSizeMax = Limits.blockSizeMax - Limits.batchSizeMax * 7 / 4

    init(_ store: LogShared, _ space: SpaceID, countMax: Int) throws(LogError) {
        do throws(FormatError) { packer = try BlockPacker() } catch { throw .format(error) }
        seeds = Seeds(store: store, space: space)
        self.countMax = min(countMax, store.sizes.exchangeCount)
    }

    /// Whether no further batch is taken.
    var isFull: Bool {
        eventCount > 0
            && (eventCount >= countMax
                || eventCount + Limits.batchCountMax > Limits.exchangeCountMax
                || size + builder.size > Limits.exchangeSizeMax - Limits.blockSizeMax)
    }

    /// Takes the next event; `isFirst` says that it begins a batch.
    mutating func append(
        _ stored: StoredRow,
        of events: StoredEvents,
        isFirst: Bool
    ) throws(LogError) {
        if isFirst, !builder.isEmpty,
            stored.isAuthority != isAuthority || builder.size > Self.blockSizeMax
                || builder.eventCount + Limits.batchCountMax > Limits.blockCountMax
        {
            try flushBlock()
        }
        flushOwn()
        if builder.isEmpty {
            position = stored.position
            isAuthority = stored.isAuthority
        }
        let row = stored.row
        do throws(FormatError) {
            let bytes = events.bytes.span
            try builder.append(row, of: bytes, type: events.types[row.typeIndex])
            if case .present(let range) = row.personal {
                seeds.segment = events.salts
                guard let node = seeds.node(of: row.replica, sequence: row.sequence) else {
                    throw FormatError.malformed(.saltNode, at: range.lowerBound)
                }
                let key = SaltKey(
                    replica: node.replica,
                    group: node.group,
                    level: node.level,
                    index: node.index
                )
                if salts.insert(key).inserted { builder.append(node) }
            }
        } catch {
            throw .corrupt(
                Fault(
                    file: events.file,
                    offset: row.publicPart.lowerBound,
                    what: "\(row.origin.text) cannot be sent: \(error.message)"
                )
            )
        }
        if let acceptedAt = stored.acceptedAt {
            if let last = times.indices.last, times[last].acceptedAt == acceptedAt {
                times[last].count += 1
            } else {
                times.append(AcceptedRun(count: 1, acceptedAt: acceptedAt))
            }
        }
        eventCount += 1
    }

    /// Takes an event whose rows the other side has, as it says.
    mutating func append(
        own origin: Origin,
        at position: UInt64,
        acceptedAt: Timestamp,
        _ hash: Hash32
    ) throws(LogError) {
        try flushBlock()
        eventCount += 1
        if let last = ownRun, last.replica == origin.replica,
            last.acceptedAt == acceptedAt, last.firstSequence + last.count == origin.sequence,
            last.firstPosition + last.count == position
        {
            ownRun = last.longer
        } else {
            flushOwn()
            ownRun = PromotedRun(
                replica: origin.replica,
                firstSequence: origin.sequence,
                count: 1,
                firstPosition: position,
                acceptedAt: acceptedAt
            )
        }
        ownHashes.append(hash)
    }

    /// Closes what is open.
    mutating func flush() throws(LogError) {
        flushOwn()
        try flushBlock()
    }

    private mutating func flushOwn() {
        guard let run = ownRun.take() else { return }
        pieces.append(.own(run, SHA256.hash(ownHashes.span)))
        ownHashes.removeAll(keepingCapacity: true)
    }

    private mutating func flushBlock() throws(LogError) {
        guard !builder.isEmpty else { return }
        var block: [UInt8] = []
        builder.write(into: &block, position: position, times: times, isAuthority: isAuthority)
        size += block.count
        do throws(FormatError) { pieces.append(.block(try packer.pack(block))) } catch {
            throw .format(error)
        }
        builder.removeAll()
        times.removeAll(keepingCapacity: true)
        salts.removeAll(keepingCapacity: true)
    }
}

/// Events on their way to another side.
package enum WirePiece: Equatable, Sendable {
    case block([UInt8])
    /// Events whose rows the other side has, and the hash of their hashes.
    case own(PromotedRun, Hash32)
}

extension PromotedRun {
    /// With the event that follows.
    fileprivate var longer: PromotedRun {
        PromotedRun(
            replica: replica,
            firstSequence: firstSequence,
            count: count + 1,
            firstPosition: firstPosition,
            acceptedAt: acceptedAt
        )
    }
}
