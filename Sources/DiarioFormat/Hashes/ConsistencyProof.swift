package import DiarioCrypto

/// Proves that one tree is the beginning of another: schema/format/proofs.md, section 4.
///
/// It may come from outside and hold anything; only `check` makes it a proof.
package struct ConsistencyProof: Equatable, Sendable {
    package let fromSize: UInt64
    package let size: UInt64
    package let path: [Hash32]

    package init(fromSize: UInt64, size: UInt64, path: [Hash32]) {
        self.fromSize = fromSize
        self.size = size
        self.path = path
    }

    /// Makes the proof from the hashes of nodes; `nodes(from:to:)` are the ones it asks for.
    package static func make<Failure: Error>(
        from fromSize: UInt64,
        to size: UInt64,
        _ hasher: inout EventHasher,
        _ hash: (TreeNode) throws(Failure) -> Hash32
    ) throws(Failure) -> ConsistencyProof {
        var path: [Hash32] = []
        for part in parts(fromSize, size) { path.append(try part.root(&hasher, hash)) }
        return ConsistencyProof(fromSize: fromSize, size: size, path: path)
    }

    /// The nodes from which the proof is made, each once.
    package static func nodes(from fromSize: UInt64, to size: UInt64) -> [TreeNode] {
        parts(fromSize, size).flatMap { $0.nodes }
    }

    /// The parts of the tree whose hashes make the path, lowest first.
    private static func parts(_ fromSize: UInt64, _ size: UInt64) -> [TreePart] {
        precondition(
            size <= TreeNode.sizeMax && fromSize <= size,
            "a tree begins with a smaller one"
        )
        guard fromSize > 0, fromSize < size else { return [] }
        var parts: [TreePart] = []
        var part = TreePart(leaves: 0..<size)
        // True if `part` is the whole smaller tree, whose root is known.
        var isWhole = true
        while part.leaves.upperBound != fromSize {
            let (left, right) = part.halves
            let isLeft = fromSize <= left.leaves.upperBound
            parts.append(isLeft ? right : left)
            part = isLeft ? left : right
            isWhole = isWhole && isLeft
        }
        if !isWhole { parts.append(part) }
        return parts.reversed()
    }

    /// Checks that the tree with `root` begins with the one that has `fromRoot`.
    package func check(
        fromRoot: Hash32,
        root: Hash32,
        _ hasher: inout EventHasher
    ) throws(ProofFault) {
        guard size <= TreeNode.sizeMax else { throw .sizeTooLarge(size) }
        guard fromSize <= size else { throw .sizesSwapped(from: fromSize, to: size) }
        guard fromSize > 0, fromSize < size else {
            guard path.isEmpty else { throw .pathCount(path.count, expected: 0) }
            let known = fromSize == 0 ? hasher.emptyRoot() : root
            guard fromRoot == known else { throw .fromRootDiffers }
            // Both trees may be empty; then both roots are known.
            guard size > 0 || root == known else { throw .rootDiffers }
            return
        }
        try checkPath(fromRoot, root, &hasher)
    }

    /// Both sizes are above zero and differ.
    private func checkPath(
        _ fromRoot: Hash32,
        _ root: Hash32,
        _ hasher: inout EventHasher
    ) throws(ProofFault) {
        // The way starts at the last subtree of the smaller tree that is perfect and as large as
        // can be; if that is all of the tree, its hash is known and not in the path.
        let start = fromSize.trailingZeroBitCount
        let way = (fromSize - 1) >> UInt64(start)
        let inner = UInt64.bitWidth - (way ^ (size - 1) >> UInt64(start)).leadingZeroBitCount
        let border = (way >> UInt64(inner)).nonzeroBitCount
        let isPowerOfTwo = fromSize.nonzeroBitCount == 1
        let count = inner + border + (isPowerOfTwo ? 0 : 1)
        guard path.count == count else { throw .pathCount(path.count, expected: count) }
        let first = isPowerOfTwo ? fromRoot : path[0]
        var (small, large) = (first, first)
        for (level, hash) in path.dropFirst(isPowerOfTwo ? 0 : 1).enumerated() {
            if level < inner, way >> UInt64(level) & 1 == 0 {
                // Nodes on the right are not in the smaller tree.
                large = hasher.node(large, hash)
            } else {
                small = hasher.node(hash, small)
                large = hasher.node(hash, large)
            }
        }
        guard small == fromRoot else { throw .fromRootDiffers }
        guard large == root else { throw .rootDiffers }
    }
}
