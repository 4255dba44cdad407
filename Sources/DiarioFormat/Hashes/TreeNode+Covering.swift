package import DiarioCrypto

extension TreeNode {
    /// The fewest perfect subtrees that make up `leaves`, in order.
    package static func covering(_ leaves: Range<UInt64>) -> [TreeNode] {
        var nodes: [TreeNode] = []
        var start = leaves.lowerBound
        while start < leaves.upperBound {
            let rest = leaves.upperBound - start
            let fitting = UInt64.bitWidth - 1 - rest.leadingZeroBitCount
            let level = start == 0 ? fitting : min(fitting, start.trailingZeroBitCount)
            nodes.append(TreeNode(level: level, index: start >> UInt64(level)))
            start += 1 << UInt64(level)
        }
        return nodes
    }
}

extension CompactRange {
    /// Adds a perfect subtree of `1 << level` leaves, which begins at a multiple of that.
    package mutating func append(_ subtree: Hash32, level: Int, _ hasher: inout EventHasher) {
        precondition(
            size.trailingZeroBitCount >= level,
            "a subtree begins at a multiple of its leaves"
        )
        var nodes = nodes
        var node = subtree
        var digits = size >> UInt64(level)
        while digits & 1 == 1, let left = nodes.popLast() {
            node = hasher.node(left, node)
            digits >>= 1
        }
        nodes.append(node)
        guard let range = try? CompactRange(size: size + (1 << UInt64(level)), nodes: nodes) else {
            preconditionFailure("there is a node for each binary digit of the size")
        }
        self = range
    }
}
