package import DiarioCore
import DiarioEngine
import DiarioHost
package import DiarioLog
import DiarioSchema
package import DiarioSync
import Synchronization

/// The spaces of a data directory as they are served: who asks is known by a token, and every
/// bound of schema/format/control.md is kept.
///
/// Safe to use from any thread. Spaces are opened when they are first asked for.
package final class ServedSpaces: Sendable {
    let store: LogStore
    package let control: ControlFile
    /// Those that are being sent here.
    package let blobs: ArrivingBlobs
    let shelf = TypeShelf()
    /// What several clients send at once is committed as one.
    let commits: GroupCommit
    private let authorities = Mutex<[SpaceID: SpaceAuthority]>([:])
    /// Held while a part of a space that is published is taken.
    private let adopting = Mutex<Void>(())
    /// Only of tokens that are valid, which an administrator made.
    private let rates = Mutex<[TokenID: Rates]>([:])

    struct Rates: Sendable {
        let of: TokenRates
        var requests: RateBucket
        var events: RateBucket

        init(_ rates: TokenRates, at now: Timestamp) {
            of = rates
            requests = RateBucket(perSecond: rates.requestsPerSecond, at: now)
            events = RateBucket(
                perSecond: rates.eventsPerSecond,
                atOnceMin: Limits.exchangeCountMax,
                at: now
            )
        }
    }

    package init(_ store: LogStore, _ control: ControlFile) {
        self.store = store
        self.control = control
        blobs = ArrivingBlobs(store.blobs)
        commits = GroupCommit(store)
    }

    /// The answer to a request to the space that is called `name`, from who bears `token`.
    package func answer(
        _ request: [UInt8],
        to name: String,
        with token: String,
        at now: Timestamp
    ) -> [UInt8] {
        do {
            let (token, space) = try admit(token, to: name, at: now)
            return try reply(to: request, to: space, with: token, Caller(token), at: now).encoded()
        } catch {
            return SyncMessage.refusal(Refusal(error)).encoded()
        }
    }

    /// The answer to a message of somebody who was let in.
    package struct Answer: Sendable {
        package let bytes: [UInt8]
        /// Why the message is refused, which the answer says; nil if it is not.
        package private(set) var refusal: Refusal?
        /// The error behind that, which clients are not told of.
        package private(set) var error: (any Error)?
        /// Whether events may have been recorded.
        package private(set) var hasVerdicts = false
        /// Whether another space may have the name now.
        package private(set) var isPublication = false

        fileprivate init(_ message: SyncMessage, _ error: (any Error)? = nil) {
            bytes = message.encoded()
            self.error = error
            switch message {
            case .refusal(let refusal): self.refusal = refusal
            case .verdicts: hasVerdicts = true
            case .publication: isPublication = true
            default: break
            }
        }
    }

    package func answer(
        _ request: [UInt8],
        to space: NamedSpace,
        with token: Token,
        packFormat: Int = Pack.formatMax,
        at now: Timestamp
    ) -> Answer {
        var caller = Caller(token)
        caller.packFormat = packFormat
        do {
            return Answer(try reply(to: request, to: space, with: token, caller, at: now))
        } catch {
            return Answer(.refusal(Refusal(error)), error)
        }
    }

    /// True if a request, if it is a message at all, publishes or restores a space.
    package static func publishes(_ request: [UInt8]) -> Bool { SyncMessage.publishes(request) }

    private func reply(
        to request: [UInt8],
        to space: NamedSpace,
        with token: Token,
        _ caller: Caller,
        at now: Timestamp
    ) throws -> SyncMessage {
        let message = try SpaceAuthority.read(request)
        switch message {
        case .publish, .abandon, .restore:
            return try publish(message, to: space, with: token, at: now)
        default: break
        }
        let authority = try authority(of: space)
        return try authority.answer(message, from: caller) { push in
            try admit(push, with: token, to: space, at: now)
        }
    }

    // MARK: Publishing and restoring

    /// Takes a part of a space that is published or restored, or gives an attempt up.
    private func publish(
        _ message: SyncMessage,
        to space: NamedSpace,
        with token: Token,
        at now: Timestamp
    ) throws -> SyncMessage {
        guard token.rights.contains(.admin) else {
            throw Refusal(.forbidden, "The token does not give the right admin.")
        }
        let publication = try adopting.withLock { _ in
            // Looked at under the lock: another attempt may have got the name meanwhile.
            guard let space = try control.space(space.name) else {
                throw Refusal(.unknownSpace, "There is no such space.")
            }
            // Nor may another one take its place.
            try store.checkMaking(space.id)
            let adoption = Adoption(
                store: store,
                control: control,
                space: space,
                holder: token.holder,
                now: now,
                whileQuiet: { body in try self.whileQuiet(space, body) }
            )
            switch message {
            case .publish(let publish): return try adoption.answer(publish)
            case .abandon(let abandon): return try adoption.answer(abandon)
            case .restore(let publish): return try adoption.restore(publish)
            default: preconditionFailure("only these come here")
            }
        }
        return .publication(publication)
    }

    /// Runs `body` while the space that has a name takes no push; it says whether that is over for
    /// good, and is told what the space is.
    private func whileQuiet(
        _ space: NamedSpace,
        _ body: (SpaceStatus) throws -> Bool
    ) throws {
        let authority = try authority(of: space)
        var isOver = false
        try authority.retire {
            isOver = try body(store[space.id].status())
            return isOver
        }
        guard isOver else { return }
        authorities.withLock { $0[space.id] = nil }
        // Nothing is in it alone; what is left of it if this fails has no name.
        try? store[space.id].remove()
    }

    /// Who asks, and for what: a valid token, and the space that it is for.
    ///
    /// Counts as a request.
    package func admit(
        _ text: String,
        to name: String,
        at now: Timestamp
    ) throws -> (Token, NamedSpace) {
        try admit(try identify(text, to: name, at: now), at: now)
    }

    /// Who asks, and the space of the token.
    ///
    /// Counts as a request.
    package func admitToOwnSpace(
        _ text: String,
        at now: Timestamp
    ) throws -> (Token, NamedSpace) {
        try admit(try identify(text, to: nil, at: now), at: now)
    }

    private func admit(
        _ bearer: (token: Token, space: NamedSpace),
        at now: Timestamp
    ) throws -> (Token, NamedSpace) {
        try take(1, of: \.requests, bearer.token, at: now)
        // When a token was last used is worth no refusal.
        try? control.noteUse(of: bearer.token, at: now)
        return bearer
    }

    /// Who asks, and for what, which is the space of the token if `name` is nil; counts as nothing.
    package func identify(
        _ text: String,
        to name: String?,
        at now: Timestamp
    ) throws -> (token: Token, space: NamedSpace) {
        let found = try control.bearer(of: text, at: now)
        guard let (token, space) = found else {
            throw Refusal(.unauthorized, "The token is not known. Ask for a new one.")
        }
        guard token.space.text == name ?? token.space.text, let space else {
            throw Refusal(.unknownSpace, "There is no such space, or not for this token.")
        }
        return (token, space)
    }

    /// The authority of a space, which is made if it has only a name so far.
    package func authority(of space: NamedSpace) throws -> SpaceAuthority {
        try authorities.withLock { authorities in
            if let open = authorities[space.id] { return open }
            try store.checkMaking(space.id)
            if try !store.hasSpace(space.id) { _ = try store.makeWholeSpace(space.id) }
            let authority = SpaceAuthority(store, space.id, shelf, commits)
            authorities[space.id] = authority
            return authority
        }
    }

    /// Writes what is known of authors; what cannot be written is read from the log again.
    package func saveAuthors() {
        for authority in authorities.withLock({ Array($0.values) }) {
            try? authority.saveAuthors()
        }
    }

    // MARK: Bounds

    func take(
        _ count: Int,
        of bucket: any WritableKeyPath<Rates, RateBucket> & Sendable,
        _ token: Token,
        at now: Timestamp
    ) throws {
        let wait = rates.withLock { all in
            var rates = all[token.id] ?? Rates(token.rates, at: now)
            if rates.of != token.rates { rates = Rates(token.rates, at: now) }
            defer { all[token.id] = rates }
            return rates[keyPath: bucket].take(count, at: now)
        }
        guard let wait else { return }
        throw Refusal(
            .tooFast,
            number: UInt64(wait),
            "The token is used too fast. Try again in \(wait) s."
        )
    }

    private func admit(
        _ push: PushFacts,
        with token: Token,
        to space: NamedSpace,
        at now: Timestamp
    ) throws {
        try take(push.eventCount, of: \.events, token, at: now)
        if push.newCount > 0 {
            try Self.checkQuota(of: space, push.space, push.newCount, size: push.size)
        }
        guard push.isRelayed else {
            return try checkHolder(
                of: push.replica,
                isSeen: push.isSeen,
                isNamed: false,
                with: token,
                in: space,
                at: now
            )
        }
        guard !push.isSeen else { return }
        // Its author may come later, and must not find it taken.
        try control.leaveOpen([push.replica], in: space.name, at: now)
    }

    static func checkQuota(
        of space: NamedSpace,
        _ outline: SpaceOutline,
        _ count: Int,
        size: Int
    ) throws {
        let events = UInt64(space.quota.events)
        guard outline.head + UInt64(count) <= events else {
            throw Refusal(
                .full,
                "The space holds \(outline.head) events and may hold \(events). Ask its "
                    + "administrator for more."
            )
        }
        guard outline.size + size <= space.quota.bytes else {
            throw Refusal(
                .full,
                "The space takes \(outline.size) bytes and may take \(space.quota.bytes). Ask its "
                    + "administrator for more."
            )
        }
    }

    func checkHolder(
        of replica: ReplicaID,
        isSeen: Bool,
        isNamed: Bool,
        with token: Token,
        in space: NamedSpace,
        at now: Timestamp
    ) throws {
        let mayRelay = token.rights.mayRelay
        let own = token.holder
        switch try control.owner(of: replica, in: space.name) {
        case .holder(let known, let wasNamed):
            guard known == own || mayRelay else { throw Self.foreign(replica) }
            // Who gives events of others back has their salts.
            guard wasNamed == isNamed || wasNamed && mayRelay else {
                throw Self.otherWay(replica, isNamed: isNamed)
            }
            return
        case .nobody where isSeen:
            guard mayRelay else { throw Self.foreign(replica) }
            return
        case .anybody, .nobody: break
        }
        let holder = try control.bind(replica, in: space.name, to: own, isNamed: isNamed, at: now)
        if holder == own { return }
        guard holder == nil else { throw Self.foreign(replica) }
        throw Refusal(
            .full,
            "More than \(Limits.holderReplicaCountMax) replicas belong to the token or its "
                + "actor. Use another token."
        )
    }

    private static func otherWay(_ replica: ReplicaID, isNamed: Bool) -> Refusal {
        Refusal(
            .forbidden,
            isNamed
                ? "The replica \(replica.text) syncs with /sync. Record under an id of your own."
                : "The replica \(replica.text) records at /events. Sync under an id of your own."
        )
    }

    private static func foreign(_ replica: ReplicaID) -> Refusal {
        Refusal(
            .forbidden,
            "The replica \(replica.text) belongs to somebody else. Use a token of the same actor, "
                + "or one that may relay."
        )
    }
}
