import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioTestSupport
import Testing

/// schema/vectors/proofs-1.json, which a second program recomputes as well.
@Suite struct ProofVectorTests {
    struct Vectors: Codable {
        var comment: String
        var roots: [String]
        var inclusion: [Inclusion]
        var consistency: [Consistency]
        var tileNames: [TileName]
        var noTileNames: [String]
        var tiles: [Tiles]
        var texts: [Text]
        var noTexts: [Text]
    }

    struct Inclusion: Codable {
        var index: Int
        var size: Int
        var path: [String]
    }

    struct Consistency: Codable {
        var from: Int
        var size: Int
        var path: [String]
    }

    struct TileName: Codable {
        var level: Int
        var index: String
        var width: Int
        var name: String
    }

    struct Tiles: Codable {
        var size: Int
        var levels: [String]
        var mark: String
    }

    struct Text: Codable {
        var shows: String
        var holds: Bool?
        var text: String
    }

    static let comment = """
        schema/format/proofs.md. The leaf i of all trees is the SHA-256 of i as u64. roots: the \
        root of the first n leaves, for n from 0 to 20. inclusion and consistency: paths \
        (sections 3 and 4). tileNames, noTileNames: names of tiles and what is none (section 6). \
        tiles: for each size the SHA-256 of the files of level 1, 2 ... and the bytes of the mark \
        (section 7). texts: proofs that read, and whether they hold (section 5); noTexts: what \
        does not read. Bytes are hexadecimal, 64-bit numbers decimal strings.
        """

    private static let sizes = [1, 2, 3, 7, 8, 20]
    private static let tileSizes = [0, 1, 255, 256, 257, 600, 66_000]

    /// What rows-1.json says of one row.
    private struct Rows: Codable {
        struct Case: Codable {
            var shows: String
            var row: String?
            var leaf: String?
            var acceptedAt: String
        }
        var cases: [Case]
    }

    private let plain = PlainProofs(count: 20)

    private func makeVectors() throws -> Vectors {
        let pairs = Self.sizes.flatMap { size in (0..<size).map { ($0, size) } }
        let names: [(Int, UInt64, Int)] = [
            (0, 0, 256), (0, 0, 1), (0, 5, 112), (1, 999, 256), (1, 1000, 17), (0, 1_234_067, 256),
            (2, 1_000_000, 255), (0, 1 << 54 - 2, 256), (0, 1 << 54 - 1, 255), (7, 0, 63),
        ]
        return Vectors(
            comment: Self.comment,
            roots: (0...20).map { plain.root(0..<$0).text },
            inclusion: pairs.map {
                Inclusion(
                    index: $0.0,
                    size: $0.1,
                    path: plain.path($0.0, 0..<$0.1).map(\.text)
                )
            },
            consistency: (pairs + Self.sizes.map { ($0, $0) }).map {
                Consistency(
                    from: $0.0,
                    size: $0.1,
                    path: plain.proof(from: $0.0, size: $0.1).map(\.text)
                )
            },
            tileNames: try names.map {
                let tile = try #require(Tile(level: $0.0, index: $0.1, width: $0.2))
                return TileName(level: $0.0, index: "\($0.1)", width: $0.2, name: tile.path)
            },
            noTileNames: [
                "tile/0/0", "tile/00/000", "tile/8/000", "tile/0/x000/001", "tile/0/001/002",
                "tile/0/x001", "tile/0/000.p/0", "tile/0/000.p/256", "tile/0/000.p/01",
                "tile/7/000", "tile/0/x018/x014/x398/x509/x481/984", "tile/0/000/", "0/000",
            ],
            tiles: try Self.tileSizes.map(makeTiles),
            texts: try makeTexts(),
            noTexts: try makeNoTexts()
        )
    }

    private func makeTiles(_ size: Int) throws -> Tiles {
        var hasher = EventHasher()
        var builder = TileBuilder(CompactRange())
        for index in 0..<size { builder.append(PlainProofs.leaf(UInt64(index)), &hasher) }
        return Tiles(
            size: size,
            levels: builder.levels.map { SHA256.hash($0.span).text },
            mark: Hex.text(Self.mark(try builder.range))
        )
    }

    /// As the document says it; the code that writes it is in another module.
    private static func mark(_ range: CompactRange) -> [UInt8] {
        var bytes = Array("dtil".utf8)
        bytes.append(littleEndian: UInt32(1))
        bytes.append(littleEndian: range.size)
        for node in range.nodes { bytes.append(node) }
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        return bytes
    }

    // MARK: Texts

