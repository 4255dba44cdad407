import DiarioCore
import DiarioFormat

/// Where the events of positions that follow one another can be read.
struct SpacePiece {
    enum Source {
        /// A segment that the manifest names and that verifies.
        case sealed(SegmentEntry)
        /// The files of the write-ahead log.
        case log
        /// Another segment on disk, or what is left of a damaged one.
        case pair(PairReader)
        /// A private segment, whose events stand where the log says.
        case promoted(PairReader, PromotedRun)
        /// Nowhere; true if that was known before.
        case lost(wasKnown: Bool)
    }

    let positions: ClosedRange<UInt64>
    let source: Source

    var isSealed: Bool { if case .sealed = source { true } else { false } }
    var isLost: Bool { if case .lost = source { true } else { false } }
    var isInLog: Bool { if case .log = source { true } else { false } }
}

/// Everything that can be read of a space, by position.
struct SpaceSources {
    /// Events of a private segment, and where they stand.
    struct Promoted {
        let positions: ClosedRange<UInt64>
        let reader: PairReader
        let run: PromotedRun
    }

    /// Segments that verify, in order of position.
    var sealed: [SegmentEntry] = []
    /// Positions whose rows are in the log's files.
    var log: [ClosedRange<UInt64>] = []
    /// Parts of other pairs that can be read.
    var pairs: [(positions: ClosedRange<UInt64>, reader: PairReader)] = []
    /// In order of position, without overlap: of the log there may be very many.
    var promoted: [Promoted] = []
    /// What was lost before.
    var lost: [LostPositions] = []

    /// Cuts positions into pieces that each come from one place.
    func pieces(_ positions: ClosedRange<UInt64>) -> [SpacePiece] {
        var pieces: [SpacePiece] = []
        var next = positions.lowerBound
        while next <= positions.upperBound {
            let piece = piece(at: next, end: positions.upperBound)
            pieces.append(piece)
            next = piece.positions.upperBound + 1
        }
        return pieces
    }

    private func piece(at position: UInt64, end: UInt64) -> SpacePiece {
        if let entry = sealed.first(where: { $0.first <= position && position <= $0.last }) {
            return SpacePiece(positions: position...entry.last, source: .sealed(entry))
        }
        if let known = lost.first(where: { $0.positions.contains(position) }) {
            return SpacePiece(positions: position...known.last, source: .lost(wasKnown: true))
        }
        var limit = end
        if let entry = sealed.first(where: { $0.first > position }) {
            limit = min(limit, entry.first - 1)
        }
        if let known = lost.first(where: { $0.first > position }) {
            limit = min(limit, known.first - 1)
        }
        if let run = log.first(where: { $0.contains(position) }) {
            return SpacePiece(positions: position...min(run.upperBound, limit), source: .log)
        }
        if let run = log.first(where: { $0.lowerBound > position }) {
            limit = min(limit, run.lowerBound - 1)
        }
        let found = pairs.filter { $0.positions.contains(position) }
            .max { $0.positions.upperBound < $1.positions.upperBound }
        if let found {
            return SpacePiece(
                positions: position...min(found.positions.upperBound, limit),
                source: .pair(found.reader)
            )
        }
        let index = promoted.sortedIndex(behindAll: { $0.positions.upperBound < position })
        if index < promoted.count {
            let next = promoted[index]
            if next.positions.contains(position) {
                return SpacePiece(
                    positions: position...min(next.positions.upperBound, limit),
                    source: .promoted(next.reader, next.run)
                )
            }
            limit = min(limit, next.positions.lowerBound - 1)
        }
        let starts = pairs.map(\.positions.lowerBound)
        if let start = starts.filter({ $0 > position }).min() { limit = min(limit, start - 1) }
        return SpacePiece(positions: position...limit, source: .lost(wasKnown: false))
    }
}
