import DiarioCore
import DiarioCrypto
import DiarioFormat
import Testing

/// schema/format/proofs.md, sections 3 and 4.
@Suite struct ProofTests {
    private static let sizeMax = 130
    private let plain = PlainProofs(count: sizeMax)

    private func root(_ size: Int) -> Hash32 { plain.root(0..<size) }

    private func inclusion(_ index: Int, _ size: Int) -> InclusionProof {
        var hasher = EventHasher()
        return .make(index: UInt64(index), size: UInt64(size), &hasher) { plain.node($0) }
    }

    private func consistency(_ from: Int, _ size: Int) -> ConsistencyProof {
        var hasher = EventHasher()
        return .make(from: UInt64(from), to: UInt64(size), &hasher) { plain.node($0) }
    }

    private func holds(_ proof: InclusionProof, _ leaf: Hash32, _ root: Hash32) -> Bool {
        var hasher = EventHasher()
        do throws(ProofFault) {
            try proof.check(leaf: leaf, root: root, &hasher)
            return true
        } catch {
            return false
        }
    }

    private func holds(_ proof: ConsistencyProof, _ fromRoot: Hash32, _ root: Hash32) -> Bool {
        var hasher = EventHasher()
        do throws(ProofFault) {
            try proof.check(fromRoot: fromRoot, root: root, &hasher)
            return true
        } catch {
            return false
        }
    }

    @Test func inclusionIsAsRFC6962SaysForAllSmallTrees() {
        for size in 1...Self.sizeMax {
            for index in 0..<size {
                let proof = inclusion(index, size)
                #expect(proof.path == plain.path(index, 0..<size))
                #expect(holds(proof, plain.leaves[index], root(size)))
            }
        }
    }

    @Test func consistencyIsAsRFC6962SaysForAllSmallTrees() {
        for size in 0...Self.sizeMax {
            for from in 0...size {
                let proof = consistency(from, size)
                #expect(proof.path == plain.proof(from: from, size: size))
                #expect(holds(proof, root(from), root(size)))
            }
        }
    }

    @Test func theRootAtEverySizeIsMadeOfNodes() {
        var hasher = EventHasher()
        var range = CompactRange()
        for size in 0...Self.sizeMax {
            if size > 0 { range.append(plain.leaves[size - 1], &hasher) }
            let made = TreeRoot.make(size: UInt64(size), &hasher) { plain.node($0) }
            #expect(made == root(size))
            #expect(range.places.map(\.node) == TreeRoot.nodes(size: UInt64(size)))
            #expect(range.places.allSatisfy { plain.node($0.node) == $0.hash })
        }
    }

    /// So that whoever makes a proof can get all nodes at once before.
    @Test func proofsAskForTheNodesThatTheyName() {
        var hasher = EventHasher()
        for size in UInt64(1)...40 {
            for index in 0..<size {
                var asked: Set<TreeNode> = []
                _ = InclusionProof.make(index: index, size: size, &hasher) { node in
                    asked.insert(node)
                    return plain.node(node)
                }
                #expect(asked == Set(InclusionProof.nodes(index: index, size: size)))
                asked = []
                _ = ConsistencyProof.make(from: index, to: size, &hasher) { node in
                    asked.insert(node)
                    return plain.node(node)
                }
                #expect(asked == Set(ConsistencyProof.nodes(from: index, to: size)))
            }
        }
    }

    /// P1, and no change of a hash, of the index, the leaf or the root goes unnoticed.
    @Test func changedProofsOfInclusionAreRefused() {
        var random = SeededRandom(seed: 1)
        for size in 1...33 {
            for index in 0..<size {
                let proof = inclusion(index, size)
                let (leaf, root) = (plain.leaves[index], root(size))
                for path in ChangedPaths.all(proof.path, using: &random) {
                    let changed = InclusionProof(
                        index: proof.index,
                        size: proof.size,
                        path: path
                    )
                    #expect(!holds(changed, leaf, root))
                }
                #expect(!holds(proof, leaf.flipping(bit: random.below(256)), root))
                #expect(!holds(proof, leaf, root.flipping(bit: random.below(256))))
                for other in 0...size where other != index {
                    let moved = InclusionProof(
                        index: UInt64(other),
                        size: proof.size,
                        path: proof.path
                    )
                    #expect(!holds(moved, leaf, root))
                }
            }
        }
    }

    /// A root belongs to a size: with the root of another size, no proof holds.
    @Test func proofsOfInclusionInTreesOfAnotherSizeAreRefused() {
        for size in 1...33 {
            for index in 0..<size {
                let proof = inclusion(index, size)
                for other in 0...40 where other != size {
                    let resized = InclusionProof(
                        index: proof.index,
                        size: UInt64(other),
                        path: proof.path
                    )
                    #expect(!holds(resized, plain.leaves[index], root(other)))
                    #expect(!holds(proof, plain.leaves[index], root(other)))
                }
            }
        }
    }

