import DiarioCore
import DiarioCrypto
import DiarioFormat

/// Finds the hashes of nodes of a space's tree where they cost least: in the compact range of the
/// head, in tiles, else computed from rows.
struct NodeReader: ~Copyable {
    private let store: LogStore
    private let space: SpaceID
    /// Nil where they are not to be trusted.
    private let tiles: TileStore?
    private var known: [TreeNode: Hash32] = [:]
    private var hasher = EventHasher()

    /// `range` is the compact range of the head.
    init(_ store: LogStore, _ space: SpaceID, _ range: CompactRange, _ tiles: TileStore?) {
        self.store = store
        self.space = space
        self.tiles = tiles
        for (node, hash) in range.places { known[node] = hash }
        // Hashes that do not fill a tile yet are not in the tiles' files.
        guard let tiles else { return }
        for (node, hash) in tiles.range.places where known[node] == nil { known[node] = hash }
    }

    /// The hashes of `nodes`, all of which are in the tree of the head.
    mutating func hashes(_ nodes: [TreeNode]) throws(LogError) -> [TreeNode: Hash32] {
        // In order of leaves and the larger ones first, so that each row is read once.
        let wanted = Set(nodes).sorted {
            ($0.leaves.lowerBound, $1.level) < ($1.leaves.lowerBound, $0.level)
        }
        let end = wanted.reduce(0) { max($0, $1.leaves.upperBound) }
        let above = Self.nodes(above: wanted, end: end)
        var leaves = LeafReader(store, space, end: end)
        for node in wanted { _ = try hash(node, above, &leaves) }
        return known
    }

    /// All nodes of the first `end` leaves that are made of others besides one of `wanted`.
    private static func nodes(above wanted: [TreeNode], end: UInt64) -> Set<TreeNode> {
        var above: Set<TreeNode> = []
        for node in wanted {
            var next = node.parent
            while let node = next, node.leaves.upperBound <= end, above.insert(node).inserted {
                next = node.parent
            }
        }
        return above
    }

    /// The depth of the recursion is bounded by the levels of the tree.
    private mutating func hash(
        _ node: TreeNode,
        _ above: Set<TreeNode>,
        _ leaves: inout LeafReader
    ) throws(LogError) -> Hash32 {
        if let hash = known[node] { return hash }
        if let hash = try tiles?.hash(node, &hasher) {
            known[node] = hash
            return hash
        }
        // Split where tiles help with a part of it, and where a part is wanted by itself. The rest
        // is after all tiles, or below their hashes: it needs rows.
        let isCut = node.leaves.lowerBound < tiles?.size ?? 0 && node.level > Tile.height
        if isCut || above.contains(node), let children = node.children {
            let left = try hash(children.left, above, &leaves)
            let right = try hash(children.right, above, &leaves)
            let hash = hasher.node(left, right)
            known[node] = hash
            return hash
        }
        var part = CompactRange()
        try leaves.read(node.leaves, &hasher) { part.append($0, &$1) }
        let hash = part.root(&hasher)
        known[node] = hash
        return hash
    }
}
