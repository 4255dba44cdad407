import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioStorage
import DiarioSync

// What the authority has that is not here yet: schema/format/sync.md, section 7.

extension ReplicaSession {
    /// A pack that the news at hand say is used, and that is not here.
    func missingPack() throws(LogError) -> Hash32? {
        for adoption in held?.facts.adoptions ?? [] {
            do throws(LogError) { _ = try store.packFiles(adoption.fingerprint) } catch {
                guard case .storage(.notFound) = error else { throw error }
                return adoption.fingerprint
            }
        }
        return nil
    }

    /// Appends the news at hand, unless a pack is still missing that they need.
    mutating func takeHeld(at now: Timestamp) throws(LogError) {
        guard try missingPack() == nil, let arrival = held.take() else { return }
        let news = arrival.news
        guard try !holdsOthers(news, at: now) else { return }
        // Before they leave the lane, so that they are never in neither.
        try keepRefused(arrival.facts.refusals)
        let before = store.standing(of: space).head
        do throws(LogError) {
            try store.append(arrival.contents, to: space)
        } catch .outOfOrder(let what) {
            return machine.failed("The news do not fit: \(what).", at: now)
        }
        let standing = store.standing(of: space)
        moved.pulled += standing.head - before
        guard standing.head >= news.end, try store.root(of: space, size: news.end) == news.root
        else {
            return machine.refused(
                Refusal(
                    .diverged,
                    number: standing.head,
                    "The first \(standing.head) events are others here than at the authority."
                ),
                at: now
            )
        }
        let rest = unsent(standing).reduce(0) { $0 + $1.sequences.count }
        machine.pulled(through: news.end, of: news.head, unsent: rest)
    }

    /// Puts pending events that were refused into the inbox, and gives those that are there now.
    @discardableResult
    mutating func keepRefused(_ refused: [RefusedRun]) throws(LogError) -> [RefusedRun] {
        guard !refused.isEmpty else { return [] }
        var kept: [RefusedRun] = []
        let pending = store.standing(of: space).pending
        var entries: [InboxEntry] = []
        for refusal in refused
        where
            pending.contains(where: {
                $0.replica == refusal.replica && $0.sequences.overlaps(refusal.sequences)
            })
        {
            let events = PendingEvents(replica: refusal.replica, sequences: refusal.sequences)
            let (blocks, count) = try store.pendingBlocks(of: space, events)
            guard let block = blocks.first, blocks.count == 1, count > 0 else { continue }
            moved.refused += UInt64(count)
            kept.append(refusal)
            entries.append(
                InboxEntry(
                    replica: refusal.replica,
                    sequences: refusal.sequences,
                    writtenAt: store.now,
                    block: block
                )
            )
        }
        try store.keepInInbox(entries, of: space)
        return kept
    }
}
