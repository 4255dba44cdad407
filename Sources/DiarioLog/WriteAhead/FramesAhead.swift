import DiarioStorage
import Synchronization

/// Gives the frames of one log file, piece by piece.
struct FrameSource {
    let file: FrameFile
    private var offset: Int
    /// Nil if nobody reads ahead.
    private let ahead: FramesAhead?

    /// `memory`, if given, is what a thread uses that reads ahead from now on.
    init(_ file: FrameFile, from offset: Int, aheadWith memory: PieceMemory?) {
        self.file = file
        self.offset = offset
        ahead = memory.map { FramesAhead(file, from: offset, memory: $0) }
    }

    /// Puts the next frames into `piece`, whose memory is used again: those that end at `end` or
    /// before; none if there are no more.
    mutating func next(_ piece: inout FramePiece, end: Int) throws(StorageError) {
        let limit = min(end, file.size)
        guard let ahead else {
            try piece.read(file, from: offset, limit: limit)
            offset = piece.end
            return
        }
        try ahead.next(&piece)
        // Whoever reads ahead does not know the end.
        if piece.end > limit { try piece.read(file, from: piece.start, limit: limit) }
    }

    /// To be called in any case, for else a thread may wait for ever.
    func end() { ahead?.end() }
}

/// Memory of pieces that were taken up, for those that are read next.
final class PieceMemory: Sendable {
    private let pieces = Mutex<[FramePiece]>([])

    func take() -> FramePiece { pieces.withLock { $0.popLast() } ?? FramePiece() }
    func giveBack(_ piece: consuming FramePiece) {
        var piece = Optional(piece)
        pieces.withLock { pieces in
            if let piece = piece.take() { pieces.append(piece) }
        }
    }
}

/// Reads and checks the frames of a log file on a thread of its own, some pieces ahead of who
/// takes them up.
final class FramesAhead: Sendable {
    private struct State: Sendable {
        /// Read, and not taken yet; an empty one ends them.
        var pieces: [FramePiece] = []
        var failure: StorageError?
        var isEnded = false
    }

    private let state = Mutex(State())
    private let memory: PieceMemory
    private let isFilled = Signal()
    private let isTaken = Signal()

    /// As much as a file has, so that a second thread has work while the first file is taken up.
    private static let pieceCountMax = 64

    init(_ file: FrameFile, from offset: Int, memory: PieceMemory) {
        self.memory = memory
        _ = WorkerThread(name: "diario-read") { [self] in
            do throws(StorageError) {
                try read(file, from: offset)
            } catch {
                state.withLock { $0.failure = error }
            }
            isFilled.raise()
        }
    }

    private func read(_ file: FrameFile, from start: Int) throws(StorageError) {
        var offset = start
        var bytes: [UInt8] = []
        while waitForRoom() {
            var piece = memory.take()
            piece.exchange(&bytes)
            try piece.read(file, from: offset, limit: file.size)
            offset = piece.end
            // Read over again, they stay in the processor's cache.
            if piece.isPlain { piece.exchange(&bytes) }
            let isLast = piece.groups.isEmpty
            // Moved in, not copied.
            var moved = Optional(piece)
            state.withLock { state in
                if let piece = moved.take() { state.pieces.append(piece) }
            }
            if isLast { return }
            isFilled.raise()
        }
    }

    /// False if nobody takes anything any more.
    private func waitForRoom() -> Bool {
        while true {
            let (isEnded, count) = state.withLock { ($0.isEnded, $0.pieces.count) }
            if isEnded { return false }
            if count < Self.pieceCountMax { return true }
            isTaken.wait()
        }
    }

    func next(_ piece: inout FramePiece) throws(StorageError) {
        while true {
            let (next, failure) = state.withLock { state in
                (state.pieces.isEmpty ? nil : state.pieces.removeFirst(), state.failure)
            }
            if let next {
                isTaken.raise()
                memory.giveBack(exchange(&piece, with: next))
                return
            }
            if let failure { throw failure }
            isFilled.wait()
        }
    }

    func end() {
        state.withLock { $0.isEnded = true }
        isTaken.raise()
    }
}
