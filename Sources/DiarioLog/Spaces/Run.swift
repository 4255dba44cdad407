import DiarioCore
import DiarioFormat
import DiarioStorage

/// Consecutive events that one record of the write-ahead log speaks of: their rows lie in its
/// block or, if they are sealed, in private segments.
///
/// `first` is a position for canonical events, a sequence for pending ones.
package struct Run: Hashable, Sendable {
    package var first: UInt64
    package var count: UInt32
    /// Rows of the record before the first of these.
    package var skip: UInt32
    /// The number of the log file, and where in it the block starts; of sealed rows offset and size
    /// are the two halves of the record's first sequence.
    package var file: UInt32
    package var offset: UInt32
    package var blockSize: UInt32
    /// The part of the record's bytes on disk that these rows keep alive.
    package var liveBytes: UInt32
    /// When they were accepted, if they were pending when the record was written; else nil, and the
    /// block itself says it.
    package var promotedAt: Int64?
    /// Of sealed rows the number of their replica in the space's index, from 1; else 0.
    private var number: UInt32 = 0

    package init(
        first: UInt64,
        count: UInt32,
        skip: UInt32,
        file: UInt32,
        offset: UInt32,
        blockSize: UInt32,
        liveBytes: UInt32,
        promotedAt: Int64?
    ) {
        self.first = first
        self.count = count
        self.skip = skip
        self.file = file
        self.offset = offset
        self.blockSize = blockSize
        self.liveBytes = liveBytes
        self.promotedAt = promotedAt
    }

    /// Rows in private segments, `first` of which has the sequence `firstSequence`.
    package init(
        sealed lane: UInt32,
        first: UInt64,
        count: UInt32,
        firstSequence: UInt64,
        file: UInt32,
        promotedAt: Int64?
    ) {
        precondition(lane > 0, "the lanes of sealed rows count from 1")
        self.init(
            first: first,
            count: count,
            skip: 0,
            file: file,
            offset: UInt32(truncatingIfNeeded: firstSequence >> 32),
            blockSize: UInt32(truncatingIfNeeded: firstSequence),
            liveBytes: UInt32(SealedRows.recordSize),
            promotedAt: promotedAt
        )
        number = lane
    }

    /// True if the rows are in private segments, and not in a block of the log.
    package var isSealed: Bool { number > 0 }

    /// The number of the replica of these rows, which are sealed, in the space's index.
    package var lane: UInt32 {
        precondition(isSealed, "a block says itself who wrote its rows")
        return number
    }

    /// The file that these rows are read from, which are not sealed.
    var rowsFile: FileName {
        precondition(!isSealed, "private segments are looked up by sequence")
        return .log(UInt64(file))
    }

    /// The sequence of the first of these rows, which are sealed.
    package var firstSequence: UInt64 {
        precondition(isSealed, "a block says itself which sequences it holds")
        return UInt64(offset) << 32 + UInt64(blockSize) + UInt64(skip)
    }

    /// The sequences of these rows, which are sealed.
    package var sequences: ClosedRange<UInt64> {
        let start = firstSequence
        return start...start + UInt64(count) - 1
    }

    package var last: UInt64 { first + UInt64(count) - 1 }

    /// The error for a block that cannot be read.
    func fault(_ error: FormatError) -> LogError {
        .corrupt(
            Fault(
                file: rowsFile.path,
                offset: Int(offset),
                what: error.message
            )
        )
    }

    /// The part from `start` on, which must lie within; `self` keeps what is before.
    package mutating func split(at start: UInt64) -> Run {
        precondition(start > first && start <= last, "a run is split inside")
        let kept = UInt32(start - first)
        var rest = self
        rest.first = start
        rest.skip += kept
        rest.count -= kept
        // The shares add up, so that a file's live bytes come back to zero.
        let keptBytes = UInt32(UInt64(liveBytes) * UInt64(kept) / UInt64(count))
        rest.liveBytes = liveBytes - keptBytes
        liveBytes = keptBytes
        count = kept
        return rest
    }
}

/// The pending events of one replica, by sequence.
struct Lane: Sendable {
    let replica: ReplicaID
    /// Not above the clock of its first event's block; orders the lanes of a space.
    var clock: HybridTime
    var runs = RunList()

