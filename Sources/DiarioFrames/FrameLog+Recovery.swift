package import DiarioCore
import DiarioFormat
import DiarioStorage

/// The findings of opening a log, besides its frames.
package struct RecoveryReport: Equatable, Sendable {
    /// A frame that a crash tore.
    package var cut: TornEnd?
    /// Damage below the synced length; what follows it was not read.
    package var fault: Fault?

    package init() {}
}

/// Takes the frames in turn, a piece at a time.
package typealias FrameVisitor = (FramePiece) throws(FrameError) -> Void

extension FrameLog {
    /// Reads all frames, oldest first, as schema/format/frames.md, "Recovery" says.
    ///
    /// Cuts a torn frame only if `mayCut`, which the holder of the lock may. What the log then
    /// holds is on disk before `visit` has seen the last frame of it.
    package mutating func recover(
        mayCut: Bool,
        _ visit: FrameVisitor
    ) throws(FrameError) -> RecoveryReport {
        var report = RecoveryReport()
        files = []
        newest = nil
        firstNumber = 1
        nextFrame = 1
        lastOffset = nil
        // Own frames are read again, and spare files may be in use by now.
        spareCount = 0
        // Before the files are listed, since another process may begin one and leave a mark of it.
        let mark = try readMark()
        let numbers = try storing { () throws(StorageError) in try listFiles() }
        listed = numbers
        guard let numbers else {
            report.fault = Fault(
                file: FramePaths.folder,
                offset: 0,
                what: "the folder of the write-ahead log is gone"
            )
            return report
        }
        if numbers.isEmpty, let fault = try goneFault(FramePaths.folder) {
            report.fault = fault
            return report
        }
        for (index, number) in numbers.enumerated() {
            let isLast = index == numbers.count - 1
            // Also by a refresh, which cuts nothing: the next append goes to this very file.
            let file = try openFile(number, forWriting: lock != nil)
            let header = try readHeader(of: file, number: number)
            if isLast, try !isBegun(file, header) {
                if files.isEmpty, let fault = try goneFault(FramePaths.file(number)) {
                    report.fault = fault
                    return report
                }
                try noteUnbegun(number, file, header, mayCut: mayCut, &report)
                break
            }
            if let fault = linkFault(header, number) {
                report.fault = fault
                return report
            }
            guard let header else { preconditionFailure("without a header there is a fault") }
            if files.isEmpty { nextFrame = header.firstFrame }
            files.append(
                LogFileState(
                    number: number,
                    generation: header.generation,
                    length: LogFileHeader.size
                )
            )
            newest = file
            let frames = try storing { () throws(StorageError) in
                try FrameFile(file, number: number, generation: header.generation)
            }
            let later = numbers[(index + 1)...]
            try read(frames, of: file, later: later, mayCut: mayCut, &report, visit)
            if report.fault != nil { return report }
        }
        syncedLength = files.last?.length ?? 0
        report.fault = missingFault(mark)
        return report
    }

    /// True if other processes put files to another use since `recover` looked for them: what it
    /// read of these is no damage.
    package func hasOtherFiles() throws(FrameError) -> Bool {
        guard try storing({ () throws(StorageError) in try listFiles() }) == listed else {
            return true
        }
        for state in files {
            let file = try openFile(state.number, forWriting: false)
            let header = try readHeader(of: file, number: state.number)
            guard header?.generation == state.generation else { return true }
        }
        return false
    }

    /// A fault if the mark names a file after those that were read: it was begun, and is gone or
    /// has no frame any more.
    private func missingFault(_ mark: SyncedMark?) -> Fault? {
        guard let mark, mark.length > UInt64(LogFileHeader.size),
            let newest = files.last, newest.number < mark.number
        else { return nil }
        return Fault(
            file: FramePaths.file(mark.number),
            offset: 0,
            what: "at the last clean stop this file had frames up to offset \(mark.length), and "
                + "now it has none; the events of it are not read"
        )
    }

