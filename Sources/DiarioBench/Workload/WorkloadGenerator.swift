import DiarioCore

/// A thing that an event made, and that later ones may mention.
struct Subject: Sendable {
    /// A random id of 128 bits, or the replica's index and the sequence of the event.
    let high: UInt64
    let low: UInt64
    /// False if the thing is named by its event.
    let isGiven: Bool
}

/// Makes the lines of the standard workload one after the other.
///
/// Lines stand in the order in which an authority would have taken the events: each of fifty
/// replicas hands over a stretch of its own events now and then. What an event mentions was made
/// earlier in the file: by the same replica, or mostly before that one synced last.
///
/// What happens in the mixes `main` and `second`, and how often, follows from how people use the
/// five apps. One thing is made, and then it is used, corrected, moved, finished or removed: a
/// track that starts also ends, a fish is measured in a dozen steps, a pin is dragged about, the
/// steps of a day are counted again and again. So there are 0.3 new things for each event. Nine of
/// ten such steps are about something that the same replica made a little earlier, the others
/// about something older or of somebody else. The mix `making` is the first version, in which
/// nearly every event made something (0.79 for each event), and nothing was done with it.
struct WorkloadGenerator {
    let options: WorkloadOptions
    let world: World
    let year = SimulatedYear()
    var random: SeededRandom
    var line = LineBuffer()
    private(set) var emittedCount = 0

    var replicas = [Replica](repeating: Replica(), count: World.replicaCount)
    /// The replica whose events are handed over, and what is left of this stretch.
    private(set) var replica = 0
    private var stretchRest = 0
    private var momentStep: Int64 = 0

    // The event at hand.
    var day = 0
    var millisecond = 0

    // What there is by now, in the order of its making.
    var playlists: [Playlist] = []
    var maps: [Subject] = []
    var places: [Place] = []
    /// Meals of all times, for whoever corrects what is old or not their own.
    var oldEntries: [Entry] = []
    var isTrackKnown: [Bool]
    var isZoneKnown: [Bool]

    private let packRanks: ZipfTable

    init(_ options: WorkloadOptions) {
        self.options = options
        random = SeededRandom(seed: options.seed)
        world = World(&random)
        isTrackKnown = [Bool](repeating: false, count: world.tracks.count)
        isZoneKnown = [Bool](repeating: false, count: world.zones.count)
        packRanks = ZipfTable(weights: options.shares.map(Double.init))
    }

    var isFinished: Bool { emittedCount == options.eventCount }

    /// Appends the next line to `line`, with its line feed.
    mutating func next() {
        if stretchRest == 0 { beginStretch() }
        stretchRest -= 1
        let jitter = Int64(random.below(Int(max(1, momentStep))))
        replicas[replica].lastMoment += momentStep / 2 + jitter
        (day, millisecond) = year.time(at: replicas[replica].lastMoment)
        replicas[replica].sequence += 1
        line.put("{\"type\":\"")
        switch packRanks.draw(&random) {
        case 0: putMeals()
        case 1: putMusic()
        case 2: putFish()
        case 3: putMaps()
        default: putZones()
        }
        putEnvelope()
        emittedCount += 1
        if stretchRest == 0 || isFinished { endStretch() }
    }

    /// A replica hands over what it recorded since it was last online.
    private mutating func beginStretch() {
        replica = world.replicaRanks.draw(&random)
        stretchRest =
            switch random.below(20) {
            case 0..<14: 1 + random.below(8)
            case 14..<19: 8 + random.below(56)
            default: 64 + random.below(448)
            }
        let rest = options.eventCount - emittedCount
        stretchRest = min(stretchRest, rest)
        let handedOver = Int64(emittedCount + stretchRest)
        // Divided first, because the product does not fit for large counts.
        let now = SimulatedYear.unitCount / Int64(options.eventCount) * handedOver
        // An event every ten minutes at most, unless there was less time.
        let tenMinutes = SimulatedYear.unitsPerDay / 144
        let start = max(replicas[replica].lastMoment, now - Int64(stretchRest) * tenMinutes)
        replicas[replica].lastMoment = start
        momentStep = max(0, now - start) / Int64(stretchRest)
    }

