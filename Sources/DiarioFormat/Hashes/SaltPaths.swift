import DiarioCore

/// A cache of the nodes on the paths to the last salts, for some replicas at once.
///
/// Replicas whose events alternate keep a path each, unless their ids share a slot; then the newer
/// one replaces the other.
struct SaltPaths {
    private static let placeCount = 64
    /// From the seed down to the salt.
    private static let levelCount = SaltNode.levelMax + 1

    /// By place and level, made when needed.
    ///
    /// Those above the level of the base mean nothing.
    private var values: [Salt] = []
    private var bases: [SaltNode?] = []
    private var indices: [Int] = []
    /// The place of the current path.
    private var place = 0

    /// Goes to an index below `node`; gives the level and the value of the lowest node that the
    /// path there has in common with the last one.
    mutating func start(_ node: SaltNode, index: Int) -> (level: Int, value: Salt) {
        if values.isEmpty {
            let zero = Salt(first: 0, second: 0)
            values = [Salt](repeating: zero, count: Self.placeCount * Self.levelCount)
            bases = [SaltNode?](repeating: nil, count: Self.placeCount)
            indices = [Int](repeating: 0, count: Self.placeCount)
        }
        // Replica ids are random, so their lowest bits are as good as any.
        place = Int(truncatingIfNeeded: node.replica.rawValue) & (Self.placeCount - 1)
        defer { indices[place] = index }
        guard bases[place] == node else {
            bases[place] = node
            keep(node.value, level: node.level)
            return (node.level, node.value)
        }
        // The highest bit in which the indices differ is where the paths part.
        let difference = index ^ indices[place]
        let shared = SaltNode.levelMax - (Int.bitWidth - difference.leadingZeroBitCount)
        let level = max(shared, node.level)
        return (level, values[place * Self.levelCount + level])
    }

    /// Keeps the value at a level of the current path.
    mutating func keep(_ value: Salt, level: Int) {
        values[place * Self.levelCount + level] = value
    }
}
