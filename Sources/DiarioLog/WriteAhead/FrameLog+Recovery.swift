import DiarioCore
import DiarioFormat
import DiarioStorage

/// What opening a log found besides its frames.
package struct RecoveryReport: Equatable, Sendable {
    /// A frame that a crash tore: it was never acknowledged.
    package struct Cut: Equatable, Sendable {
        package let file: String
        package let offset: Int
        package let size: Int
        /// Where its bytes are kept; nil if this process may not write.
        package let keptIn: String?
    }

    package internal(set) var cut: Cut?
    /// Damage below the synced length; what follows it was not read.
    package internal(set) var fault: Fault?
}

/// Takes each frame in turn: its place, the bytes read, and where its records lie in them.
typealias FrameVisitor = (FramePlace, Span<UInt8>, Range<Int>) throws(LogError) -> Void

extension FrameLog {
    /// Reads all frames, oldest first, as schema/format/log.md, section 8, "Recovery" says.
    ///
    /// Cuts a torn frame only if `mayCut`, which the holder of the lock may. What the log then
    /// holds is on disk before `visit` has seen the last frame of it.
    mutating func recover(
        mayCut: Bool,
        _ visit: FrameVisitor
    ) throws(LogError) -> RecoveryReport {
        var report = RecoveryReport()
        files = []
        newest = nil
        nextFrame = 1
        // What was written is among what is read; what was spare may be in use again.
        unsynced = nil
        spareCount = 0
        isEnded = false
        let numbers = try storing { () throws(StorageError) in try listFiles() }
        var content: [UInt8] = []
        for (index, number) in numbers.enumerated() {
            // Also by a refresh, which cuts nothing: the next append goes to this very file.
            let file = try openFile(number, forWriting: lock != nil)
            guard let header = try readHeader(of: file, number: number) else {
                if index == numbers.count - 1, try !holdsFrames(file) { break }
                report.fault = Fault(
                    file: LogPaths.logFile(number),
                    offset: 0,
                    what: "the header does not verify; the events of this file are not read"
                )
                return report
            }
            if let fault = linkFault(header) {
                report.fault = fault
                return report
            }
            let mayBeEmpty = index == numbers.count - 1 && (!files.isEmpty || number == 1)
            if mayBeEmpty, try !isStarted(file, generation: header.generation) {
                // Whether its header is on disk is not known, so it is written again when there is
                // a frame for it.
                isEnded = !files.isEmpty
                break
            }
            if files.isEmpty { nextFrame = header.firstFrame }
            files.append(
                LogFileState(
                    number: number,
                    generation: header.generation,
                    length: LogFileHeader.size
                )
            )
            newest = file
            let next = index + 1 < numbers.count ? try nextHeader(numbers[index + 1]) : nil
            // A frame that was written and not synced must be on disk before it is shown.
            let failure = next == nil ? try sync(file, mayMove: mayCut) : nil
            content.removeAll(keepingCapacity: true)
            try storing { () throws(StorageError) in
                try file.read(at: 0, count: try file.size(), into: &content)
            }
            allocatedSize = content.count
            var last: ValidFrame?
            let stop = try scan(
                content.span,
                from: LogFileHeader.size,
                next: next,
                last: &last,
                visit
            )
            if let stop {
                try judge(stop, content.span, next: next, mayCut: mayCut, &report)
            }
            // A damaged log takes nothing, not even a frame that moves.
            let cause = report.fault == nil ? failure : nil
            try finish(last, content.span, after: cause, visit)
            if report.fault != nil { return report }
        }
        syncedLength = files.last?.length ?? 0
        return report
    }

    /// Syncs the newest file; what went wrong if the caller can move its last frame.
    private func sync(
        _ file: any LogFile,
        mayMove: Bool
    ) throws(LogError) -> StorageError? {
        do {
            try file.sync()
            return nil
        } catch {
            guard mayMove, error != .cut else { throw .storage(error) }
            return error
        }
    }

