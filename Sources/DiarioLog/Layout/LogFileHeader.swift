import DiarioCore
import DiarioFormat

// The header of a file of the write-ahead log, specified in schema/format/log.md, section 8.
// The table there is the authority; bytes 64 to 4,096 are zero.

/// Says which file this is, in which use, and where the one before it ends.
package struct LogFileHeader: Equatable, Sendable {
    package static let size = 4096
    static let generationOffset = 16
    private static let fieldsSize = 64
    private static let magic: UInt32 = 0x4c41_5744  // "DWAL"
    private static let version: UInt32 = 1

    package var number: UInt64
    package var generation: UInt64
    package var previousGeneration: UInt64
    package var previousLength: UInt64
    package var firstFrame: UInt64
    package var begunMilliseconds: Int64

    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.size)
        bytes.append(littleEndian: Self.magic)
        bytes.append(littleEndian: Self.version)
        bytes.append(littleEndian: number)
        bytes.append(littleEndian: generation)
        bytes.append(littleEndian: previousGeneration)
        bytes.append(littleEndian: previousLength)
        bytes.append(littleEndian: firstFrame)
        bytes.append(littleEndian: UInt64(bitPattern: begunMilliseconds))
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        bytes.append(repeating: 0, count: Self.size - Self.fieldsSize)
        return bytes
    }

    /// Nil unless `bytes` are a header that verifies.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= Self.size else { return nil }
        let fields = bytes.extracting(0..<Self.fieldsSize - 4)
        guard bytes.littleEndian(UInt32.self, at: 0) == Self.magic,
            bytes.littleEndian(UInt32.self, at: 4) == Self.version,
            bytes.littleEndian(UInt32.self, at: 56) == 0,
            bytes.littleEndian(UInt32.self, at: 60) == Checksum.crc32c(fields.raw)
        else { return nil }
        for offset in stride(from: Self.fieldsSize, to: Self.size, by: 8)
        where bytes.littleEndian(UInt64.self, at: offset) != 0 { return nil }
        number = bytes.littleEndian(UInt64.self, at: 8)
        generation = bytes.littleEndian(UInt64.self, at: Self.generationOffset)
        previousGeneration = bytes.littleEndian(UInt64.self, at: 24)
        previousLength = bytes.littleEndian(UInt64.self, at: 32)
        firstFrame = bytes.littleEndian(UInt64.self, at: 40)
        begunMilliseconds = Int64(bitPattern: bytes.littleEndian(UInt64.self, at: 48))
        guard generation != 0 else { return nil }
    }

    package init(
        number: UInt64,
        generation: UInt64,
        previousGeneration: UInt64,
        previousLength: UInt64,
        firstFrame: UInt64,
        begunMilliseconds: Int64
    ) {
        self.number = number
        self.generation = generation
        self.previousGeneration = previousGeneration
        self.previousLength = previousLength
        self.firstFrame = firstFrame
        self.begunMilliseconds = begunMilliseconds
    }
}
