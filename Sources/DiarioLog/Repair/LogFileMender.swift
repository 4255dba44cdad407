import DiarioCore
import DiarioFormat
import DiarioStorage

/// Puts the files of a damaged write-ahead log in order, so that all frames which verify can be
/// read: schema/format/log.md, section 14.
///
/// What is damaged is overwritten by frames that say so, under the numbers that are missing; what
/// verifies stays where it is.
struct LogFileMender {
    let directory: any LogDirectory
    let entropy: any EntropySource
    /// True if frames at the end are gone, so that nobody knows how many events there were.
    private(set) var hasLostEnd = false
    /// Frames that are gone.
    private(set) var lostFrameCount: UInt64 = 0

    init(_ directory: any LogDirectory, entropy: any EntropySource) {
        self.directory = directory
        self.entropy = entropy
    }

    /// A file and the frames of its newest use that verify.
    private struct Found {
        let number: UInt64
        var header: LogFileHeader?
        var generation: UInt64
        var frames: [Frame] = []
        var size = 0
    }

    private struct Frame {
        let offset: Int
        let size: Int
        let number: UInt64
        let durableBefore: UInt64

        var end: Int { offset + size }
    }

    /// What comes before a file.
    private struct Before {
        var generation: UInt64 = 0
        var length = 0
        var nextFrame: UInt64
    }

    // MARK: Mending

    /// Puts the files in order; `willLoseEnd` is called before an end is given up for good.
    mutating func mend(
        _ setAside: inout SetAside,
        _ report: inout RepairReport,
        willLoseEnd: () throws(LogError) -> Void
    ) throws(LogError) {
        let numbers = try storing { () throws(StorageError) in
            guard try directory.exists(LogPaths.log) else { return [UInt64]() }
            return try directory.list(LogPaths.log).compactMap { LogPaths.logFileNumber($0) }
                .sorted()
        }
        guard let first = numbers.first, let newest = numbers.last else {
            try storing { () throws(StorageError) in
                try directory.makeDirectoryDurably(LogPaths.log)
            }
            report.found(LogPaths.log, "all files of the log are missing", "it begins anew")
            hasLostEnd = true
            try willLoseEnd()
            try dropMark(&setAside)
            return
        }
        var files: [Found] = []
        for number in first...newest {
            if numbers.contains(number) {
                files.append(try find(number))
            } else {
                files.append(Found(number: number, generation: 0))
            }
        }
        // A newest file without a frame of its own is not begun yet.
        while files.count > 1, let end = files.last {
            let known = files.dropLast().last { !$0.frames.isEmpty }?.frames.last?.number
            guard end.frames.allSatisfy({ $0.number <= known ?? 0 }), try !isMarked(end) else {
                break
            }
            files.removeLast()
        }
        var before = Before(nextFrame: Self.firstFrame(files))
        for index in files.indices {
            let next = index + 1 < files.count ? files[index + 1] : nil
            before = try mend(files[index], before, next, &setAside, &report)
        }
        let last = files[files.count - 1]
        guard let mark = try readMark() else { return }
        if let number = mark.number, number > last.number,
            mark.length > UInt64(LogFileHeader.size)
        {
            try willLoseEnd()
            let gone = last.number + 1...max(number, newest)
            return try mendMissing(gone, mark, of: number, &setAside, &report)
        }
        let isLost =
            mark.generation == before.generation
            ? mark.length > UInt64(before.length) : files.allSatisfy { $0.frames.isEmpty }
        guard isLost else { return }
        try willLoseEnd()
        try mendEnd(last, before.length, mark, &setAside, &report)
    }

    /// Lets the log end with the file before those that are gone or hold no frame any more.
    private mutating func mendMissing(
        _ gone: ClosedRange<UInt64>,
        _ mark: SyncedMark,
        of number: UInt64,
        _ setAside: inout SetAside,
        _ report: inout RepairReport
    ) throws(LogError) {
        hasLostEnd = true
        report.found(
            LogPaths.logFile(number),
            "the file is missing or holds no frame, and was \(mark.length) bytes long",
            "the log ends with the file before it"
        )
        for number in gone {
            let path = LogPaths.logFile(number)
            let isThere = try storing { () throws(StorageError) in try directory.exists(path) }
            guard isThere else { continue }
            try setAside.keep(path, because: "it held no frame that verifies")
            try storing { () throws(StorageError) in
                try directory.remove(path)
                try directory.syncDirectory(LogPaths.log)
            }
        }
        try dropMark(&setAside)
    }