    private func text(_ claim: ProofText.Claim, size: Int) throws -> ProofText {
        ProofText(
            space: try #require(SpaceID(rawValue: 0x7f3a_09c4_5512_0b6e)),
            lineage: "00112233445566778899aabbccddeeff",
            claim: claim,
            root: plain.root(0..<size)
        )
    }

    private func inclusion(_ index: Int, _ size: Int) throws -> ProofText {
        let path = plain.path(index, 0..<size)
        let proof = InclusionProof(index: UInt64(index), size: UInt64(size), path: path)
        return try text(.inclusion(proof, leaf: plain.leaves[index], event: nil), size: size)
    }

    private func consistency(_ from: Int, _ size: Int) throws -> ProofText {
        let path = plain.proof(from: from, size: size)
        let proof = ConsistencyProof(fromSize: UInt64(from), size: UInt64(size), path: path)
        return try text(.consistency(proof, fromRoot: plain.root(0..<from)), size: size)
    }

    /// A log of one event, so that its leaf is the root.
    private func alone(_ row: Rows.Case, acceptedAt: Int64? = nil) throws -> ProofText {
        let leaf = try Hash32(hex: try #require(row.leaf))
        let time = try #require(Int64(row.acceptedAt))
        let event = ProofEvent(
            row: try ProofRow(try Hex.bytes(try #require(row.row))),
            acceptedAt: acceptedAt ?? time
        )
        let proof = InclusionProof(index: 0, size: 1, path: [])
        return ProofText(
            space: try #require(SpaceID(rawValue: 1)),
            lineage: "00112233445566778899aabbccddeeff",
            claim: .inclusion(proof, leaf: leaf, event: event),
            root: leaf
        )
    }

    private func line(_ proof: ProofText, isIndented: Bool = false) -> String {
        var bytes: [UInt8] = []
        proof.append(to: &bytes, isIndented: isIndented)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func makeTexts() throws -> [Text] {
        let rows: Rows = try VectorFile.read("rows-1.json")
        let first = try #require(rows.cases.first { $0.row != nil })
        var texts = [
            Text(shows: "inclusion", holds: true, text: line(try inclusion(4, 7))),
            Text(
                shows: "inclusion, for people",
                holds: true,
                text: line(try inclusion(4, 7), isIndented: true)
            ),
            Text(shows: "inclusion in a log of one", holds: true, text: line(try inclusion(0, 1))),
            Text(shows: "consistency", holds: true, text: line(try consistency(3, 7))),
            Text(shows: "consistency from nothing", holds: true, text: line(try consistency(0, 7))),
            Text(
                shows: "consistency with itself",
                holds: true,
                text: line(try consistency(7, 7), isIndented: true)
            ),
            Text(shows: "consistency of nothing", holds: true, text: line(try consistency(0, 0))),
            Text(
                shows: "an event that was accepted at another time",
                holds: false,
                text: line(try alone(first, acceptedAt: 1))
            ),
        ]
        for row in rows.cases.prefix(12) where row.row != nil {
            texts.append(
                Text(shows: "with the event: \(row.shows)", holds: true, text: line(try alone(row)))
            )
        }
        let good = line(try inclusion(4, 7))
        let (root, leaf) = (plain.root(0..<7).text, plain.leaves[4].text)
        texts += [
            ("a wrong root", "\"root\":\"\(root)\"", "\"root\":\"\(leaf)\""),
            ("a wrong leaf", "\"leaf\":\"\(leaf)\"", "\"leaf\":\"\(root)\""),
            ("a position beyond the size", "\"position\":5", "\"position\":8"),
            ("another position", "\"position\":5", "\"position\":6"),
            ("another size", "\"size\":7", "\"size\":5"),
            ("a hash too many", "\"path\":[", "\"path\":[\"\(leaf)\","),
        ].map { Text(shows: $0.0, holds: false, text: good.replacing($0.1, with: $0.2)) }
        let growth = line(try consistency(3, 7))
        texts.append(
            Text(
                shows: "a beginning that is larger",
                holds: false,
                text: growth.replacing("\"fromSize\":3", with: "\"fromSize\":9")
            )
        )
        return texts
    }

    private func makeNoTexts() throws -> [Text] {
        let good = line(try inclusion(4, 7))
        let root = plain.root(0..<7).text
        let changes = [
            ("another kind", "\"proof\":\"inclusion\"", "\"proof\":\"exclusion\""),
            ("a newer version", "\"version\":1", "\"version\":2"),
            ("position 0", "\"position\":5", "\"position\":0"),
            ("a position in a string", "\"position\":5", "\"position\":\"5\""),
            ("a position with a fraction", "\"position\":5", "\"position\":5.5"),
            ("a size of 2^62", "\"size\":7", "\"size\":4611686018427387904"),
            ("a size of 2^64", "\"size\":7", "\"size\":18446744073709551616"),
            ("upper case", root, root.uppercased()),
            ("a hash that is too short", root, String(root.dropLast(2))),
            ("no root", "\"root\":\"\(root)\",", ""),
            ("a member of the other kind", "\"size\":7", "\"size\":7,\"fromSize\":3"),
            ("a member twice", "\"size\":7", "\"size\":7,\"size\":7"),
            ("a space that is no id", "\"space\":\"", "\"space\":\"0"),
            ("a lineage that is too short", "00112233", "0011"),
            (
                "a row that is none", "\"leaf\"",
                "\"event\":{\"row\":\"00\",\"acceptedAt\":1},\"leaf\""
            ),
            ("an event without a time", "\"leaf\"", "\"event\":{\"row\":\"00\"},\"leaf\""),
            ("more behind it", "}\n", "}{}\n"),
        ]
        return changes.map { Text(shows: $0.0, holds: nil, text: good.replacing($0.1, with: $0.2)) }
            .filter { $0.text != good } + [
                Text(shows: "nothing", holds: nil, text: ""),
                Text(shows: "an array", holds: nil, text: "[]"),
            ]
    }

    // MARK: Tests

    private func load() throws -> Vectors {
        try VectorFile.load("proofs-1.json", make: makeVectors)
    }

    @Test func pathsMatchTheVectors() throws {
        let vectors = try load()
        var hasher = EventHasher()
        let roots = try vectors.roots.map { try Hash32(hex: $0) }
        #expect(roots == (0...20).map { plain.root(0..<$0) })
        for one in vectors.inclusion {
            let made = InclusionProof.make(
                index: UInt64(one.index),
                size: UInt64(one.size),
                &hasher
            ) { plain.node($0) }
            #expect(made.path.map(\.text) == one.path)
            try made.check(leaf: plain.leaves[one.index], root: roots[one.size], &hasher)
        }
        for one in vectors.consistency {
            let made = ConsistencyProof.make(
                from: UInt64(one.from),
                to: UInt64(one.size),
                &hasher
            ) { plain.node($0) }
            #expect(made.path.map(\.text) == one.path)
            try made.check(fromRoot: roots[one.from], root: roots[one.size], &hasher)
        }
        let count = Self.sizes.reduce(0, +)
        #expect(vectors.inclusion.count == count)
        #expect(vectors.consistency.count == count + Self.sizes.count)
    }

    @Test func tilesMatchTheVectors() throws {
        let vectors = try load()
        for one in vectors.tileNames {
            let index = try #require(UInt64(one.index))
            let tile = try #require(Tile(level: one.level, index: index, width: one.width))
            #expect(tile.path == one.name)
            #expect(Tile(path: one.name) == tile)
        }
        for name in vectors.noTileNames { #expect(Tile(path: name) == nil) }
        #expect(vectors.tiles.map(\.size) == Self.tileSizes)
        for one in vectors.tiles {
            let made = try makeTiles(one.size)
            #expect(made.levels == one.levels)
            #expect(made.mark == one.mark)
        }
    }

    @Test func textsMatchTheVectors() throws {
        let vectors = try load()
        for one in vectors.texts {
            let proof = try ProofText(Array(one.text.utf8))
            let holds = (try? proof.check()) != nil
            #expect(holds == one.holds, "\(one.shows)")
            // Written again it is the same, but for the one that stands on many lines.
            #expect([false, true].contains { line(proof, isIndented: $0) == one.text })
        }
        #expect(vectors.texts.count > 20)
        for one in vectors.noTexts {
            #expect(throws: ProofTextError.self, "\(one.shows)") {
                try ProofText(Array(one.text.utf8))
            }
        }
        #expect(vectors.noTexts.count > 15)
    }

    @Test func aTextThatIsTooLongIsRefusedUnread() {
        let text = [UInt8](repeating: UInt8(ascii: " "), count: ProofText.sizeMax + 1)
        #expect(throws: ProofTextError.self) { try ProofText(text) }
    }

    /// Whatever a byte is changed to, the text does not read, does not hold, or speaks of the same.
    @Test(arguments: UInt64(0)..<4) func changedTextsNeverHoldForSomethingElse(seed: UInt64) throws
    {
        var random = SeededRandom(seed: seed)
        let proof = try inclusion(4, 7)
        let good = Array(line(proof).utf8)
        for _ in 0..<2000 {
            var bytes = good
            bytes[random.below(bytes.count)] = UInt8(random.below(256))
            guard let read = try? ProofText(bytes), (try? read.check()) != nil else { continue }
            #expect(read.claim == proof.claim && read.root == proof.root)
        }
    }
}
