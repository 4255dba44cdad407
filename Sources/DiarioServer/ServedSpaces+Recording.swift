package import DiarioCore
package import DiarioEngine
import DiarioHost
import DiarioLog
import DiarioSync

// What is known of the events of a request is found out, and the rest recorded, in one step:
// schema/format/http.md, section 7.

extension ServedSpaces {
    /// Records events that are not pushed, and says whether any of them was new.
    ///
    /// Their number and size count as those of a push.
    package func record(
        _ events: EventBody,
        size: Int,
        in space: NamedSpace,
        with token: Token,
        at now: Timestamp
    ) throws -> (RecordedEvents, isNew: Bool) {
        try take(events.count, of: \.events, token, at: now)
        let authority = try authority(of: space)
        return try authority.whileAlone { outline, state in
            var newCount = events.count
            if let named = events.named {
                let last = store[space.id].lastSequence(of: named.replica)
                newCount = named.sequences.count { $0 > last }
                try checkOwn(named.replica, in: space)
                try checkHolder(
                    of: named.replica,
                    isSeen: last > 0,
                    isNamed: true,
                    with: token,
                    in: space,
                    at: now
                )
            }
            if newCount > 0 { try Self.checkQuota(of: space, outline, newCount, size: size) }
            if let named = events.named {
                return try record(named, space.id, authority, &state.clocks)
            }
            do {
                if events.areCloudEvents { return try events.importOnce(&state.imported) }
                var events = events
                return (try events.commit(), isNew: true)
            } catch let error as DiarioError where error.kind != .rule {
                throw Refusal(recording: error)
            }
        }
    }

    /// Runs `body`, which records a few events, while nobody else records in the space.
    ///
    /// Without a token the rate is bounded by the caller.
    package func recording<Value>(
        in space: NamedSpace,
        with token: Token?,
        size: Int,
        at now: Timestamp,
        _ body: () throws -> Value
    ) throws -> Value {
        if let token { try take(1, of: \.events, token, at: now) }
        return try authority(of: space).whileAlone { outline, _ in
            try Self.checkQuota(of: space, outline, 1, size: size)
            return try body()
        }
    }

    /// The ids under which the server itself records are nobody else's.
    private func checkOwn(_ replica: ReplicaID, in space: NamedSpace) throws {
        let own = try store[space.id].author().0
        guard replica != own, !store[space.id].isAuthority(replica) else {
            throw Refusal(.forbidden, "\(replica.text) is the server's own id. Draw another one.")
        }
    }

    /// Records what is new of events with origins of a client's own, unless what is known of them
    /// is something else.
    private func record(
        _ events: NamedEvents,
        _ id: SpaceID,
        _ authority: SpaceAuthority,
        _ clocks: inout LastClocks
    ) throws -> (RecordedEvents, isNew: Bool) {
        let replica = events.replica
        var events = events
        while true {
            // What other processes recorded comes first.
            try store.catchUp()
            let (head, last) = (store[id].head(), store[id].lastSequence(of: replica))
            if let conflict = try events.conflict(through: last) { throw conflict }
            guard events.sequences.contains(where: { $0 > last }) else {
                return (events.recorded, isNew: false)
            }
            let changes = try authority.lastChanges(
                behind: events.bases(after: last),
                besides: replica,
                through: head
            )
            if let conflict = events.conflict(after: last, { changes.lastPosition(of: $0) }) {
                throw conflict
            }
            try events.checkRecorder(after: last)
            let own = try clocks.clock(of: replica, through: last, in: store, id)
            let clock = max(own ?? HybridTime(rawValue: 0), store[id].clock())
            do {
                let commit = commits.commit
                let newest = try events.append(after: last, behind: head, clock, by: commit)
                clocks.note(newest, of: replica, through: events.sequences.max() ?? last)
                return (events.recorded, isNew: true)
            } catch LogError.outOfOrder(_) where store[id].head() != head {
                // Another process wrote behind what was looked at.
                continue
            } catch {
                throw Refusal(recording: DiarioError(error))
            }
        }
    }
}

extension Refusal {
    /// Why events that were found good could not be written down.
    fileprivate init(recording error: DiarioError) {
        switch error.kind {
        // Its own message has a path of the server.
        case .full: self.init(.full, "The disk of the server is full.")
        case .invalid, .tooLarge: self.init(.malformed, error.message)
        default: self.init(.unavailable, number: 5, error.message)
        }
    }
}
