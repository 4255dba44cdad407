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
    ) throws -> (RecordedEvents, isNew: Bool) {
        let named = events.named
        if let replica = named?.replica {
            contacts.note(replica, in: question.space.name, at: now)
        }
        return try served.record(
            events.count,
            size: question.request.body.count,
            as: named.map { ($0.replica, $0.sequences) },
            in: question.space,
            with: question.token,
            at: now
        ) { clocks in
            if let named { return try record(named, question, space, &clocks) }
            do {
                if events.areCloudEvents { return try space.importOnce(events) }
                var events = events
                return (try events.commit(), isNew: true)
            } catch {
                throw Refusal(recording: DiarioError(error))
            }
        }
    }

    /// Records what is new of events with origins of a client's own, unless what is known of them
    /// is something else.
    private func record(
        _ events: NamedEvents,
        _ question: Question,
        _ space: ServedSpace,
        _ clocks: inout LastClocks
    ) throws -> (RecordedEvents, isNew: Bool) {
        let (id, replica) = (space.space.id, events.replica)
        let authority = try served.authority(of: question.space)
        var events = events
        while true {
            // What other processes recorded comes first.
            try store.catchUp()
            let (head, last) = (store.head(of: id), store[id].lastSequence(of: replica))
            if let conflict = try events.conflict(through: last) { throw Problem(conflict) }
            guard events.sequences.contains(where: { $0 > last }) else {
                return (events.recorded, isNew: false)
            }
            let changes = try authority.lastChanges(
                behind: events.bases(after: last),
                besides: replica,
                through: head
            )
            if let conflict = events.conflict(after: last, { changes.lastPosition(of: $0) }) {
                throw Problem(conflict)
            }
            let own = try clocks.clock(of: replica, through: last, in: store, id)
            let clock = max(own ?? HybridTime(rawValue: 0), store[id].clock())
            do {
                let newest = try events.append(after: last, behind: head, clock)
                clocks.note(newest, of: replica, through: events.sequences.max() ?? last)
                return (events.recorded, isNew: true)
            } catch LogError.outOfOrder(_) where store.head(of: id) != head {
                // Another process wrote behind what was looked at.
                continue
            } catch {
                throw Refusal(recording: DiarioError(error))
            }
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
