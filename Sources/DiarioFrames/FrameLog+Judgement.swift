import DiarioCore
import DiarioFormat
import DiarioStorage

// Judging bytes that are no valid frame where one could be: the end of the log, the last write of
// a crash, or damage. schema/format/frames.md, section 7.

extension FrameLog {
    /// Decides whether frames end at `offset`, or a crash tore the last one, or bytes are damaged.
    func judge(
        _ offset: Int,
        of file: FrameFile,
        next: NextFile,
        mayCut: Bool,
        _ report: inout RecoveryReport
    ) throws(FrameError) {
        let path = FramePaths.file(file.number)
        switch next {
        case .none: break
        // The fault is in the next file, and is found there.
        case .damaged: return
        case .begun(let header):
            report.fault = Fault(
                file: path,
                offset: offset,
                what: "a frame below the synced length \(header.previousLength) does not verify; "
                    + "the events from here on are not read"
            )
            return
        }
        if let later = try laterFrame(file, after: offset) {
            report.fault = Fault(
                file: path,
                offset: offset,
                what: "a frame does not verify, but one that was written after it does, at "
                    + "offset \(later); the events from here on are not read"
            )
            return
        }
        if let mark = try readMark(), mark.generation == file.generation,
            mark.length > UInt64(offset)
        {
            report.fault = Fault(
                file: path,
                offset: offset,
                what: "a frame below the length \(mark.length) of the last clean stop does not "
                    + "verify; the events from here on are not read"
            )
            return
        }
        try cut(file, at: offset, nextFrame, mayCut: mayCut, &report)
    }

    /// Keeps the bytes of a torn frame aside, and reports it, if `offset` is where frame `number`
    /// starts and does not verify.
    func cut(
        _ file: FrameFile,
        at offset: Int,
        _ number: UInt64,
        mayCut: Bool,
        _ report: inout RecoveryReport
    ) throws(FrameError) {
        var bytes: [UInt8] = []
        let reading = try frame(at: offset, of: file, &bytes)
        guard case .broken(let header) = reading, header.number == number else { return }
        let kept = mayCut ? FramePaths.cut(file.number, offset: offset) : nil
        if let kept {
            try storing { () throws(StorageError) in
                try Reserve.spending(in: directory) { () throws(StorageError) in
                    try Files.replace(kept, with: bytes, in: directory)
                }
                // So that it is found once only; what it takes to be a frame goes.
                let zeros = [UInt8](repeating: 0, count: FrameHeader.size)
                try file.file.write(zeros.span, at: Int64(offset))
                try file.file.sync()
            }
        }
        report.cut = TornEnd(
            file: FramePaths.file(file.number),
            offset: offset,
            size: bytes.count,
            keptIn: kept
        )
    }

    /// True if the frame that comes next is there now, at `offset`.
    func isNextFrame(at offset: Int, of file: FrameFile) throws(FrameError) -> Bool {
        var bytes: [UInt8] = []
        let reading = try frame(at: offset, of: file, &bytes)
        if case .frame(let header) = reading { return header.number == nextFrame }
        return false
    }

    /// The frame at `offset`, if there is one, with all its bytes.
    private func frame(
        at offset: Int,
        of file: FrameFile,
        _ bytes: inout [UInt8]
    ) throws(FrameError) -> FrameHeader.Reading {
        try storing { () throws(StorageError) in
            try file.file.read(at: Int64(offset), count: FrameHeader.size, into: &bytes)
            let head = FrameHeader.read(
                bytes.span,
                at: 0,
                origin: offset,
                generation: file.generation
            )
            guard case .broken(let header) = head else { return head }
            let size = min(header.frameSize, file.size - offset)
            if size > bytes.count {
                try file.file.read(
                    at: Int64(offset + bytes.count),
                    count: size - bytes.count,
                    into: &bytes
                )
            }
            return FrameHeader.read(bytes.span, at: 0, origin: offset, generation: file.generation)
        }
    }

    /// The offset of a valid frame of this generation with a later number, if there is one.
    private func laterFrame(_ file: FrameFile, after offset: Int) throws(FrameError) -> Int? {
        guard let first = try startOfFrame(file, after: offset) else { return nil }
        var content: [UInt8] = []
        try storing { () throws(StorageError) in
            try file.file.read(at: Int64(first), count: file.size - first, into: &content)
        }
        let bytes = content.span
        var candidate = 0
        while bytes.count - candidate >= FrameHeader.size {
            if case .frame(let header) = FrameHeader.read(
                bytes,
                at: candidate,
                origin: first,
                generation: file.generation
            ), header.number > nextFrame {
                return first + candidate
            }
            candidate += FrameHeader.alignment
        }
        return nil
    }

    /// The first offset at which bytes look like the start of a frame of this generation.
    ///
    /// Mostly the rest is zeros or from an earlier use, so it is read in small pieces.
    private func startOfFrame(_ file: FrameFile, after offset: Int) throws(FrameError) -> Int? {
        var bytes: [UInt8] = []
        var start = offset
        while file.size - start >= FrameHeader.size {
            bytes.removeAll(keepingCapacity: true)
            // The last ones are looked at with those that follow.
            let count = min(file.size - start, Self.windowSize + FrameHeader.size)
            try storing { () throws(StorageError) in
                try file.file.read(at: Int64(start), count: count, into: &bytes)
            }
            let window = bytes.span
            var candidate = 0
            while candidate < Self.windowSize, window.count - candidate >= FrameHeader.size {
                if FrameHeader.mayStart(window, at: candidate, generation: file.generation) {
                    return start + candidate
                }
                candidate += FrameHeader.alignment
            }
            start += Self.windowSize
        }
        return nil
    }

    /// Bytes that stay in the processor's cache.
    private static var windowSize: Int { 256 * 1024 }

    func readMark() throws(FrameError) -> SyncedMark? {
        try storing { () throws(StorageError) in try SyncedMark.read(in: directory) }
    }

    /// Writes down that everything so far is synced; at a clean stop.
    package func writeMark() throws(FrameError) {
        guard let state = files.last else { return }
        let mark = SyncedMark(
            generation: state.generation,
            length: UInt64(state.length),
            number: state.number
        )
        try storing { () throws(StorageError) in
            try Reserve.spending(in: directory) { () throws(StorageError) in
                let file = try directory.open(FramePaths.syncedMark, .create)
                try file.write(mark.encoded().span, at: 0)
                try file.sync()
                try directory.syncDirectory(FramePaths.folder)
            }
        }
    }
}
