import DiarioCore
import DiarioFormat

// The header of a file of the write-ahead log, specified in schema/format/frames.md.
// The table there is the authority; bytes 60 to 4,096 are zero.

/// Says which file this is, in which use, and where the one before it ends.
package struct LogFileHeader: Equatable, Sendable {
    package static let size = 4096
    package static let generationOffset = 16
    private static let fieldsSize = 60

    package var number: UInt64
    package var generation: UInt64
    package var previousGeneration: UInt64
    package var previousLength: UInt64
    package var firstFrame: UInt64
    package var begunMilliseconds: Int64

    package func encoded() -> [UInt8] {
        var bytes = SmallFile.begin(.logFile)
        bytes.append(littleEndian: number)
        bytes.append(littleEndian: generation)
        bytes.append(littleEndian: previousGeneration)
        bytes.append(littleEndian: previousLength)
        bytes.append(littleEndian: firstFrame)
        bytes.append(littleEndian: UInt64(bitPattern: begunMilliseconds))
        SmallFile.end(&bytes)
        bytes.append(repeating: 0, count: Self.size - Self.fieldsSize)
        return bytes
    }

    /// Nil unless `bytes` are a header that verifies.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= Self.size,
            (try? SmallFile.check(bytes.extracting(0..<Self.fieldsSize), .logFile)) != nil
        else { return nil }
        for offset in stride(from: Self.fieldsSize, to: Self.size, by: 4)
        where bytes.littleEndian(UInt32.self, at: offset) != 0 { return nil }
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
