package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
package import DiarioStorage

/// The tiles of one space on disk: one file for each level, and a mark that says how far they go.
///
/// schema/format/proofs.md, section 7. Whoever extends or lowers them holds the lock of the data
/// directory; readers need none, since bytes that the mark vouches for do not change.
package struct TileStore: Sendable {
    private let directory: any LogDirectory
    private let space: SpaceID
    /// The compact range of all leaves that the tiles are good for.
    package private(set) var range: CompactRange
    /// The files of the levels that were used, level 1 first.
    private var files: [any LogFile] = []

    /// The number of leaves that the tiles are good for.
    package var size: UInt64 { range.size }

    /// Opens the tiles of a space as they are; without a valid mark there are none yet.
    package init(_ directory: any LogDirectory, space: SpaceID) throws(LogError) {
        self.directory = directory
        self.space = space
        range = CompactRange()
        let path = LogPaths.tileMark(space)
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try Files.contents(of: path, in: directory, sizeMax: TileMark.sizeMax)
        } catch {
            switch error {
            case .notFound, .tooLarge: return
            default: throw .storage(error)
            }
        }
        guard let mark = TileMark(bytes.span), try openFiles(mark.range.size) else { return }
        range = mark.range
    }

    /// Opens the files of all levels; false if one is not there or too short for `size` leaves.
    private mutating func openFiles(_ size: UInt64) throws(LogError) -> Bool {
        var level = 1
        while Tile.hashCount(level: level, size: size) > 0 {
            let end = Self.offset(Tile.hashCount(level: level, size: size))
            do throws(StorageError) {
                let file = try directory.open(LogPaths.tiles(space, level: level), .read)
                guard try file.size() >= end else { return false }
                files.append(file)
            } catch {
                if case .notFound = error { return false }
                throw .storage(error)
            }
            level += 1
        }
        return true
    }

    private static func offset(_ hash: UInt64) -> Int { Int(hash) * Hash32.size }

    // MARK: Reading

    /// The hash of a node of level 8 or above whose leaves the tiles cover; nil for others.
    ///
    /// Its bytes may be damaged: what is made of it is checked against a root.
    package func hash(
        _ node: TreeNode,
        _ hasher: inout EventHasher
    ) throws(LogError) -> Hash32? {
        let level = node.level / Tile.height
        guard level >= 1, node.leaves.upperBound <= size else { return nil }
        // The hashes of the level that the node is made of; at most half a tile.
        let count = 1 << (node.level % Tile.height)
        let bytes = try read(level: level, from: node.index * UInt64(count), count: count)
        guard bytes.count == count * Hash32.size else { return nil }
        var part = CompactRange()
        for index in 0..<count { part.append(bytes.span.hash(at: index * Hash32.size), &hasher) }
        return part.root(&hasher)
    }

    /// The bytes of a tile of level 1 or above; nil if it reaches beyond what is there.
    package func bytes(of tile: Tile) throws(LogError) -> [UInt8]? {
        guard tile.level >= 1,
            tile.hashes.upperBound <= Tile.hashCount(level: tile.level, size: size)
        else { return nil }
        let bytes = try read(level: tile.level, from: tile.hashes.lowerBound, count: tile.width)
        return bytes.count == tile.width * Hash32.size ? bytes : nil
    }

    /// The first hash on disk that is not as `builder` made it; nil if all are.
    func fault(_ builder: TileBuilder) throws(LogError) -> Fault? {
        for (index, made) in builder.levels.enumerated() {
            let level = index + 1
            let first = builder.firstHash(level: level)
            let end = min(
                first + UInt64(made.count / Hash32.size),
                Tile.hashCount(level: level, size: size)
            )
            guard first < end else { continue }
            let found = try read(level: level, from: first, count: Int(end - first))
            guard
                let hash = (0..<Int(end - first)).first(where: { hash in
                    let bytes = hash * Hash32.size..<(hash + 1) * Hash32.size
                    return found.count < bytes.upperBound || found[bytes] != made[bytes]
                })
            else { continue }
            return Fault(
                file: LogPaths.tiles(space, level: level),
                offset: Self.offset(first) + hash * Hash32.size,
                what: "the hash there is not that of the events"
            )
        }
        return nil
    }

    /// What is wrong with the mark, or with the files that it speaks of; nil if nothing is.
    static func markFault(
        _ directory: any LogDirectory,
        space: SpaceID
    ) throws(LogError) -> Fault? {
        let path = LogPaths.tileMark(space)
        guard try storing({ () throws(StorageError) in try directory.exists(path) }) else {
            return nil
        }
        let bytes = try storing { () throws(StorageError) in
            try Files.contents(of: path, in: directory, sizeMax: .max)
        }
        guard let mark = TileMark(bytes.span) else {
            return Fault(file: path, offset: 0, what: "the mark of the tiles does not verify")
        }
        guard try TileStore(directory, space: space).size == mark.range.size else {
            return Fault(file: path, offset: 8, what: "the files of the tiles are too short")
        }
        return nil
    }

    /// What is said when the mark vouches for another log.
    var markFault: Fault {
        Fault(
            file: LogPaths.tileMark(space),
            offset: 16,
            what: "the compact range there is not that of the events"
        )
    }

    /// Fewer bytes if the file was cut since it was opened.
    private func read(level: Int, from hash: UInt64, count: Int) throws(LogError) -> [UInt8] {
        var bytes: [UInt8] = []
        guard level <= files.count else { return bytes }
        try storing { () throws(StorageError) in
            try files[level - 1].read(
                at: Int64(Self.offset(hash)),
                count: count * Hash32.size,
                into: &bytes
            )
        }
        return bytes
    }

    // MARK: Writing

    /// Takes up what `builder` made from here on; durable when this returns.
    ///
    /// When it throws, the tiles are as they were.
    package mutating func extend(_ builder: TileBuilder) throws(LogError) {
        precondition(builder.start == size, "tiles are extended where they end")
        guard builder.size > size else { return }
        let new: CompactRange
        do throws(FormatError) { new = try builder.range } catch { throw .format(error) }
        if size == 0 {
            try storing { () throws(StorageError) in
                try Files.makeDirectoryDurably(LogPaths.tiles(space), in: directory)
            }
        }
        var isNameNew = false
        for (index, bytes) in builder.levels.enumerated() {
            let first = builder.firstHash(level: index + 1)
            try write(bytes, at: Self.offset(first), level: index + 1)
            // By the mark, not by the file: one that a dead process made may not last.
            isNameNew = isNameNew || first == 0
        }
        if isNameNew {
            try storing { () throws(StorageError) in
                try directory.syncDirectory(LogPaths.tiles(space))
            }
        }
        // Last, because it says that all else is on disk.
        try writeMark(new)
    }

    private mutating func write(
        _ bytes: [UInt8],
        at offset: Int,
        level: Int
    ) throws(LogError) {
        let path = LogPaths.tiles(space, level: level)
        let file = try storing { () throws(StorageError) in
            let file = try directory.open(path, .create)
            try file.write(bytes.span, at: Int64(offset))
            try file.sync()
            return file
        }
        if level <= files.count { files[level - 1] = file } else { files.append(file) }
    }

    /// Goes back to what `range` says, which is the beginning of what is there; durable when this
    /// returns.
    ///
    /// An empty one makes all of them be made again.
    package mutating func lower(to range: CompactRange) throws(LogError) {
        precondition(range.size <= size, "tiles that are not there cannot be vouched for")
        guard range != self.range else { return }
        try writeMark(range)
    }

    private mutating func writeMark(_ range: CompactRange) throws(LogError) {
        let mark = TileMark(range: range).encoded()
        try storing { () throws(StorageError) in
            try Files.replace(LogPaths.tileMark(space), with: mark, in: directory)
        }
        self.range = range
    }
}
