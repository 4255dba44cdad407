import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSync

/// News, with their blocks taken apart.
struct Arrival: Sendable {
    let news: News
    /// For each piece with rows, its blocks.
    let blocks: [[ReceivedRows]]
    let facts: EngineReader.Facts

    /// `size` is that of the pull which the news answer.
    init(
        _ news: News,
        _ store: LogStore,
        of space: SpaceID,
        after size: UInt64
    ) throws(LogError) {
        var blocks: [[ReceivedRows]] = []
        var facts = EngineReader.Facts()
        let isAfterContext = news.pieces.contains { piece in
            guard case .block(let block) = piece else { return false }
            return Block.needsContext(block.span)
        }
        let context = try isAfterContext ? store[space].exchangeContext(size: size) : nil
        do throws(FormatError) {
            var unpacker = BlockUnpacker(context: context)
            for (index, piece) in news.pieces.enumerated() {
                guard case .block(let packed) = piece else { continue }
                let start: BlockStart = index == 0 ? .anywhere : .batch
                let unpacked = try unpacker.unpackAll(packed, from: start)
                blocks.append(unpacked.map { ReceivedRows($0.bytes, $0.head) })
            }
        } catch {
            throw .format(error)
        }
        if let first = blocks.first?.first { try Self.checkStart(first, store, space, size) }
        for block in blocks.joined() {
            let told = try store.facts(in: block.block, block.head)
            facts.adoptions += told.adoptions
            facts.refusals += told.refusals
        }
        self.news = news
        self.blocks = blocks
        self.facts = facts
    }

    /// Rows that begin within a batch go on with that of the last event here.
    private static func checkStart(
        _ rows: ReceivedRows,
        _ store: LogStore,
        _ space: SpaceID,
        _ size: UInt64
    ) throws(LogError) {
        let first: RowEnvelope?
        do throws(FormatError) {
            first = try Block.firstEnvelope(rows.block.span, rows.head)
        } catch {
            throw .format(error)
        }
        guard let first, first.sequence != first.batchFirst else { return }
        guard let last = try store[space].envelope(at: size), last.isFollowed(by: first) else {
            throw .format(.malformed(.batch, at: rows.head.summary.rowsOffset))
        }
    }

    /// The contents to append.
    var contents: [Append.Content] {
        var contents: [Append.Content] = []
        var blocks = blocks[...]
        var runs: [PromotedRun] = []
        for piece in news.pieces {
            switch piece {
            case .own(let run, _): runs.append(run)
            case .block:
                if !runs.isEmpty { contents.append(.promoted(runs)) }
                runs = []
                contents += blocks.removeFirst().map { .received($0) }
            }
        }
        if !runs.isEmpty { contents.append(.promoted(runs)) }
        return contents
    }
}
