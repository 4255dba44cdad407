// The tree of schema/format/rows.md, section 5, in the terms of schema/format/proofs.md, section 2:
// leaves count from 0, and every part that a proof names is made of perfect subtrees.

package import DiarioCrypto

/// The root of a perfect subtree: of `1 << level` leaves, the first of which is `index << level`.
package struct TreeNode: Hashable, Sendable {
    /// No tree has more leaves; so sizes can be doubled and added without a second look.
    package static let sizeMax: UInt64 = 1 << 62 - 1
    /// The level of the highest node that a tree can have.
    package static let levelMax = 61

    package let level: Int
    package let index: UInt64

    package init(level: Int, index: UInt64) {
        precondition(0...Self.levelMax ~= level, "the node lies in the highest tree there can be")
        precondition(index < Self.sizeMax >> UInt64(level), "the node's leaves can be counted")
        self.level = level
        self.index = index
    }

    /// A leaf.
    package init(leaf index: UInt64) { self.init(level: 0, index: index) }

    /// The leaves below it.
    package var leaves: Range<UInt64> { index << UInt64(level)..<(index + 1) << UInt64(level) }

    /// The node that it is a half of; nil where no tree reaches that high.
    package var parent: TreeNode? {
        guard level < Self.levelMax, index / 2 < Self.sizeMax >> UInt64(level + 1) else {
            return nil
        }
        return TreeNode(level: level + 1, index: index / 2)
    }

    /// Its two halves; nil for a leaf.
    package var children: (left: TreeNode, right: TreeNode)? {
        guard level > 0 else { return nil }
        return (
            TreeNode(level: level - 1, index: 2 * index),
            TreeNode(level: level - 1, index: 2 * index + 1)
        )
    }
}

/// A part of the tree that hangs together: the node above the leaves of `leaves`.
struct TreePart: Hashable, Sendable {
    let leaves: Range<UInt64>

    /// Its perfect subtrees, the largest first.
    var nodes: [TreeNode] {
        var start = leaves.lowerBound
        var nodes: [TreeNode] = []
        var rest = leaves.upperBound - start
        while rest > 0 {
            let level = UInt64.bitWidth - 1 - rest.leadingZeroBitCount
            // Larger subtrees come first, so that each begins at a multiple of its size.
            precondition(start.trailingZeroBitCount >= level, "a part is cut as the tree is")
            nodes.append(TreeNode(level: level, index: start >> UInt64(level)))
            start += 1 << UInt64(level)
            rest -= 1 << UInt64(level)
        }
        return nodes
    }

    /// Its hash, folded from the right as a compact range is.
    func root<Failure: Error>(
        _ hasher: inout EventHasher,
        _ hash: (TreeNode) throws(Failure) -> Hash32
    ) throws(Failure) -> Hash32 {
        var result: Hash32?
        for node in nodes.reversed() {
            let left = try hash(node)
            if let right = result { result = hasher.node(left, right) } else { result = left }
        }
        return result ?? hasher.emptyRoot()
    }

    /// The greatest power of two below the number of leaves, which is at least two.
    var half: UInt64 {
        let count = leaves.upperBound - leaves.lowerBound
        precondition(count > 1, "a leaf has no halves")
        return 1 << UInt64(UInt64.bitWidth - 1 - (count - 1).leadingZeroBitCount)
    }

    /// The parts to the left and right of the place where the tree is split.
    var halves: (left: TreePart, right: TreePart) {
        let middle = leaves.lowerBound + half
        return (
            TreePart(leaves: leaves.lowerBound..<middle),
            TreePart(leaves: middle..<leaves.upperBound)
        )
    }
}

/// The root of the tree at any size, made from nodes.
package enum TreeRoot {
    /// The nodes from which the root of the first `size` leaves is made.
    package static func nodes(size: UInt64) -> [TreeNode] { part(size).nodes }

    /// The root of the first `size` leaves; of none, H("").
    package static func make<Failure: Error>(
        size: UInt64,
        _ hasher: inout EventHasher,
        _ hash: (TreeNode) throws(Failure) -> Hash32
    ) throws(Failure) -> Hash32 {
        try part(size).root(&hasher, hash)
    }

    private static func part(_ size: UInt64) -> TreePart {
        precondition(size <= TreeNode.sizeMax, "no tree is larger")
        return TreePart(leaves: 0..<size)
    }
}

extension CompactRange {
    /// Its nodes with their places in the tree.
    package var places: [(node: TreeNode, hash: Hash32)] {
        zip(TreeRoot.nodes(size: size), nodes).map { (node: $0, hash: $1) }
    }
}
