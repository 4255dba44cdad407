import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioTestSupport
import Testing

@Suite struct MerkleTests {
    struct Vectors: Decodable {
        struct Tree: Decodable {
            var size: Int
            var root: String
            var compactRange: [String]
        }
        var leaves: [String]
        var trees: [Tree]
    }

    private func leaves(count: Int, seed: UInt64) throws -> [Hash32] {
        var random = SeededRandom(seed: seed)
        return try (0..<count).map { _ in
            var bytes: [UInt8] = []
            for _ in 0..<4 { bytes.append(littleEndian: random.next()) }
            let hash = Hash32(bytes.span)
            return try #require(hash)
        }
    }

    /// RFC 6962, section 2.1, as it is written there.
    private func root(_ leaves: ArraySlice<Hash32>, _ hasher: inout EventHasher) -> Hash32 {
        guard leaves.count > 1, let first = leaves.indices.first else {
            return leaves.first ?? hasher.emptyRoot()
        }
        var split = 1
        while split * 2 < leaves.count { split *= 2 }
        let left = root(leaves[first..<first + split], &hasher)
        let right = root(leaves[(first + split)...], &hasher)
        return hasher.node(left, right)
    }

    @Test func treesMatchTheVectors() throws {
        let vectors: Vectors = try VectorFile.read("merkle-1.json")
        var hasher = EventHasher()
        let leaves = try vectors.leaves.map { try Hash32(hex: $0) }
        #expect(vectors.trees.map(\.size) == Array(0...20))
        for tree in vectors.trees {
            var range = CompactRange()
            for leaf in leaves.prefix(tree.size) { range.append(leaf, &hasher) }
            #expect(range.root(&hasher).text == tree.root)
            #expect(range.nodes.map(\.text) == tree.compactRange)
        }
    }

    @Test func aCompactRangeGivesTheRootOfTheWholeTree() throws {
        let leaves = try leaves(count: 200, seed: 2)
        var hasher = EventHasher()
        var range = CompactRange()
        for size in 0...leaves.count {
            if size > 0 { range.append(leaves[size - 1], &hasher) }
            #expect(range.size == UInt64(size))
            #expect(range.root(&hasher) == root(leaves[..<size], &hasher))
        }
    }

    @Test func aCompactRangeGoesOnFromItsNodes() throws {
        let leaves = try leaves(count: 70, seed: 3)
        var hasher = EventHasher()
        var whole = CompactRange()
        for leaf in leaves { whole.append(leaf, &hasher) }
        for cut in 0...leaves.count {
            var first = CompactRange()
            for leaf in leaves[..<cut] { first.append(leaf, &hasher) }
            var second = try CompactRange(size: first.size, nodes: first.nodes)
            for leaf in leaves[cut...] { second.append(leaf, &hasher) }
            #expect(second == whole)
        }
    }

    @Test func nodesThatDoNotFitTheSizeAreRefused() {
        for size in UInt64(0)...9 {
            for count in 0...5 where count != size.nonzeroBitCount {
                #expect(throws: FormatError.malformed(.compactRange, at: 0)) {
                    try CompactRange(size: size, nodes: try leaves(count: count, seed: 4))
                }
            }
        }
    }

    @Test func theRootOfNoLeavesIsTheHashOfNothing() {
        var hasher = EventHasher()
        #expect(
            CompactRange().root(&hasher).text
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        )
    }
}