    /// A fault if there was a clean stop with frames, while no file is there that was ever begun.
    private func goneFault(_ path: String) throws(FrameError) -> Fault? {
        // A file of which only the header could be written has no frame, also at a clean stop.
        guard let mark = try readMark(), mark.length > UInt64(LogFileHeader.size) else {
            return nil
        }
        return Fault(
            file: path,
            offset: 0,
            what: "there was a clean stop, but no file holds a frame"
        )
    }

    /// True if the newest file was cut short where a frame ends: only its mark tells.
    private func isCutShort(_ next: NextFile, _ length: Int) throws(FrameError) -> Bool {
        guard case .none = next, let mark = try readMark() else { return false }
        return mark.generation == files.last?.generation && mark.length > UInt64(length)
    }

    /// Reads the frames of one file; `later` are the numbers of those after it.
    private mutating func read(
        _ frames: FrameFile,
        of file: any LogFile,
        later: ArraySlice<UInt64>,
        mayCut: Bool,
        _ report: inout RecoveryReport,
        _ visit: FrameVisitor
    ) throws(FrameError) {
        var source = FrameSource(frames, from: LogFileHeader.size)
        allocatedSize = frames.size
        var end = frames.size
        var next = try nextFile(later)
        if case .begun(let header) = next { end = Int(clamping: header.previousLength) }
        var last = try replay(&source, end: end, visit)
        // Only now is it known which frames a file that was to be used again may have of before.
        if case .damaged = next { next = try nextFile(later) }
        while true {
            let length = files[files.count - 1].length
            let isCutShort = try isCutShort(next, length)
            guard length < end || isCutShort else { break }
            let opened = source.file.opened(as: file)
            try judge(length, of: opened, next: next, mayCut: mayCut, &report)
            // Without the lock others may write between two looks at one place. What they wrote is
            // no damage, and those frames are replayed as well.
            guard !mayCut else { break }
            // As long as the file is by now: a frame may go beyond where it ended before.
            let frames = try storing { () throws(StorageError) in
                try FrameFile(file, number: opened.number, generation: opened.generation)
            }
            guard try isNextFrame(at: length, of: frames) else { break }
            allocatedSize = max(allocatedSize, frames.size)
            if case .none = next { end = frames.size }
            var rest = FrameSource(frames, from: length)
            if let last { try visit(last) }
            last = try replay(&rest, end: end, visit)
            // The file is judged again, unless it cannot be read in this way.
            guard last != nil else { break }
            report = RecoveryReport()
        }
        guard let last else { return }
        if case .none = next {
            try makeLast(mayCut ? .writtenAgain : .synced)
        }
        try visit(last)
    }

    /// True if another process began a file after the newest one that was read.
    package func hasNewFile() throws(FrameError) -> Bool {
        // If this process could not write a frame to a file, others begin that file again, or
        // continue in the one before.
        if lastOffset == nil, files.count > 1 { return true }
        guard let number = try storing({ () throws(StorageError) in try listFiles()?.last }),
            number != files.last?.number
        else { return false }
        let file = try openFile(number, forWriting: false)
        return try isBegun(file, readHeader(of: file, number: number))
    }

    /// The numbers of the files; nil without their folder.
    private func listFiles() throws(StorageError) -> [UInt64]? {
        guard try directory.exists(FramePaths.folder) else { return nil }
        return try directory.list(FramePaths.folder).compactMap { FramePaths.number($0) }.sorted()
    }

    private func openFile(_ number: UInt64, forWriting: Bool) throws(FrameError) -> any LogFile {
        try storing { () throws(StorageError) in
            try directory.open(FramePaths.file(number), forWriting ? .readWrite : .read)
        }
    }

    private func readHeader(
        of file: any LogFile,
        number: UInt64
    ) throws(FrameError) -> LogFileHeader? {
        var bytes: [UInt8] = []
        try storing { () throws(StorageError) in
            try file.read(at: 0, count: LogFileHeader.size, into: &bytes)
        }
        guard let header = LogFileHeader(bytes.span), header.number == number else { return nil }
        return header
    }

