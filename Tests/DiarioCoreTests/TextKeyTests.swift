import DiarioCore
import DiarioTestSupport
import Testing

/// Invariants are those of schema/format/text-key.md.
@Suite struct TextKeyTests {
    struct Vectors: Decodable {
        struct Case: Decodable {
            var name: String
            var text: String
            var same: String
            var search: String
        }
        var cases: [Case]
    }

    /// Of what texts at random are made: what the steps treat each in its own way.
    private static let parts: [Unicode.Scalar] = [
        "a", "Z", " ", "\t", "'", "\u{2019}", "\u{b4}", "\u{a0}", "\u{ad}", "\u{34f}", "\u{345}",
        "\u{301}", "\u{323}", "\u{307}", "\u{308}", "\u{e9}", "\u{df}", "\u{130}", "\u{3b1}",
        "\u{1fb4}", "\u{1fbc}", "\u{fdfa}", "\u{ac00}", "\u{d7a3}", "\u{1161}", "\u{5bc}",
        "\u{fb2c}", "\u{302f}", "\u{a8}", "\u{149}", "\u{f77}", "\u{1d160}", "\u{10ffff}",
    ]

    private static func text(_ random: inout SeededRandom, count: Int) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<count { text.append(parts[random.below(parts.count)]) }
        return String(text)
    }

    /// Strings compare equal that differ in their scalars, so bytes are compared.
    private func key(_ text: String, _ kind: TextKey.Kind) -> [UInt8] {
        Array(TextKey.of(text, kind).utf8)
    }

    @Test func keysMatchTheVectors() throws {
        let vectors: Vectors = try VectorFile.read("text-key-1.json")
        #expect(vectors.cases.count > 50)
        for example in vectors.cases {
            #expect(key(example.text, .same) == Array(example.same.utf8), "\(example.name)")
            #expect(key(example.text, .search) == Array(example.search.utf8), "\(example.name)")
        }
    }

    /// K2 and K5 for single scalars, in the blocks of which most become others.
    @Test(arguments: [0..<0x600, 0x1e00..<0x2200, 0xfb00..<0xfe00, 0x1_d100..<0x1_d200])
    func theKeyOfAScalarIsItsOwnKey(block: Range<UInt32>) {
        for value in block {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = String(scalar)
            let (same, search) = (TextKey.of(text, .same), TextKey.of(text, .search))
            guard !same.hasBytes(of: text) || !search.hasBytes(of: text) else { continue }
            #expect(key(same, .same) == Array(same.utf8), "\(value)")
            #expect(key(search, .search) == Array(search.utf8), "\(value)")
            #expect(key(same, .search) == Array(search.utf8), "\(value)")
            #expect(same.utf8.count <= 11 * text.utf8.count, "\(value)")
        }
    }

    /// K2, K4 and K5.
    @Test(arguments: UInt64(0)..<64)
    func theKeyOfAKeyIsThatKey(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            let (text, other) = (Self.text(&random, count: 12), Self.text(&random, count: 5))
            let (same, search) = (TextKey.of(text, .same), TextKey.of(text, .search))
            #expect(key(same, .same) == Array(same.utf8))
            #expect(key(search, .search) == Array(search.utf8))
            #expect(key(same, .search) == Array(search.utf8))
            #expect(same.utf8.count <= 11 * text.utf8.count)
            for kind in TextKey.Kind.allCases {
                let (first, second) = (key(text, kind), key(other, kind))
                guard !first.isEmpty, !second.isEmpty else { continue }
                #expect(key("\(text) \(other)", kind) == first + [0x20] + second)
            }
        }
    }

    /// A run of marks is sorted, however long it is, and equals keep their order.
    @Test func longRunsOfMarksAreSorted() {
        let count = 20_000
        let text = "a" + String(repeating: "\u{301}\u{323}\u{300}", count: count)
        let sorted =
            "a" + String(repeating: "\u{323}", count: count)
            + String(repeating: "\u{301}\u{300}", count: count)
        #expect(key(text, .same) == Array(sorted.utf8))
        #expect(key(text, .search) == [0x61])
    }
}
