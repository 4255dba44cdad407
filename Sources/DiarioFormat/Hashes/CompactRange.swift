package import DiarioCrypto

/// The roots of the perfect subtrees that the first leaves of a Merkle tree make, largest first.
///
/// Enough to append to the tree: schema/format/rows.md, section 5.
package struct CompactRange: Sendable, Equatable {
    /// The number of leaves.
    package private(set) var size: UInt64 = 0
    /// One for each binary digit 1 of `size`.
    package private(set) var nodes: [Hash32] = []

    package init() {}

    /// Continues from the state of another compact range.
    package init(size: UInt64, nodes: [Hash32]) throws(FormatError) {
        guard nodes.count == size.nonzeroBitCount else { throw .malformed(.compactRange, at: 0) }
        self.size = size
        self.nodes = nodes
    }

    /// Adds the next leaf; costs one node hash on average.
    package mutating func append(_ leaf: Hash32, _ hasher: inout EventHasher) {
        var node = leaf
        // Each trailing 1 of the size is a subtree as large as the one that `node` is the root of.
        var digits = size
        while digits & 1 == 1, let left = nodes.popLast() {
            node = hasher.node(left, node)
            digits >>= 1
        }
        nodes.append(node)
        size += 1
    }

    /// The root of the tree; of no leaves, H("").
    package func root(_ hasher: inout EventHasher) -> Hash32 {
        guard var root = nodes.last else { return hasher.emptyRoot() }
        for node in nodes.dropLast().reversed() { root = hasher.node(node, root) }
        return root
    }
}
