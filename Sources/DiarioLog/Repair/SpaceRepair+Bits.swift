import DiarioCore
import DiarioFormat
import DiarioStorage

// Segments of which no more than a bit here and there is wrong.
extension SpaceRepair {
    /// A pair with the bits put right that changed in a damaged one, under a name of its own; nil
    /// if its checksums do not tell them, or if it is not what it was then.
    func mended(_ entry: SegmentEntry) throws(LogError) -> SegmentEntry? {
        guard entry.fileSize <= Self.mendedSizeMax,
            let segment = try mended(.segment, of: entry),
            let sidecar = try mended(.sidecar, of: entry)
        else { return nil }
        var mended = entry
        mended.name = SegmentName(first: entry.first, number: shared.entropy.next())
        let (space, directory, name) = (space, directory, mended.name)
        try storing { () throws(StorageError) in
            for (path, bytes) in [
                (LogPaths.segment(name, of: space), segment),
                (LogPaths.sidecar(name, of: space), sidecar),
            ] {
                let file = try directory.open(path, .createNew)
                try file.write(bytes.span, at: 0)
                try file.sync()
            }
            try directory.syncDirectory(LogPaths.segments(space))
        }
        guard try store.damage(of: mended, in: space).isEmpty, try isAsTilesSay(mended) else {
            try storing { () throws(StorageError) in
                try directory.remove(LogPaths.segment(name, of: space))
                try directory.remove(LogPaths.sidecar(name, of: space))
            }
            return nil
        }
        return mended
    }

    /// Bytes of both files that are held at once.
    private static let mendedSizeMax = 512 * 1024 * 1024

    private func mended(
        _ file: SegmentFile,
        of entry: SegmentEntry
    ) throws(LogError) -> [UInt8]? {
        let path = SegmentPlace(entry, of: space).path(file)
        let size = file == .segment ? entry.segmentSize : entry.sidecarSize
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try directory.contents(of: path, sizeMax: size)
        } catch {
            switch error {
            case .notFound, .tooLarge: return nil
            default: throw .storage(error)
            }
        }
        return bytes.count == size ? SegmentMending.mended(bytes, file) : nil
    }

    /// Whether the events of a segment with positions give the hashes that tiles have of them.
    private func isAsTilesSay(_ entry: SegmentEntry) throws(LogError) -> Bool {
        guard entry.replica == nil else { return true }
        guard let reader = PairReader.open(entry.name, of: space, in: shared) else { return false }
        let tiles = try TileStore(directory, space: space)
        let width = UInt64(Tile.widthMax)
        var hasher = EventHasher()
        // Whole tiles alone: the first may begin before the segment.
        let start = (entry.first - 1 + width - 1) / width
        for index in start..<max(start, entry.last / width) {
            let node = TreeNode(level: Tile.height, index: index)
            guard let hash = try tiles.hash(node, &hasher) else { continue }
            let leaves = node.leaves
            let events = try reader.events(leaves.lowerBound + 1...leaves.upperBound)
            var part = CompactRange()
            for stored in events.rows {
                let event = try store.eventHash(of: stored.row, in: events, of: space)
                let acceptedAt = stored.acceptedAt?.milliseconds ?? 0
                part.append(hasher.leaf(event, acceptedAt: acceptedAt), &hasher)
            }
            guard part.root(&hasher) == hash else { return false }
        }
        return true
    }
}
