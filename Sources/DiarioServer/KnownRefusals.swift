import DiarioCore
import DiarioLog

/// What a space's log says that its authority refused, as far as it was looked through.
///
/// Follows the log: the part that was read once is not read again.
struct KnownRefusals: Sendable {
    private var end: UInt64 = 0
    /// How many events of authorities there were then, if any could be read.
    private var authorityMark: UInt64 = 0
    /// Of each replica, in order of sequence, which is that of position.
    private var runs: [ReplicaID: [RefusedRun]] = [:]

    /// Reads what was appended since.
    mutating func follow(_ space: SpaceID, in store: LogStore) throws {
        let (head, mark) = store[space].authorityMark()
        guard end < head else { return }
        // Refusals are the authority's: where it wrote nothing there are none to be looked for.
        if mark != authorityMark {
            for run in try store[space].refusals(in: end + 1...head) {
                runs[run.replica, default: []].append(run)
            }
        }
        (end, authorityMark) = (head, mark)
    }

    /// Notes what was just appended at positions that need not be read then: a refusal, or events
    /// that are none.
    mutating func note(_ run: RefusedRun?, at positions: ClosedRange<UInt64>) {
        // Behind what others appended it is read with that.
        guard positions.lowerBound == end + 1 else { return }
        if let run { runs[run.replica, default: []].append(run) }
        end = positions.upperBound
    }

    /// Whether nothing was ever refused.
    var isEmpty: Bool { runs.isEmpty }

    /// The refused batch that an event is of; nil if it was not refused.
    func run(of origin: Origin) -> RefusedRun? {
        guard let list = runs[origin.replica] else { return nil }
        let index = list.sortedIndex(behindAll: { $0.sequences.upperBound < origin.sequence })
        guard index < list.count, list[index].sequences.contains(origin.sequence) else {
            return nil
        }
        return list[index]
    }
}
