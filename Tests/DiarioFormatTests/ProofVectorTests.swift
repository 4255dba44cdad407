import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioTestSupport
import Testing

/// schema/vectors/proofs-1.json, which a second program recomputes as well.
@Suite struct ProofVectorTests {
    struct Vectors: Decodable {
        var roots: [String]
        var inclusion: [Inclusion]
        var consistency: [Consistency]
        var tileNames: [TileName]
        var noTileNames: [String]
        var tiles: [Tiles]
        var texts: [Text]
        var noTexts: [Text]
    }

    struct Inclusion: Decodable {
        var index: Int
        var size: Int
        var path: [String]
    }

    struct Consistency: Decodable {
        var from: Int
        var size: Int
        var path: [String]
    }

    struct TileName: Decodable {
        var level: Int
        var index: String
        var width: Int
        var name: String
    }

    struct Tiles: Decodable {
        var size: Int
        var levels: [String]
        var mark: String
    }

    struct Text: Decodable {
        var shows: String
        var holds: Bool?
        var text: String
    }

    private static let sizes = [1, 2, 3, 7, 8, 20]
    private static let tileSizes = [0, 1, 255, 256, 257, 600, 66_000]

    private let plain = PlainProofs(count: 20)

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

    private func inclusion(_ index: Int, _ size: Int) throws -> ProofText {
        let path = plain.path(index, 0..<size)
        let proof = InclusionProof(index: UInt64(index), size: UInt64(size), path: path)
        return ProofText(
            space: try #require(SpaceID(rawValue: 0x7f3a_09c4_5512_0b6e)),
            lineage: "00112233445566778899aabbccddeeff",
            claim: .inclusion(proof, leaf: plain.leaves[index], event: nil),
            root: plain.root(0..<size)
        )
    }

    private func line(_ proof: ProofText, isIndented: Bool = false) -> String {
        var bytes: [UInt8] = []
        proof.append(to: &bytes, isIndented: isIndented)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func load() throws -> Vectors { try VectorFile.read("proofs-1.json") }

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
