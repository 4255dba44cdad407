import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

extension SpaceProofs {
    /// Leaves that are hashed before their tiles are written, which bounds memory and lost work.
    private static let tileStepMax: UInt64 = 1 << 20

    /// The positions whose tiles are kept.
    package func tileSize() throws(LogError) -> UInt64 {
        try TileStore(log.shared.directory, space: space).size
    }

    /// Keeps the tiles of the first `size` positions from now on; durable when this returns.
    ///
    /// Reads the rows of the positions that have none yet, so it comes before those are released.
    /// Does nothing if the tiles go that far already.
    ///
    /// - Throws: When it throws, the tiles may have become longer by a part of what was asked for.
    package func extendTiles(to size: UInt64) throws(LogError) {
        guard log.access == .readWrite else { throw .readOnly }
        let head = log.shared.index.withLock { $0[space].head }
        guard size <= head else {
            throw .outOfOrder(what: "position \(size) is not there, the head is \(head)")
        }
        while true {
            let tiles = try TileStore(log.shared.directory, space: space)
            guard tiles.size < size else { return }
            // Before the lock, because it may take long and what was given a position stays.
            let end = min(size, tiles.size + Self.tileStepMax)
            let builder = try build(from: tiles, to: end)
            try log.withWriter { (writer) throws(LogError) in
                // Another process may have extended them meanwhile; then the rest is built anew.
                var current = try TileStore(log.shared.directory, space: space)
                guard current.range == tiles.range else { return }
                try current.extend(builder)
            }
        }
    }

    private func build(
        from tiles: TileStore,
        to end: UInt64
    ) throws(LogError) -> TileBuilder {
        var builder = TileBuilder(tiles.range)
        var hasher = EventHasher()
        var leaves = LeafReader(log, space, end: end)
        try leaves.read(tiles.size..<end, &hasher) { builder.append($0, &$1) }
        return builder
    }
}
