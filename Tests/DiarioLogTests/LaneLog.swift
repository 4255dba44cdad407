import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage

/// A log whose events are pending, with small runs, so that few events make private segments.
struct LaneLog {
    private(set) var log: TestLog
    var store: LogStore
    let space: SpaceID
    let replica: ReplicaID
    /// All that was accepted so far.
    private(set) var head: UInt64 = 0
    private(set) var promoted: UInt64 = 0
    private(set) var acceptedAt: Int64 = 1000

    init(
        seed: UInt64 = 1,
        segmentCount: Int = 8,
        mergedCount: Int = 32,
        sizes: LogSizes = TestLog.small,
        helper: (any LogHelper)? = nil
    ) throws {
        log = try TestLog(seed: seed)
        log.sizes = sizes
        log.sizes.segmentCount = segmentCount
        log.sizes.mergedCount = mergedCount
        store = try log.open(helper: helper)
        space = try store.makeSpace(isAuthority: false).space
        replica = try store[space].status().replica
    }

    /// Appends notes with personal fields, one batch.
    func append(_ count: Int, textSize: Int = 10) throws {
        _ = try store.append(log.append(count, textSize: textSize, secret: true, to: space))
        log.clock.advance(milliseconds: 1000)
    }

    /// Appends random events in random batches.
    func fill(_ count: Int) throws {
        var rest = count
        while rest > 0 {
            let size = min(rest, 1 + log.random.below(12))
            rest -= size
            if log.random.oneIn(4) {
                let batches = (0..<size).map { _ in log.kinds.batch(log.notes(1)) }
                let content = Append.Content.new(batches)
                _ = try store.append(Append(space: space, content: content))
            } else {
                try append(size, textSize: log.random.below(100))
            }
        }
    }

    /// Gives the next `count` pending events of this replica their positions.
    mutating func promote(_ count: UInt64, in other: LogStore? = nil) throws {
        acceptedAt += Int64(log.random.below(50))
        let run = PromotedRun(
            replica: replica,
            firstSequence: promoted + 1,
            count: count,
            firstPosition: head + 1,
            acceptedAt: Timestamp(milliseconds: acceptedAt)
        )
        try (other ?? store).promote([run], in: space)
        promoted += count
        head += count
    }

    mutating func reopen() throws {
        try store.close()
        store = try log.open()
    }

    func seal(all: Bool = false) throws -> SealReport { try store.seal(space, all: all) }

    func view(in other: LogStore? = nil) throws -> SpaceView {
        try log.kinds.view(of: space, in: other ?? store)
    }

    /// The sequences that a cursor gives, in its order.
    func sequences(
        _ part: LogPart = .all,
        filter: LogFilter = LogFilter(),
        isReversed: Bool = false
    ) throws -> [UInt64] {
        var cursor = try store.cursor(space, part, filter: filter, isReversed: isReversed)
        var found: [UInt64] = []
        while let events = try cursor.next() { found += events.rows.map(\.row.sequence) }
        return found
    }

    /// First sequence and count of each private segment.
    func segments() throws -> [[Int]] {
        try store[space].laneSegments().map { [Int($0.first), $0.count] }
    }
}

extension LogStore {
    /// Gives pending events their positions.
    func promote(_ runs: [PromotedRun], in space: SpaceID) throws(LogError) {
        _ = try append(Append(space: space, content: .promoted(runs)))
    }
}
