package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
import DiarioStorage

/// Makes the tree of the log's leaves as they go by, and compares the tiles on disk with it.
package struct TileCheck: Sendable {
    /// Leaves whose hashes are kept until they are compared.
    private static let stepMax: UInt64 = 1 << 16

    private let tiles: TileStore
    private var builder: TileBuilder
    private var fault: Fault?
    /// False behind the last leaf that the tiles are good for, and after the first difference.
    private var isComparing: Bool

    /// Begins behind the leaves of `range`, about which it says nothing.
    package init(_ tiles: TileStore, from range: CompactRange) {
        self.tiles = tiles
        builder = TileBuilder(range)
        isComparing = builder.size <= tiles.size
    }

    /// The number of leaves.
    package var size: UInt64 { builder.size }

    /// Takes the next leaf of the log.
    package mutating func append(_ leaf: Hash32, _ hasher: inout EventHasher) throws(LogError) {
        if isComparing, builder.size == tiles.size { try compare() }
        builder.append(leaf, &hasher)
        guard builder.size.isMultiple(of: Self.stepMax) else { return }
        if isComparing { try compare() } else { builder.forgetLevels() }
    }

    /// Goes on without tiles: leaves are missing.
    package mutating func stopComparing() { isComparing = false }

    /// The first difference; nil if there is none.
    package mutating func finish() throws(LogError) -> Fault? {
        if isComparing { try compare() }
        return fault
    }

    /// The root of the tree of all leaves.
    package func root(_ hasher: inout EventHasher) -> Hash32 { builder.root(&hasher) }

    private mutating func compare() throws(LogError) {
        fault = try tiles.fault(builder)
        builder.forgetLevels()
        isComparing = fault == nil && builder.size < tiles.size
        guard fault == nil, builder.size == tiles.size else { return }
        do throws(FormatError) {
            if try builder.range != tiles.range { fault = tiles.markFault }
        } catch {
            throw .format(error)
        }
    }
}
