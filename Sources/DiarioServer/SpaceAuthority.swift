package import DiarioCore
import DiarioCrypto
package import DiarioEngine
import DiarioFormat
package import DiarioHost
package import DiarioLog
import DiarioSchema
import DiarioStorage
package import DiarioSync
import Synchronization

/// The authority of one space: takes requests of replicas and answers them.
///
/// Safe to use from any thread. It keeps nothing of a session: all that an answer depends on is in
/// the log.
package final class SpaceAuthority: Sendable {
    let store: LogStore
    let space: SpaceID
    private let shelf: TypeShelf
    private let commits: GroupCommit?
    private let state = Mutex(State())
    /// Locked after `state`, where both are.
    let authors = Mutex(KnownAuthors())

    /// Held while a push is judged and appended: positions are given one push after the other.
    struct State: Sendable {
        var types: SpaceTypes?
        var refusals = KnownRefusals()
        /// The clocks of the last events of replicas that pushed lately.
        var clocks = LastClocks()
        /// Where events of other spaces were recorded here.
        var imported = ImportedOrigins()
        var isSettled = false
        /// Whether another space has its name by now.
        var isRetired = false
    }

    /// So long a replica waits at least before it asks an authority again that waits itself.
    private static let waitSeconds: UInt64 = 60

    /// Authorities that are given the same `shelf` have their types in common, and those that are
    /// given the same `commits` share syncs.
    package init(
        _ store: LogStore,
        _ space: SpaceID,
        _ shelf: TypeShelf = TypeShelf(),
        _ commits: GroupCommit? = nil
    ) {
        self.store = store
        self.space = space
        self.shelf = shelf
        self.commits = commits
    }

    /// The answer to a request, whatever its bytes are.
    ///
    /// `gate` says whether a push is let in at all; it is asked before any batch is judged.
    package func answer(
        _ request: [UInt8],
        from caller: Caller,
        gate: (PushFacts) throws -> Void = { _ in }
    ) -> [UInt8] {
        do {
            return try answer(try Self.read(request), from: caller, gate: gate).encoded()
        } catch {
            return SyncMessage.refusal(Refusal(error)).encoded()
        }
    }

    static func read(_ request: [UInt8]) throws -> SyncMessage {
        do { return try SyncMessage(request.span) } catch {
            let text: String
            switch error {
            case .unknownVersion(let version, _):
                text =
                    "This server speaks version \(SyncMessage.version) of the protocol, not "
                    + "\(version)."
            case .beforeFirstRelease:
                text =
                    "The request was made by a version before the first release: export the "
                    + "events with that one, and import them with this one."
            default: throw Refusal(.malformed, "The request cannot be read: \(error.message).")
            }
            throw Refusal(.version, number: UInt64(SyncMessage.version), text)
        }
    }

    /// The answer to a request.
    package func answer(
        _ request: SyncMessage,
        from caller: Caller,
        gate: (PushFacts) throws -> Void = { _ in }
    ) throws -> SyncMessage {
        switch request {
        case .push(let push):
            try require(.append, of: caller)
            let outline = try check(push.standing)
            return .verdicts(try take(push, from: caller, outline.manifest, gate))
        case .relay(let relay):
            try require(.relay, of: caller)
            let outline = try check(relay.push.standing)
            if let pack = relay.pack { try take(pack, from: caller) }
            return .verdicts(
                try take(relay.push, from: caller, outline.manifest, isRelayed: true, gate)
            )
        case .pull(let pull):
            try require(.read, of: caller)
            let outline = try check(pull.standing)
            return .news(try news(for: pull, outline))
        case .packWanted(let wanted):
            try require(.read, of: caller)
            try check(wanted.standing)
            return .pack(try pack(wanted.fingerprint, for: caller))
        case .compare(let compare):
            try require(.read, of: caller)
            return .common(try common(compare))
        case .publish, .abandon, .restore:
            throw Refusal(.forbidden, "Nothing can be published here.")
        case .verdicts, .news, .pack, .refusal, .common, .publication:
            throw Refusal(.malformed, "This message is an answer, and not a request.")
        }
    }

    /// Writes what it knows of authors, so that it need not be read from the log after a start.
    package func saveAuthors() throws(LogError) {
        try authors.withLock { (authors) throws(LogError) in try authors.save() }
    }

    private func require(_ right: Caller.Rights, of caller: Caller) throws {
        guard caller.rights.contains(right) || caller.rights.contains(.admin) else {
            throw Refusal(.forbidden, "The token does not give the right \(right.word).")
        }
    }

    /// What this space is, if it is the one that is meant and gives answers.
    func outline(of lineage: Lineage) throws -> SpaceOutline {
        try settle()
        let outline = try store[space].outline()
        let manifest = outline.manifest
        guard lineage == manifest.lineage else {
            let status = try store[space].status()
            throw Refusal(status, isUsed: try store.isUsed(status), insteadOf: lineage)
        }
        try requireGoing(manifest)
        return outline
    }

    /// A copied directory takes ids of its own before anything else is said; and from now on a copy
    /// of this one must not go on by itself.
    private func settle() throws {
        guard !state.withLock({ $0.isSettled }) else { return }
        try store[space].markServed()
        state.withLock { $0.isSettled = true }
    }

    /// Whether the replica has the same space, and not more of it or another one.
    @discardableResult
    private func check(_ standing: Standing) throws -> SpaceOutline {
        let outline = try outline(of: standing.lineage)
        let manifest = outline.manifest
        func refusal(_ reason: Refusal.Reason, number: UInt64 = 0, _ message: String) -> Refusal {
            Refusal(
                reason,
                number: number,
                lineage: manifest.lineage,
                epoch: manifest.epoch,
                message
            )
        }
        guard standing.epoch == manifest.epoch else {
            throw refusal(
                .epoch,
                number: outline.head,
                "The authority was restored from a backup: epoch \(manifest.epoch) here, "
                    + "\(standing.epoch) there."
            )
        }
        guard standing.size <= outline.head else {
            throw refusal(
                .ahead,
                number: outline.head,
                "The authority has \(outline.head) events and the replica \(standing.size). "
                    + "`diario remote restore` gives it back what it lost, once its operator holds "
                    + "it: diario authority hold. Or `diario sync --rejoin` goes back to what it "
                    + "has, and keeps the rest."
            )
        }
        if standing.size == outline.head {
            let root = try store[space].root()
            // Others may have appended meanwhile; then the replica finds out for itself.
            let isStill = store[space].head() == outline.head
            guard root == standing.root || !isStill else {
                throw refusal(
                    .diverged,
                    number: outline.head,
                    "The first \(outline.head) events are others here than there. "
                        + "`diario sync --rejoin` goes back to what both have; own events behind "
                        + "that are sent again, and those of others are kept."
                )
            }
        }
        return outline
    }

    // MARK: Push

    private func take(
        _ push: Push,
        from caller: Caller,
        _ manifest: Manifest,
        isRelayed: Bool = false,
        _ gate: (PushFacts) throws -> Void
    ) throws -> Verdicts {
        let events: PushedEvents
        do { events = try PushedEvents(push) } catch {
            throw Refusal(.malformed, "The events cannot be read: \(error.message).")
        }
        let verdicts = try state.withLock { state in
            guard !state.isRetired else { throw Self.retired }
            let last = store[space].lastSequence(of: events.replica)
            let outline = store[space].outline(manifest)
            try gate(events.facts(seenThrough: last, of: outline, isRelayed: isRelayed))
            return try judge(events, from: caller, &state)
        }
        return Verdicts(epoch: manifest.epoch, head: store[space].head(), list: verdicts)
    }

    private static let retired = Refusal(
        .unavailable,
        number: 1,
        "Another space takes the place of this one. Try again."
    )

    /// Runs `body`, which records events that are not pushed, while no push is judged.
    func whileAlone<Value>(
        _ body: (SpaceOutline, inout State) throws -> Value
    ) throws -> Value {
        try prepare()
        return try state.withLock { state in
            guard !state.isRetired else { throw Self.retired }
            return try body(store[space].outline(), &state)
        }
    }

    /// Refuses if the space may record nothing now, because it was restored from a backup.
    package func prepare() throws {
        try settle()
        let outline = try store[space].outline()
        try requireGoing(outline.manifest)
    }

    func requireGoing(_ manifest: Manifest) throws {
        guard manifest.isWaiting else { return }
        throw Refusal(
            .waiting,
            number: Self.waitSeconds,
            lineage: manifest.lineage,
            epoch: manifest.epoch,
            "The authority was restored from a backup, or held, and waits. A replica that has "
                + "more gives it what it lacks: diario remote restore. Or its operator lets it go "
                + "on without that: diario authority resume. Then events that it lacks lose their "
                + "positions, and come back only from replicas that send them again."
        )
    }

    /// Runs `body`, and takes no push meanwhile; if it does not throw, there will be none any more.
    func retire(_ body: () throws -> Bool) throws {
        try state.withLock { state in
            let isRetired = try body()
            state.isRetired = state.isRetired || isRetired
        }
    }

    private func judge(
        _ events: PushedEvents,
        from caller: Caller,
        _ state: inout State
    ) throws -> [Verdict] {
        guard !store[space].isAuthority(events.replica) else {
            throw Refusal(.forbidden, "\(events.replica.text) is the authority's own id.")
        }
        let types = try types(&state)
        while true {
            let head = store[space].head()
            do {
                return try decide(events, from: caller, types, &state)
            } catch LogError.outOfOrder(_) where store[space].head() != head {
                // Another process wrote behind what was looked at for changes.
                continue
            }
        }
    }

    private func decide(
        _ events: PushedEvents,
        from caller: Caller,
        _ types: SpaceTypes,
        _ state: inout State
    ) throws -> [Verdict] {
        try authors.withLock { authors in
            try authors.follow(space, in: store, types)
            defer { authors.rest() }
            return try decide(events, from: caller, types, &state, &authors)
        }
    }

    /// Judges the batches in order, and writes down what was decided.
    private func decide(
        _ events: PushedEvents,
        from caller: Caller,
        _ types: SpaceTypes,
        _ state: inout State,
        _ authors: inout KnownAuthors
    ) throws -> [Verdict] {
        let last = store[space].lastSequence(of: events.replica)
        var decided = Decisions()
        try state.refusals.follow(space, in: store)
        guard try repeatKnown(events, through: last, state.refusals, &decided),
            events.lastSequence > last
        else { return decided.verdicts }
        let isContradicted = contradicts(events)
        var clock = try state.clocks.clock(of: events.replica, through: last, in: store, space)
        var judge = BatchJudge(of: events, types, state.refusals, caller, authors.keys)
        note(events, through: last, state.refusals, &judge)
        for batch in events.batches where batch.firstSequence > last {
            let next = decided.next(behind: last)
            guard batch.firstSequence == next else {
                decided.end(.gap, at: next)
                break
            }
            guard !isContradicted, clock.map({ $0 < batch.firstClock }) ?? true else {
                // The salts of one device come from one seed, and its clock never goes back.
                decided.end(.forked, at: next)
                break
            }
            let objection = try judge.objection(to: batch, in: store, space, &authors)
            if let objection {
                decided.refuse(batch, types.refusalDraft(events.replica, batch, objection))
            } else {
                decided.accept(batch)
                clock = batch.lastClock
            }
        }
        let positions = try append(&decided, events, behind: judge.head, &state.refusals)
        if let positions { authors.note(judge.made, at: positions) }
        state.clocks.note(clock, of: events.replica, through: decided.next(behind: last) - 1)
        return decided.verdicts
    }

    /// Tells the judge of batches that were seen before, if one of them was refused.
    private func note(
        _ events: PushedEvents,
        through last: UInt64,
        _ refusals: KnownRefusals,
        _ judge: inout BatchJudge
    ) {
        func isRefused(_ batch: PushedBatch) -> Bool {
            let origin = Origin(replica: events.replica, sequence: batch.firstSequence)
            return refusals.run(of: origin) != nil
        }
        let seen = events.batches.prefix { $0.firstSequence <= last }
        guard let first = seen.firstIndex(where: isRefused) else { return }
        for batch in seen[first...] { judge.note(batch, isRefused: isRefused(batch)) }
    }

    /// Whether events have other salts than those that are known here.
    private func contradicts(_ events: PushedEvents) -> Bool {
        events.seeds.contains { store[space].contradicts($0) }
    }

    /// The types of the space by now.
    func sharedTypes() throws -> SpaceTypes { try shelf.types(of: space, in: store) }

    private func types(_ state: inout State) throws -> SpaceTypes {
        if let known = state.types, known.adoptionCount == store[space].adoptionCount() {
            return known
        }
        let types = try sharedTypes()
        state.types = types
        return types
    }

    /// Gives batches that were seen before the verdicts they had; false if one of them is another
    /// one than the one that was seen.
    private func repeatKnown(
        _ events: PushedEvents,
        through last: UInt64,
        _ refusals: KnownRefusals,
        _ decided: inout Decisions
    ) throws -> Bool {
        guard let first = events.batches.first?.firstSequence, first <= last else { return true }
        let seen = events.batches.prefix { $0.firstSequence <= last }
        let range = first...(seen.last?.lastSequence ?? last)
        var known = try store[space].known(range, of: events.replica)[...]
        let isContradicted = contradicts(events)
        var hasher = EventHasher()
        for batch in seen {
            let origin = Origin(replica: events.replica, sequence: batch.firstSequence)
            if let refusal = refusals.run(of: origin) {
                // A refusal does not say which events it refused; those that came after may.
                guard refusal.sequences == batch.firstSequence...batch.lastSequence,
                    !isContradicted
                else {
                    decided.end(.forked, at: batch.firstSequence)
                    return false
                }
                decided.repeatRefusal(batch, refusal.position)
                continue
            }
            let hashes = try events.hashes(of: batch, &hasher)
            let same = known.prefix(batch.count)
            guard same.map(\.eventHash) == hashes,
                same.first?.origin.sequence == batch.firstSequence
            else {
                decided.end(.forked, at: batch.firstSequence)
                return false
            }
            known = known.dropFirst(batch.count)
            for event in same {
                decided.repeatAcceptance(
                    of: event.origin.sequence,
                    event.position,
                    event.acceptedAt
                )
            }
        }
        return true
    }

    /// Writes down what was decided; the verdicts have their positions then, which it gives.
    ///
    /// With a position it throws `.outOfOrder` if something stands behind that by now.
    private func append(
        _ decided: inout Decisions,
        _ events: PushedEvents,
        behind lastPosition: UInt64?,
        _ refusals: inout KnownRefusals
    ) throws -> ClosedRange<UInt64>? {
        guard !decided.new.isEmpty else { return nil }
        var contents: [Append.Content] = []
        for part in decided.new {
            switch part {
            case .accepted(let index, let rows):
                contents.append(.received(try events.received(rows, of: index)))
            case .refused(_, let draft): contents.append(.new([draft], .authority))
            }
        }
        let log = store[space]
        let appended = try log.append(contents, behind: lastPosition, by: commits?.commit)
        for (part, batch) in zip(decided.new, appended) {
            guard let position = batch.firstPosition, let acceptedAt = batch.acceptedAt else {
                preconditionFailure("an authority gives positions at once")
            }
            switch part {
            case .accepted(_, let rows):
                refusals.note(nil, at: position...position + UInt64(rows.count) - 1)
                decided.settle(
                    Verdict(
                        firstSequence: batch.firstOrigin.sequence,
                        count: UInt64(rows.count),
                        kind: .accepted(
                            firstPosition: position,
                            acceptedAt: acceptedAt
                        )
                    )
                )
            case .refused(let refused, _):
                let run = RefusedRun(
                    replica: events.replica,
                    sequences: refused.firstSequence...refused.lastSequence,
                    position: position
                )
                refusals.note(run, at: position...position)
                decided.settle(
                    Verdict(
                        firstSequence: refused.firstSequence,
                        count: UInt64(refused.count),
                        kind: .refused(position: position)
                    )
                )
            }
        }
        decided.finish()
        guard let first = appended.first?.firstPosition else { return nil }
        return first...first + appended.reduce(0) { $0 + UInt64($1.count) } - 1
    }
}
