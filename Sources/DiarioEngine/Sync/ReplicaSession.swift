package import DiarioCore
import DiarioCrypto
import DiarioFormat
package import DiarioLog
import DiarioSchema
import DiarioStorage
package import DiarioSync

/// One replica's side of a sync: makes requests from its log, and applies the answers:
/// schema/format/sync.md, section 7.
///
/// Knows no network: its driver carries a request to the authority and returns the answer, or
/// reports that there was none. One request is in flight at a time.
package struct ReplicaSession: Sendable {
    package internal(set) var machine: ReplicaMachine
    /// The counts so far.
    package internal(set) var moved = Moved()
    let store: LogStore
    /// The space; another one after it was rebuilt.
    package internal(set) var space: SpaceID
    /// Of each own replica the last sequence that has a verdict.
    var decided: [ReplicaID: UInt64] = [:]
    var request: Request?
    /// News that wait for packs.
    var held: Arrival?
    /// Replicas of which the authority may have other events than are pending here; pushes through
    /// this sequence are to tell.
    var suspects: [ReplicaID: UInt64] = [:]
    /// Those of which they told nothing.
    var cleared: Set<ReplicaID> = []
    var search: CommonSearch?
    /// The event that the authority waited for when it last found a gap.
    var lastGap: Origin?
    /// True while events are pushed again whose verdicts the log of the authority did not have.
    var isAskingAgain = false
    /// The most events of a push; fewer once the authority, or a proxy, accepted no more.
    package var pushCountMax = Limits.exchangeCountMax
    /// True once news could not be read: their context may be another one there.
    package internal(set) var avoidsContext = false
    /// The sending of events of others that are kept here; nil unless a person asked for it.
    var relaying: Relaying?
    /// True if the authority waits for its operator, as it said last.
    package internal(set) var serverWaits = false
    /// Of the authority, when it last answered.
    package internal(set) var authorityHead: UInt64 = 0

    /// The next step for the driver.
    package enum Action: Sendable {
        /// To bring these bytes to the authority.
        case send([UInt8])
        /// Nothing before a time.
        case wait(until: Timestamp)
        /// Nothing until events are recorded or the authority has news.
        case rest
        /// Nothing before a person says so.
        case stop(Refusal)
    }

    /// Counts of a session.
    package struct Moved: Equatable, Sendable {
        package var pushed: UInt64 = 0
        package var pulled: UInt64 = 0
        package var refused: UInt64 = 0
        /// Events that were recorded again under a new id.
        package var recordedAgain: UInt64 = 0
        /// Own events that lost their positions, and were pending again.
        package var pendingAgain: UInt64 = 0
        /// Events of others that lost theirs, and are kept.
        package var kept: UInt64 = 0
        /// Kept events that the authority has again, and those that it refused.
        package var relayed: UInt64 = 0
        package var relayRefused: UInt64 = 0
        package var requests = 0
        package var bytesSent = 0
        package var bytesReceived = 0
    }

    enum Request: Sendable {
        case push(ReplicaID, sequences: ClosedRange<UInt64>, isWhole: Bool)
        case pull(after: UInt64)
        case pack(Hash32)
        case compare
        case relay(KeptRun)
    }

    package init(_ store: LogStore, _ space: SpaceID, seed: UInt64) {
        self.store = store
        self.space = space
        machine = ReplicaMachine(seed: seed)
    }

    /// There may be news of others, or events of our own.
    package mutating func heardOfNews() { machine.heardOfNews() }

    /// The network is there again, or a person says so.
    package mutating func goOn() { machine.goOn() }

    /// Goes back to the part of the history that the authority has too.
    ///
    /// Own events after that are pending again, and those of others are kept. Only a person may
    /// ask for this, after the two diverged.
    package mutating func rejoin() {
        search = CommonSearch(through: store[space].standing().head)
        machine.compare()
    }

    // MARK: Requests

    /// The next action; a request that was not answered counts as lost.
    package mutating func next(at now: Timestamp) throws(LogError) -> Action {
        request = nil
        let standing = store[space].standing()
        let count = unsent(standing).reduce(0) { $0 + $1.sequences.count }
        switch machine.next(at: now, unsent: count) {
        case .pull:
            if let pack = try missingPack() { return try send(.pack(pack), of: standing) }
            return try send(.pull(after: standing.head), of: standing)
        case .push:
            guard let next = unsent(standing).first else { return .rest }
            return try push(next, of: standing)
        case .compare: return try compare(standing)
        case .wait(let until): return .wait(until: until)
        case .rest:
            guard relaying != nil else { return .rest }
            if let action = try nextRelay(of: standing) { return action }
            // Sent events come back with the news.
            machine.heardOfNews()
            return try next(at: now)
        case .stop(let refusal): return .stop(refusal)
        }
    }

    /// Pending events without a verdict, in the order in which they are pushed.
    func unsent(_ standing: SpaceStanding) -> [PendingEvents] {
        standing.pending.compactMap { pending in
            let first = max(pending.sequences.lowerBound, (decided[pending.replica] ?? 0) + 1)
            guard first <= pending.sequences.upperBound else { return nil }
            return PendingEvents(
                replica: pending.replica,
                sequences: first...pending.sequences.upperBound
            )
        }
    }

    private mutating func push(
        _ next: PendingEvents,
        of standing: SpaceStanding
    ) throws(LogError) -> Action {
        let (blocks, count) = try store[space].pendingBlocks(
            next,
            countMax: pushCountMax,
            inColumns: true
        )
        guard count > 0 else { return .rest }
        let first = next.sequences.lowerBound
        let sent = first...first + UInt64(count) - 1
        request = .push(
            next.replica,
            sequences: sent,
            isWhole: sent == next.sequences && unsent(standing).count == 1
        )
        return counted(
            .push(
                Push(standing: try own(standing), replica: next.replica, blocks: blocks)
            )
        )
    }

    private mutating func send(
        _ new: Request,
        of standing: SpaceStanding
    ) throws(LogError) -> Action {
        request = new
        let own = try own(standing)
        switch new {
        case .push, .compare, .relay: preconditionFailure("these have more to say")
        case .pack(let fingerprint):
            return counted(.packWanted(PackWanted(standing: own, fingerprint: fingerprint)))
        case .pull:
            let runs = standing.pending.prefix(Limits.ownRunCountMax).map { pending in
                Pull.Own(
                    replica: pending.replica,
                    firstSequence: pending.sequences.lowerBound,
                    count: UInt64(pending.sequences.count)
                )
            }
            let hasContext = try avoidsContext ? false : store[space].hasAll()
            return counted(.pull(Pull(standing: own, own: runs, hasContext: hasContext)))
        }
    }

    mutating func counted(_ message: SyncMessage) -> Action {
        let bytes = message.encoded()
        moved.requests += 1
        moved.bytesSent += bytes.count
        return .send(bytes)
    }

    func own(_ standing: SpaceStanding) throws(LogError) -> Standing {
        let status = try store[space].status()
        return Standing(
            lineage: status.manifest.lineage,
            epoch: status.manifest.epoch,
            size: standing.head,
            root: try store[space].root()
        )
    }
}
