import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSync

/// News, with their blocks taken apart.
struct Arrival: Sendable {
    let news: News
    /// For each piece that has rows, the blocks that it stands for.
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
        let context = try isAfterContext ? store.exchangeContext(of: space, size: size) : nil
        do throws(FormatError) {
            var unpacker = BlockUnpacker(context: context)
            for case .block(let packed) in news.pieces {
                let unpacked = try unpacker.unpackAll(packed)
                blocks.append(unpacked.map { ReceivedRows($0.bytes, $0.head) })
            }
        } catch {
            throw .format(error)
        }
        for block in blocks.joined() {
            let told = try store.facts(in: block.block, block.head)
            facts.adoptions += told.adoptions
            facts.refusals += told.refusals
        }
        self.news = news
        self.blocks = blocks
        self.facts = facts
    }

    /// What is to be appended.
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
