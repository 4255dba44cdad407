import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioStorage
import DiarioSync

// Receiving the authority's new events: schema/format/sync.md, section 7.

extension ReplicaSession {
    /// A pack that the news at hand say is used, and that is not here.
    func missingPack() throws(LogError) -> Hash32? {
        for adoption in held?.facts.adoptions ?? []
        where try !store.packs.has(adoption.fingerprint) {
            return adoption.fingerprint
        }
        return nil
    }

    /// Appends the news at hand, unless a pack is still missing that they need.
    mutating func takeHeld(at now: Timestamp) throws(LogError) {
        guard try missingPack() == nil, let arrival = held.take() else { return }
        let news = arrival.news
        // Events of other processes are pending too, and may have our origins.
        try store.catchUp()
        guard try !holdsOthers(arrival, at: now) else { return }
        // Before they leave the lane, so that they are never in neither.
        try keepRefused(arrival.facts.refusals)
        try leaveSharedID(arrival)
        try store[space].takeSeeds(of: arrival.blocks.joined())
        let before = store[space].standing().head
        do throws(LogError) {
            try store[space].append(arrival.contents)
        } catch .outOfOrder(let what) {
            // The authority may know other events under our pending origins, which a push tells.
            guard !suspectAll() else { return }
            return machine.failed("The news do not fit: \(what).", at: now)
        }
        cleared = []
        let standing = store[space].standing()
        moved.pulled += standing.head - before
        guard standing.head >= news.end, try store[space].proofs.root(size: news.end) == news.root
        else {
            return machine.refused(
                Refusal(
                    .diverged,
                    number: standing.head,
                    "The first \(standing.head) events are others here than at the authority. "
                        + "`diario sync --rejoin` goes back to what both have; own events after "
                        + "that are sent again, and those of others are kept."
                ),
                at: now
            )
        }
        if standing.head > before, news.end >= news.head { try store[space].kept.settle() }
        if news.end >= news.head, lacksVerdicts(standing, at: now) { return }
        let rest = unsent(standing).reduce(0) { $0 + $1.sequences.count }
        machine.pulled(through: news.end, of: news.head, unsent: rest)
    }

    /// True if events are still pending that have a verdict, although the whole log of the
    /// authority is here: it lost them, and nothing shows that.
    ///
    /// They are pushed again, once; then it is for a person.
    private mutating func lacksVerdicts(_ standing: SpaceStanding, at now: Timestamp) -> Bool {
        let first = standing.pending.first { pending in
            pending.sequences.lowerBound <= decided[pending.replica] ?? 0
        }
        guard let first else {
            isAskingAgain = false
            return false
        }
        guard !isAskingAgain else {
            let origin = Origin(replica: first.replica, sequence: first.sequences.lowerBound)
            machine.refused(
                Refusal(
                    .diverged,
                    number: origin.sequence,
                    "The authority says that \(origin.text) has a verdict, and its log does not "
                        + "have it."
                ),
                at: now
            )
            return true
        }
        isAskingAgain = true
        for pending in standing.pending { decided[pending.replica] = nil }
        return false
    }

    /// Takes a new id if the news have events under ours that were not recorded here.
    ///
    /// Before they are appended: later events of ours would follow them under the same id, with a
    /// clock that may be earlier.
    private func leaveSharedID(_ arrival: Arrival) throws(LogError) {
        let own = try store[space].status().replica
        let last = store[space].lastSequence(of: own)
        let isShared =
            arrival.blocks.joined().contains { block in
                block.head.runs.contains { $0.replica == own && $0.lastSequence > last }
            }
            || arrival.facts.refusals.contains {
                $0.replica == own && $0.sequences.upperBound > last
            }
        if isShared { try store[space].takeNewReplica(inPlaceOf: own) }
    }

    /// Puts pending events that were refused into the inbox.
    private mutating func keepRefused(_ refused: [RefusedRun]) throws(LogError) {
        guard !refused.isEmpty else { return }
        var entries: [InboxEntry] = []
        for refusal in refused where isPending(refusal) {
            guard let entry = try pendingBatch(refusal) else { continue }
            moved.refused += UInt64(refusal.sequences.count)
            entries.append(entry)
        }
        try store[space].inbox.keep(entries)
    }

    private func isPending(_ refusal: RefusedRun) -> Bool {
        store[space].standing().pending.contains {
            $0.replica == refusal.replica && $0.sequences.overlaps(refusal.sequences)
        }
    }

    /// The pending events that a refusal names; nil if they are not one batch.
    private func pendingBatch(_ refusal: RefusedRun) throws(LogError) -> InboxEntry? {
        let events = PendingEvents(replica: refusal.replica, sequences: refusal.sequences)
        let (blocks, count) = try store[space].pendingBlocks(events)
        guard let block = blocks.first, blocks.count == 1, count == refusal.sequences.count else {
            return nil
        }
        let entry = InboxEntry(
            replica: refusal.replica,
            sequences: refusal.sequences,
            writtenAt: store.now,
            block: block
        )
        return entry.isOneBatch ? entry : nil
    }

    /// True if a refusal names pending events that cannot be those that were refused.
    func refusesOthers(_ refusal: RefusedRun) throws(LogError) -> Bool {
        guard isPending(refusal) else { return false }
        return try pendingBatch(refusal) == nil
    }
}
