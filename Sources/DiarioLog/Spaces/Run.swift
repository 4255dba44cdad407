import DiarioCore
import DiarioFormat

/// Consecutive events that lie in one block of the write-ahead log.
///
/// `first` is a position for canonical events, a sequence for pending ones.
struct Run: Hashable, Sendable {
    var first: UInt64
    var count: UInt32
    /// Rows of the block before the first of these.
    var skip: UInt32
    /// The number of the log file, and where in it the block starts.
    var file: UInt32
    var offset: UInt32
    var blockSize: UInt32
    /// The part of the block's bytes on disk that these rows keep alive.
    var liveBytes: UInt32
    /// When they were accepted, if they were pending when the block was written; else nil, and the
    /// block itself says it.
    var promotedAt: Int64?

    var last: UInt64 { first + UInt64(count) - 1 }

    /// What is said when the block does not read.
    func fault(_ error: FormatError) -> LogError {
        .corrupt(
            Fault(
                file: LogPaths.logFile(UInt64(file)),
                offset: Int(offset),
                what: error.message
            )
        )
    }

    /// The part from `start` on, which must lie within; `self` keeps what is before.
    mutating func split(at start: UInt64) -> Run {
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
struct RunList: Sendable {
    private(set) var runs: [Run] = []

    var isEmpty: Bool { runs.isEmpty }
    var eventCount: Int { runs.reduce(0) { $0 + Int($1.count) } }

    /// The index of the first run that ends at or after `value`.
    func firstIndex(endingFrom value: UInt64) -> Int {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].last < value { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Puts `run` where it belongs; what was known of the same values is given to `replaced`.
    mutating func insert(_ run: Run, replaced: (Run) -> Void) {
        guard let last = runs.last, last.last >= run.first else {
            runs.append(run)
            return
        }
        remove(from: run.first, through: run.last, removed: replaced)
        runs.insert(run, at: firstIndex(endingFrom: run.first))
    }

    /// Takes the values from `first` through `last` out, in order.
    mutating func remove(from first: UInt64, through last: UInt64, removed: (Run) -> Void) {
        guard first <= last else { return }
        var index = firstIndex(endingFrom: first)
        if index < runs.count, runs[index].first < first {
            let rest = runs[index].split(at: first)
            runs.insert(rest, at: index + 1)
            index += 1
        }
        let start = index
        while index < runs.count, runs[index].first <= last {
            if runs[index].last > last {
                let rest = runs[index].split(at: last + 1)
                runs.insert(rest, at: index + 1)
            }
            removed(runs[index])
            index += 1
        }
        runs.removeSubrange(start..<index)
    }
}
