import DiarioCore
import DiarioCrypto

// The header of both files: 64 bytes, little-endian. Specified in schema/format/segments.md,
// sections 3 and 4.
//
//   offset  size  field
//        0     4  magic, "dseg" or "dper"
//        4     1  version, 1
//        5     1  compression of the index: 0 none, 1 zstd
//        6     2  flags
//        8     4  number of events
//       12     4  size of the index before compression
//       16     8  position of the first event, or 0
//       24     8  length of the file
//       32     4  stored size of the index
//       36     8  zero in a segment, revision in a sidecar
//       44    16  identity of the segment
//       60     4  CRC32C of bytes 0 to 60 and of the stored index

/// What the first 64 bytes of a segment or a sidecar say, checked against the limits.
package struct SegmentHeader: Equatable, Sendable {
    package static let size = 64
    static let version: UInt8 = 1
    static let identityOffset = 44

    package var file: SegmentFile
    package var isPositioned: Bool
    package var eventCount: Int
    /// Zero if the events are pending.
    package var firstPosition: UInt64
    package var fileSize: Int
    /// How often a sidecar was rewritten; zero in a segment.
    package var revision: UInt64
    package var identity: SegmentIdentity
    var isIndexCompressed: Bool
    var indexSize: Int
    var storedIndexSize: Int
    package internal(set) var checksum: UInt32 = 0

    /// Where the first block starts.
    package var blocksOffset: Int { Self.size + storedIndexSize }

    private static func magic(of file: SegmentFile) -> Magic {
        switch file {
        case .segment: .segment
        case .sidecar: .sidecar
        }
    }

    static func parse(
        _ bytes: Span<UInt8>,
        _ file: SegmentFile
    ) throws(FormatError) -> SegmentHeader {
        var reader = ByteReader(bytes.raw)
        try magic(of: file).check(try reader.next(UInt32.self))
        let version = try reader.next(UInt8.self)
        guard version == Self.version else { throw .unknownVersion(version, at: 4) }
        let compression = try reader.next(UInt8.self)
        guard compression <= 1 else { throw .malformed(.compression, at: 5) }
        let flags = try reader.next(UInt16.self)
        guard flags <= 1 else { throw .malformed(.blockFlags, at: 6) }
        let eventCount = Int(clamping: try reader.next(UInt32.self))
        guard 1...SegmentLimits.eventCountMax ~= eventCount else {
            throw .malformed(.eventCount, at: 8)
        }
        let indexSize = Int(clamping: try reader.next(UInt32.self))
        let position = try reader.next(UInt64.self)
        let isPositioned = flags == 1
        guard isPositioned == (position > 0), position <= UInt64.max - UInt64(eventCount) else {
            throw .malformed(.position, at: 16)
        }
        let fileSize = try reader.next(UInt64.self)
        let storedIndexSize = Int(clamping: try reader.next(UInt32.self))
        guard indexSize <= SegmentLimits.indexSizeMax, storedIndexSize <= indexSize,
            compression == 1 || storedIndexSize == indexSize
        else { throw .malformed(.body, at: 12) }
        guard fileSize >= UInt64(size) + UInt64(storedIndexSize), fileSize <= UInt64(Int.max) else {
            throw .malformed(.body, at: 24)
        }
        let revision = try reader.next(UInt64.self)
        guard file == .sidecar || revision == 0 else { throw .malformed(.body, at: 36) }
        let identity = SegmentIdentity(
            first: try reader.next(UInt64.self),
            second: try reader.next(UInt64.self)
        )
        return SegmentHeader(
            file: file,
            isPositioned: isPositioned,
            eventCount: eventCount,
            firstPosition: position,
            fileSize: Int(fileSize),
            revision: revision,
            identity: identity,
            isIndexCompressed: compression == 1,
            indexSize: indexSize,
            storedIndexSize: storedIndexSize,
            checksum: try reader.next(UInt32.self)
        )
    }

    /// Checks the checksum over the header and the stored index that follows it.
    func check(_ header: Span<UInt8>, _ index: Span<UInt8>) throws(FormatError) {
        let start = Checksum.crc32c(header.raw.extracting(0..<Self.size - 4))
        let computed = Checksum.crc32c(index.raw, continuing: start)
        guard computed == checksum else {
            throw .checksumMismatch(stored: checksum, computed: computed)
        }
    }

    /// The 64 bytes of the header in front of `index`.
    func bytes(before index: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: Self.magic(of: file).rawValue)
        bytes.append(Self.version)
        bytes.append(isIndexCompressed ? 1 : 0)
        bytes.append(littleEndian: UInt16(isPositioned ? 1 : 0))
        bytes.append(littleEndian: UInt32(eventCount))
        bytes.append(littleEndian: UInt32(indexSize))
        bytes.append(littleEndian: firstPosition)
        bytes.append(littleEndian: UInt64(fileSize))
        bytes.append(littleEndian: UInt32(storedIndexSize))
        bytes.append(littleEndian: revision)
        bytes.append(littleEndian: identity.first)
        bytes.append(littleEndian: identity.second)
        let start = Checksum.crc32c(bytes.span.raw)
        bytes.append(littleEndian: Checksum.crc32c(index.raw, continuing: start))
        return bytes
    }
}

/// What ties a sidecar to its segment: the first half of a hash over the segment.
package struct SegmentIdentity: Hashable, Sendable {
    /// Bytes 0 to 8 and 8 to 16, as little-endian numbers.
    package var first: UInt64
    package var second: UInt64

    package init(first: UInt64, second: UInt64) {
        self.first = first
        self.second = second
    }

    /// The identity of a segment with these bytes behind its header.
    package init(of content: Span<UInt8>) {
        let words = SHA256.hash(content).words
        self.init(first: words.0, second: words.1)
    }
}