    init(replica: ReplicaID, clock: HybridTime) {
        self.replica = replica
        self.clock = clock
    }
}

/// Runs in order, without overlap; gaps only while a log is being read.
package struct RunList: Sendable {
    package private(set) var runs: [Run] = []
    /// Counted as runs come and go, since each push asks for these two.
    package private(set) var eventCount = 0
    /// Bytes of the log that the runs keep alive.
    package private(set) var liveBytes = 0

    private static let fewCount = 16
    private static let manyCount = 4096

    package init() {}

    package var isEmpty: Bool { runs.isEmpty }

    /// The index of the first run that is not sealed: a lane is sealed from its start on.
    package var firstUnsealed: Int {
        runs.sortedIndex(behindAll: { $0.isSealed })
    }

    /// Events that lie in blocks of the log, if there are no gaps.
    package var unsealedCount: UInt64 {
        let index = firstUnsealed
        guard index < runs.count, let last = runs.last else { return 0 }
        return last.last - runs[index].first + 1
    }

    /// The index of the first run that ends at or after `value`.
    package func firstIndex(endingFrom value: UInt64) -> Int {
        // Mostly it is what came last that is asked for, and of many spaces no cache has the rest.
        guard let last = runs.last, last.last >= value else { return runs.count }
        guard last.first > value else { return runs.count - 1 }
        return runs.sortedIndex(behindAll: { $0.last < value })
    }

    /// Puts `run` where it belongs; what was known of the same values is given to `replaced`.
    package mutating func insert(_ run: Run, replaced: (Run) -> Void) {
        guard let last = runs.last, last.last >= run.first else {
            makeRoom(for: 1)
            runs.append(run)
            note(run)
            return
        }
        remove(from: run.first, through: run.last, removed: replaced)
        runs.insert(run, at: firstIndex(endingFrom: run.first))
        note(run)
    }

    /// Appends consecutive runs; false, without a change, if they do not follow the last one.
    package mutating func append(_ others: ArraySlice<Run>) -> Bool {
        guard let first = others.first, (runs.last?.last ?? 0) < first.first else { return false }
        makeRoom(for: others.count)
        runs.append(contentsOf: others)
        for run in others { note(run) }
        return true
    }

    private mutating func note(_ run: Run) {
        eventCount += Int(run.count)
        liveBytes += Int(run.liveBytes)
    }

    /// Of ten thousand spaces each may have some hundred, and doubling would leave half of that
    /// room empty; of a long log there may be a million, and doubling would copy each of them once.
    ///
    /// Of long lists, memory that was not written to yet costs nothing.
    private mutating func makeRoom(for count: Int) {
        let needed = runs.count + count
        guard needed > runs.capacity, needed > Self.fewCount else { return }
        guard runs.count >= Self.manyCount else {
            return runs.reserveCapacity(needed + needed / 2)
        }
        let growth = runs.count < 16 * Self.manyCount ? 16 : 4
        runs.reserveCapacity(growth * needed)
    }

    /// Gives memory back that most of the runs have left: else each space would keep as much as it
    /// ever needed.
    private mutating func giveRoomBack() {
        let capacity = runs.capacity
        // A long list that goes on has more room than it needs, and would ask for it again at once.
        let share = capacity < 2 * Self.manyCount ? 4 : 64
        guard capacity > 2 * Self.fewCount, runs.count < capacity / share else { return }
        var kept: [Run] = []
        kept.reserveCapacity(runs.count)
        kept += runs
        runs = kept
    }

    /// Takes the values from `first` through `last` out, in order.
    package mutating func remove(from first: UInt64, through last: UInt64, removed: (Run) -> Void) {
        guard first <= last else { return }
        var index = firstIndex(endingFrom: first)
        if index < runs.count, runs[index].first < first {
            split(index, at: first)
            index += 1
        }
        let start = index
        while index < runs.count, runs[index].first <= last {
            if runs[index].last > last { split(index, at: last + 1) }
            removed(runs[index])
            eventCount -= Int(runs[index].count)
            liveBytes -= Int(runs[index].liveBytes)
            index += 1
        }
        runs.removeSubrange(start..<index)
        giveRoomBack()
    }

    private mutating func split(_ index: Int, at start: UInt64) {
        let rest = runs[index].split(at: start)
        runs.insert(rest, at: index + 1)
    }
}
