package import DiarioCore
import DiarioFormat

// The files of a space that are no log, specified in schema/format/log.md, section 7.

/// The random birth mark of a space: 128 bits, shown as 26 characters.
package struct Lineage: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(drawnFrom entropy: any EntropySource) {
        self.init(high: entropy.next(), low: entropy.next())
    }

    /// 32 digits of lower-case hexadecimal.
    package var text: String {
        [high, low].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// What a space is: who gives its positions, and which space it took the place of.
package struct Manifest: Equatable, Sendable {
    package static let size = 64
    private static let magic: UInt32 = 0x4e41_4d44  // "DMAN"

    package var space: SpaceID
    package var lineage: Lineage
    package var epoch: UInt64
    /// The id under which the authority writes; nil if the authority is elsewhere.
    package var authority: ReplicaID?
    /// True while an import is filling the space: it is not shown.
    package var isStaging: Bool
    /// The space that is dead since this one is there.
    package var replaces: SpaceID?

    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: Self.magic)
        bytes.append(UInt8(1))
        bytes.append(UInt8((authority == nil ? 0 : 1) | (isStaging ? 2 : 0)))
        bytes.append(littleEndian: UInt16(0))
        bytes.append(littleEndian: space.rawValue)
        bytes.append(littleEndian: lineage.high)
        bytes.append(littleEndian: lineage.low)
        bytes.append(littleEndian: epoch)
        bytes.append(littleEndian: authority?.rawValue ?? 0)
        bytes.append(littleEndian: replaces?.rawValue ?? 0)
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        return bytes
    }

    /// Nil unless `bytes` are a manifest that verifies.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.size,
            bytes.littleEndian(UInt32.self, at: 0) == Self.magic, bytes[4] == 1, bytes[5] <= 3,
            bytes.littleEndian(UInt16.self, at: 6) == 0,
            bytes.littleEndian(UInt32.self, at: 56) == 0,
            bytes.littleEndian(UInt32.self, at: 60)
                == Checksum.crc32c(bytes.extracting(0..<60).raw),
            let space = SpaceID(rawValue: bytes.littleEndian(UInt64.self, at: 8))
        else { return nil }
        let authority = ReplicaID(rawValue: bytes.littleEndian(UInt64.self, at: 40))
        guard (authority != nil) == (bytes[5] & 1 == 1) else { return nil }
        self.init(
            space: space,
            lineage: Lineage(
                high: bytes.littleEndian(UInt64.self, at: 16),
                low: bytes.littleEndian(UInt64.self, at: 24)
            ),
            epoch: bytes.littleEndian(UInt64.self, at: 32),
            authority: authority,
            isStaging: bytes[5] & 2 != 0,
            replaces: SpaceID(rawValue: bytes.littleEndian(UInt64.self, at: 48))
        )
    }

    package init(
        space: SpaceID,
        lineage: Lineage,
        epoch: UInt64,
        authority: ReplicaID?,
        isStaging: Bool,
        replaces: SpaceID?
    ) {
        self.space = space
        self.lineage = lineage
        self.epoch = epoch
        self.authority = authority
        self.isStaging = isStaging
        self.replaces = replaces
    }
}
