package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
import DiarioStorage

// The file `lost` of a space, specified in schema/format/log.md, section 7.

/// Positions whose events were lost, and what is still known of their place in the tree.
package struct LostPositions: Hashable, Sendable {
    package let first: UInt64
    package let last: UInt64
    /// When that was found, by `diario repair`.
    package let since: Timestamp
    /// The hashes of the perfect subtrees that the positions make up, in order; empty if they are
    /// not known, and then each leaf has a stand-in.
    package var hashes: [Hash32]

    package init(_ positions: ClosedRange<UInt64>, since: Timestamp, hashes: [Hash32] = []) {
        first = positions.lowerBound
        last = positions.upperBound
        self.since = since
        self.hashes = hashes
    }

    package var positions: ClosedRange<UInt64> { first...last }

    /// How many events were lost.
    package var count: UInt64 { last - first + 1 }

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
        let range = first == last ? "position \(first) was" : "positions \(first) to \(last) were"
        return "\(range) lost"
    }
}

/// The list of all lost positions of a space.
package enum LostFile {
    private static let magic: UInt32 = 0x5453_4c44  // "DLST"
    private static let headerSize = 16
    private static let entrySize = 32
    static let sizeMax = 8 * 1024 * 1024

    package static func encoded(_ list: [LostPositions]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: magic)
        bytes.append(littleEndian: UInt32(1))
        bytes.append(littleEndian: UInt32(list.count))
        bytes.append(littleEndian: UInt32(0))
        for lost in list {
            bytes.append(littleEndian: lost.first)
            bytes.append(littleEndian: lost.last)
            bytes.append(littleEndian: UInt64(bitPattern: lost.since.milliseconds))
            bytes.append(littleEndian: UInt32(lost.hashes.count))
            bytes.append(littleEndian: UInt32(0))
            for hash in lost.hashes { bytes.append(hash) }
        }
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        return bytes
    }

    /// Nil unless `bytes` are a list that verifies.
    package static func read(_ bytes: Span<UInt8>) -> [LostPositions]? {
        let end = bytes.count - 8
        guard end >= headerSize, bytes.littleEndian(UInt32.self, at: 0) == magic,
            bytes.littleEndian(UInt32.self, at: 4) == 1,
            bytes.littleEndian(UInt32.self, at: 12) == 0,
            bytes.littleEndian(UInt32.self, at: end) == 0,
            bytes.littleEndian(UInt32.self, at: end + 4)
                == Checksum.crc32c(bytes.extracting(0..<end + 4).raw)
        else { return nil }
        var list: [LostPositions] = []
        var offset = headerSize
        for _ in 0..<bytes.littleEndian(UInt32.self, at: 8) {
            guard end - offset >= entrySize else { return nil }
            let first = bytes.littleEndian(UInt64.self, at: offset)
            let last = bytes.littleEndian(UInt64.self, at: offset + 8)
            let since = Int64(bitPattern: bytes.littleEndian(UInt64.self, at: offset + 16))
            let count = Int(bytes.littleEndian(UInt32.self, at: offset + 24))
            guard bytes.littleEndian(UInt32.self, at: offset + 28) == 0, first <= last,
                LogNumber.isValid(first, count: 1), LogNumber.isValid(last, count: 1),
                first > list.last?.last ?? 0, count <= (end - offset - entrySize) / Hash32.size
            else { return nil }
            let start = offset + entrySize
            let hashes = (0..<count).map { bytes.hash(at: start + $0 * Hash32.size) }
            let lost = LostPositions(
                first...last,
                since: Timestamp(milliseconds: since),
                hashes: hashes
            )
            guard count == 0 || count == lost.nodes.count else { return nil }
            list.append(lost)
            offset = start + count * Hash32.size
        }
        return offset == end ? list : nil
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
