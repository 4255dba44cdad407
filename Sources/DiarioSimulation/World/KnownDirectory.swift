import DiarioCore

/// All that is certain of a directory.
struct KnownDirectory {
    /// Without the tail of changes that may be lost.
    var state = ModelState()
    var lastNumber: Int64 = 0
    var strangers: [SpaceID: Strangers] = [:]
    /// All origins that were ever seen, with the number of their event.
    private var origins: [SpaceID: [Origin: Int64]] = [:]
    /// Spaces that may be gone after a power cut: their maker died, and they are still empty.
    var frailSpaces: Set<SpaceID> = []
    /// Spaces that were sealed: positions are not released by hand there.
    var sealed: Set<SpaceID> = []
    /// Spaces whose removal was not acknowledged: a power cut may bring them back as they were.
    var ghosts: [SpaceID: ModelSpace] = [:]

    /// Notes the origins that were seen; none may ever be that of another event.
    mutating func register(_ views: [(SpaceID, SpaceView)]) throws {
        for (id, view) in views {
            for seen in view.events { try register(seen.origin, seen.event.number, in: id) }
        }
    }

    mutating func register(_ origin: Origin, _ number: Int64, in space: SpaceID) throws {
        let old = origins[space, default: [:]].updateValue(number, forKey: origin) ?? number
        guard old == number else {
            throw Broken(.log, "\(origin.text) stands for event \(number) and for \(old)")
        }
    }

    /// Forgets events that are not in the log: their origins may be given again.
    mutating func forget(_ lost: ArraySlice<Effect>) {
        for case .append(let id, let events) in lost {
            for origin in events.compactMap(\.origin) { origins[id]?[origin] = nil }
        }
    }

    /// True if an event was appended, or received, under the origin under which it is shown.
    func isKnown(_ seen: SeenEvent, in space: SpaceID) -> Bool {
        origins[space]?[seen.origin] == seen.event.number
    }

    /// The replicas of all spaces.
    var replicaCount: Int { origins.values.reduce(0) { $0 + Set($1.keys.map(\.replica)).count } }
}
