import DiarioCore
import DiarioFormat

// Pending events that are in private segments, or ought to be.

extension SpaceIndex {
    /// The lowest sequence of each replica that is needed of private segments.
    var sealedStarts: [ReplicaID: UInt64] {
        var starts: [ReplicaID: UInt64] = [:]
        for run in allRuns where run.isSealed {
            let replica = replica(of: run)
            starts[replica] = min(starts[replica] ?? .max, run.firstSequence)
        }
        return starts
    }

    /// Where pending events of a replica are; less if not all of them are pending.
    func pendingRuns(
        of replica: ReplicaID,
        _ sequences: ClosedRange<UInt64>
    ) -> [(ReplicaID, Run)] {
        var runs: [(ReplicaID, Run)] = []
        var list = lanes.first { $0.replica == replica }?.runs ?? RunList()
        list.remove(from: sequences.lowerBound, through: sequences.upperBound) {
            runs.append((replica, $0))
        }
        return runs
    }

    /// Pending events in private segments.
    var sealedPendingCount: Int {
        lanes.reduce(0) { sum, lane in
            lane.runs.runs[..<lane.runs.firstUnsealed].reduce(sum) { $0 + Int($1.count) }
        }
    }

    /// Grows with each event that is recorded or promoted here: tells whether there is news since
    /// sealing failed.
    var sealMark: UInt64 { head + (lanes.last.map { lastSequence(of: $0.replica) } ?? 0) }

    /// The positions whose rows are in a private segment, as far as they are not released.
    func positions(in entry: SegmentEntry) -> [ClosedRange<UInt64>] {
        canonical.runs.compactMap { run in
            guard run.isSealed, replica(of: run) == entry.replica else { return nil }
            let sequences = run.sequences
            let (low, high) = (max(sequences.lowerBound, entry.first), sequences.upperBound)
            guard low <= min(high, entry.last) else { return nil }
            let shift = run.first &- sequences.lowerBound
            return low &+ shift...min(high, entry.last) &+ shift
        }
    }

    /// The pending rows in blocks of the log that these segments hold too.
    func unsealed(in listed: [SegmentEntry]) -> [SealedRows] {
        var found: [SealedRows] = []
        for lane in lanes {
            for entry in listed where entry.replica == lane.replica {
                for stretch in lane.unsealed(within: entry.first...entry.last) {
                    found.append(
                        SealedRows(
                            replica: lane.replica,
                            firstSequence: stretch.lowerBound,
                            count: UInt32(stretch.count),
                            placed: nil,
                            clock: lane.clock
                        )
                    )
                }
            }
        }
        return found
    }
}

extension PromotedRun {
    var lastSequence: UInt64 { firstSequence + count - 1 }
    var lastPosition: UInt64 { firstPosition + count - 1 }
}

extension Lane {
    /// The sequences whose rows lie in blocks of the log, without gaps in each.
    func unsealed(within sequences: ClosedRange<UInt64>) -> [ClosedRange<UInt64>] {
        var found: [ClosedRange<UInt64>] = []
        let start = max(runs.firstIndex(endingFrom: sequences.lowerBound), runs.firstUnsealed)
        for run in runs.runs[start...] {
            guard run.first <= sequences.upperBound else { break }
            let part = (run.first...run.last).clamped(to: sequences)
            if let last = found.last, last.upperBound + 1 == part.lowerBound {
                found[found.count - 1] = last.lowerBound...part.upperBound
            } else {
                found.append(part)
            }
        }
        return found
    }
}

extension SealedRows {
    /// Says again where the rows of a sealed run are; `clock` is that of their lane, if they are
    /// pending.
    init(_ run: Run, by replica: ReplicaID, clock: HybridTime?) {
        self.init(
            replica: replica,
            firstSequence: run.firstSequence,
            count: run.count,
            placed: run.promotedAt.map { Placed(firstPosition: run.first, acceptedAt: $0) },
            clock: clock ?? HybridTime(rawValue: 0)
        )
    }
}