    private static func firstFrame(_ files: [Found]) -> UInt64 {
        files[0].header?.firstFrame ?? files[0].frames.first?.number
            ?? files.dropFirst().first?.header?.firstFrame ?? 1
    }

    private mutating func mend(
        _ file: Found,
        _ before: Before,
        _ next: Found?,
        _ setAside: inout SetAside,
        _ report: inout RepairReport
    ) throws(LogError) -> Before {
        var file = file
        if file.generation == 0 { file.generation = next?.header?.previousGeneration ?? 0 }
        while file.generation == 0 { file.generation = entropy.next() }
        // What the next file says of this one, or its frames.
        let follows = next?.header?.previousGeneration == file.generation
        let end = follows ? Int(clamping: next?.header?.previousLength ?? 0) : nil
        let nextNumber = follows ? next?.header?.firstFrame : next?.frames.first?.number
        let header = LogFileHeader(
            number: file.number,
            generation: file.generation,
            previousGeneration: before.generation,
            previousLength: UInt64(before.length),
            firstFrame: before.nextFrame,
            begunMilliseconds: file.header?.begunMilliseconds ?? 0
        )
        try mendHeader(file, header, before, &setAside, &report)
        var position = LogFileHeader.size
        var number = before.nextFrame
        for frame in file.frames {
            guard frame.number >= number, frame.offset >= position,
                frame.number < nextNumber ?? UInt64.max, frame.end <= end ?? Int.max
            else { continue }
            try fill(
                file,
                position..<frame.offset,
                number..<frame.number,
                &setAside,
                &report
            )
            position = frame.end
            number = frame.number + 1
        }
        if let nextNumber, nextNumber > number {
            let count = nextNumber - number
            // Without a word from the next file there is room for as many as are missing.
            let room = Int(count) * (FrameHeader.size + Record.headerSize)
            let stop = max(end ?? 0, position + room)
            if end == nil || stop == end {
                try fill(file, position..<stop, number..<nextNumber, &setAside, &report)
                position = stop
                number = nextNumber
            }
        }
        return Before(generation: file.generation, length: position, nextFrame: number)
    }

    /// Writes a header anew that does not verify, or does not fit the file before it.
    private func mendHeader(
        _ file: Found,
        _ header: LogFileHeader,
        _ before: Before,
        _ setAside: inout SetAside,
        _ report: inout RepairReport
    ) throws(LogError) {
        var isLinked = file.header?.firstFrame == header.firstFrame
        if before.generation != 0 {
            isLinked =
                isLinked && file.header?.previousGeneration == header.previousGeneration
                && file.header?.previousLength == header.previousLength
        }
        guard !isLinked else { return }
        let path = LogPaths.logFile(file.number)
        report.found(
            path,
            file.size == 0 ? "the file is missing" : "the header does not verify",
            "the header is written anew"
        )
        try setAside.keep(
            path,
            part: 0..<min(file.size, LogFileHeader.size),
            because: "the header did not verify, or not fit the file before it"
        )
        try write(header.encoded(), at: 0, of: path)
    }

    /// Writes frames in the place of those that are gone.
    private mutating func fill(
        _ file: Found,
        _ bytes: Range<Int>,
        _ numbers: Range<UInt64>,
        _ setAside: inout SetAside,
        _ report: inout RepairReport
    ) throws(LogError) {
        guard !numbers.isEmpty || !bytes.isEmpty else { return }
        let path = LogPaths.logFile(file.number)
        let count = numbers.upperBound - numbers.lowerBound
        let smallest = FrameHeader.size + Record.headerSize
        guard count > 0, bytes.count / smallest >= count else {
            throw .corrupt(
                Fault(
                    file: path,
                    offset: bytes.lowerBound,
                    what: "\(count) frames are missing, and there is no room for them"
                )
            )
        }
        report.found(
            path,
            at: bytes.lowerBound,
            "frames \(numbers.lowerBound) to \(numbers.upperBound - 1) do not verify",
            "bytes \(bytes.lowerBound) to \(bytes.upperBound) are set aside"
        )
        lostFrameCount += count
        try setAside.keep(
            path,
            part: bytes.lowerBound..<max(bytes.lowerBound, min(bytes.upperBound, file.size)),
            because: "frames \(numbers.lowerBound) to \(numbers.upperBound - 1) did not verify"
        )
        guard let id = SpaceID(rawValue: 1) else { return }
        // What the frame before knew still holds, and more is not known.
        let before = file.frames.last { $0.end <= bytes.lowerBound }
        var filler: [UInt8] = []
        for number in numbers {
            let others = Int(numbers.upperBound - number - 1) * smallest
            let rest = bytes.count - filler.count - others
            let size = min(rest, FrameHeader.frameSize(body: Limits.frameSizeMax))
            var frame = [UInt8](repeating: 0, count: FrameHeader.size)
            let content = size - smallest
            Record.append(.lost, id, to: &frame) { body in
                body.append(repeating: 0, count: content)
            }
            FrameHeader(
                generation: file.generation,
                number: number,
                durableBefore: before?.durableBefore ?? UInt64(LogFileHeader.size),
                bodySize: size - FrameHeader.size,
                recordCount: 1
            ).seal(&frame)
            filler += frame
        }
        try write(filler, at: bytes.lowerBound, of: path)
    }

