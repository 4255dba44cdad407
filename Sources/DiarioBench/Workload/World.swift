import DiarioCore

/// What the people of the workload have around them: drawn from the seed before the first event.
struct World: Sendable {
    struct Food: Sendable {
        let key: Int
        let name: Int
        let kind: Int
        let usualMg: Int
        let energyMkcal: Int
        let proteinMg: Int
        let carbMg: Int
        let fatMg: Int
    }

    struct Track: Sendable {
        let high: UInt64
        let low: UInt64
        let title: Int
        let artist: Int
        let album: Int
        let number: Int
        let durationMs: Int
        let year: Int
    }

    struct Zone: Sendable {
        let town: Int
        let latE6: Int
        let lonE6: Int
        let pointKey: UInt64
    }

    static let replicaCount = 50
    static let actorCount = 120
    static let foodCount = 2000
    static let trackCount = 3000
    static let zoneCount = 80
    /// Points of a zone that anybody ever looks at.
    static let pointCount = 400

    let replicas: [ReplicaID]
    let replicaTexts: [String]
    let actors: [String]
    let foods: [Food]
    let tracks: [Track]
    let zones: [Zone]

    let replicaRanks = ZipfTable(count: World.replicaCount)
    let actorRanks = ZipfTable(count: World.actorCount)
    let foodRanks = ZipfTable(count: World.foodCount)
    let trackRanks = ZipfTable(count: World.trackCount)
    let zoneRanks = ZipfTable(count: World.zoneCount)
    let pointRanks = ZipfTable(count: World.pointCount)
    let speciesRanks = ZipfTable(count: Phrases.species.count)
    let harbourRanks = ZipfTable(count: Phrases.harbours.count)

    init(_ random: inout SeededRandom) {
        var replicas: [ReplicaID] = []
        while replicas.count < Self.replicaCount {
            if let id = ReplicaID(rawValue: random.next()), !replicas.contains(id) {
                replicas.append(id)
            }
        }
        self.replicas = replicas
        replicaTexts = replicas.map(\.text)
        actors = (1...Self.actorCount).map { "user-\($0)" }
        foods = (0..<Self.foodCount).map { _ in Self.makeFood(&random) }
        tracks = (0..<Self.trackCount).map { _ in Self.makeTrack(&random) }
        zones = (0..<Self.zoneCount).map { _ in
            Zone(
                town: random.below(Phrases.towns.count),
                latE6: 36_000_000 + random.below(28_000_000),
                lonE6: random.below(36_000_000) - 18_000_000,
                pointKey: random.next()
            )
        }
    }

    private static func makeFood(_ random: inout SeededRandom) -> Food {
        let fatMg = random.below(40_000)
        let carbMg = random.below(60_000)
        let proteinMg = random.below(100_000 - fatMg - carbMg) / 3
        return Food(
            key: 8_000_000_000_000 + random.below(999_999_999_999),
            name: random.below(Phrases.foods.count),
            kind: random.below(Phrases.foodKinds.count),
            usualMg: 5000 * (2 + random.below(60)),
            energyMkcal: (9 * fatMg + 4 * carbMg + 4 * proteinMg) / 100 * 100,
            proteinMg: proteinMg / 100 * 100,
            carbMg: carbMg / 100 * 100,
            fatMg: fatMg / 100 * 100
        )
    }

    private static func makeTrack(_ random: inout SeededRandom) -> Track {
        Track(
            high: random.next(),
            low: random.next(),
            title: random.below(Phrases.titles.count),
            artist: random.below(Phrases.artists.count),
            album: random.below(Phrases.titles.count),
            number: 1 + random.below(18),
            durationMs: 90_000 + random.below(300_000),
            year: 1955 + random.below(71)
        )
    }
}
