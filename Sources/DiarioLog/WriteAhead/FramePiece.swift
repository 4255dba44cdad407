import DiarioCore
import DiarioFormat
import DiarioStorage

/// Some of a log file: whole frames, one behind the other, all of which verify.
struct FramePiece: Sendable {
    /// Of no meaning for frames of which `rows` are known.
    private(set) var bytes: [UInt8] = []
    /// Where in the file `bytes` start.
    private(set) var start = 0
    private(set) var frames: [CheckedFrame] = []

    /// True if it is known of each frame what is in it, so that nobody needs the bytes.
    var isPlain: Bool { frames.allSatisfy { $0.rows != nil } }

    /// Gives the bytes away for other memory.
    mutating func exchange(_ memory: inout [UInt8]) { swap(&bytes, &memory) }

    /// Where in the file the bytes behind the last frame are.
    var end: Int { (frames.last?.end).map { start + $0 } ?? start }

    /// Reads the frames that follow `offset`; there are none if the first does not verify.
    ///
    /// So little that it is in the processor's cache still when it is checked and taken up; more
    /// only for a frame that is longer. What is in memory already is used again.
    mutating func read(
        _ file: any LogFile,
        from offset: Int,
        fileSize: Int,
        generation: UInt64
    ) throws(StorageError) {
        start = offset
        bytes.removeAll(keepingCapacity: true)
        frames.removeAll(keepingCapacity: true)
        var wanted = min(Self.size, fileSize - offset)
        while bytes.count < wanted {
            try file.read(at: start + bytes.count, count: wanted - bytes.count, into: &bytes)
            // Shorter than it was a moment ago: then its frames end here.
            guard bytes.count >= wanted, let whole = check(generation: generation),
                whole <= fileSize - start
            else { return }
            wanted = whole
        }
    }

    private static let size = 256 * 1024

    /// Checks frames up to the first that does not verify; how many bytes there must be for that
    /// one, if it is only that they end within it.
    private mutating func check(generation: UInt64) -> Int? {
        // Taken out, since the bytes are looked at meanwhile.
        var checked: [CheckedFrame] = []
        swap(&checked, &frames)
        defer { swap(&checked, &frames) }
        let bytes = bytes.span
        var offset = checked.last?.end ?? 0
        while true {
            switch FrameHeader.read(bytes, at: offset, origin: start, generation: generation) {
            case .none: return nil
            case .frame(let header):
                checked.append(CheckedFrame(header, bytes, at: offset))
                offset += header.frameSize
            case .broken(let header):
                guard header.bodySize <= Limits.frameSizeMax else { return nil }
                let whole = offset + header.frameSize
                return whole > bytes.count ? whole : nil
            }
        }
    }
}

/// A frame that verifies, and what is in it if that is as plain as mostly.
struct CheckedFrame: Sendable {
    let number: UInt64
    // Small numbers, since there can be many frames: where it starts in the bytes of its piece, and
    // how long its records are.
    private let start: UInt32
    private let bodySize: UInt32
    /// Nil if there is more in it than a plain block of rows.
    let rows: OwnRows?

    init(_ header: FrameHeader, _ bytes: Span<UInt8>, at offset: Int) {
        number = header.number
        start = UInt32(offset)
        bodySize = UInt32(header.bodySize)
        let body = offset + FrameHeader.size
        guard header.recordCount == 1,
            let record = Record.read(bytes, at: body, end: body + header.bodySize),
            record.kind == .rows, record.content.upperBound == body + header.bodySize,
            let rows = PlainRows(bytes.extracting(record.content)), LogNumber.areValid(rows)
        else {
            self.rows = nil
            return
        }
        self.rows = OwnRows(
            space: record.space,
            offset: record.content.lowerBound - offset,
            size: record.content.count,
            rows: rows
        )
    }

    var offset: Int { Int(start) }
    var end: Int { offset + FrameHeader.frameSize(body: Int(bodySize)) }

    /// Where its records lie in the bytes of its piece.
    var body: Range<Int> {
        let first = offset + FrameHeader.size
        return first..<first + Int(bodySize)
    }
}