    /// Lets the log end where its last frame does, whatever the mark says.
    private mutating func mendEnd(
        _ file: Found,
        _ position: Int,
        _ mark: SyncedMark,
        _ setAside: inout SetAside,
        _ report: inout RepairReport
    ) throws(LogError) {
        let path = LogPaths.logFile(file.number)
        let end = min(Int(clamping: mark.length), file.size)
        report.found(
            path,
            at: position,
            "the last frames do not verify, or are missing: the log was \(mark.length) bytes long",
            "what is left of them is set aside, and the log ends before them"
        )
        hasLostEnd = true
        try setAside.keep(
            path,
            part: position..<max(position, end),
            because: "the last frames did not verify"
        )
        if end > position {
            try write([UInt8](repeating: 0, count: end - position), at: position, of: path)
        }
        try dropMark(&setAside)
    }

    private func dropMark(_ setAside: inout SetAside) throws(LogError) {
        try setAside.keep(LogPaths.syncedMark, because: "it told of frames that are gone")
        guard try readMark() != nil else { return }
        try storing { () throws(StorageError) in
            try directory.remove(LogPaths.syncedMark)
            try directory.syncDirectory(LogPaths.log)
        }
    }

    // MARK: Files

    private func readMark() throws(LogError) -> SyncedMark? {
        try storing { () throws(StorageError) in try SyncedMark.read(in: directory) }
    }

    private func isMarked(_ file: Found) throws(LogError) -> Bool {
        guard let mark = try readMark() else { return false }
        return mark.generation == file.generation && mark.length > UInt64(LogFileHeader.size)
    }

    private func write(_ bytes: [UInt8], at offset: Int, of path: String) throws(LogError) {
        try storing { () throws(StorageError) in
            let file = try directory.open(path, .create)
            try file.write(bytes.span, at: offset)
            try file.sync()
            try directory.syncDirectory(LogPaths.log)
        }
    }

    /// Finds all frames of a file that verify, wherever they lie.
    private func find(_ number: UInt64) throws(LogError) -> Found {
        var bytes: [UInt8] = []
        try storing { () throws(StorageError) in
            let file = try directory.open(LogPaths.logFile(number), .read)
            try file.read(at: 0, count: try file.size(), into: &bytes)
        }
        let content = bytes.span
        var header = LogFileHeader(content)
        if header?.number != number { header = nil }
        var found: [UInt64: [Frame]] = [:]
        var offset = LogFileHeader.size
        while content.count - offset >= FrameHeader.size {
            let generation = content.littleEndian(UInt64.self, at: offset + 8)
            guard header == nil || header?.generation == generation,
                case .frame(let frame) = FrameHeader.read(
                    content,
                    at: offset,
                    generation: generation
                )
            else {
                offset += FrameHeader.alignment
                continue
            }
            found[generation, default: []].append(
                Frame(
                    offset: offset,
                    size: frame.frameSize,
                    number: frame.number,
                    durableBefore: frame.durableBefore
                )
            )
            offset += frame.frameSize
        }
        // Of several uses the newest has the highest numbers.
        let newest = found.max { ($0.value.last?.number ?? 0) < ($1.value.last?.number ?? 0) }
        let generation = header?.generation ?? newest?.key ?? 0
        return Found(
            number: number,
            header: header,
            generation: generation,
            frames: found[generation] ?? [],
            size: content.count
        )
    }
}
