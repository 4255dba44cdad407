import DiarioCore
import DiarioFormat

/// The index of one space in memory: the places of its events, and the state that the next needs.
struct SpaceIndex: Sendable {
    /// Canonical events, by position.
    var canonical = RunList()
    /// Pending events, oldest id first.
    ///
    /// Usually there is one lane; more after a change of id.
    var lanes: [Lane] = []
    /// Replicas with rows in private segments, in the order of the numbers that runs have of them.
    private(set) var sealedReplicas: [ReplicaID] = []
    /// The last position.
    var head: UInt64 = 0
    /// Positions up to this one are kept elsewhere.
    var released: UInt64 = 0
    /// When the last position was given.
    var acceptedAt = Int64.min
    /// The highest clock of any event here.
    var clock = HybridTime(rawValue: 0)
    /// In order of replica.
    var tallies: [ReplicaTally] = []
    /// In order of position.
    var adoptions: [Adoption] = []
    var seeds: [SeedKey: SeedEntry] = [:]
    /// The newest state in the log, from which hashing continues.
    var state: StateEntry?
    /// Bytes of rows since the newest state.
    var bytesSinceState = 0

    struct SeedKey: Hashable, Comparable, Sendable {
        let replica: ReplicaID
        let group: UInt64

        static func < (left: SeedKey, right: SeedKey) -> Bool {
            (left.replica, left.group) < (right.replica, right.group)
        }

        /// One word is enough: replicas are random numbers already.
        func hash(into hasher: inout Hasher) {
            hasher.combine(replica.rawValue &+ group &* 0x9e37_79b9_7f4a_7c15)
        }
    }

    struct SeedEntry: Sendable {
        let root: Salt
        var file: UInt64
    }

    struct StateEntry: Sendable {
        let range: CompactRange
        var file: UInt64
        var size: Int
    }

    /// Bytes that a seed takes in the log.
    static let seedSize = Record.headerSize + 32

    /// True if the log holds anything of the space.
    var isKnown: Bool { isUsed || state != nil }

    /// True if the log tells of events of the space.
    var isUsed: Bool { head > 0 || !lanes.isEmpty || !tallies.isEmpty }

    /// Bytes that a state of the space has at most.
    var stateSizeMax: Int {
        SpaceState.size(tallies: tallies.count, adoptions: adoptions.count, nodes: 64)
    }

    var pendingCount: Int { lanes.reduce(0) { $0 + $1.runs.eventCount } }

    /// Bytes in the log that this space keeps alive.
    var liveBytes: Int {
        lanes.reduce(canonical.liveBytes) { $0 + $1.runs.liveBytes }
            + seeds.count * Self.seedSize + (state?.size ?? 0)
    }

    /// Canonical and pending events without those that an authority wrote.
    var eventCount: Int {
        // Never below zero, even if a damaged log has contradicting counts.
        Int(head - min(head, authorityCount)) + pendingCount
    }

    /// Canonical events that an authority wrote: its sequences have no gaps, and none is pending.
    var authorityCount: UInt64 {
        tallies.reduce(0) { $1.isAuthority ? $0 &+ $1.lastSequence : $0 }
    }

    func brief() -> LogIndex.Brief {
        LogIndex.Brief(
            head: head,
            acceptedAt: acceptedAt,
            clock: clock,
            bytesSinceState: bytesSinceState,
            stateSizeMax: stateSizeMax,
            released: released,
            unsealed: lanes.reduce(0) { max($0, $1.runs.unsealedCount) }
        )
    }

    /// The canonical events after the first `size`, and after those of the newest state.
    func unhashed(behind size: UInt64) -> Unhashed {
        let stated = state?.range ?? CompactRange()
        let first = canonical.firstIndex(endingFrom: max(size, stated.size) + 1)
        return Unhashed(
            stated: stated,
            head: head,
            runs: canonical.runs[first...].map { ($0, $0.isSealed ? replica(of: $0) : nil) }
        )
    }

    /// The events of a space that have to be hashed.
    ///
    /// A copy of the whole index would make concurrent appends copy its lists.
    struct Unhashed: Sendable {
        var stated = CompactRange()
        var head: UInt64 = 0
        /// With the author of the rows, where they are sealed.
        var runs: [(run: Run, writer: ReplicaID?)] = []
    }

    // MARK: Private segments

    /// The number that runs of sealed rows have for a replica.
    mutating func laneNumber(of replica: ReplicaID) -> UInt32 {
        if let known = sealedReplicas.firstIndex(of: replica) { return UInt32(known) + 1 }
        sealedReplicas.append(replica)
        return UInt32(sealedReplicas.count)
    }

    /// The author of the rows of a sealed run.
    func replica(of run: Run) -> ReplicaID {
        precondition(run.isSealed, "a block says itself who wrote its rows")
        return sealedReplicas[Int(run.lane) - 1]
    }

    func lastSequence(of replica: ReplicaID) -> UInt64 {
        guard let index = tallyIndex(replica), tallies[index].replica == replica else { return 0 }
        return tallies[index].lastSequence
    }

    func isAuthority(_ replica: ReplicaID) -> Bool {
        guard let index = tallyIndex(replica), tallies[index].replica == replica else {
            return false
        }
        return tallies[index].isAuthority
    }

    /// Notes that `replica` has used sequences up to `sequence`.
    mutating func note(_ replica: ReplicaID, sequence: UInt64, isAuthority: Bool) {
        let index = tallyIndex(replica) ?? tallies.count
        if index < tallies.count, tallies[index].replica == replica {
            tallies[index].lastSequence = max(tallies[index].lastSequence, sequence)
            tallies[index].isAuthority = tallies[index].isAuthority || isAuthority
        } else {
            tallies.insert(
                ReplicaTally(replica: replica, lastSequence: sequence, isAuthority: isAuthority),
                at: index
            )
        }
    }

    mutating func note(_ adoption: Adoption) {
        guard !adoptions.contains(where: { $0.position == adoption.position }) else { return }
        let index = adoptions.firstIndex { $0.position > adoption.position } ?? adoptions.count
        adoptions.insert(adoption, at: index)
    }

    /// The index of the first tally whose replica is not below `replica`; nil if there is none.
    private func tallyIndex(_ replica: ReplicaID) -> Int? {
        let index = tallies.sortedIndex(behindAll: { $0.replica < replica })
        return index < tallies.count ? index : nil
    }
}