    /// The replica has synced, and knows what all others handed over before.
    private mutating func endStretch() {
        replicas[replica].knownPlaylists = playlists.count
        replicas[replica].knownPlaces = places.count
        replicas[replica].knownMaps = maps.count
    }

    /// Ends the payload and tells who, when, and as which event of which replica.
    private mutating func putEnvelope() {
        line.put("},\"actor\":\"")
        // A device has one owner, and now and then it is lent.
        let actor = random.oneIn(16) ? world.actorRanks.draw(&random) : replica
        line.put(world.actors, actor)
        line.put("\",\"at\":\"")
        putDate()
        line.put("T")
        line.put(padded: millisecond / 3_600_000, count: 2)
        line.put(":")
        line.put(padded: millisecond / 60_000 % 60, count: 2)
        line.put(":")
        line.put(padded: millisecond / 1000 % 60, count: 2)
        line.put(".")
        line.put(padded: millisecond % 1000, count: 3)
        if options.isForRecording {
            line.put("Z\"}\n")
        } else {
            line.put("Z\",\"origin\":\"")
            putOrigin(replica: replica, sequence: replicas[replica].sequence)
            line.put("\"}\n")
        }
    }

    // MARK: Parts of payloads

    mutating func putDate() { line.put(year.dates, day) }

    mutating func putOrigin(replica: Int, sequence: UInt64) {
        line.put(world.replicaTexts, replica)
        line.put("-")
        line.put(number: Int(sequence))
    }

    /// How the apps write the ids that they give.
    enum IDText {
        case ulid, uuid
    }

    /// Makes a subject for the event at hand, and writes its id if it is given.
    ///
    /// `field` is the key with its colon and the opening quote; a comma follows the value.
    mutating func putNewID(
        _ field: StaticString,
        _ text: IDText,
        isMentioned: Bool = false
    ) -> Subject {
        // Where things are used after they were made, a later line mentions each.
        let needsText = options.isForRecording && (isMentioned || options.goesOn)
        let isGiven = options.identifiers == .given || needsText
        guard isGiven else {
            return Subject(
                high: UInt64(replica),
                low: replicas[replica].sequence,
                isGiven: false
            )
        }
        let subject = Subject(high: random.next(), low: random.next(), isGiven: true)
        line.put(field)
        putID(subject, text)
        line.put("\",")
        return subject
    }

    mutating func putID(_ subject: Subject, _ text: IDText) {
        guard subject.isGiven else {
            return putOrigin(replica: Int(subject.high), sequence: subject.low)
        }
        switch text {
        case .ulid: line.put(ulid: subject.high, subject.low)
        case .uuid: line.put(uuid: subject.high, subject.low)
        }
    }

    /// True in `percent` of 100 draws.
    mutating func happens(_ percent: Int) -> Bool { random.below(100) < percent }

    /// True in `percent` of 100 draws if lines are to say much, else less often.
    mutating func adds(_ percent: Int) -> Bool {
        random.below(10_000) < percent * options.detailPercent
    }

    /// Writes a field with some phrases, without a comma.
    mutating func putNote(_ field: StaticString, phraseCountMax: Int? = nil) {
        line.put(field)
        // The smaller of two draws, since most notes are short.
        let most = phraseCountMax ?? options.phraseCountMax
        let count = 1 + min(random.below(most), random.below(most))
        for index in 0..<count {
            if index > 0 { line.put(", ") }
            line.put(Phrases.notes, random.below(Phrases.notes.count))
        }
        line.put("\"")
    }

    /// An index below `count`, small ones more often: what is older is better known.
    mutating func favourite(of count: Int) -> Int {
        if options.goesOn { return random.belowByZipf(count) }
        let draw = random.unit()
        return Int(draw * draw * draw * Double(count))
    }
}
