import DiarioCore
import DiarioFormat
import DiarioStorage

// Following frames that other processes write while this one has the log open.
extension FrameLog {
    /// The way to make sure that the last frame is on disk.
    package enum Trust {
        /// Enough while this process would have been told of a sync that failed.
        case synced
        /// After a sync that failed for another process a later success means nothing: only bytes
        /// that are written again are synced again. Only under the lock.
        case writtenAgain
    }

    /// Makes sure that the last frame is on disk, whoever wrote it.
    ///
    /// The frames before it were synced before it was written (F1).
    func makeLast(_ trust: Trust) throws(FrameError) {
        guard let newest, let lastOffset, let state = files.last else { return }
        try storing { () throws(StorageError) in
            if trust == .writtenAgain {
                var bytes: [UInt8] = []
                try newest.read(
                    at: Int64(lastOffset),
                    count: state.length - lastOffset,
                    into: &bytes
                )
                try newest.write(bytes.span, at: Int64(lastOffset))
            }
            try newest.sync()
        }
    }

    /// Reads the frames that other processes appended to the newest file since; the count of them.
    ///
    /// The last one is on disk before `visit` sees it, because it is unknown whether it is.
    package mutating func readOn(_ trust: Trust, _ visit: FrameVisitor) throws(FrameError) -> Int {
        guard let newest, let state = files.last, try hasMore() else {
            if trust == .writtenAgain { try makeLast(trust) }
            return 0
        }
        let before = nextFrame
        let frames = try storing { () throws(StorageError) in
            try FrameFile(newest, number: state.number, generation: state.generation)
        }
        var source = FrameSource(frames, from: state.length)
        let last = try replay(&source, end: frames.size, visit)
        allocatedSize = max(allocatedSize, frames.size)
        guard let last, let first = last.frames.first else { return 0 }
        do throws(FrameError) {
            try makeLast(trust)
        } catch {
            // It was not visited, so it is still to be read.
            files[files.count - 1].length = last.start + first.offset
            nextFrame = first.number
            lastOffset = nil
            throw error
        }
        syncedLength = files[files.count - 1].length
        try visit(last)
        return Int(nextFrame - before)
    }

    /// True if another process wrote behind the last known frame.
    private func hasMore() throws(FrameError) -> Bool {
        guard let newest, let state = files.last else { return false }
        var content: [UInt8] = []
        try storing { () throws(StorageError) in
            try newest.read(at: Int64(state.length), count: FrameHeader.size, into: &content)
        }
        switch FrameHeader.read(content.span, at: 0, generation: state.generation) {
        case .none: return false
        case .frame(let header), .broken(let header): return header.number == nextFrame
        }
    }

    /// True if the last frame that was read is still where it was.
    package func hasLast() throws(FrameError) -> Bool {
        guard let newest, let lastOffset, let state = files.last else { return false }
        let size = state.length - lastOffset
        var content: [UInt8] = []
        try storing { () throws(StorageError) in
            try newest.read(at: Int64(lastOffset), count: size, into: &content)
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

    /// Visits the frames that continue the log, up to `end` of the newest file, all but the last
    /// piece, which is returned: it is not visited before all of them are on disk.
    mutating func replay(
        _ source: inout FrameSource,
        end: Int,
        _ visit: FrameVisitor
    ) throws(FrameError) -> FramePiece? {
        var piece = FramePiece()
        // Not visited yet.
        var last = FramePiece()
        while true {
            try storing { () throws(StorageError) in try source.next(&piece, end: end) }
            let count = piece.frames.count
            piece.keepFrames(from: nextFrame)
            guard let frame = piece.frames.last else { break }
            if !last.frames.isEmpty { try visit(last) }
            lastOffset = piece.start + frame.offset
            nextFrame = frame.number &+ 1
            files[files.count - 1].length = piece.start + frame.end
            swap(&piece, &last)
            if last.frames.count < count { break }
        }
        return last.frames.isEmpty ? nil : last
    }
}
