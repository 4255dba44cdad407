import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioSync

// An authority that lost events gets them back from a replica: schema/format/sync.md, section 11.

extension Adoption {
    /// The answer to a part of what a replica has.
    func restore(_ asked: Publish) throws -> Publication {
        var publish = asked
        publish.attempt = AttemptID(restoring: asked.standing, under: space.name.text)
        var answer = try take(publish)
        answer.attempt = asked.attempt
        return answer
    }

    private func take(_ publish: Publish) throws -> Publication {
        do {
            if let answer = try checkPresent(publish) { return answer }
            try checkTime(publish)
            try checkQuota(publish)
            let staging = try staging(for: publish)
            do {
                if let answer = try fill(staging, publish) { return answer }
            } catch let ended as Ended {
                try dropStaging(of: publish.attempt)
                throw ended
            }
            return try replace(with: staging, publish)
        } catch let ended as Ended {
            throw ended.reason == .aheadOfTime
                ? Refusal(.unavailable, number: 60, ended.message)
                : Refusal(.malformed, ended.message)
        }
    }

    /// What is to be said in view of the space that has the name; nil if that may give way.
    private func checkPresent(_ publish: Publish) throws -> Publication? {
        guard try store.hasSpace(space.id) else { return nil }
        // A copied directory finds out that it is one.
        if try store[space.id].status().manifest.lineage == publish.standing.lineage {
            try store[space.id].markServed()
        }
        let present = try store[space.id].status()
        guard present.manifest.lineage == publish.standing.lineage,
            publish.standing.size <= present.head
        else {
            try requireGivingWay(present, to: publish)
            return nil
        }
        let root = try store[space.id].proofs.root(size: publish.standing.size)
        guard root == publish.standing.root else { throw Self.diverged(present) }
        guard !present.manifest.isWaiting else {
            throw Refusal(
                .waiting,
                number: 60,
                lineage: present.manifest.lineage,
                epoch: present.manifest.epoch,
                "The server has all that this replica has, and waits for its operator: "
                    + "`diario authority resume` lets it go on."
            )
        }
        try dropStaging(of: publish.attempt)
        return Publication(
            attempt: publish.attempt,
            outcome: .adopted,
            "The server has all of it."
        )
    }

    /// Refuses unless a space may be removed once what comes is there.
    private func requireGivingWay(
        _ present: SpaceStatus,
        to publish: Publish
    ) throws {
        let manifest = present.manifest
        guard manifest.lineage == publish.standing.lineage else {
            guard try !store.isUsed(present) else { throw Refusal(keeping: present) }
            return
        }
        guard manifest.isWaiting else {
            throw Refusal(
                .ahead,
                number: present.head,
                lineage: manifest.lineage,
                epoch: manifest.epoch,
                "The server goes on with \(present.head) events, and this replica has "
                    + "\(publish.standing.size). Its operator can stop it from giving "
                    + "positions: diario authority hold. Else `diario sync` goes back to what "
                    + "both have, and keeps what `diario remote restore` sends then."
            )
        }
        guard try store[manifest.space].mayBeRestored() else {
            throw Refusal(
                .waiting,
                number: 60,
                lineage: manifest.lineage,
                epoch: manifest.epoch,
                "The operator of the server goes back to \(present.head) events on purpose "
                    + "(diario authority hold --no-restore), and takes none of the "
                    + "\(publish.standing.size) that this replica has."
            )
        }
    }

    private static func diverged(_ present: SpaceStatus) -> Refusal {
        Refusal(
            .diverged,
            number: present.head,
            lineage: present.manifest.lineage,
            epoch: present.manifest.epoch,
            "The server has events that this replica does not have, or has others in their "
                + "place. `diario authority resume` lets it go on with its own."
        )
    }

    // MARK: Taking over

    /// Gives the name to the space that was filled, if what has it may still go.
    private func replace(with staging: SpaceID, _ publish: Publish) throws -> Publication {
        let epoch = try store.hasSpace(space.id) ? try store[space.id].status().manifest.epoch : 0
        try store[staging].beginEpoch(behind: max(epoch, publish.standing.epoch))
        try complete(staging, publish)
        let status = try store[staging].status()
        let replicas = status.tallies.filter { !$0.isAuthority }.map(\.replica)
        try whileQuiet { present in
            try requireGivingWay(present, to: publish)
            try requireBeginning(present, of: staging, publish)
            try control.restore(
                staging,
                as: space.name,
                by: publish.attempt,
                replicas,
                at: now
            )
            return true
        }
        dropOthers()
        return Publication(
            attempt: publish.attempt,
            outcome: .adopted,
            "The server has its events back."
        )
    }

    /// Refuses unless all events of a space of the same lineage came as well.
    private func requireBeginning(
        _ present: SpaceStatus,
        of staging: SpaceID,
        _ publish: Publish
    ) throws {
        guard present.manifest.lineage == publish.standing.lineage else { return }
        let ours = try store[present.manifest.space].proofs.root(size: present.head)
        let theirs = try store[staging].proofs.root(size: present.head)
        guard present.head <= publish.standing.size, ours == theirs else {
            throw Self.diverged(present)
        }
    }
}
