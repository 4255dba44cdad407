import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioTestSupport
import Testing

@Suite struct SaltTests {
    struct Vectors: Codable {
        struct Case: Codable {
            var seed: String
            var sequence: String
            var group: String
            var index: Int
            /// The nodes from level 1 to the salt, which is the last.
            var path: [String]
            var personalPart: String
            var commitment: String
        }
        var comment: String
        var cases: [Case]
    }

    static let comment = """
        schema/format/rows.md, section 5. Each case: seed (16 bytes) of the sequence's group, the \
        sequence, its group and its index in it, the ten nodes on the way from the seed (not \
        included) to the salt (the last), and the commitment to a personal part under that salt.
        """

    private func makeVectors() throws -> Vectors {
        var random = SeededRandom(seed: 1)
        var hasher = EventHasher()
        let sequences: [UInt64] = [
            1, 2, 3, 4, 511, 512, 513, 1023, 1024, 1025, 1026, 2048, 2049, 1_000_000,
            UInt64.max - 1,
        ]
        let cases = sequences.map { sequence in
            let root = Salt(first: random.next(), second: random.next())
            let index = SaltSeed.index(of: sequence)
            var node = root
            var path: [String] = []
            for level in 1...SaltNode.levelMax {
                node = hasher.child(node, UInt8(index >> (SaltNode.levelMax - level) & 1))
                path.append(Hex.text(node.bytes))
            }
            let part = (0..<random.below(60) + 2).map { _ in UInt8(random.below(256)) }
            return Vectors.Case(
                seed: Hex.text(root.bytes),
                sequence: String(sequence),
                group: String(SaltSeed.group(of: sequence)),
                index: index,
                path: path,
                personalPart: Hex.text(part),
                commitment: hasher.commitment(part.span.raw, salt: node).text
            )
        }
        return Vectors(comment: Self.comment, cases: cases)
    }

    @Test func saltsMatchTheVectors() throws {
        let vectors = try VectorFile.load("salts-1.json", make: makeVectors)
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
