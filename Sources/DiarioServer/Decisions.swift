import DiarioCore
import DiarioFormat
import DiarioSync

/// The decisions on the batches of a push, in order of sequence.
struct Decisions {
    /// A part of the append.
    enum Part {
        /// Rows of a block, whole batches that follow one another.
        case accepted(block: Int, rows: Range<Int>)
        case refused(PushedBatch, DraftBatch)
    }

    private(set) var verdicts: [Verdict] = []
    private(set) var new: [Part] = []
    /// The last one, if nothing after it was judged.
    private var last: Verdict?
    private var lastDecided: UInt64?

    /// The sequence that must come next, if those up to `last` were seen before.
    func next(behind last: UInt64) -> UInt64 { max(last, lastDecided ?? 0) + 1 }

    mutating func accept(_ batch: PushedBatch) {
        lastDecided = batch.lastSequence
        if case .accepted(let block, let rows) = new.last, block == batch.block {
            new[new.count - 1] = .accepted(
                block: block,
                rows: rows.lowerBound..<batch.rows.upperBound
            )
        } else {
            new.append(.accepted(block: batch.block, rows: batch.rows))
        }
    }

    mutating func refuse(_ batch: PushedBatch, _ draft: DraftBatch) {
        lastDecided = batch.lastSequence
        new.append(.refused(batch, draft))
    }

    mutating func repeatRefusal(_ batch: PushedBatch, _ position: UInt64) {
        settle(
            Verdict(
                firstSequence: batch.firstSequence,
                count: UInt64(batch.count),
                kind: .refused(position: position)
            )
        )
    }

    mutating func repeatAcceptance(
        of sequence: UInt64,
        _ position: UInt64,
        _ acceptedAt: Timestamp
    ) {
        settle(
            Verdict(
                firstSequence: sequence,
                count: 1,
                kind: .accepted(firstPosition: position, acceptedAt: acceptedAt)
            )
        )
    }

    /// Nothing from this sequence on is looked at.
    mutating func end(_ kind: Verdict.Kind, at sequence: UInt64) {
        last = Verdict(firstSequence: sequence, count: 0, kind: kind)
        if new.isEmpty { finish() }
    }

    /// Adds a verdict; one that goes on where the last one ends becomes part of it.
    mutating func settle(_ verdict: Verdict) {
        if let before = verdicts.last,
            case .accepted(let position, let acceptedAt) = before.kind,
            case .accepted(let next, let time) = verdict.kind, time == acceptedAt,
            before.firstSequence + before.count == verdict.firstSequence,
            position + before.count == next
        {
            verdicts[verdicts.count - 1].count += verdict.count
        } else {
            verdicts.append(verdict)
        }
    }

    /// All that was written down has its verdict; what ended the push comes last.
    mutating func finish() {
        if let end = last.take() { verdicts.append(end) }
    }
}
