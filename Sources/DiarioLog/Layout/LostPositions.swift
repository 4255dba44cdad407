package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
import DiarioStorage

// The file `lost` of a space, specified in schema/format/log.md, section 7.

/// Positions of which events were lost, and what is still known of their place in the tree.
package struct LostPositions: Hashable, Sendable {
    package let first: UInt64
    package let last: UInt64
    /// When that was found, by `diario repair`.
    package let since: Timestamp
    /// The hashes of the perfect subtrees that the positions make up, in order; empty if they are
    /// not known, and then each leaf has a stand-in.
    package var hashes: [Hash32]
    /// Those of the positions whose events are here, in order; none without hashes.
    ///
    /// The tree is not made of their leaves, since those beside them are not known.
    package var kept: [ClosedRange<UInt64>]

    package init(
        _ positions: ClosedRange<UInt64>,
        since: Timestamp,
        hashes: [Hash32] = [],
        kept: [ClosedRange<UInt64>] = []
    ) {
        first = positions.lowerBound
        last = positions.upperBound
        self.since = since
        self.hashes = hashes
        self.kept = kept
    }

    package var positions: ClosedRange<UInt64> { first...last }

    /// The positions whose events were lost.
    package var runs: [ClosedRange<UInt64>] {
        var runs: [ClosedRange<UInt64>] = []
        var next = first
        for kept in kept {
            if next < kept.lowerBound { runs.append(next...kept.lowerBound - 1) }
            next = kept.upperBound + 1
        }
        if next <= last { runs.append(next...last) }
        return runs
    }

    /// How many events were lost.
    package var count: UInt64 {
        kept.reduce(last - first + 1) { $0 - ($1.upperBound - $1.lowerBound + 1) }
    }

    /// Those lost positions next to each other that one is among; nil if its event is here.
    func run(at position: UInt64) -> ClosedRange<UInt64>? {
        guard positions ~= position else { return nil }
        let next = kept.sortedIndex(behindAll: { $0.upperBound < position })
        guard next == kept.count || kept[next].lowerBound > position else { return nil }
        let start = next > 0 ? kept[next - 1].upperBound + 1 : first
        return start...(next < kept.count ? kept[next].lowerBound - 1 : last)
    }

    /// The subtrees that the positions make up.
    package var nodes: [TreeNode] { TreeNode.covering(first - 1..<last) }

    /// Adds the positions to a tree that ends before them.
    func append(to range: inout CompactRange, _ hasher: inout EventHasher) {
        if hashes.isEmpty {
            for position in positions { range.append(Self.standIn(position), &hasher) }
        } else {
            for (node, hash) in zip(nodes, hashes) {
                range.append(hash, level: node.level, &hasher)
            }
        }
    }

    /// The leaf that stands in the place of one that is not known.
    static func standIn(_ position: UInt64) -> Hash32 {
        var bytes: [UInt8] = [3]
        bytes.append(littleEndian: position)
        return SHA256.hash(bytes.span)
    }

    /// What is said of them.
    package var message: String {
        guard kept.isEmpty else {
            return "\(count) of the events at positions \(first) to \(last) were lost"
        }
        let range = first == last ? "position \(first) was" : "positions \(first) to \(last) were"
        return "\(range) lost"
    }
}

extension [LostPositions] {
    /// The one that a position is among, of a list in order.
    func around(_ position: UInt64) -> LostPositions? {
        let index = sortedIndex(behindAll: { $0.last < position })
        return index < count && self[index].first <= position ? self[index] : nil
    }

    /// All positions whose events were lost, in order.
    package var runs: [ClosedRange<UInt64>] { flatMap(\.runs) }
}

