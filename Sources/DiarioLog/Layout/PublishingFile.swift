package import DiarioCore
package import DiarioCrypto
import DiarioFormat

// What a replica writes down before it gives its authority away.
// Specified in schema/format/log.md, section 7.

/// The content of a space's file `publishing`.
package struct PublishingFile: Equatable, Sendable {
    static let size = 80
    private static let magic: UInt32 = 0x4255_5044  // "DPUB"

    package let attempt: AttemptID
    /// How many canonical events the space has, and had when this was written.
    package let size: UInt64
    /// Their root.
    package let root: Hash32
    /// When the last of them was accepted.
    package let acceptedAt: Timestamp
    /// Whether the authority is being taken back: nobody has to be asked any more.
    package var isTakenBack = false

    package init(attempt: AttemptID, size: UInt64, root: Hash32, acceptedAt: Timestamp) {
        self.attempt = attempt
        self.size = size
        self.root = root
        self.acceptedAt = acceptedAt
    }

    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: Self.magic)
        bytes.append(1)
        bytes.append(isTakenBack ? 2 : 1)
        bytes.append(littleEndian: UInt16(0))
        bytes.append(littleEndian: attempt.high)
        bytes.append(littleEndian: attempt.low)
        bytes.append(littleEndian: size)
        root.append(to: &bytes)
        bytes.append(littleEndian: UInt64(bitPattern: acceptedAt.milliseconds))
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        return bytes
    }

    /// Nil unless `bytes` are such a file that verifies.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.size,
            bytes.littleEndian(UInt32.self, at: 0) == Self.magic, bytes[4] == 1,
            1...2 ~= bytes[5], bytes.littleEndian(UInt16.self, at: 6) == 0,
            bytes.littleEndian(UInt32.self, at: 72) == 0,
            bytes.littleEndian(UInt32.self, at: 76)
                == Checksum.crc32c(bytes.extracting(0..<76).raw)
        else { return nil }
        attempt = AttemptID(
            high: bytes.littleEndian(UInt64.self, at: 8),
            low: bytes.littleEndian(UInt64.self, at: 16)
        )
        size = bytes.littleEndian(UInt64.self, at: 24)
        root = bytes.hash(at: 32)
        acceptedAt = Timestamp(
            milliseconds: Int64(bitPattern: bytes.littleEndian(UInt64.self, at: 64))
        )
        guard CivilTime.contains(acceptedAt) else { return nil }
        isTakenBack = bytes[5] == 2
    }
}
