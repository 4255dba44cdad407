import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioSync

// The log of the authority differs from ours: schema/format/sync.md, sections 7 and 9.

extension ReplicaSession {
    /// Handles a refusal of the authority.
    mutating func take(_ refusal: Refusal, at now: Timestamp) throws(LogError) {
        serverWaits = refusal.reason == .waiting
        guard refusal.reason == .epoch else { return machine.refused(refusal, at: now) }
        let status = try store[space].status()
        guard refusal.epoch > status.manifest.epoch else {
            return machine.refused(refusal, at: now)
        }
        search = CommonSearch(through: min(status.head, refusal.number))
        machine.compare()
    }

    // MARK: Forks

    /// True if own events that the news say have verdicts are others than those that are pending.
    mutating func holdsOthers(_ arrival: Arrival, at now: Timestamp) throws(LogError) -> Bool {
        for case .own(let run, let hash) in arrival.news.pieces {
            let sequences = run.firstSequence...run.firstSequence + run.count - 1
            let events = PendingEvents(replica: run.replica, sequences: sequences)
            guard try store[space].pendingHash(of: events) != hash else { continue }
            suspect(run.replica, sequences, at: now)
            return true
        }
        for refusal in arrival.facts.refusals where try refusesOthers(refusal) {
            suspect(refusal.replica, refusal.sequences, at: now)
            return true
        }
        return false
    }

    /// Lets pushes tell from which of these events on the authority knows others.
    private mutating func suspect(
        _ replica: ReplicaID,
        _ sequences: ClosedRange<UInt64>,
        at now: Timestamp
    ) {
        guard !cleared.contains(replica) else {
            let origin = Origin(replica: replica, sequence: sequences.lowerBound)
            return machine.refused(
                Refusal(
                    .diverged,
                    number: sequences.lowerBound,
                    "The authority has another event as \(origin.text), and does not say so when "
                        + "ours is sent."
                ),
                at: now
            )
        }
        suspect(replica, through: sequences.upperBound)
    }

    private mutating func suspect(_ replica: ReplicaID, through last: UInt64) {
        let pending = store[space].standing().pending.filter { $0.replica == replica }
        // Nothing is pushed after the last pending event.
        let end = min(last, pending.map { $0.sequences.upperBound }.max() ?? last)
        // Events pushed since the suspicion need not be pushed again.
        if suspects[replica] == nil { decided[replica] = nil }
        suspects[replica] = max(end, suspects[replica] ?? 0)
        machine.pushFirst()
    }

    /// Suspects all that is pending; false if nothing is, but what was cleared already.
    mutating func suspectAll() -> Bool {
        let new = Set(store[space].standing().pending.map { $0.replica }).subtracting(cleared)
        for replica in new { suspect(replica, through: .max) }
        return !new.isEmpty
    }

    /// Another event is known under this origin.
    mutating func fork(at origin: Origin, at now: Timestamp) throws(LogError) {
        let standing = store[space].standing()
        let isPending = standing.pending.contains {
            $0.replica == origin.replica && $0.sequences.contains(origin.sequence)
        }
        guard isPending else {
            return machine.refused(
                Refusal(
                    .diverged,
                    number: origin.sequence,
                    "The authority has another event as \(origin.text) than this replica has in "
                        + "its history."
                ),
                at: now
            )
        }
        let epoch = try store[space].status().manifest.epoch
        try renew(SpaceRenewal.Plan(size: standing.head, epoch: epoch, fork: origin))
    }

    /// The authority waits for an event before those that were sent.
    mutating func closeGap(
        at missing: Origin,
        before sequence: UInt64,
        at now: Timestamp
    ) throws(LogError) {
        let range = missing.sequence...missing.sequence
        let first = Origin(replica: missing.replica, sequence: sequence)
        let isPending = store[space].standing().pending.contains {
            $0.replica == missing.replica && $0.sequences.contains(missing.sequence)
        }
        if missing.sequence >= sequence || isPending {
            // Also what was accepted before, by an authority that does not know of it any more.
            guard lastGap != missing else {
                lastGap = nil
                return machine.failed(
                    "The authority asks for \(missing.text) again, which was sent to it.",
                    at: now
                )
            }
            lastGap = missing
            decided[missing.replica] = missing.sequence - 1
            machine.pushed(isWhole: false)
        } else if try store[space].known(range, of: missing.replica).isEmpty {
            // It is lost: events after it get another id.
            try fork(at: first, at: now)
        } else {
            machine.refused(
                Refusal(
                    .diverged,
                    number: missing.sequence,
                    "The authority does not have \(missing.text) any more, which it accepted."
                ),
                at: now
            )
        }
    }

    // MARK: Going back

    /// Asks up to where the authority has the same log.
    mutating func compare(_ standing: SpaceStanding) throws(LogError) -> Action {
        var open = search ?? CommonSearch(through: standing.head)
        let sizes = open.next()
        search = open
        var points: [Compare.Point] = []
        for size in sizes {
            guard let root = try store[space].proofs.root(size: size) else {
                throw .outOfOrder(what: "the root at \(size) is not known")
            }
            points.append(Compare.Point(size: size, root: root))
        }
        let lineage = try store[space].status().manifest.lineage
        request = .compare
        return counted(.compare(Compare(lineage: lineage, points: points)))
    }

    mutating func take(_ common: Common, at now: Timestamp) throws(LogError) {
        authorityHead = common.head
        guard var open = search, open.take(common.size, head: common.head) else {
            search = nil
            return machine.failed("The answer is to another comparison.", at: now)
        }
        search = open
        guard open.isDone else { return }
        search = nil
        let status = try store[space].status()
        if open.low < status.head {
            try renew(SpaceRenewal.Plan(size: open.low, epoch: common.epoch))
        } else {
            if common.epoch != status.manifest.epoch {
                try store[space].setEpoch(common.epoch)
                forgetVerdicts()
            }
            machine.compared()
        }
    }

    /// Verdicts of the epoch before on pending events are void.
    private mutating func forgetVerdicts() {
        decided = [:]
        suspects = [:]
        cleared = []
        lastGap = nil
        isAskingAgain = false
        held = nil
    }

    private mutating func renew(_ plan: SpaceRenewal.Plan) throws(LogError) {
        let types = try TypeShelf().types(of: space, in: store)
        let outcome = try SpaceRenewal.run(plan, of: space, in: store) { types[$0]?.type }
        space = outcome.space
        moved.recordedAgain += outcome.recordedAgain
        moved.pendingAgain += outcome.pendingAgain
        moved.kept += outcome.kept
        if relaying != nil { relaying = Relaying() }
        forgetVerdicts()
        machine.compared()
    }
}
