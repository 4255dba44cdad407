import DiarioFormat
import DiarioStorage
import Synchronization

/// All bytes of a log file, and its frames as far as they verify one after the other.
struct FileContent: Sendable {
    private(set) var bytes: [UInt8] = []
    private(set) var frames: [CheckedFrame] = []

    /// Reads a whole file, and checks its frames from the first one on.
    ///
    /// Piece by piece, so that the bytes are in the processor's cache still when they are checked;
    /// what is in memory already is used again.
    mutating func read(_ file: any LogFile, generation: UInt64) throws(StorageError) {
        bytes.removeAll(keepingCapacity: true)
        frames.removeAll(keepingCapacity: true)
        let size = try file.size()
        bytes.reserveCapacity(size)
        var end = LogFileHeader.size
        // Taken out, since the bytes are looked at meanwhile.
        var checked: [CheckedFrame] = []
        swap(&checked, &frames)
        defer { swap(&checked, &frames) }
        while bytes.count < size {
            let start = bytes.count
            try file.read(at: start, count: min(Self.pieceSize, size - start), into: &bytes)
            guard bytes.count > start else { break }
            end = Self.check(bytes.span, from: end, generation: generation, &checked)
        }
    }

    private static let pieceSize = 256 * 1024

    /// Checks the frames that are there whole; where the first one starts that is not.
    private static func check(
        _ bytes: Span<UInt8>,
        from start: Int,
        generation: UInt64,
        _ frames: inout [CheckedFrame]
    ) -> Int {
        var offset = start
        while case .frame(let header) = FrameHeader.read(
            bytes,
            at: offset,
            generation: generation
        ) {
            frames.append(CheckedFrame(header, bytes, at: offset))
            offset += header.frameSize
        }
        return offset
    }
}

/// A frame that verifies, and what is in it if that is as plain as mostly.
struct CheckedFrame: Sendable {
    let offset: Int
    let header: FrameHeader
    /// Nil if there is more in it than a plain block of rows.
    let rows: OwnRows?

    init(_ header: FrameHeader, _ bytes: Span<UInt8>, at offset: Int) {
        self.offset = offset
        self.header = header
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
}

/// Reads and checks a log file on a thread of its own, while the one before it is taken up.
final class FileAhead: Sendable {
    /// Memory to be used again, then the result.
    private let content: Mutex<FileContent>
    private let failure = Mutex<StorageError?>(nil)
    private let done = Signal()

    init(_ file: any LogFile, generation: UInt64, memory: consuming FileContent) {
        content = Mutex(memory)
        _ = WorkerThread { [self] in
            content.withLock { content in
                do throws(StorageError) {
                    try content.read(file, generation: generation)
                } catch {
                    failure.withLock { $0 = error }
                }
            }
            done.raise()
        }
    }

    /// Waits for the content, which is given once.
    func take() throws(StorageError) -> FileContent {
        done.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
        var taken = FileContent()
        content.withLock { swap(&$0, &taken) }
        return taken
    }
}
