package import DiarioCore
package import DiarioCrypto
import DiarioFormat
import DiarioLog
package import DiarioSchema

/// An event as people name it: by its origin, or by its position.
package enum EventName: Sendable {
    case origin(Origin)
    case position(UInt64)

    /// Nil if the text is neither.
    package init?(_ text: String) {
        if let origin = Origin(text: text) {
            self = .origin(origin)
        } else if let position = UInt64(text), 1...TreeNode.sizeMax ~= position {
            self = .position(position)
        } else {
            return nil
        }
    }

    /// What a text is that names no event, as the end of a sentence.
    package static let rules =
        "is neither an origin, as 7zk3m9q2c1f4a-17, nor a position from 1"
}

extension Space {
    /// The event of this name as an export tells it, and its hash; nil if there is none.
    package func event(
        _ name: EventName
    ) throws(DiarioError) -> (line: EventLine, hash: Hash32)? {
        guard let (found, hash) = try find(name) else { return nil }
        var filter = EventFilter.everything
        filter.replica = found.row.replica
        if let position = found.position {
            filter.wantPositions(position...position)
        } else {
            filter.wantPending()
        }
        var reader = try EventReader(self, filter)
        while let line = try reader.next() {
            if found.position != nil || line.origin == found.row.origin { return (line, hash) }
        }
        return nil
    }

    /// The position of an event.
    ///
    /// - Throws: `.notFound` if there is none, or it is pending.
    package func position(of name: EventName) throws(DiarioError) -> UInt64 {
        let origin: Origin
        switch name {
        case .position(let position): return position
        case .origin(let named): origin = named
        }
        guard let (found, _) = try find(name) else {
            throw DiarioError(
                .notFound,
                "There is no event with the origin \(origin.text). Look for it: diario log"
            )
        }
        guard let position = found.position else {
            throw DiarioError(
                .notFound,
                "The event \(origin.text) is pending: it has no position yet, so nothing can be "
                    + "shown about its place. Sync the space first."
            )
        }
        return position
    }

    private func find(_ name: EventName) throws(DiarioError) -> (StoredRow, Hash32)? {
        var filter = LogFilter()
        var positions: ClosedRange<UInt64>?
        switch name {
        case .origin(let origin): filter.origin = origin
        case .position(let position): positions = position...position
        }
        do {
            var cursor = try store.cursor(
                id,
                positions: positions,
                positions == nil ? .all : .canonical,
                filter: filter
            )
            while let events = try cursor.next() {
                let found = events.rows.first {
                    filter.origin == nil || $0.row.origin == filter.origin
                }
                guard let found else { continue }
                return (found, try store[id].hash(of: found, in: events))
            }
            return nil
        } catch {
            throw DiarioError(error)
        }
    }
}
