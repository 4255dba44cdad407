import DiarioCore
package import DiarioCrypto
package import DiarioFormat
import DiarioStorage

/// Gathers events into pieces to send: blocks, with the salt nodes of personal parts, or columns
/// for long runs.
///
/// A batch stays whole; the caller checks `isFull` before each event.
struct WireBlocks: ~Copyable {
    private(set) var pieces: [WirePiece] = []
    private var ownCount = 0
    private var cutter = BlockCutter()
    /// Closed blocks that follow one another, and their events; columns are made of them if these
    /// are many.
    private var stretch: [[UInt8]] = []
    private var stretchStart = 0
    private var packer: BlockPacker
    private var seeds: Seeds
    private var ownRun: PromotedRun?
    /// Of the events of the open own run.
    private var ownHashes: [UInt8] = []
    private let store: LogShared
    private let space: SpaceID
    private let countMax: Int
    private let columnsCountMin: Int

    init(
        _ store: LogShared,
        _ space: SpaceID,
        countMax: Int,
        inColumns: Bool
    ) throws(LogError) {
        do throws(FormatError) { packer = try BlockPacker() } catch { throw .format(error) }
        self.store = store
        self.space = space
        seeds = Seeds(store: store, space: space)
        self.countMax = min(countMax, store.sizes.exchangeCount)
        columnsCountMin = inColumns ? store.sizes.columnsCountMin : .max
    }

    /// Whoever reads what follows has this context.
    mutating func use(context: [UInt8]) throws(LogError) {
        do throws(FormatError) { packer = try BlockPacker(context: context) } catch {
            throw .format(error)
        }
    }

    var eventCount: Int { cutter.eventCount + ownCount }

    /// True if the next event begins a batch, and that is not taken any more.
    func isFull(for stored: StoredRow, of events: StoredEvents) throws(LogError) -> Bool {
        guard eventCount > 0 else { return false }
        let isLarge = cutter.size > Limits.exchangeSizeMax - Limits.blockSizeMax
        // Looked at only where it matters.
        guard isLarge || eventCount >= countMax - Limits.batchCountMax else { return false }
        do throws(FormatError) {
            guard let count = try stored.row.begunBatch(events.bytes.span) else { return false }
            return isLarge || eventCount >= countMax
                || eventCount + count > Limits.exchangeCountMax
        } catch {
            throw .format(error)
        }
    }

    /// Takes the next event.
    mutating func append(_ stored: StoredRow, of events: StoredEvents) throws(LogError) {
        flushOwn()
        let row = stored.row
        do throws(FormatError) {
            var node: SaltNode?
            if case .present(let range) = row.personal {
                seeds.segment = events.salts
                node = seeds.node(of: row.replica, sequence: row.sequence)
                if node == nil { throw FormatError.malformed(.saltNode, at: range.lowerBound) }
            }
            let closed = try cutter.append(
                row,
                of: events.bytes.span,
                type: events.types[row.typeIndex],
                position: stored.position,
                acceptedAt: stored.acceptedAt,
                isAuthority: stored.isAuthority,
                node: node
            )
            if let closed { stretch.append(closed) }
        } catch {
            throw .corrupt(
                Fault(
                    file: events.file,
                    offset: row.publicPart.lowerBound,
                    what: "\(row.origin.text) cannot be sent: \(error.message)"
                )
            )
        }
    }

    /// Takes an event whose rows the other side has, as it says.
    mutating func append(
        own origin: Origin,
        at position: UInt64,
        acceptedAt: Timestamp,
        _ hash: Hash32
    ) throws(LogError) {
        try flushStretch()
        ownCount += 1
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
        try flushStretch()
    }

    private mutating func flushOwn() {
        guard let run = ownRun.take() else { return }
        pieces.append(.own(run, SHA256.hash(ownHashes.span)))
        ownHashes.removeAll(keepingCapacity: true)
    }

    private mutating func flushStretch() throws(LogError) {
        if let closed = cutter.close() { stretch.append(closed) }
        let count = cutter.eventCount - stretchStart
        stretchStart = cutter.eventCount
        defer { stretch.removeAll() }
        if count >= columnsCountMin,
            let columns = try WireColumns.made(of: stretch, in: space, store)
        {
            return pieces.append(.block(columns))
        }
        for block in stretch {
            do throws(FormatError) { pieces.append(.block(try packer.pack(block))) } catch {
                throw .format(error)
            }
        }
    }
}

/// Events on their way to another side.
package enum WirePiece: Equatable, Sendable {
    /// A block, or columns of several.
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
