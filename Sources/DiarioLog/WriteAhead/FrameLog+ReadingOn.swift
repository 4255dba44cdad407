import DiarioCore
import DiarioFormat
import DiarioStorage

// What other processes write while this one has the log open.
extension FrameLog {
    /// How it is made sure that the last frame is on disk.
    enum Trust {
        /// Enough while this process would have been told of a sync that failed.
        case synced
        /// After a sync that failed for somebody else a later one says nothing: only bytes that are
        /// written anew are synced anew. Only under the lock.
        case writtenAgain
    }

    /// Makes sure that the last frame is on disk, whoever wrote it.
    ///
    /// The frames before it were synced before it was written (F1).
    func makeLast(_ trust: Trust) throws(LogError) {
        guard let newest, let lastOffset, let state = files.last else { return }
        try storing { () throws(StorageError) in
            if trust == .writtenAgain {
                var bytes: [UInt8] = []
                try newest.read(at: lastOffset, count: state.length - lastOffset, into: &bytes)
                try newest.write(bytes.span, at: lastOffset)
            }
            try newest.sync()
        }
    }

    /// Reads the frames that other processes appended to the newest file since; the count of them.
    ///
    /// The last one is on disk before `visit` sees it, because it is unknown whether it is.
    mutating func readOn(_ trust: Trust, _ visit: FrameVisitor) throws(LogError) -> Int {
        guard let newest, let state = files.last, try hasMore() else {
            if trust == .writtenAgain { try makeLast(trust) }
            return 0
        }
        let before = nextFrame
        let frames = try storing { () throws(StorageError) in
            try FrameFile(newest, number: state.number, generation: state.generation)
        }
        var source = FrameSource(frames, from: state.length)
        let last = try takeUp(&source, end: frames.size, visit)
        allocatedSize = max(allocatedSize, frames.size)
        guard let last else { return 0 }
        do throws(LogError) {
            try makeLast(trust)
        } catch {
            // It was not visited, so it is still to be read.
            files[files.count - 1].length = last.place.offset
            nextFrame = last.group.firstNumber
            lastOffset = nil
            throw error
        }
        syncedLength = files[files.count - 1].length
        try last.visit(visit)
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

    /// Whether the last frame that was read is still where it was.
    ///
    func hasLast() throws(LogError) -> Bool {
        guard let newest, let lastOffset, let state = files.last else { return false }
        let size = state.length - lastOffset
        var content: [UInt8] = []
        try storing { () throws(StorageError) in
            try newest.read(at: lastOffset, count: size, into: &content)
        }
        let reading = FrameHeader.read(
            content.span,
            at: 0,
            origin: lastOffset,
            generation: state.generation
        )
        guard case .frame(let header) = reading else { return false }
        return header.number == nextFrame - 1 && header.frameSize == size
    }

    /// The last frames of those that were read, which are not visited before all of them are on
    /// disk.
    struct LastFrames {
        let piece: FramePiece
        let group: FrameGroup
        let place: FramePlace

        func visit(_ visit: FrameVisitor) throws(LogError) { try visit(place, piece, group) }
    }

    /// Visits the frames that continue the log, up to `end` of the newest file, all but the last
    /// group.
    mutating func takeUp(
        _ source: inout FrameSource,
        end: Int,
        _ visit: FrameVisitor
    ) throws(LogError) -> LastFrames? {
        var piece = FramePiece()
        // What was taken up last: its last group is not visited yet.
        var before = FramePiece()
        var last: (group: FrameGroup, place: FramePlace)?
        while true {
            try storing { () throws(StorageError) in try source.next(&piece, end: end) }
            let count = countOfNext(piece)
            guard count > 0 else { break }
            if let last { try visit(last.place, before, last.group) }
            for group in piece.groups[..<(count - 1)] {
                try visit(place(of: group, in: piece), piece, group)
            }
            let group = piece.groups[count - 1]
            last = (group, place(of: group, in: piece))
            lastOffset = piece.start + group.lastOffset
            nextFrame = group.nextNumber
            files[files.count - 1].length = piece.start + group.end
            swap(&piece, &before)
            if count < before.groups.count { break }
        }
        return last.map { LastFrames(piece: before, group: $0.group, place: $0.place) }
    }

    /// How many groups of a piece continue the log.
    private func countOfNext(_ piece: FramePiece) -> Int {
        var number = nextFrame
        var count = 0
        for group in piece.groups {
            guard group.firstNumber == number else { break }
            number = group.nextNumber
            count += 1
        }
        return count
    }

    /// Where the first frame of a group lies.
    private func place(of group: FrameGroup, in piece: FramePiece) -> FramePlace {
        let state = files[files.count - 1]
        return FramePlace(
            file: state.number,
            generation: state.generation,
            offset: piece.start + group.offset
        )
    }
}