    /// Visits the last frame that was read, after it is on disk.
    ///
    /// If the sync of its file failed, it may not be there for ever, and goes to a new file. The
    /// frames before it were synced before it was written (W1).
    private mutating func finish(
        _ last: ValidFrame?,
        _ content: Span<UInt8>,
        after failure: StorageError?,
        _ visit: FrameVisitor
    ) throws(LogError) {
        guard let last else { return }
        guard let failure else { return try visit(last.place, content, last.body) }
        var bytes: [UInt8] = []
        let range = last.place.offset..<last.place.offset + last.header.frameSize
        bytes.append(contentsOf: content.extracting(range).raw)
        let place = try move(
            UnsyncedFrame(bytes: bytes, header: last.header, place: last.place),
            after: failure
        )
        let body = FrameHeader.size..<FrameHeader.size + last.header.bodySize
        try visit(place, bytes.span, body)
    }

    /// Reads the frames that other processes appended to the newest file since; the count of them.
    ///
    /// They are synced before `visit` sees them, because it is unknown whether they are.
    mutating func readOn(mayMove: Bool, _ visit: FrameVisitor) throws(LogError) -> Int {
        guard let newest, let state = files.last, try hasMore() else { return 0 }
        var content: [UInt8] = []
        let failure = try sync(newest, mayMove: mayMove)
        try storing { () throws(StorageError) in
            content.append(contentsOf: repeatElement(0, count: state.length))
            try newest.read(
                at: state.length,
                count: try newest.size() - state.length,
                into: &content
            )
        }
        let before = nextFrame
        var last: ValidFrame?
        _ = try scan(content.span, from: state.length, next: nil, last: &last, visit)
        allocatedSize = max(allocatedSize, content.count)
        try finish(last, content.span, after: failure, visit)
        syncedLength = files[files.count - 1].length
        return Int(nextFrame - before)
    }

    /// Whether another process wrote behind the last known frame.
    func hasMore() throws(LogError) -> Bool {
        guard let newest, let state = files.last else { return false }
        var content: [UInt8] = []
        try storing { () throws(StorageError) in
            try newest.read(at: state.length, count: FrameHeader.size, into: &content)
        }
        switch FrameHeader.read(content.span, at: 0, generation: state.generation) {
        case .none: return false
        case .frame(let header), .broken(let header): return header.number == nextFrame
        }
    }

    /// Whether another process began a file after the newest one that was read.
    func hasNewFile() throws(LogError) -> Bool {
        guard let number = try storing({ () throws(StorageError) in try listFiles().last }),
            number != files.last?.number
        else { return false }
        let file = try openFile(number, forWriting: false)
        // Until there is a frame in it, nothing is to be read there.
        guard let header = try readHeader(of: file, number: number) else { return false }
        return try isStarted(file, generation: header.generation)
    }

    private func listFiles() throws(StorageError) -> [UInt64] {
        guard try directory.exists(LogPaths.log) else { return [] }
        return try directory.list(LogPaths.log).compactMap { LogPaths.logFileNumber($0) }.sorted()
    }

    private func openFile(_ number: UInt64, forWriting: Bool) throws(LogError) -> any LogFile {
        try storing { () throws(StorageError) in
            try directory.open(LogPaths.logFile(number), forWriting ? .readWrite : .read)
        }
    }

    private func readHeader(
        of file: any LogFile,
        number: UInt64
    ) throws(LogError) -> LogFileHeader? {
        var bytes: [UInt8] = []
        try storing { () throws(StorageError) in
            try file.read(at: 0, count: LogFileHeader.size, into: &bytes)
        }
        guard let header = LogFileHeader(bytes.span), header.number == number else { return nil }
        return header
    }

    /// Whether a file whose header is damaged was in use: it holds a frame that comes next or
    /// later.
    ///
    /// Those of an older use have lower numbers.
    private func holdsFrames(_ file: any LogFile) throws(LogError) -> Bool {
        var content: [UInt8] = []
        try storing { () throws(StorageError) in
            try file.read(at: 0, count: try file.size(), into: &content)
        }
        let bytes = content.span
        var offset = LogFileHeader.size
        while bytes.count - offset >= FrameHeader.size {
            let generation = bytes.littleEndian(UInt64.self, at: offset + 8)
            let reading = FrameHeader.read(bytes, at: offset, generation: generation)
            if case .frame(let header) = reading, header.number >= nextFrame { return true }
            offset += FrameHeader.alignment
        }
        return false
    }

