package import DiarioCore
import DiarioCrypto
import DiarioFormat
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
    private let store: LogStore
    private let space: SpaceID
    private let state = Mutex(State())

    /// Held while a push is judged and appended: positions are given one push after the other.
    private struct State: Sendable {
        var types: SpaceTypes?
        /// Whether another space has its name by now.
        var isRetired = false
    }

    package init(_ store: LogStore, _ space: SpaceID) {
        self.store = store
        self.space = space
    }

    /// The answer to a request, whatever its bytes are.
    ///
    /// `gate` says whether a push is let in at all; it is asked before any batch is judged.
    package func answer(
        _ request: [UInt8],
        from caller: Caller,
        gate: (PushFacts) throws(Refusal) -> Void = { _ in }
    ) -> [UInt8] {
        do throws(Refusal) {
            return try answer(try Self.read(request), from: caller, gate: gate).encoded()
        } catch {
            return SyncMessage.refusal(error).encoded()
        }
    }

    static func read(_ request: [UInt8]) throws(Refusal) -> SyncMessage {
        do throws(FormatError) { return try SyncMessage(request.span) } catch {
            if case .unknownVersion(let version, _) = error {
                throw Refusal(
                    .version,
                    number: UInt64(SyncMessage.version),
                    "This server speaks version \(SyncMessage.version) of the protocol, not "
                        + "\(version)."
                )
            }
            throw Refusal(.malformed, "The request cannot be read: \(error.message).")
        }
    }

    /// The answer to a request.
    package func answer(
        _ request: SyncMessage,
        from caller: Caller,
        gate: (PushFacts) throws(Refusal) -> Void = { _ in }
    ) throws(Refusal) -> SyncMessage {
        switch request {
        case .push(let push):
            try require(.append, of: caller)
            try check(push.standing)
            return .verdicts(try take(push, from: caller, gate))
        case .pull(let pull):
            try require(.read, of: caller)
            let status = try check(pull.standing)
            return .news(try news(for: pull, status))
        case .packWanted(let wanted):
            try require(.read, of: caller)
            try check(wanted.standing)
            return .pack(try pack(wanted.fingerprint))
        case .publish, .abandon:
            throw Refusal(.forbidden, "Nothing can be published here.")
        case .verdicts, .news, .pack, .refusal, .publication:
            throw Refusal(.malformed, "This message is an answer, and not a request.")
        }
    }

    private func require(_ right: Caller.Rights, of caller: Caller) throws(Refusal) {
        guard caller.rights.contains(right) || caller.rights.contains(.admin) else {
            let word = right == .read ? "read" : "append"
            throw Refusal(.forbidden, "The token does not give the right \(word).")
        }
    }

    /// Whether the replica has the same space, and not more of it or another one.
    @discardableResult
    private func check(_ standing: Standing) throws(Refusal) -> SpaceStatus {
        let status = try logging { () throws(LogError) in try store.status(of: space) }
        let manifest = status.manifest
        func refusal(_ reason: Refusal.Reason, number: UInt64 = 0, _ message: String) -> Refusal {
            Refusal(
                reason,
                number: number,
                lineage: manifest.lineage,
                epoch: manifest.epoch,
                message
            )
        }
        guard standing.lineage == manifest.lineage else {
            throw refusal(
                .lineage,
                "This space was made elsewhere: lineage \(manifest.lineage.text) here, "
                    + "\(standing.lineage.text) there."
            )
        }
        guard standing.epoch == manifest.epoch else {
            throw refusal(
                .epoch,
                "The authority was restored from a backup: epoch \(manifest.epoch) here, "
                    + "\(standing.epoch) there."
            )
        }
        guard standing.size <= status.head else {
            throw refusal(
                .ahead,
                number: status.head,
                "The authority has \(status.head) events and the replica \(standing.size)."
            )
        }
        if standing.size == status.head {
            let root = try logging { () throws(LogError) in try store.root(of: space) }
            // Others may have appended meanwhile; then the replica finds out for itself.
            let isStill = store.standing(of: space).head == status.head
            guard root == standing.root || !isStill else {
                throw refusal(
                    .diverged,
                    number: status.head,
                    "The first \(status.head) events are others here than there."
                )
            }
        }
        return status
    }

    private func logging<Value>(
        _ body: () throws(LogError) -> Value
    ) throws(Refusal) -> Value {
        do throws(LogError) { return try body() } catch { throw Refusal(error) }
    }

    // MARK: Push

    private func take(
        _ push: Push,
        from caller: Caller,
        _ gate: (PushFacts) throws(Refusal) -> Void
    ) throws(Refusal) -> Verdicts {
        let events: PushedEvents
        do throws(FormatError) { events = try PushedEvents(push) } catch {
            throw Refusal(.malformed, "The events cannot be read: \(error.message).")
        }
        // Carried out as values, because the lock's closure is not generic over the error.
        var outcome: Result<[Verdict], Refusal> = .success([])
        state.withLock { state in
            do throws(Refusal) {
                guard !state.isRetired else { throw Self.retired }
                let last = store.lastSequence(of: events.replica, in: space)
                try gate(events.facts(seenThrough: last))
                outcome = .success(try judge(events, from: caller, &state))
            } catch {
                outcome = .failure(error)
            }
        }
        let verdicts = try outcome.get()
        let status = try logging { () throws(LogError) in try store.status(of: space) }
        return Verdicts(epoch: status.manifest.epoch, head: status.head, list: verdicts)
    }

    private static let retired = Refusal(
        .unavailable,
        number: 1,
        "Another space takes the place of this one. Try again."
    )

    /// Runs `body`, and takes no push meanwhile; if it does not throw, there will be none any more.
    func retire(_ body: () throws(Refusal) -> Bool) throws(Refusal) {
        // Carried out as a value, because the lock's closure is not generic over the error.
        var failure: Refusal?
        state.withLock { state in
            do throws(Refusal) {
                let isRetired = try body()
                state.isRetired = state.isRetired || isRetired
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private func judge(
        _ events: PushedEvents,
        from caller: Caller,
        _ state: inout State
    ) throws(Refusal) -> [Verdict] {
        guard !store.isAuthority(events.replica, in: space) else {
            throw Refusal(.forbidden, "\(events.replica.text) is the authority's own id.")
        }
        let types = try types(&state)
        let last = store.lastSequence(of: events.replica, in: space)
        var decided = Decisions(replica: events.replica)
        var judge = BatchJudge(store, space, types, caller)
        try logging { () throws(LogError) in
            let isNew = try repeatKnown(events, through: last, &decided)
            guard isNew else { return }
            for batch in events.batches where batch.firstSequence > last {
                guard batch.firstSequence == decided.next(behind: last) else {
                    decided.end(.gap, at: decided.next(behind: last))
                    break
                }
                if let objection = try judge.objection(to: batch, of: events) {
                    decided.refuse(batch, types.refusalDraft(events.replica, batch, objection))
                } else {
                    decided.accept(batch)
                }
            }
        }
        try logging { () throws(LogError) in try append(&decided, events) }
        return decided.verdicts
    }

    private func types(_ state: inout State) throws(Refusal) -> SpaceTypes {
        let count = try logging { () throws(LogError) in try store.adoptions(of: space).count }
        if let known = state.types, known.adoptionCount == count { return known }
        let types = try logging { () throws(LogError) in try SpaceTypes(of: space, in: store) }
        state.types = types
        return types
    }

    /// Gives batches that were seen before the verdicts they had; false if one of them is another
    /// one than the one that was seen.
    private func repeatKnown(
        _ events: PushedEvents,
        through last: UInt64,
        _ decided: inout Decisions
    ) throws(LogError) -> Bool {
        guard let first = events.batches.first?.firstSequence, first <= last else { return true }
        let seen = events.batches.prefix { $0.firstSequence <= last }
        let range = first...(seen.last?.lastSequence ?? last)
        let known = try store.known(range, of: events.replica, in: space)
        let refusals =
            known.count == range.count
            ? [] : try store.refusals(range, of: events.replica, in: space)
        var next = 0
        for batch in seen {
            if let refusal = refusals.first(where: { $0.sequences.contains(batch.firstSequence) }) {
                guard refusal.sequences == batch.firstSequence...batch.lastSequence else {
                    decided.end(.forked, at: batch.firstSequence)
                    return false
                }
                decided.repeatRefusal(batch, refusal.position)
                continue
            }
            let hashes: [Hash32]
            do throws(FormatError) { hashes = try events.hashes(of: batch) } catch {
                throw .format(error)
            }
            let same = known[next...].prefix(batch.count)
            guard same.map(\.eventHash) == hashes,
                same.first?.origin.sequence == batch.firstSequence
            else {
                decided.end(.forked, at: batch.firstSequence)
                return false
            }
            next += batch.count
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

    /// Writes down what was decided; the verdicts have their positions then.
    private func append(
        _ decided: inout Decisions,
        _ events: PushedEvents
    ) throws(LogError) {
        guard !decided.new.isEmpty else { return }
        var contents: [Append.Content] = []
        for part in decided.new {
            switch part {
            case .accepted(let index, let rows):
                let (bytes, head) = events.blocks[index]
                contents.append(.received(ReceivedRows(bytes, head, rows: rows)))
            case .refused(_, let draft): contents.append(.authority([draft]))
            }
        }
        let appended = try store.append(contents, to: space)
        for (part, batch) in zip(decided.new, appended) {
            guard let position = batch.firstPosition, let acceptedAt = batch.acceptedAt else {
                preconditionFailure("an authority gives positions at once")
            }
            switch part {
            case .accepted(_, let rows):
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
    }

    // MARK: Pull

    private func news(for pull: Pull, _ status: SpaceStatus) throws(Refusal) -> News {
        let own = Dictionary(
            pull.own.map { ($0.replica, $0.firstSequence) },
            uniquingKeysWith: { min($0, $1) }
        )
        let countMax = Int(clamping: max(pull.countMax, 1))
        return try logging { () throws(LogError) in
            let (pieces, end) = try store.news(
                of: space,
                after: pull.standing.size,
                own: own,
                countMax: countMax
            )
            guard let root = try store.root(of: space, size: end) else {
                throw .outOfOrder(what: "the root at \(end) is not known")
            }
            return News(
                epoch: status.manifest.epoch,
                head: store.standing(of: space).head,
                end: end,
                root: root,
                pieces: pieces.map { piece in
                    switch piece {
                    case .block(let block): .block(block)
                    case .own(let run): .own(run)
                    }
                }
            )
        }
    }

    private func pack(_ fingerprint: Hash32) throws(Refusal) -> PackFiles {
        do throws(LogError) {
            let files = try store.packFiles(fingerprint)
            return PackFiles(
                files: files.map { PackFiles.File(path: $0.path, content: $0.bytes) }
            )
        } catch .storage(.notFound) {
            throw Refusal(.noPack, "There is no pack with the fingerprint \(fingerprint.text).")
        } catch {
            throw Refusal(error)
        }
    }
}

extension Refusal {
    /// What a replica is told when the log of the authority fails.
    init(_ error: LogError) {
        switch error {
        case .unknownSpace: self.init(.unknownSpace, "There is no such space.")
        case .storage(.full): self.init(.full, "The disk of the server is full.")
        default:
            self.init(.unavailable, number: 5, "The server cannot do this now: \(error.message)")
        }
    }
}
