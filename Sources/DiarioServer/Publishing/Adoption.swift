import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioSync

/// Takes over spaces that were their own authority, or whose authority lost them:
/// schema/format/sync.md, sections 10 and 11.
///
/// Used by one thread at a time. All that lasts is in the log and in the control file, and is
/// looked at anew with each message.
struct Adoption {
    let store: LogStore
    let control: ControlFile
    let space: NamedSpace
    let holder: Holder
    let now: Timestamp
    /// Runs what it is given while the space that has the name takes no push.
    ///
    /// That is told what the space is, and says whether it takes none any more.
    let whileQuiet: ((SpaceStatus) throws -> Bool) throws -> Void

    /// The attempt will never be adopted.
    struct Ended: Error {
        let reason: Publication.Reason
        let message: String

        init(_ reason: Publication.Reason, _ message: String) {
            self.reason = reason
            self.message = message
        }
    }

    // MARK: Messages

    func answer(_ abandon: Abandon) throws -> Publication {
        try answer(abandon.attempt) {
            guard try isPublished(abandon.standing) else {
                throw Ended(.abandoned, "The space was not published, and will not be.")
            }
            return try noteAdopted(abandon.attempt)
        }
    }

    func answer(_ publish: Publish) throws -> Publication {
        try answer(publish.attempt) {
            guard try isPublished(publish.standing) else { return try take(publish) }
            return try noteAdopted(publish.attempt)
        }
    }

    /// The space was published by another attempt, and this one is adopted as well.
    private func noteAdopted(_ attempt: AttemptID) throws -> Publication {
        try dropStaging(of: attempt)
        try control.settle(attempt, of: space.name, nil, at: now)
        return adopted(attempt)
    }

    private func answer(
        _ attempt: AttemptID,
        _ body: () throws -> Publication
    ) throws -> Publication {
        if let known = try settled(attempt) { return known }
        do { return try body() } catch let ended as Ended {
            return try end(attempt, ended.reason, ended.message)
        }
    }

    /// The outcome that an attempt has; nil if it has none.
    private func settled(_ attempt: AttemptID) throws -> Publication? {
        guard let known = try control.attempt(attempt) else { return nil }
        guard known.space == space.name else {
            throw Refusal(.forbidden, "This attempt to publish is under another name.")
        }
        switch known.outcome {
        case .goesOn: return nil
        case .adopted: return adopted(attempt)
        case .ended(let reason):
            return Publication(
                attempt: attempt,
                outcome: .ended(reason),
                "The space was not published: \(reason.text)."
            )
        }
    }

    func adopted(_ attempt: AttemptID) -> Publication {
        Publication(attempt: attempt, outcome: .adopted, "The space is published.")
    }

    private func end(
        _ attempt: AttemptID,
        _ reason: Publication.Reason,
        _ message: String
    ) throws -> Publication {
        // The events first: a space without a row would never be found again.
        try dropStaging(of: attempt)
        try control.settle(attempt, of: space.name, reason, at: now)
        return Publication(attempt: attempt, outcome: .ended(reason), message)
    }

    func staging(of attempt: AttemptID) throws -> SpaceID? {
        guard case .goesOn(let staging) = try control.attempt(attempt)?.outcome else { return nil }
        return staging
    }

    func dropStaging(of attempt: AttemptID) throws {
        guard let staging = try staging(of: attempt) else { return }
        try store[staging].remove()
    }

    // MARK: What has the name

    /// Whether the space that has the name is the one that is to be published; throws if it is one
    /// that cannot give way.
    private func isPublished(_ standing: Standing) throws -> Bool {
        guard try store.hasSpace(space.id) else {
            return false
        }
        let status = try store[space.id].status()
        if status.manifest.lineage == standing.lineage {
            let root =
                standing.size > status.head
                ? nil
                : try store[space.id].proofs.root(size: standing.size)
            guard root == standing.root else {
                throw Ended(
                    .diverged,
                    "A copy of this space was published under the name, and holds other "
                        + "events. Export the events that it lacks, and import them there."
                )
            }
            return true
        }
        guard try !store.isUsed(status) else {
            throw Self.taken
        }
        return false
    }

    static let taken = Ended(
        .taken,
        "Another space has this name. Choose another name; or export the events, and "
            + "import them there."
    )

    // MARK: Taking events

    private func take(_ publish: Publish) throws -> Publication {
        try checkTime(publish)
        try checkQuota(publish)
        let staging = try staging(for: publish)
        if let answer = try fill(staging, publish) { return answer }
        return try takeOver(staging, publish)
    }

    func checkTime(_ publish: Publish) throws {
        let (ahead, overflows) = now.milliseconds
            .addingReportingOverflow(Limits.clockLeadMillisecondsMax)
        guard overflows || publish.acceptedAt.milliseconds <= ahead else {
            throw Ended(
                .aheadOfTime,
                "The last event was accepted more than 5 minutes ahead of this server's "
                    + "clock. Check both clocks and try later; or export and import."
            )
        }
    }