    /// Whether the first frame of a file was written, whole or torn; or damaged, if others follow.
    private func isStarted(_ file: any LogFile, generation: UInt64) throws(LogError) -> Bool {
        var bytes: [UInt8] = []
        try storing { () throws(StorageError) in
            try file.read(at: LogFileHeader.size, count: FrameHeader.size, into: &bytes)
        }
        if FrameHeader.read(bytes.span, at: 0, generation: generation) != .none { return true }
        return try holdsFrames(file)
    }

    /// The header of the file that follows; nil if that one is not begun.
    private func nextHeader(_ number: UInt64) throws(LogError) -> LogFileHeader? {
        try readHeader(of: try openFile(number, forWriting: false), number: number)
    }

    /// A fault if the file does not follow the one read before.
    private func linkFault(_ header: LogFileHeader) -> Fault? {
        guard let last = files.last else { return nil }
        guard header.previousGeneration == last.generation, header.number == last.number + 1,
            header.firstFrame == nextFrame, header.previousLength == UInt64(last.length)
        else {
            return Fault(
                file: LogPaths.logFile(header.number),
                offset: 0,
                what: "this file does not follow the one before it; its events are not read"
            )
        }
        return nil
    }

    /// A valid frame in the bytes of its file.
    private struct ValidFrame {
        let place: FramePlace
        let header: FrameHeader
        let body: Range<Int>
    }

    /// Visits all valid frames but the last one, which it puts into `last`, up to the length that
    /// the next file states; where it had to stop before that.
    // Not inlined, since Swift 6.3.1 then loses `last` in release builds (seen as two processes that
    // gave the same positions). tools/check runs the log's tests in release for such faults.
    @inline(never)
    private mutating func scan(
        _ content: Span<UInt8>,
        from start: Int,
        next: LogFileHeader?,
        last: inout ValidFrame?,
        _ visit: FrameVisitor
    ) throws(LogError) -> Int? {
        let state = files[files.count - 1]
        let end = next.map { Int(clamping: $0.previousLength) } ?? content.count
        var offset = start
        while offset < end {
            guard
                case .frame(let header) = FrameHeader.read(
                    content,
                    at: offset,
                    generation: state.generation
                ),
                header.number == nextFrame, offset + header.frameSize <= end
            else { return offset }
            if let last { try visit(last.place, content, last.body) }
            let body = offset + FrameHeader.size
            last = ValidFrame(
                place: FramePlace(
                    file: state.number,
                    generation: state.generation,
                    offset: offset
                ),
                header: header,
                body: body..<body + header.bodySize
            )
            offset += header.frameSize
            nextFrame += 1
            files[files.count - 1].length = offset
        }
        return nil
    }

    /// Decides whether frames end at `offset`, or a crash tore the last one, or bytes are damaged.
    private func judge(
        _ offset: Int,
        _ content: Span<UInt8>,
        next: LogFileHeader?,
        mayCut: Bool,
        _ report: inout RecoveryReport
    ) throws(LogError) {
        let state = files[files.count - 1]
        let path = LogPaths.logFile(state.number)
        if let next {
            report.fault = Fault(
                file: path,
                offset: offset,
                what: "a frame below the synced length \(next.previousLength) does not verify; "
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
        let size = min(header.frameSize, content.count - offset)
        let kept = mayCut ? LogPaths.cut(state.number, offset: offset) : nil
        if let kept {
            var bytes: [UInt8] = []
            bytes.append(contentsOf: content.extracting(offset..<offset + size).raw)
            try storing { () throws(StorageError) in
                try Reserve.spending(in: directory) { () throws(StorageError) in
                    try directory.replace(kept, with: bytes)
                }
            }
        }
        report.cut = RecoveryReport.Cut(file: path, offset: offset, size: size, keptIn: kept)
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

    private func readMark() throws(LogError) -> SyncedMark? {
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
        let mark = SyncedMark(generation: state.generation, length: UInt64(state.length))
        try storing { () throws(StorageError) in
            try Reserve.spending(in: directory) { () throws(StorageError) in
                let file = try directory.open(LogPaths.syncedMark, .create)
                try file.write(mark.encoded().span, at: 0)
                try file.sync()
            }
        }
    }
}
