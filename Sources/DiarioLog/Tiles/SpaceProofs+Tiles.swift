import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

extension SpaceProofs {
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
        var extending = try TileExtension(self, to: size)
        while try extending.step(.max) {}
    }
}

/// Keeps the tiles of more positions, some leaves at a time.
// Usable from inline, or other modules do not find its `deinit` in Embedded Swift (6.3.1).
@usableFromInline package struct TileExtension: ~Copyable {
    private let log: LogStore
    private let space: SpaceID
    private let size: UInt64
    private var tiles: TileStore
    private var builder: TileBuilder
    private var leaves: LeafReader
    private var hasher = EventHasher()

    /// Leaves that are hashed before their tiles are written, which bounds memory and lost work.
    private static var leafCountMax: UInt64 { 1 << 20 }

    package init(_ proofs: SpaceProofs, to size: UInt64) throws(LogError) {
        (log, space, self.size) = (proofs.log, proofs.space, size)
        guard log.access == .readWrite else { throw .readOnly }
        let head = log.shared.index.withLock { [space] in $0[space].head }
        guard size <= head else {
            throw .outOfOrder(what: "position \(size) is not there, the head is \(head)")
        }
        tiles = try TileStore(log.shared.directory, space: space)
        builder = TileBuilder(tiles.range)
        leaves = LeafReader(log, space, end: size)
    }

    /// Reads about so many leaves; false once the tiles go as far as they should.
    package mutating func step(_ count: UInt64) throws(LogError) -> Bool {
        guard tiles.size < size else { return false }
        // Without the lock, because it may take long and what was given a position stays.
        let end = min(size, tiles.size + Self.leafCountMax)
        let next = builder.size + min(count, end - builder.size)
        try read(to: next)
        if next == end { try write() }
        return tiles.size < size
    }

    private mutating func read(to next: UInt64) throws(LogError) {
        var builder = TileBuilder(CompactRange())
        swap(&builder, &self.builder)
        defer { swap(&builder, &self.builder) }
        try leaves.read(builder.size..<next, &hasher) { builder.append($0, &$1) }
    }

    private mutating func write() throws(LogError) {
        let (log, space, known, builder) = (log, space, tiles.range, builder)
        tiles = try log.withWriter { (writer) throws(LogError) in
            // Another process may have extended them meanwhile; then the rest is built anew.
            var current = try TileStore(log.shared.directory, space: space)
            if current.range == known { try current.extend(builder) }
            return current
        }
        self.builder = TileBuilder(tiles.range)
    }
}
