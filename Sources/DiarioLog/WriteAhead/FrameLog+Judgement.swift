import DiarioCore
import DiarioFormat
import DiarioStorage

// What to make of bytes that are no valid frame where one could be: the end of the log, the last
// write of a crash, or damage. schema/format/log.md, section 8, "Recovery".

extension FrameLog {
    /// Decides whether frames end at `offset`, or a crash tore the last one, or bytes are damaged.
    func judge(
        _ offset: Int,
        _ content: Span<UInt8>,
        of file: any LogFile,
        next: NextFile,
        mayCut: Bool,
        _ report: inout RecoveryReport
    ) throws(LogError) {
        let state = files[files.count - 1]
        let path = LogPaths.logFile(state.number)
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
        if let later = laterFrame(content, after: offset, generation: state.generation) {
            report.fault = Fault(
                file: path,
                offset: offset,
                what: "a frame does not verify, but one that was written after it does, at "
                    + "offset \(later); the events from here on are not read"
            )
            return
        }
        if let mark = try readMark(), mark.generation == state.generation,
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
        guard
            case .broken(let header) = FrameHeader.read(
                content,
                at: offset,
                generation: state.generation
            ),
            header.number == nextFrame
        else { return }
        try cut(header, content, at: offset, of: state.number, file, mayCut: mayCut, &report)
    }

    /// Keeps the bytes of a torn frame aside, and reports it.
    func cut(
        _ header: FrameHeader,
        _ content: Span<UInt8>,
        at offset: Int,
        of number: UInt64,
        _ file: any LogFile,
        mayCut: Bool,
        _ report: inout RecoveryReport
    ) throws(LogError) {
        let size = min(header.frameSize, content.count - offset)
        let kept = mayCut ? LogPaths.cut(number, offset: offset) : nil
        if let kept {
            var bytes: [UInt8] = []
            bytes.append(contentsOf: content.extracting(offset..<offset + size).raw)
            try storing { () throws(StorageError) in
                try Reserve.spending(in: directory) { () throws(StorageError) in
                    try directory.replace(kept, with: bytes)
                }
                // So that it is found once only; what it takes to be a frame goes.
                let zeros = [UInt8](repeating: 0, count: FrameHeader.size)
                try file.write(zeros.span, at: offset)
                try file.sync()
            }
        }
        report.cut = RecoveryReport.Cut(
            file: LogPaths.logFile(number),
            offset: offset,
            size: size,
            keptIn: kept
        )
    }

    /// The offset of a valid frame of this generation with a later number, if there is one.
    private func laterFrame(
        _ content: Span<UInt8>,
        after offset: Int,
        generation: UInt64
    ) -> Int? {
        var candidate = offset
        while content.count - candidate >= FrameHeader.size {
            if case .frame(let header) = FrameHeader.read(
                content,
                at: candidate,
                generation: generation
            ), header.number > nextFrame {
                return candidate
            }
            candidate += FrameHeader.alignment
        }
        return nil
    }

    func readMark() throws(LogError) -> SyncedMark? {
        try storing { () throws(StorageError) in
            guard try directory.exists(LogPaths.syncedMark) else { return nil }
            let bytes = try directory.contents(of: LogPaths.syncedMark, sizeMax: 4096)
            return SyncedMark(bytes.span)
        }
    }

    /// Writes down that everything so far is synced; at a clean stop.
    func writeMark() throws(LogError) {
        precondition(unsynced == nil, "the mark speaks of synced bytes alone")
        guard let state = files.last else { return }
        let mark = SyncedMark(
            generation: state.generation,
            length: UInt64(state.length),
            number: state.number
        )
        try storing { () throws(StorageError) in
            try Reserve.spending(in: directory) { () throws(StorageError) in
                let file = try directory.open(LogPaths.syncedMark, .create)
                try file.write(mark.encoded().span, at: 0)
                try file.sync()
                try directory.syncDirectory(LogPaths.log)
            }
        }
    }
}
