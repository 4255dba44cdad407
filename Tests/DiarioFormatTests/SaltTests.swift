import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioTestSupport
import Testing

@Suite struct SaltTests {
    struct Vectors: Decodable {
        struct Case: Decodable {
            var seed: String
            var sequence: String
            var group: String
            var index: Int
            /// The nodes from level 1 to the salt, which is the last.
            var path: [String]
            var personalPart: String
            var commitment: String
        }
        var cases: [Case]
    }

    @Test func saltsMatchTheVectors() throws {
        let vectors: Vectors = try VectorFile.read("salts-1.json")
        var hasher = EventHasher()
        let replica = try #require(ReplicaID(rawValue: 1))
        for example in vectors.cases {
            let sequence = try #require(UInt64(example.sequence))
            #expect(String(SaltSeed.group(of: sequence)) == example.group)
            #expect(SaltSeed.index(of: sequence) == example.index)
            let seed = SaltSeed(
                replica: replica,
                group: SaltSeed.group(of: sequence),
                root: try Salt(hex: example.seed)
            )
            let salt = hasher.salt(seed, index: example.index)
            #expect(Hex.text(salt.bytes) == example.path.last)
            let part = try Hex.bytes(example.personalPart)
            #expect(hasher.commitment(part.span.raw, salt: salt).text == example.commitment)
        }
    }

    /// The path is kept from salt to salt, which must not show.
    @Test(arguments: UInt64(0)..<8) func keptPathsGiveTheSameSalts(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let replica = try #require(ReplicaID(rawValue: random.next()))
        var kept = EventHasher()
        let seeds = (0..<3).map { group in
            SaltSeed(
                replica: replica,
                group: UInt64(group),
                root: Salt(first: random.next(), second: random.next())
            )
        }
        var index = 0
        for _ in 0..<200 {
            let seed = seeds[random.oneIn(10) ? random.below(3) : 0]
            index = random.oneIn(4) ? random.below(1024) : (index + 1) % 1024
            var fresh = EventHasher()
            #expect(kept.salt(seed, index: index) == fresh.salt(seed, index: index))
        }
    }

    @Test func aNodeGivesTheSaltsBelowIt() throws {
        var hasher = EventHasher()
        let replica = try #require(ReplicaID(rawValue: 7))
        let seed = SaltSeed(replica: replica, group: 3, root: Salt(first: 1, second: 2))
        for erased in [0, 1, 2, 511, 512, 700, 1023] {
            let nodes = hasher.nodes(beside: erased, of: seed.node)
            #expect(nodes.count == 10)
            for index in stride(from: 0, to: 1024, by: 31) + [erased] {
                let covering = nodes.filter { $0.covers(index) }
                #expect(covering.count == (index == erased ? 0 : 1))
                for node in covering {
                    #expect(hasher.salt(node, index: index) == hasher.salt(seed, index: index))
                }
            }
        }
    }
}