    /// Adds what came to the space that the attempt fills; nil once all of it is there, and
    /// checked.
    func fill(_ staging: SpaceID, _ publish: Publish) throws -> Publication? {
        try keep(publish.pack, for: staging)
        var status = try store[staging].status()
        // Only what is whole has an authority.
        guard status.manifest.authority == nil else { return nil }
        try append(publish, to: staging, behind: status.head)
        status = try store[staging].status()
        let wanted = try missingPacks(status)
        guard status.head == publish.standing.size, wanted.isEmpty else {
            return Publication(
                attempt: publish.attempt,
                outcome: .goesOn(taken: status.head, wanted: wanted),
                ""
            )
        }
        try check(status, publish)
        return nil
    }

    func checkQuota(_ publish: Publish) throws {
        guard publish.standing.size <= UInt64(space.quota.events) else {
            throw Refusal(
                .full,
                "The space has \(publish.standing.size) events, and may have "
                    + "\(space.quota.events) here. Ask the administrator of the server."
            )
        }
    }

    /// The space that the attempt fills, which is made if it is not there.
    func staging(for publish: Publish) throws -> SpaceID {
        let staging: SpaceID
        if let known = try self.staging(of: publish.attempt) {
            staging = known
        } else {
            staging = store.drawSpaceID()
            try control.begin(publish.attempt, of: space.name, filling: staging, at: now)
        }
        guard try !store.hasSpace(staging) else { return staging }
        try store.makeReplica(
            of: staging,
            lineage: publish.standing.lineage,
            epoch: publish.standing.epoch,
            isStaging: true
        )
        return staging
    }

    func append(
        _ publish: Publish,
        to staging: SpaceID,
        behind head: UInt64
    ) throws {
        guard !publish.blocks.isEmpty, publish.before == head else { return }
        func unreadable(_ error: FormatError) -> Ended {
            Ended(
                .malformed,
                "The events behind position \(head) cannot be read: \(error.message)."
            )
        }
        do {
            try store[staging].append(PublishedEvents(publish).contents)
        } catch let error as FormatError {
            throw unreadable(error)
        } catch LogError.format(let error) {
            throw unreadable(error)
        } catch LogError.outOfOrder(let what) {
            throw Ended(.malformed, "The events do not fit: \(what).")
        }
    }

    func check(_ status: SpaceStatus, _ publish: Publish) throws {
        let root = try store[status.manifest.space].root()
        guard root == publish.standing.root,
            status.head == 0 || status.acceptedAt == publish.acceptedAt
        else {
            throw Ended(
                .root,
                "What arrived is not what was sent. Verify the space: diario verify"
            )
        }
    }

    // MARK: Packs

    func missingPacks(_ status: SpaceStatus) throws -> [Hash32] {
        var missing: [Hash32] = []
        for adoption in status.adoptions
        where missing.count < Limits.wantedPackCountMax && !missing.contains(adoption.fingerprint) {
            if try !store.packs.has(adoption.fingerprint) { missing.append(adoption.fingerprint) }
        }
        return missing
    }

    /// Keeps a pack that the space adopted; others are left.
    func keep(_ named: NamedPack?, for staging: SpaceID) throws {
        guard let named else { return }
        let adoptions = try store[staging].adoptions()
        guard adoptions.contains(where: { $0.fingerprint == named.fingerprint }) else { return }
        let files = named.pack.files.map { PackFile(path: $0.path, bytes: $0.content) }
        guard Fingerprint.pack(files) == named.fingerprint, (try? Pack(files: files)) != nil else {
            throw Ended(
                .malformed,
                "What came as the pack \(named.fingerprint.text) is not that one."
            )
        }
        try store.keep(files, fingerprint: named.fingerprint)
    }

    // MARK: Taking over

    /// Makes the authority of what was filled, and shows it; it has no name yet.
    func complete(_ staging: SpaceID, _ publish: Publish) throws {
        try store[staging].takeAuthority()
        // Whoever published it has all of it: a copy of this one must not go on by itself.
        try store[staging].markServed()
        let status = try store[staging].status()
        if status.head == publish.standing.size {
            let draft = try MovedEvent.draft(publish, of: store)
            _ = try store.append(Append(space: staging, content: .new([draft], .authority)))
        }
        try store[staging].show()
    }

    private func takeOver(_ staging: SpaceID, _ publish: Publish) throws -> Publication {
        try complete(staging, publish)
        let status = try store[staging].status()
        let replicas = status.tallies.filter { !$0.isAuthority }.map(\.replica)
        var isTaken = false
        try whileQuiet { present in
            isTaken = try store.isUsed(present)
            guard !isTaken else { return false }
            try control.adopt(
                staging,
                as: space.name,
                by: publish.attempt,
                replicas,
                of: holder,
                at: now
            )
            return true
        }
        guard !isTaken else { throw Self.taken }
        dropOthers()
        return adopted(publish.attempt)
    }

    /// Drops what other attempts had brought so far, now that the name is given.
    ///
    /// One that goes on is answered by what has the name, and else begins anew.
    func dropOthers() {
        // What is left of them if this fails means nothing.
        for staging in (try? control.stagings(of: space.name)) ?? [] {
            try? store[staging].remove()
        }
    }
}

extension Publication.Reason {
    /// What was the matter, as a clause.
    fileprivate var text: String {
        switch self {
        case .abandoned: "it was abandoned"
        case .taken: "another space has the name"
        case .diverged: "a copy of it was published, and holds other events"
        case .aheadOfTime: "its last event was accepted ahead of the server's clock"
        case .root: "what arrived was not what was sent"
        case .malformed: "what arrived could not be read"
        }
    }
}
