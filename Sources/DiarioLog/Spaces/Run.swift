import DiarioCore
import DiarioFormat

/// Consecutive events that lie in one block of the write-ahead log.
///
/// `first` is a position for canonical events, a sequence for pending ones.
package struct Run: Hashable, Sendable {
    package var first: UInt64
    package var count: UInt32
    /// Rows of the block before the first of these.
    package var skip: UInt32
    /// The number of the log file, and where in it the block starts.
    package var file: UInt32
    package var offset: UInt32
    package var blockSize: UInt32
    /// The part of the block's bytes on disk that these rows keep alive.
    package var liveBytes: UInt32
    /// When they were accepted, if they were pending when the block was written; else nil, and the
    /// block itself says it.
    package var promotedAt: Int64?

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

    package var last: UInt64 { first + UInt64(count) - 1 }

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

    package init() {}

    package var isEmpty: Bool { runs.isEmpty }
    package var eventCount: Int { runs.reduce(0) { $0 + Int($1.count) } }

    /// The index of the first run that ends at or after `value`.
    package func firstIndex(endingFrom value: UInt64) -> Int {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].last < value { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Puts `run` where it belongs; what was known of the same values is given to `replaced`.
    package mutating func insert(_ run: Run, replaced: (Run) -> Void) {
        guard let last = runs.last, last.last >= run.first else {
            runs.append(run)
            return
        }
        remove(from: run.first, through: run.last, removed: replaced)
        runs.insert(run, at: firstIndex(endingFrom: run.first))
    }

    /// Takes the values from `first` through `last` out, in order.
    package mutating func remove(from first: UInt64, through last: UInt64, removed: (Run) -> Void) {
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
