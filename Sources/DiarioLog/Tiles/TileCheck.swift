package import DiarioCrypto
package import DiarioFormat

/// Compares the tiles on disk with the leaves of the log, as those go by.
package struct TileCheck: Sendable {
    /// Leaves whose hashes are kept until they are compared.
    private static let stepMax: UInt64 = 1 << 16

    let tiles: TileStore
    private var builder: TileBuilder
    private var fault: Fault?

    /// Begins behind the leaves of `range`, about which it says nothing.
    package init(_ tiles: TileStore, from range: CompactRange) {
        self.tiles = tiles
        builder = TileBuilder(range)
    }

    /// Takes the next leaf of the log.
    package mutating func append(_ leaf: Hash32, _ hasher: inout EventHasher) throws(LogError) {
        guard fault == nil, builder.size < tiles.size else { return }
        builder.append(leaf, &hasher)
        if builder.size == tiles.size || builder.size.isMultiple(of: Self.stepMax) {
            try compare()
        }
    }

    /// The first difference; nil if there is none.
    package mutating func finish() throws(LogError) -> Fault? {
        try compare()
        return fault
    }

    private mutating func compare() throws(LogError) {
        guard fault == nil else { return }
        fault = try tiles.fault(builder)
        builder.forgetLevels()
        guard fault == nil, builder.size == tiles.size else { return }
        do throws(FormatError) {
            if try builder.range != tiles.range { fault = tiles.markFault }
        } catch {
            throw .format(error)
        }
    }
}
