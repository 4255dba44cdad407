import Diario
import DiarioCore
import DiarioLog
import DiarioServer
import DiarioSync

// What is known of the events of a request is found out, and the rest recorded, in one step:
// schema/format/http.md, section 7.

extension ServedDirectory {
    /// Records the events, and says whether any of them was new.
    func record(
        _ events: EventBody,
        _ question: Question,
        _ space: ServedSpace
    ) throws(Problem) -> (RecordedEvents, isNew: Bool) {
        let named = events.named
        if let replica = named?.replica {
            contacts.note(replica, in: question.space.name, at: now)
        }
        // A conflict is no refusal that a replica knows, so it is carried out as a value.
        let outcome = try admitting { () throws(Refusal) in
            try served.record(
                events.count,
                size: question.request.body.count,
                as: named.map { ($0.replica, $0.sequences) },
                in: question.space,
                with: question.token,
                at: now
            ) { (clocks) -> Result<(RecordedEvents, isNew: Bool), Problem> in
                do throws(Problem) {
                    if let named {
                        return .success(try record(named, question, space, &clocks))
                    }
                    return .success(
                        try recording { () throws(DiarioError) in
                            if events.areCloudEvents { return try space.importOnce(events) }
                            var events = events
                            return (try events.commit(), isNew: true)
                        }
                    )
                } catch {
                    return .failure(error)
                }
            }
        }
        return try outcome.get()
    }

    /// Records what is new of events with origins of a client's own, unless what is known of them
    /// is something else.
    private func record(
        _ events: NamedEvents,
        _ question: Question,
        _ space: ServedSpace,
        _ clocks: inout LastClocks
    ) throws(Problem) -> (RecordedEvents, isNew: Bool) {
        let (id, replica) = (space.space.id, events.replica)
        let authority = try admitting { () throws(Refusal) in
            try served.authority(of: question.space)
        }
        var events = events
        while true {
            // What other processes recorded comes first.
            try logging { () throws(LogError) in try store.catchUp() }
            let (head, last) = (store.head(of: id), store[id].lastSequence(of: replica))
            let conflict = try answering { () throws(DiarioError) in
                try events.conflict(through: last)
            }
            if let conflict { throw Problem(conflict) }
            guard events.sequences.contains(where: { $0 > last }) else {
                return (events.recorded, isNew: false)
            }
            let changes = try logging { () throws(LogError) in
                try authority.lastChanges(
                    behind: events.bases(after: last),
                    besides: replica,
                    through: head
                )
            }
            if let conflict = events.conflict(after: last, { changes.lastPosition(of: $0) }) {
                throw Problem(conflict)
            }
            let clock = try logging { () throws(LogError) in
                let own = try clocks.clock(of: replica, through: last, in: store, id)
                return max(own ?? HybridTime(rawValue: 0), store[id].clock())
            }
            do throws(LogError) {
                let newest = try events.append(after: last, behind: head, clock)
                clocks.note(newest, of: replica, through: events.sequences.max() ?? last)
                return (events.recorded, isNew: true)
            } catch .outOfOrder(_) where store.head(of: id) != head {
                // Another process wrote behind what was looked at.
                continue
            } catch {
                throw Problem(Refusal(recording: DiarioError(error)))
            }
        }
    }

    private func recording<Value>(
        _ body: () throws(DiarioError) -> Value
    ) throws(Problem) -> Value {
        do throws(DiarioError) { return try body() } catch {
            throw Problem(Refusal(recording: error))
        }
    }
}

extension Problem {
    init(_ conflict: OriginConflict) {
        switch conflict.kind {
        case .forked: self.init(.forked, conflict.message)
        case .gap(let expected):
            self.init(.gap, conflict.message)
            self.expected = expected
        case .changed(let position):
            self.init(.changed, conflict.message)
            self.position = position
        }
        origin = conflict.origin.text
        line = conflict.line
    }
}
