import DiarioCore

// The header of a block: 24 bytes, little-endian. Specified in schema/format/blocks.md.
//
//   offset  size  field
//        0     4  magic, "dblk"
//        4     1  version, 1
//        5     1  compression of the body: 0 none, 1 zstd, 2 zstd after a context
//        6     2  flags
//        8     4  number of events, 1 to 65,536
//       12     4  size of the body before compression, at most 2 MiB
//       16     4  stored size: of the body as it follows
//       20     4  CRC32C of bytes 0 to 20 and of the stored body

/// The first 24 bytes of a block, checked against the limits.
package struct BlockHeader: Equatable, Sendable {
    package static let size = 24
    package static let version: UInt8 = 1

    package var compression: Compression
    package var flags: BlockFlags
    package var eventCount: Int
    /// Bytes of the body before compression.
    package var bodySize: Int
    /// Bytes of the body as it follows the header.
    package var storedSize: Int
    package var checksum: UInt32

    /// How the body is stored; the raw values are on disk.
    package enum Compression: UInt8, Sendable {
        case none = 0
        /// All of it is one zstd frame.
        case whole = 1
        /// All of it is one zstd frame, made after a context that both sides of an exchange have.
        case afterContext = 2
    }

    package init(
        compression: Compression,
        flags: BlockFlags,
        eventCount: Int,
        bodySize: Int,
        storedSize: Int,
        checksum: UInt32 = 0
    ) {
        self.compression = compression
        self.flags = flags
        self.eventCount = eventCount
        self.bodySize = bodySize
        self.storedSize = storedSize
        self.checksum = checksum
    }

    /// Bytes of the whole block: this header and the body that follows.
    package var blockSize: Int { Self.size + storedSize }

    /// Reads the header at the start of `bytes`; later bytes are not checked.
    package static func parse(_ bytes: Span<UInt8>) throws(FormatError) -> BlockHeader {
        var reader = ByteReader(bytes.raw)
        try Magic.block.check(try reader.next(UInt32.self))
        let version = try reader.next(UInt8.self)
        guard version == Self.version else { throw .unknownVersion(version, at: 4) }
        guard let compression = Compression(rawValue: try reader.next(UInt8.self)) else {
            throw .malformed(.compression, at: 5)
        }
        let flags = BlockFlags(rawValue: try reader.next(UInt16.self))
        guard flags.isSubset(of: .all) else { throw .malformed(.blockFlags, at: 6) }
        let eventCount = try reader.next(UInt32.self)
        guard eventCount >= 1 else { throw .malformed(.eventCount, at: 8) }
        guard eventCount <= Limits.blockCountMax else {
            throw .tooLarge(.eventCount, size: UInt64(eventCount), max: Limits.blockCountMax)
        }
        let bodySize = try reader.next(UInt32.self)
        guard bodySize <= Limits.blockSizeMax else {
            throw .tooLarge(.body, size: UInt64(bodySize), max: Limits.blockSizeMax)
        }
        let storedSize = try reader.next(UInt32.self)
        guard storedSize <= Self.storedSizeMax else {
            throw .tooLarge(.storedBody, size: UInt64(storedSize), max: Self.storedSizeMax)
        }
        guard compression != .none || storedSize == bodySize else {
            throw .malformed(.storedBody, at: 16)
        }
        return BlockHeader(
            compression: compression,
            flags: flags,
            eventCount: Int(eventCount),
            bodySize: Int(bodySize),
            storedSize: Int(storedSize),
            checksum: try reader.next(UInt32.self)
        )
    }

    /// Bytes that cannot be compressed would grow a little; such a body is stored uncompressed.
    package static let storedSizeMax = Limits.blockSizeMax

    /// The checksum of a whole block: of all its bytes but the field that holds it.
    package static func checksum(of block: RawSpan) -> UInt32 {
        precondition(block.byteCount >= size, "a block has a header")
        let header = Checksum.crc32c(block.extracting(0..<20))
        return Checksum.crc32c(block.extracting(size..<block.byteCount), continuing: header)
    }

    /// Throws unless `bytes` are exactly this block, with the checksum that was written.
    func check(_ bytes: Span<UInt8>, verifyChecksum: Bool) throws(FormatError) {
        guard bytes.count >= blockSize else { throw .truncated(at: bytes.count) }
        guard bytes.count == blockSize else { throw .trailingBytes(at: blockSize) }
        guard verifyChecksum else { return }
        let computed = Self.checksum(of: bytes.raw)
        guard computed == checksum else {
            throw .checksumMismatch(stored: checksum, computed: computed)
        }
    }
}

/// The kind of a block.
package struct BlockFlags: OptionSet, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The events have positions; without it they are pending.
    package static let positioned = BlockFlags(rawValue: 1)
    /// Salt nodes come with it.
    package static let salted = BlockFlags(rawValue: 2)
    /// A type of the pack `engine` is among its types.
    package static let authority = BlockFlags(rawValue: 4)

    static let all: BlockFlags = [.positioned, .salted, .authority]
}

extension BlockHeader {
    /// Writes this header, with the right checksum, over the start of the block that begins at
    /// `start` and ends where `output` does.
    func seal(_ output: inout [UInt8], from start: Int) {
        precondition(output.count - start == blockSize, "the header speaks of this block")
        var header = self
        header.put(into: &output, at: start)
        header.checksum = Self.checksum(of: output.span.raw.extracting(start..<output.count))
        header.put(into: &output, at: start)
    }

    private func put(into output: inout [UInt8], at start: Int) {
        let kind =
            UInt64(Self.version) | UInt64(compression.rawValue) << 8 | UInt64(flags.rawValue) << 16
        output.put(UInt64(Magic.block.rawValue) | kind << 32, at: start)
        output.put(UInt64(eventCount) | UInt64(bodySize) << 32, at: start + 8)
        output.put(UInt64(storedSize) | UInt64(checksum) << 32, at: start + 16)
    }
}

extension [UInt8] {
    /// Writes eight bytes over those at `offset`.
    fileprivate mutating func put(_ value: UInt64, at offset: Int) {
        precondition(offset >= 0 && offset + 8 <= count, "a header lies in its block")
        // Safe: the check above keeps the store inside, and any bytes are bytes.
        unsafe withUnsafeMutableBytes { bytes in
            unsafe bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
        }
    }
}