/// The list of all lost positions of a space.
package enum LostFile {
    private static let magic: UInt32 = 0x5453_4c44  // "DLST"
    private static let headerSize = 16
    private static let entrySize = 32
    private static let runSize = 16
    static let sizeMax = 64 * 1024 * 1024

    package static func encoded(_ list: [LostPositions]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: magic)
        let isParted = list.contains { !$0.kept.isEmpty }
        bytes.append(littleEndian: UInt32(isParted ? 2 : 1))
        bytes.append(littleEndian: UInt32(list.count))
        bytes.append(littleEndian: UInt32(0))
        for lost in list {
            bytes.append(littleEndian: lost.first)
            bytes.append(littleEndian: lost.last)
            bytes.append(littleEndian: UInt64(bitPattern: lost.since.milliseconds))
            bytes.append(littleEndian: UInt32(lost.hashes.count))
            bytes.append(littleEndian: UInt32(lost.kept.count))
            for hash in lost.hashes { bytes.append(hash) }
            for run in lost.kept {
                bytes.append(littleEndian: run.lowerBound)
                bytes.append(littleEndian: run.upperBound)
            }
        }
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        return bytes
    }

    /// Nil unless `bytes` are a list that verifies.
    package static func read(_ bytes: Span<UInt8>) -> [LostPositions]? {
        let end = bytes.count - 8
        guard end >= headerSize, bytes.littleEndian(UInt32.self, at: 0) == magic,
            1...2 ~= bytes.littleEndian(UInt32.self, at: 4),
            bytes.littleEndian(UInt32.self, at: 12) == 0,
            bytes.littleEndian(UInt32.self, at: end) == 0,
            bytes.littleEndian(UInt32.self, at: end + 4)
                == Checksum.crc32c(bytes.extracting(0..<end + 4).raw)
        else { return nil }
        let isParted = bytes.littleEndian(UInt32.self, at: 4) == 2
        var list: [LostPositions] = []
        var offset = headerSize
        for _ in 0..<bytes.littleEndian(UInt32.self, at: 8) {
            guard let lost = entry(bytes.extracting(0..<end), &offset),
                lost.first > list.last?.last ?? 0, isParted || lost.kept.isEmpty
            else { return nil }
            list.append(lost)
        }
        return offset == end ? list : nil
    }

    /// The range at `offset`, behind which that stands then.
    private static func entry(_ bytes: Span<UInt8>, _ offset: inout Int) -> LostPositions? {
        guard bytes.count - offset >= entrySize else { return nil }
        let first = bytes.littleEndian(UInt64.self, at: offset)
        let last = bytes.littleEndian(UInt64.self, at: offset + 8)
        let since = Int64(bitPattern: bytes.littleEndian(UInt64.self, at: offset + 16))
        let hashCount = Int(bytes.littleEndian(UInt32.self, at: offset + 24))
        let keptCount = Int(bytes.littleEndian(UInt32.self, at: offset + 28))
        offset += entrySize
        guard first <= last, LogNumber.isValid(first, count: 1), LogNumber.isValid(last, count: 1),
            hashCount <= (bytes.count - offset) / Hash32.size
        else { return nil }
        let hashes = (0..<hashCount).map { bytes.hash(at: offset + $0 * Hash32.size) }
        offset += hashCount * Hash32.size
        guard keptCount <= (bytes.count - offset) / runSize, keptCount == 0 || hashCount > 0
        else { return nil }
        var kept: [ClosedRange<UInt64>] = []
        for _ in 0..<keptCount {
            let (low, high) = (
                bytes.littleEndian(UInt64.self, at: offset),
                bytes.littleEndian(UInt64.self, at: offset + 8)
            )
            // Between two of them an event was lost.
            let next = kept.last.map { $0.upperBound + 2 } ?? first
            guard low >= next, low <= high, high <= last else { return nil }
            kept.append(low...high)
            offset += runSize
        }
        let lost = LostPositions(
            first...last,
            since: Timestamp(milliseconds: since),
            hashes: hashes,
            kept: kept
        )
        guard lost.count > 0, hashCount == 0 || hashCount == lost.nodes.count else { return nil }
        return lost
    }

    /// The lost positions of a space; none without the file.
    static func read(
        of space: SpaceID,
        in directory: any LogDirectory
    ) throws(LogError) -> [LostPositions] {
        let path = LogPaths.lost(space)
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try directory.contents(of: path, sizeMax: sizeMax)
        } catch {
            switch error {
            case .notFound: return []
            case .tooLarge: throw .corrupt(fault(path))
            default: throw .storage(error)
            }
        }
        guard let list = read(bytes.span) else { throw .corrupt(fault(path)) }
        return list
    }

    private static func fault(_ path: String) -> Fault {
        Fault(file: path, offset: 0, what: "the list of lost positions is damaged")
    }
}
