import DiarioCore
import DiarioFormat

// A frame of the write-ahead log, specified in schema/format/frames.md: this header, the
// records, zeros up to a multiple of 8.

/// The 40 bytes in front of a frame's records.
package struct FrameHeader: Equatable, Sendable {
    package static let size = 40
    package static let alignment = 8

    package var generation: UInt64
    package var number: UInt64
    package var durableBefore: UInt64
    package var bodySize: Int
    package var recordCount: Int

    package init(
        generation: UInt64,
        number: UInt64,
        durableBefore: UInt64,
        bodySize: Int,
        recordCount: Int
    ) {
        self.generation = generation
        self.number = number
        self.durableBefore = durableBefore
        self.bodySize = bodySize
        self.recordCount = recordCount
    }

    /// The bytes from the start of this frame to the start of the next.
    package var frameSize: Int { Self.frameSize(body: bodySize) }

    package static func frameSize(body: Int) -> Int {
        (size + body + alignment - 1) & ~(alignment - 1)
    }

    /// Completes a frame: `frame` is room for a header, the records, and padding.
    package func seal(_ frame: inout [UInt8]) {
        precondition(frame.count == frameSize, "a frame is padded before it is sealed")
        frame.store(littleEndian: Magic.frame.rawValue, at: 0)
        frame.store(littleEndian: generation, at: 8)
        frame.store(littleEndian: number, at: 16)
        frame.store(littleEndian: durableBefore, at: 24)
        frame.store(littleEndian: UInt32(bodySize), at: 32)
        frame.store(littleEndian: UInt32(recordCount), at: 36)
        let checksum = Checksum.crc32c(frame.span.extracting(8..<frame.count).raw)
        frame.store(littleEndian: checksum, at: 4)
    }

    /// The result of reading a header at a place where a frame may start.
    package enum Reading: Equatable {
        case frame(FrameHeader)
        /// Starts as a frame of this generation but does not verify: torn, or damaged.
        case broken(FrameHeader)
        /// Not the start of a frame of this generation.
        case none
    }

    /// True if a frame of this generation may start at `offset`, where a header has room.
    @inline(__always)
    static func mayStart(_ bytes: Span<UInt8>, at offset: Int, generation: UInt64) -> Bool {
        bytes.littleEndian(UInt32.self, at: offset) == Magic.frame.rawValue
            && bytes.littleEndian(UInt64.self, at: offset + 8) == generation
    }

    /// Reads the frame at `offset` of bytes that start at `origin` of their file.
    ///
    /// It has this generation, and any number.
    @inline(__always)
    package static func read(
        _ bytes: Span<UInt8>,
        at offset: Int,
        origin: Int = 0,
        generation: UInt64
    ) -> Reading {
        guard bytes.count - offset >= size, mayStart(bytes, at: offset, generation: generation)
        else { return .none }
        let header = FrameHeader(
            generation: generation,
            number: bytes.littleEndian(UInt64.self, at: offset + 16),
            durableBefore: bytes.littleEndian(UInt64.self, at: offset + 24),
            bodySize: Int(bytes.littleEndian(UInt32.self, at: offset + 32)),
            recordCount: Int(bytes.littleEndian(UInt32.self, at: offset + 36))
        )
        guard header.bodySize <= Limits.frameSizeMax,
            bytes.count - offset >= header.frameSize,
            header.durableBefore <= UInt64(origin + offset)
        else { return .broken(header) }
        let checked = bytes.extracting(offset + 8..<offset + header.frameSize)
        guard bytes.littleEndian(UInt32.self, at: offset + 4) == Checksum.crc32c(checked.raw) else {
            return .broken(header)
        }
        return .frame(header)
    }
}
