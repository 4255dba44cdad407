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
        size = try file.size()
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

/// Some of a log file: whole frames, one behind the other, all of which verify.
struct FramePiece: Sendable {
    /// Of no meaning if the piece is plain.
    private(set) var bytes: [UInt8] = []
    /// Where in the file `bytes` start.
    private(set) var start = 0
    private var contents = FrameGroups()

    var groups: [FrameGroup] { contents.list }

    /// True if it is known of each frame what is in it, so that nobody needs the bytes.
    var isPlain: Bool { groups.allSatisfy { $0.rows != nil } }

    /// The runs of a group's rows.
    func runs(of rows: PlainStretch) -> ArraySlice<Run> { contents.runs[rows.runs] }

    /// Gives the bytes away for other memory.
    mutating func exchange(_ memory: inout [UInt8]) { swap(&bytes, &memory) }

    /// Where in the file the bytes behind the last frame are.
    var end: Int { start + (groups.last?.end ?? 0) }

    /// Reads the frames that follow `offset` and end at `limit` at the latest; there are none if
    /// the first does not verify.
    ///
    /// So little that it is in the processor's cache still when it is checked and taken up; more
    /// only for a frame that is longer. What is in memory already is used again.
    mutating func read(
        _ file: FrameFile,
        from offset: Int,
        limit: Int
    ) throws(StorageError) {
        start = offset
        bytes.removeAll(keepingCapacity: true)
        contents.removeAll()
        var wanted = min(Self.size, limit - offset)
        while bytes.count < wanted {
            try file.file.read(at: start + bytes.count, count: wanted - bytes.count, into: &bytes)
            // Shorter than it was a moment ago: then its frames end here.
            guard bytes.count >= wanted, let whole = check(file), whole <= limit - start else {
                return
            }
            wanted = whole
        }
    }

    private static let size = 256 * 1024

    /// Checks frames up to the first that does not verify; how many bytes there must be for that
    /// one, if it is only that they end within it.
    private mutating func check(_ file: FrameFile) -> Int? {
        // Taken out, since the bytes are looked at meanwhile.
        var checked = FrameGroups()
        swap(&checked, &contents)
        defer { swap(&checked, &contents) }
        let bytes = bytes.span
        var offset = checked.list.last?.end ?? 0
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
                checked.add(header, bytes, at: offset, origin: start, of: file.number)
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
