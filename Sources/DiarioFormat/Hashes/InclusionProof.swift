package import DiarioCrypto

/// Proves that a leaf is at an index of the tree: schema/format/proofs.md, section 3.
///
/// It may come from outside and hold anything; only `check` makes it a proof.
package struct InclusionProof: Equatable, Sendable {
    /// The position minus 1.
    package let index: UInt64
    package let size: UInt64
    /// The hashes beside the way from the leaf to the root, lowest first.
    package let path: [Hash32]

    package init(index: UInt64, size: UInt64, path: [Hash32]) {
        self.index = index
        self.size = size
        self.path = path
    }

    /// Makes the proof from the hashes of nodes; `nodes(index:size:)` are the ones it asks for.
    package static func make<Failure: Error>(
        index: UInt64,
        size: UInt64,
        _ hasher: inout EventHasher,
        _ hash: (TreeNode) throws(Failure) -> Hash32
    ) throws(Failure) -> InclusionProof {
        var path: [Hash32] = []
        for part in parts(index: index, size: size) { path.append(try part.root(&hasher, hash)) }
        return InclusionProof(index: index, size: size, path: path)
    }

    /// The nodes from which the proof is made, each once.
    package static func nodes(index: UInt64, size: UInt64) -> [TreeNode] {
        parts(index: index, size: size).flatMap { $0.nodes }
    }

    /// The parts of the tree whose hashes make the path, lowest first.
    private static func parts(index: UInt64, size: UInt64) -> [TreePart] {
        precondition(size <= TreeNode.sizeMax && index < size, "the leaf is in the tree")
        var parts: [TreePart] = []
        var part = TreePart(leaves: 0..<size)
        while part.leaves.count > 1 {
            let (left, right) = part.halves
            let isLeft = left.leaves.contains(index)
            parts.append(isLeft ? right : left)
            part = isLeft ? left : right
        }
        return parts.reversed()
    }

    /// The number of hashes in the path: first those from either side, then those from the left
    /// only, where the path is on the right border of the tree.
    private var pathCounts: (inner: Int, border: Int) {
        let inner = UInt64.bitWidth - (index ^ (size - 1)).leadingZeroBitCount
        return (inner, (index >> UInt64(inner)).nonzeroBitCount)
    }

    /// Checks that `leaf` is at the index of the tree with this root.
    package func check(
        leaf: Hash32,
        root: Hash32,
        _ hasher: inout EventHasher
    ) throws(ProofFault) {
        guard size <= TreeNode.sizeMax else { throw .sizeTooLarge(size) }
        guard index < size else { throw .beyondSize(index: index, size: size) }
        let (inner, border) = pathCounts
        guard path.count == inner + border else {
            throw .pathCount(path.count, expected: inner + border)
        }
        var result = leaf
        for (level, hash) in path.enumerated() {
            let isLeft = level < inner && index >> UInt64(level) & 1 == 0
            result = isLeft ? hasher.node(result, hash) : hasher.node(hash, result)
        }
        guard result == root else { throw .rootDiffers }
    }
}

/// Why a proof does not hold.
package enum ProofFault: Error, Equatable, Sendable {
    case sizeTooLarge(UInt64)
    case beyondSize(index: UInt64, size: UInt64)
    /// A tree does not begin with one that is larger.
    case sizesSwapped(from: UInt64, to: UInt64)
    case pathCount(Int, expected: Int)
    /// The hashes do not lead to the root of the proof.
    case rootDiffers
    /// The hashes do not lead to the root at the smaller size.
    case fromRootDiffers
    /// The event's row and time make another leaf.
    case leafDiffers

    /// What is wrong, as a clause.
    package var message: String {
        switch self {
        case .sizeTooLarge(let size): "no log has \(size) events"
        case .beyondSize(let index, let size):
            "position \(index &+ 1) is not among the first \(size)"
        case .sizesSwapped(let from, let to):
            "a log of \(to) events cannot begin with one of \(from)"
        case .pathCount(let count, let expected):
            "the path has \(count) hashes, where these numbers need \(expected)"
        case .rootDiffers: "the hashes of the path do not lead to the root"
        case .fromRootDiffers: "the hashes of the path do not lead to the root at the smaller size"
        case .leafDiffers: "the event's row and time do not make the leaf"
        }
    }
}
