import DiarioCore
import DiarioFormat
import DiarioStorage

/// A file of the log whose frames are read.
struct FrameFile: Sendable {
    let file: any LogFile
    let number: UInt64
    let generation: UInt64
    let size: Int

    init(_ file: any LogFile, number: UInt64, generation: UInt64) throws(StorageError) {
        self.file = file
        self.number = number
        self.generation = generation
        size = Int(clamping: try file.size())
    }

    private init(_ file: any LogFile, like other: FrameFile) {
        self.file = file
        number = other.number
        generation = other.generation
        size = other.size
    }

    /// The same by another opening of the file, such as one for writing.
    func opened(as file: any LogFile) -> FrameFile { FrameFile(file, like: self) }
}

/// A frame of a piece.
package struct Frame: Sendable {
    package let number: UInt64
    /// Its offset in the bytes of its piece.
    package let offset: Int
    let bodySize: Int
    package let recordCount: Int

    /// The range of its records in the bytes of its piece.
    package var body: Range<Int> {
        offset + FrameHeader.size..<offset + FrameHeader.size + bodySize
    }

    var end: Int { offset + FrameHeader.frameSize(body: bodySize) }
}

/// A part of a log file: consecutive whole frames, all of which verify.
package struct FramePiece: Sendable {
    package private(set) var bytes: [UInt8] = []
    /// The offset of `bytes` in the file.
    package private(set) var start = 0
    package private(set) var frames: [Frame] = []
    /// The number and the generation of the file.
    private var file: (number: UInt64, generation: UInt64) = (0, 0)

    package func place(of frame: Frame) -> FramePlace {
        FramePlace(file: file.number, generation: file.generation, offset: start + frame.offset)
    }

    /// Forgets the frames that do not follow each other, the first with this number.
    mutating func keepFrames(from first: UInt64) {
        let count = frames.indices.first { frames[$0].number != first &+ UInt64($0) }
        frames.removeSubrange((count ?? frames.count)...)
    }

    /// The offset in the file of the end of the last frame.
    var end: Int { start + (frames.last?.end ?? 0) }

    /// Reads the frames that follow `offset` and end at `limit` at the latest; there are none if
    /// the first does not verify.
    ///
    /// So little that it is in the processor's cache still when it is checked and replayed; more
    /// only for a frame that is longer. What is in memory already is used again.
    mutating func read(
        _ file: FrameFile,
        from offset: Int,
        limit: Int
    ) throws(StorageError) {
        start = offset
        self.file = (file.number, file.generation)
        bytes.removeAll(keepingCapacity: true)
        frames.removeAll(keepingCapacity: true)
        var wanted = min(Self.size, limit - offset)
        while bytes.count < wanted {
            try file.file.read(
                at: Int64(start + bytes.count),
                count: wanted - bytes.count,
                into: &bytes
            )
            // Shorter than it was a moment ago: then its frames end here.
            guard bytes.count >= wanted, let whole = check(file), whole <= limit - start else {
                return
            }
            wanted = whole
        }
    }

    private static let size = 128 * 1024

    /// Checks frames up to the first that does not verify; how many bytes there must be for that
    /// one, if it is only that they end within it.
    private mutating func check(_ file: FrameFile) -> Int? {
        // Taken out, since the bytes are looked at meanwhile.
        var found: [Frame] = []
        swap(&found, &frames)
        defer { swap(&found, &frames) }
        let bytes = bytes.span
        var offset = found.last?.end ?? 0
        while true {
            let reading = FrameHeader.read(
                bytes,
                at: offset,
                origin: start,
                generation: file.generation
            )
            switch reading {
            case .none: return nil
            case .frame(let header):
                found.append(
                    Frame(
                        number: header.number,
                        offset: offset,
                        bodySize: header.bodySize,
                        recordCount: header.recordCount
                    )
                )
                offset += header.frameSize
            case .broken(let header):
                guard header.bodySize <= Limits.frameSizeMax else { return nil }
                let whole = offset + header.frameSize
                return whole > bytes.count ? whole : nil
            }
        }
    }
}

/// Gives the frames of one log file, piece by piece.
struct FrameSource {
    let file: FrameFile
    private var offset: Int

    init(_ file: FrameFile, from offset: Int) {
        self.file = file
        self.offset = offset
    }

    /// Puts the next frames into `piece`, whose memory is used again: those that end at `end` or
    /// before; none if there are no more.
    mutating func next(_ piece: inout FramePiece, end: Int) throws(StorageError) {
        try piece.read(file, from: offset, limit: min(end, file.size))
        offset = piece.end
    }
}
