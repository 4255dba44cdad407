package import DiarioCore
package import DiarioFormat
import DiarioLog

/// An event of the model: as submitted, with what the log has shown of it since.
package struct ModelEvent: Sendable {
    package var event: SimulatedEvent
    package var batchIndex: Int
    package var batchCount: Int
    package var isAuthority: Bool
    /// Nil until it is known: an append whose answer got lost gives none.
    package var origin: Origin?
    /// Nil while pending, and while not known.
    package var acceptedAt: Int64?
    /// All that a log has shown; from then on nothing of it may change.
    package var seen: SeenEvent?
}

/// The expected state of one space.
package struct ModelSpace: Sendable {
    package let isAuthority: Bool
    /// By position, those released included; the first has position 1.
    package var canonical: [ModelEvent] = []
    package var pending: [ModelEvent] = []
    package var released: UInt64 = 0

    package init(isAuthority: Bool) { self.isAuthority = isAuthority }

    package var head: UInt64 { UInt64(canonical.count) }
    package var events: [ModelEvent] { canonical + pending }
}

/// A requested change of the log.
package enum Effect: Sendable {
    case make(SpaceID, isAuthority: Bool)
    case append(SpaceID, [ModelEvent])
    case promote(SpaceID, [PromotedRun])
    case release(SpaceID, UInt64)
    case remove(SpaceID)
}

/// All spaces of a directory at one moment.
package struct ModelState: Sendable {
    package var spaces: [SpaceID: ModelSpace] = [:]

    package init() {}

    /// In order, so that a seed repeats a run.
    package var ids: [SpaceID] { spaces.keys.sorted() }

    package mutating func apply(_ effect: Effect) {
        switch effect {
        case .make(let id, let isAuthority): spaces[id] = ModelSpace(isAuthority: isAuthority)
        case .append(let id, let events):
            if spaces[id]?.isAuthority == true {
                spaces[id]?.canonical += events
            } else {
                spaces[id]?.pending += events
            }
        case .promote(let id, let runs):
            for run in runs { spaces[id]?.promote(run) }
        case .release(let id, let position): spaces[id]?.released = position
        case .remove(let id): spaces[id] = nil
        }
    }
}

extension ModelSpace {
    fileprivate mutating func promote(_ run: PromotedRun) {
        let sequences = run.firstSequence..<run.firstSequence + run.count
        var rest: [ModelEvent] = []
        for var event in pending {
            guard let origin = event.origin, origin.replica == run.replica,
                sequences.contains(origin.sequence)
            else {
                rest.append(event)
                continue
            }
            event.acceptedAt = run.acceptedAt.milliseconds
            canonical.append(event)
        }
        pending = rest
    }
}
