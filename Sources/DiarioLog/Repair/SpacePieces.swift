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
        /// Nowhere; true if that was known before. A damaged segment may still have envelopes.
        case lost(wasKnown: Bool, envelopes: PairReader?)
    }

    let positions: ClosedRange<UInt64>
    let source: Source

    var isSealed: Bool { if case .sealed = source { true } else { false } }
    var isLost: Bool { if case .lost = source { true } else { false } }
    /// Whether it was lost, and nobody knew.
    var isFound: Bool {
        if case .lost(wasKnown: false, _) = source { true } else { false }
    }
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
    /// Other pairs, with the parts of each that can be read.
    var pairs: [(reader: PairReader, parts: [ClosedRange<UInt64>])] = []
    /// In order of position, without overlap: of the log there may be very many.
    var promoted: [Promoted] = []
    /// What was lost before, in order.
    var lost: [ClosedRange<UInt64>] = []

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
        var limit = end
        let next = sealed.sortedIndex(behindAll: { $0.last < position })
        if next < sealed.count {
            if sealed[next].first <= position {
                return SpacePiece(
                    positions: position...sealed[next].last,
                    source: .sealed(sealed[next])
                )
            }
            limit = min(limit, sealed[next].first - 1)
        }
        switch lost.part(from: position) {
        case .holds(let last): return lostPiece(position...min(last, limit), wasKnown: true)
        case .begins(let first): limit = min(limit, first - 1)
        case .none: break
        }
        switch log.part(from: position) {
        case .holds(let last):
            return SpacePiece(positions: position...min(last, limit), source: .log)
        case .begins(let first): limit = min(limit, first - 1)
        case .none: break
        }
        let parts = pairs.map { ($0.reader, $0.parts.part(from: position)) }
        let found = parts.compactMap { reader, part in part.last.map { (reader, $0) } }
            .max { $0.1 < $1.1 }
        if let (reader, last) = found {
            return SpacePiece(positions: position...min(last, limit), source: .pair(reader))
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
        for case .begins(let first) in parts.map(\.1) { limit = min(limit, first - 1) }
        return lostPiece(position...limit, wasKnown: false)
    }

    /// The first of these positions, as far as they are alike in whether envelopes are left.
    private func lostPiece(_ positions: ClosedRange<UInt64>, wasKnown: Bool) -> SpacePiece {
        let (start, end) = (positions.lowerBound, positions.upperBound)
        let around = pairs.filter { !$0.parts.isEmpty && $0.reader.last >= start }.map(\.reader)
        if let reader = around.first(where: { $0.first <= start }) {
            return SpacePiece(
                positions: start...min(end, reader.last),
                source: .lost(wasKnown: wasKnown, envelopes: reader)
            )
        }
        let next = around.map(\.first).min() ?? .max
        return SpacePiece(
            positions: start...min(end, next - 1),
            source: .lost(wasKnown: wasKnown, envelopes: nil)
        )
    }
}

/// What ranges in order say of a number.
private enum RangePart {
    /// One of them goes on to `last`.
    case holds(last: UInt64)
    /// The next one begins at `first`.
    case begins(first: UInt64)
    case none

    var last: UInt64? { if case .holds(let last) = self { last } else { nil } }
}

extension [ClosedRange<UInt64>] {
    fileprivate func part(from number: UInt64) -> RangePart {
        let index = sortedIndex(behindAll: { $0.upperBound < number })
        guard index < count else { return .none }
        let range = self[index]
        return range.lowerBound <= number
            ? .holds(last: range.upperBound) : .begins(first: range.lowerBound)
    }
}