    /// True if a file counts: it has a frame of its own, even if an earlier one is damaged.
    ///
    /// Until then nothing is known to be in it, neither its header to be on disk, and the file
    /// before it goes on. A file that was to be used again has frames with lower numbers.
    private func isBegun(
        _ file: any LogFile,
        _ header: LogFileHeader?
    ) throws(FrameError) -> Bool {
        let first = header?.firstFrame ?? nextFrame
        let start = LogFileHeader.size
        var bytes: [UInt8] = []
        try storing { () throws(StorageError) in
            try file.read(at: 0, count: start + FrameHeader.size, into: &bytes)
        }
        // Mostly there is a whole first frame, and the rest need not be read for that.
        if let header, bytes.count == start + FrameHeader.size,
            case .broken(let frame) = FrameHeader.read(
                bytes.span,
                at: start,
                generation: header.generation
            ), frame.bodySize <= Limits.frameSizeMax
        {
            try storing { () throws(StorageError) in
                try file.read(at: Int64(bytes.count), count: frame.frameSize, into: &bytes)
            }
        }
        if holdsFrame(bytes.span, from: first) { return true }
        if let header, let mark = try readMark(), mark.generation == header.generation,
            mark.length > UInt64(start)
        {
            return true
        }
        bytes.removeAll()
        try storing { () throws(StorageError) in
            try file.read(at: 0, count: Int(clamping: try file.size()), into: &bytes)
        }
        return holdsFrame(bytes.span, from: first)
    }

    /// True if there is a valid frame with that number or a higher one.
    private func holdsFrame(_ bytes: Span<UInt8>, from first: UInt64) -> Bool {
        var offset = LogFileHeader.size
        while bytes.count - offset >= FrameHeader.size {
            let generation = bytes.littleEndian(UInt64.self, at: offset + 8)
            let reading = FrameHeader.read(bytes, at: offset, generation: generation)
            if case .frame(let header) = reading, header.number >= first { return true }
            offset += FrameHeader.alignment
        }
        return false
    }

    /// Notes what a newest file says that does not count: where to begin it again, and its torn
    /// first frame.
    private mutating func noteUnbegun(
        _ number: UInt64,
        _ file: any LogFile,
        _ header: LogFileHeader?,
        mayCut: Bool,
        _ report: inout RecoveryReport
    ) throws(FrameError) {
        if files.isEmpty { firstNumber = number }
        guard let header else { return }
        if files.isEmpty { nextFrame = header.firstFrame }
        let frames = try storing { () throws(StorageError) in
            try FrameFile(file, number: number, generation: header.generation)
        }
        try cut(frames, at: LogFileHeader.size, header.firstFrame, mayCut: mayCut, &report)
    }

    /// The facts about the next file.
    enum NextFile {
        /// There is none that counts.
        case none
        case begun(LogFileHeader)
        /// There is one, and where this one ends is not known.
        case damaged
    }

    /// `later` are the numbers of the files after the one that is read.
    private func nextFile(_ later: ArraySlice<UInt64>) throws(FrameError) -> NextFile {
        guard let number = later.first else { return .none }
        let file = try openFile(number, forWriting: false)
        let header = try readHeader(of: file, number: number)
        if later.count == 1, try !isBegun(file, header) { return .none }
        return header.map { .begun($0) } ?? .damaged
    }

    /// A fault if the file does not follow the one read before.
    private func linkFault(_ header: LogFileHeader?, _ number: UInt64) -> Fault? {
        guard let header else {
            return Fault(
                file: FramePaths.file(number),
                offset: 0,
                what: "the header does not verify; the events of this file are not read"
            )
        }
        guard let last = files.last else { return nil }
        guard header.previousGeneration == last.generation, header.number == last.number + 1,
            header.firstFrame == nextFrame, header.previousLength == UInt64(last.length)
        else {
            return Fault(
                file: FramePaths.file(header.number),
                offset: 0,
                what: "this file does not follow the one before it; its events are not read"
            )
        }
        return nil
    }
}
