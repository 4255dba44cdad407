package import DiarioCore
package import DiarioCrypto
import DiarioFormat
import DiarioFrames

// The file that a replica writes before it gives its authority away.
// Specified in schema/format/directory.md.

/// The content of a space's file `publishing`.
package struct PublishingFile: Equatable, Sendable {
    static let size = 76

    package let attempt: AttemptID
    /// The number of canonical events of the space, which does not change while the file is there.
    package let size: UInt64
    /// Their root.
    package let root: Hash32
    /// When the last of them was accepted.
    package let acceptedAt: Timestamp
    /// True if the authority is being taken back: nobody has to be asked any more.
    package var isTakenBack = false

    package init(attempt: AttemptID, size: UInt64, root: Hash32, acceptedAt: Timestamp) {
        self.attempt = attempt
        self.size = size
        self.root = root
        self.acceptedAt = acceptedAt
    }

    package func encoded() -> [UInt8] {
        var bytes = SmallFile.begin(.publishing, flags: isTakenBack ? 1 : 0)
        bytes.append(littleEndian: attempt.high)
        bytes.append(littleEndian: attempt.low)
        bytes.append(littleEndian: size)
        root.append(to: &bytes)
        bytes.append(littleEndian: UInt64(bitPattern: acceptedAt.milliseconds))
        SmallFile.end(&bytes)
        return bytes
    }

    /// Nil unless `bytes` are such a file that verifies.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.size,
            (try? SmallFile.check(bytes, .publishing, flags: 1)) != nil
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
        isTakenBack = bytes[5] == 1
    }
}
