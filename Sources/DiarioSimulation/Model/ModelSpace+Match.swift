import DiarioCore
package import DiarioCrypto

extension ModelState {
    /// The first difference between the model and the views of a log; nil if there is none.
    func difference(_ views: [(SpaceID, SpaceView)]) -> String? {
        guard views.map(\.0) == ids else {
            return "\(views.count) spaces are there, not \(ids.count)"
        }
        for (id, view) in views {
            let what = ModelSpace.brokenRule(view) ?? spaces[id]?.difference(view)
            if let what { return "space \(id.text): \(what)" }
        }
        return nil
    }
}

extension ModelSpace {
    /// The first difference between the model and the view of a log; nil if there is none.
    package func difference(_ view: SpaceView) -> String? {
        guard view.released == released else {
            return "released are \(view.released) positions, not \(released)"
        }
        let visible = canonical.dropFirst(Int(released))
        guard view.canonical.count == visible.count else {
            return "\(view.canonical.count) canonical events are shown, not \(visible.count)"
        }
        guard view.pending.count == pending.count else {
            return "\(view.pending.count) pending events are shown, not \(pending.count)"
        }
        for (index, (event, seen)) in zip(visible, view.canonical).enumerated() {
            let position = released + UInt64(index) + 1
            guard seen.position == position else {
                return "position \(String(describing: seen.position)) follows, not \(position)"
            }
            if let what = event.difference(seen) { return "position \(position): \(what)" }
        }
        for (index, (event, seen)) in zip(pending, view.pending).enumerated() {
            if let what = event.difference(seen) { return "pending event \(index): \(what)" }
        }
        return nil
    }

    /// Learns origins and times from the view of a log that agrees with the model.
    package mutating func learn(_ view: SpaceView) {
        for (index, seen) in view.canonical.enumerated() {
            canonical[Int(released) + index].learn(seen)
        }
        for (index, seen) in view.pending.enumerated() { pending[index].learn(seen) }
    }

    /// The rules of the format between the events, whatever the model says.
    package static func brokenRule(_ view: SpaceView) -> String? {
        var sequences: [ReplicaID: UInt64] = [:]
        var clocks: [ReplicaID: UInt64] = [:]
        var acceptedAt = Int64.min
        var isOrdered = true
        for seen in view.events {
            let (replica, envelope) = (seen.origin.replica, seen.envelope)
            if envelope.sequence <= sequences[replica, default: 0] {
                return "B2: sequence \(envelope.sequence) of \(replica.text) comes too late"
            }
            if let clock = clocks[replica], envelope.clock <= clock {
                return "the clock of \(seen.origin.text) does not increase"
            }
            sequences[replica] = envelope.sequence
            clocks[replica] = envelope.clock
            guard let next = seen.acceptedAt else { continue }
            isOrdered = isOrdered && next >= acceptedAt
            acceptedAt = next
        }
        return isOrdered ? nil : "B3: acceptedAt goes back"
    }

    /// The root of all canonical events; nil if one of them was never seen.
    package func root() -> Hash32? {
        var leaves: [Hash32] = []
        for event in canonical {
            guard let seen = event.seen, let acceptedAt = event.acceptedAt else { return nil }
            leaves.append(PlainHashes.leaf(seen.hash, acceptedAt: acceptedAt))
        }
        return PlainHashes.root(leaves[...])
    }
}

extension ModelEvent {
    func difference(_ other: SeenEvent) -> String? {
        var expected = event
        // At the very time of its clock, a row does not say that the time was given.
        if expected.at == Int64(other.envelope.clock >> 16) { expected.at = nil }
        guard other.event == expected else {
            return "event \(other.event.number) is shown as \(other.event), not as \(expected)"
        }
        if let origin, origin != other.origin {
            return "its origin is \(other.origin.text), not \(origin.text)"
        }
        guard other.envelope.batchIndex == batchIndex, other.envelope.batchCount == batchCount
        else { return "its batch is not whole" }
        guard other.envelope.isAuthority == isAuthority else { return "its author is another" }
        if let acceptedAt, acceptedAt != other.acceptedAt {
            return "it was accepted at \(String(describing: other.acceptedAt)), not \(acceptedAt)"
        }
        if let seen, seen.hash != other.hash || seen.envelope != other.envelope {
            return "its row changed"
        }
        return nil
    }

    mutating func learn(_ other: SeenEvent) {
        origin = other.origin
        acceptedAt = other.acceptedAt
        seen = other
    }
}
