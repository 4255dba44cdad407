// Tiles cut the tree into pieces that never change, so that they can be kept, served and cached:
// schema/format/proofs.md, section 6.

/// Up to 256 hashes of one level, which lie side by side.
package struct Tile: Hashable, Sendable {
    /// Levels of the tree from one level of tiles to the next.
    package static let height = 8
    package static let widthMax = 1 << height
    package static let levelMax = TreeNode.levelMax / height

    /// A tile of level `l` holds nodes of level 8 * `l`.
    package let level: Int
    package let index: UInt64
    /// The number of hashes; fewer than 256 only at the right border of the tree.
    package let width: Int

    /// Nil where there can be no such tile.
    package init?(level: Int, index: UInt64, width: Int = widthMax) {
        guard 0...Self.levelMax ~= level, 1...Self.widthMax ~= width,
            index <= TreeNode.sizeMax >> UInt64(Self.height),
            index * UInt64(Self.widthMax) + UInt64(width)
                <= Self.hashCount(
                    level: level,
                    size: TreeNode.sizeMax
                )
        else { return nil }
        self.level = level
        self.index = index
        self.width = width
    }

    /// The tile as wide as a tree of `size` leaves has it; nil if it has none there.
    package init?(level: Int, index: UInt64, size: UInt64) {
        guard 0...Self.levelMax ~= level, size <= TreeNode.sizeMax else { return nil }
        let count = Self.hashCount(level: level, size: size)
        guard index < (count + UInt64(Self.widthMax) - 1) >> UInt64(Self.height) else {
            return nil
        }
        let width = min(count - index * UInt64(Self.widthMax), UInt64(Self.widthMax))
        self.init(level: level, index: index, width: Int(width))
    }

    package var isFull: Bool { width == Self.widthMax }

    /// The hashes of its level that it holds, by their numbers.
    package var hashes: Range<UInt64> {
        let first = index << UInt64(Self.height)
        return first..<first + UInt64(width)
    }

    /// The number of hashes of a level in a tree of `size` leaves.
    package static func hashCount(level: Int, size: UInt64) -> UInt64 {
        size >> UInt64(level * height)
    }
}

// MARK: - Names

extension Tile {
    /// The name, as `tile/1/x001/x234/067.p/5`.
    package var path: String {
        var groups: [String] = []
        var rest = index
        repeat {
            let digits = String(rest % 1000)
            let group = String(repeating: "0", count: 3 - digits.count) + digits
            groups.append(groups.isEmpty ? group : "x" + group)
            rest /= 1000
        } while rest > 0
        let name = "tile/\(level)/" + groups.reversed().joined(separator: "/")
        return isFull ? name : name + ".p/\(width)"
    }

    /// Reads a name; nil for one that no tile has.
    package init?(path: String) {
        // No name is longer.
        guard path.utf8.count <= 64 else { return nil }
        var parts = path.split(separator: "/", omittingEmptySubsequences: false)[...]
        guard parts.popFirst() == "tile", let level = parts.popFirst().flatMap({ Int($0) }) else {
            return nil
        }
        var width = Self.widthMax
        if parts.count > 1, let group = parts.dropLast().last, group.hasSuffix(".p") {
            guard let given = parts.popLast().flatMap({ Int($0) }), given < Self.widthMax else {
                return nil
            }
            width = given
            parts[parts.endIndex - 1] = group.dropLast(2)
        }
        var index: UInt64 = 0
        guard !parts.isEmpty, parts.count <= 6 else { return nil }
        for group in parts { index = index * 1000 + (UInt64(group.suffix(3)) ?? 0) }
        self.init(level: level, index: index, width: width)
        // One tile has one name, so whatever was read in another way is none.
        guard self.path == path else { return nil }
    }
}
