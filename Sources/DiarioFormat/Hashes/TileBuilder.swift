package import DiarioCrypto

/// Makes the hashes of levels 1 and up as leaves are appended: schema/format/proofs.md, section 7.
package struct TileBuilder: Sendable {
    /// The size from which it went on.
    package private(set) var start: UInt64
    package private(set) var size: UInt64
    /// The new hashes of level 1, of level 2 and so on, one after the other.
    package private(set) var levels: [[UInt8]] = []
    /// The roots of the perfect subtrees, as a compact range has them.
    private var nodes: [Hash32]

    package init(_ range: CompactRange) {
        start = range.size
        size = range.size
        nodes = range.nodes
    }

    /// The compact range of all leaves up to now.
    package var range: CompactRange {
        get throws(FormatError) { try CompactRange(size: size, nodes: nodes) }
    }

    /// The number of the first new hash of a level.
    package func firstHash(level: Int) -> UInt64 { Tile.hashCount(level: level, size: start) }

    /// Adds the next leaf; costs one node hash on average.
    package mutating func append(_ leaf: Hash32, _ hasher: inout EventHasher) {
        precondition(size < TreeNode.sizeMax, "no tree is larger")
        var node = leaf
        var height = 0
        // Each trailing 1 of the size is a subtree as large as the one that `node` is the root of.
        while size >> UInt64(height) & 1 == 1, let left = nodes.popLast() {
            node = hasher.node(left, node)
            height += 1
            if height.isMultiple(of: Tile.height) { keep(node, level: height / Tile.height) }
        }
        nodes.append(node)
        size += 1
    }

    /// The root of the tree of all leaves up to now; of no leaves, H("").
    package func root(_ hasher: inout EventHasher) -> Hash32 {
        guard var root = nodes.last else { return hasher.emptyRoot() }
        for node in nodes.dropLast().reversed() { root = hasher.node(node, root) }
        return root
    }

    /// Continues without the tiles made until now, so that memory stays bounded.
    package mutating func forgetLevels() {
        start = size
        levels = []
    }

    private mutating func keep(_ hash: Hash32, level: Int) {
        while levels.count < level { levels.append([]) }
        levels[level - 1].append(hash)
    }
}
