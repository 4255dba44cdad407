import DiarioCore

/// A thing that an event made, and that later ones may mention.
struct Subject: Sendable {
    /// As lines write it: a ULID, or the origin of the event that made it.
    let id: String
}

// What there is in the workload, as far as later events need to know it.
extension WorkloadGenerator {
    /// What one replica has done so far, and what is going on there.
    struct Replica: Sendable {
        var sequence: UInt64 = 0
        var lastMoment: Int64 = 0
        var knownPlaylists = 0
        var knownPlaces = 0
        var knownMaps = 0
        /// The fish that is being measured here.
        var assessment: Assessment?
        var reports = Recent<Report>()
        var lastZone: Int?
        /// Whether the map shows a zone, and the point whose details are shown.
        var hasOpenZone = false
        var openPoint: Int?
        var pinnedPoints = Recent<(zone: Int, point: Int)>()
        var notes = Recent<(subject: Subject, zone: Int, point: Int)>()
        var rules = Recent<Subject>()
        var play: Play?
        /// Indices of playlists that were made here.
        var playlists = Recent<Int>()
        var entries = Recent<Entry>()
        /// The entry that was removed here last, and the sequence of the event that did it.
        var removal: (entry: Entry, sequence: UInt64)?
        var measures = Recent<Subject>()
        var allergies = Recent<Subject>()
        var alert: Subject?
        var healthDay = HealthDay()
        var pins = Recent<Pin>()
        /// Indices of places.
        var favourites = Recent<Int>()
    }

    /// A fish between the choice of its species and the report.
    struct Assessment: Sendable {
        let subject: Subject
        var species: Int
        var stage = AssessmentStage.reference
        var lengthUm = 0
        /// The coin, or nil if the fish is measured with a ruler.
        var coin: Int?
        var photo: Subject?
        var isMarked = false
        var isFiled = false
    }

    enum AssessmentStage: Sendable {
        case reference, photo, coinMarks, fishMarks, verdict
        case origin, production, place, report
    }

    struct Report: Sendable {
        let subject: Subject
        let species: Int
        let lengthUm: Int
    }

    /// A track that sounds or is paused.
    struct Play: Sendable {
        let subject: Subject
        let track: Int
        var positionMs: Int
        var isPaused = false
    }

    struct Playlist: Sendable {
        let subject: Subject
        var lastItem: Subject?
        /// Entries that may be moved or removed; the newest last.
        var items = Recent<Subject>()
        var isDeleted = false
    }

    /// A food in the diary.
    struct Entry: Sendable {
        let subject: Subject
        let food: Int
        let day: Int
    }

    /// What a watch has counted on one day so far.
    struct HealthDay: Sendable {
        var day = -1
        var revision = 0
        var steps = 0
    }

    struct Place: Sendable {
        let subject: Subject
        let map: Int
        var xMpx: Int
        var yMpx: Int
    }

    struct Pin: Sendable {
        let subject: Subject
        let map: Int
        let xMpx: Int
        let yMpx: Int
    }
}

/// The last things of a kind, of which the newest are used most.
struct Recent<Element: Sendable>: Sendable {
    private static var countMax: Int { 24 }

    private(set) var elements: [Element] = []

    var isEmpty: Bool { elements.isEmpty }

    mutating func append(_ element: Element) {
        // The older half goes at once, since moving the rest up each time costs more.
        if elements.count == Self.countMax { elements.removeFirst(Self.countMax / 2) }
        elements.append(element)
    }

    /// The newest in half of all draws, else any, newer ones more often; nil if there is none.
    mutating func draw(_ random: inout SeededRandom) -> Element? {
        index(&random).map { elements[$0] }
    }

    /// Draws one and forgets it.
    mutating func take(_ random: inout SeededRandom) -> Element? {
        index(&random).map { elements.remove(at: $0) }
    }

    mutating func removeAll() { elements.removeAll(keepingCapacity: true) }

    private func index(_ random: inout SeededRandom) -> Int? {
        guard !elements.isEmpty else { return nil }
        let count = elements.count
        let isNewest = random.oneIn(2)
        return count - 1 - (isNewest ? 0 : min(random.below(count), random.below(count)))
    }
}
