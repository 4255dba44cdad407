package import DiarioCore
package import DiarioCrypto
import DiarioFormat
package import DiarioLog

/// An event as a log shows it.
package struct SeenEvent: Hashable, Sendable {
    package var event: SimulatedEvent
    package var envelope: SeenEnvelope
    /// Nil while the event is pending.
    package var position: UInt64?
    package var acceptedAt: Int64?
    /// The hash of its canonical row, so that no byte of it changes unseen.
    package var hash: Hash32

    package var origin: Origin {
        Origin(replica: envelope.replica, sequence: envelope.sequence)
    }
}

/// The part of an event before its content.
package struct SeenEnvelope: Hashable, Sendable {
    package var replica: ReplicaID
    package var sequence: UInt64
    package var batchIndex: Int
    package var batchCount: Int
    package var clock: UInt64
    package var base: UInt64
    package var isAuthority: Bool
}

/// All that a log shows of a space.
package struct SpaceView: Equatable, Sendable {
    package var released: UInt64 = 0
    package var canonical: [SeenEvent] = []
    package var pending: [SeenEvent] = []

    package var events: [SeenEvent] { canonical + pending }

    package init() {}
}

extension EventKinds {
    /// Reads a space through a cursor.
    package func view(of space: SpaceID, in store: LogStore) throws(LogError) -> SpaceView {
        var view = SpaceView()
        view.released = try store[space].status().released
        let seeds = try RawLog(store.directory).seeds(of: space)
        var cursor = try store.cursor(space)
        while let events = try cursor.next() {
            do throws(FormatError) {
                for row in events.rows {
                    let seen = try seen(row, events, seeds)
                    if seen.position == nil {
                        view.pending.append(seen)
                    } else {
                        view.canonical.append(seen)
                    }
                }
            } catch {
                throw .format(error)
            }
        }
        return view
    }

    private func seen(
        _ stored: StoredRow,
        _ events: StoredEvents,
        _ seeds: [SeedKey: Salt]
    ) throws(FormatError) -> SeenEvent {
        let block = events.bytes.span
        let (row, type) = (stored.row, events.types[stored.row.typeIndex])
        let part = try PublicPart.parse(block, row)
        let envelope = part.envelope
        var rest = row.publicPart.map { block[$0] }
        if case .present(let range) = row.personal {
            let group = SaltSeed.group(of: row.sequence)
            guard let root = seeds[SeedKey(replica: row.replica, group: group)] else {
                throw .malformed(.saltNode, at: range.lowerBound)
            }
            rest += PlainHashes.commitment(
                range.map { block[$0] },
                seed: root,
                sequence: row.sequence
            )
        }
        return SeenEvent(
            event: try event(row, part, of: block, type: type),
            envelope: SeenEnvelope(
                replica: envelope.replica,
                sequence: envelope.sequence,
                batchIndex: Int(envelope.sequence - envelope.batchFirst),
                batchCount: envelope.batchCount,
                clock: envelope.clock.rawValue,
                base: envelope.base,
                isAuthority: stored.isAuthority
            ),
            position: stored.position,
            acceptedAt: stored.acceptedAt?.milliseconds,
            hash: PlainHashes.event((type.name, type.version), row.origin, rest)
        )
    }
}
