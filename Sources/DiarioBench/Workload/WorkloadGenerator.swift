import DiarioCore

/// Makes the lines of the standard workload one after the other.
///
/// Lines are in the order in which an authority would have taken the events: each of fifty
/// replicas hands over a stretch of its own events now and then. What an event mentions was made
/// earlier in the file: by the same replica, or mostly before that one synced last.
///
/// What happens, and how often, follows from how people use the five apps. One thing is made, and
/// then it is used, corrected, moved, finished or removed: a track that starts also ends, a fish is
/// measured in a dozen steps, a pin is dragged about, the steps of a day are counted again and
/// again. So there are 0.3 new things for each event. Nine of ten such steps are about something
/// that the same replica made a little earlier, the others about something older or of somebody
/// else.
struct WorkloadGenerator {
    let options: WorkloadOptions
    let world: World
    let year = SimulatedYear()
    var random: SeededRandom
    private(set) var emittedCount = 0
    private var line = ""

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

    /// The next line, with its line feed.
    mutating func next() -> String {
        if stretchRest == 0 { beginStretch() }
        stretchRest -= 1
        let jitter = Int64(random.below(Int(max(1, momentStep))))
        replicas[replica].lastMoment += momentStep / 2 + jitter
        (day, millisecond) = year.time(at: replicas[replica].lastMoment)
        replicas[replica].sequence += 1
        line.removeAll(keepingCapacity: true)
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
        return line
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

    /// Ends the payload; says who did it, when, and as which event of which replica.
    private mutating func putEnvelope() {
        // A device has one owner, and now and then it is lent.
        let actor = random.oneIn(16) ? world.actorRanks.draw(&random) : replica
        let (hour, minute) = (millisecond / 3_600_000, millisecond / 60_000 % 60)
        let second = "\(padded(millisecond / 1000 % 60, 2)).\(padded(millisecond % 1000, 3))"
        put(#"},"actor":"\#(world.actors[actor])","at":"\#(date)T"#)
        put("\(padded(hour, 2)):\(padded(minute, 2)):\(second)Z")
        put("\",\"origin\":\"\(origin(replicas[replica].sequence))\"}\n")
    }

    // MARK: Parts of lines

    mutating func put(_ text: String) { line += text }

    /// Begins the line of an event; fields of its payload follow.
    mutating func begin(_ type: String) { put(#"{"type":"\#(type)","payload":{"#) }

    /// The same with the first field, which names a thing that was made earlier.
    mutating func begin(_ type: String, _ field: String, _ subject: Subject) {
        begin(type)
        put(#""\#(field)":"\#(subject.id)""#)
    }

    var date: String { year.dates[day] }

    /// An event of the replica at hand.
    func origin(_ sequence: UInt64) -> String { "\(world.replicaTexts[replica])-\(sequence)" }

    /// Makes a subject for the event at hand, and writes its id, with a comma, if it is given.
    mutating func putNewID(_ field: String) -> Subject {
        guard options.identifiers == .given else {
            return Subject(id: origin(replicas[replica].sequence))
        }
        let (high, low) = (random.next(), random.next())
        let subject = Subject(id: ulid(high, low))
        put(#""\#(field)":"\#(subject.id)","#)
        return subject
    }

    /// True in `percent` of 100 draws.
    mutating func happens(_ percent: Int) -> Bool { random.below(100) < percent }

    /// The same for what a line could say more than it has to.
    mutating func adds(_ percent: Int) -> Bool { random.below(10_000) < 100 * percent }

    /// Some phrases.
    mutating func phrases(max most: Int) -> String {
        // The smaller of two draws, since most notes are short.
        let count = 1 + min(random.below(most), random.below(most))
        return (0..<count).map { _ in any(Phrases.notes) }.joined(separator: ", ")
    }

    /// Writes a field with some phrases, after a comma.
    mutating func putNote(_ field: String, phraseCountMax: Int = 4) {
        put(#","\#(field)":"\#(phrases(max: phraseCountMax))""#)
    }

    mutating func any(_ texts: [String]) -> String { texts[random.below(texts.count)] }

    /// An index below `count`, small ones more often: what is older is better known.
    mutating func favourite(of count: Int) -> Int { random.belowByZipf(count) }
}