    /// P2, and no change of a hash or a root goes unnoticed.
    @Test func changedProofsOfConsistencyAreRefused() {
        var random = SeededRandom(seed: 2)
        for size in 0...33 {
            for from in 0...size {
                let proof = consistency(from, size)
                let (fromRoot, root) = (root(from), root(size))
                for path in ChangedPaths.all(proof.path, using: &random) {
                    let changed = ConsistencyProof(
                        fromSize: proof.fromSize,
                        size: proof.size,
                        path: path
                    )
                    #expect(!holds(changed, fromRoot, root))
                }
                #expect(!holds(proof, fromRoot.flipping(bit: random.below(256)), root))
                // Every log begins with an empty one, so there the other root says nothing.
                guard from > 0 || size == 0 else { continue }
                #expect(!holds(proof, fromRoot, root.flipping(bit: random.below(256))))
            }
        }
    }

    @Test func proofsOfConsistencyOfOtherSizesAreRefused() {
        for size in 1...24 {
            for from in 1..<size {
                let proof = consistency(from, size)
                for other in 0...30 {
                    let sizes = [(other, size), (from, other)]
                    for (from, to) in sizes where (from, to) != (Int(proof.fromSize), size) {
                        let resized = ConsistencyProof(
                            fromSize: UInt64(from),
                            size: UInt64(to),
                            path: proof.path
                        )
                        // What begins with nothing, or with itself, needs no path.
                        #expect(!holds(resized, root(from), root(to)))
                    }
                }
            }
        }
    }

    @Test func hugeSizesAreAnsweredAtOnce() throws {
        var hasher = EventHasher()
        let sizes: [UInt64] = [
            1 << 61, TreeNode.sizeMax - 1, TreeNode.sizeMax, 1 << 62, 1 << 62 + 1, 1 << 63, .max,
        ]
        for size in sizes {
            for index in [0, 1, size / 2, size - 2, size - 1, size, .max] {
                for count in [0, 1, 61, 62, 63, 64, 1000] {
                    let path = [Hash32](repeating: .zero, count: count)
                    let inclusion = InclusionProof(index: index, size: size, path: path)
                    #expect(!holds(inclusion, .zero, .zero))
                    let consistency = ConsistencyProof(fromSize: index, size: size, path: path)
                    let isSame = index == size && size <= TreeNode.sizeMax && count == 0
                    #expect(
                        holds(consistency, hasher.emptyRoot(), hasher.emptyRoot())
                            == (isSame || index == 0 && size <= TreeNode.sizeMax && count == 0)
                    )
                }
            }
        }
        // The longest that there are; every node of these trees counts as zero.
        let longest = InclusionProof.make(index: 0, size: TreeNode.sizeMax, &hasher) { _ in .zero }
        #expect(longest.path.count == 62)
        let wide = ConsistencyProof.make(from: 3, to: TreeNode.sizeMax, &hasher) { _ in .zero }
        #expect(wide.path.count == 63)
        #expect(InclusionProof.nodes(index: 5, size: TreeNode.sizeMax).count < 130)
    }

    @Test func faultsSayWhatIsWrong() throws {
        var hasher = EventHasher()
        #expect(throws: ProofFault.sizeTooLarge(1 << 62)) {
            try InclusionProof(index: 0, size: 1 << 62, path: [])
                .check(leaf: .zero, root: .zero, &hasher)
        }
        #expect(throws: ProofFault.beyondSize(index: 7, size: 7)) {
            try InclusionProof(index: 7, size: 7, path: [])
                .check(leaf: .zero, root: .zero, &hasher)
        }
        #expect(throws: ProofFault.pathCount(0, expected: 3)) {
            try InclusionProof(index: 2, size: 7, path: [])
                .check(leaf: .zero, root: .zero, &hasher)
        }
        #expect(throws: ProofFault.rootDiffers) {
            try inclusion(2, 7).check(leaf: plain.leaves[2], root: .zero, &hasher)
        }
        #expect(throws: ProofFault.sizesSwapped(from: 8, to: 7)) {
            try ConsistencyProof(fromSize: 8, size: 7, path: [])
                .check(fromRoot: .zero, root: .zero, &hasher)
        }
        #expect(throws: ProofFault.fromRootDiffers) {
            try consistency(3, 7).check(fromRoot: .zero, root: root(7), &hasher)
        }
        #expect(throws: ProofFault.rootDiffers) {
            try consistency(4, 7).check(fromRoot: root(4), root: .zero, &hasher)
        }
    }
}
