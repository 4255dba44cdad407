import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioServer
import DiarioSync
import DiarioTestSupport
import Testing

/// Many events travel in columns, fewer after what both sides have: schema/format/sync.md,
/// section 4.
struct ExchangeSizeTests {
    private func blocks(of news: News) -> [[UInt8]] {
        news.pieces.compactMap { piece in
            guard case .block(let block) = piece else { return nil }
            return block
        }
    }

    /// What the authority answers to a pull of the replica as it stands.
    private func news(for replica: inout TestReplica, of pair: Pair) throws -> (News, [UInt8]) {
        let request = try replica.request(at: pair.now)
        let answer = pair.authority.answer(request, from: Pair.anyone)
        guard case .news(let news) = try SyncMessage(answer.span) else {
            throw TestFailure("these are no news")
        }
        return (news, answer)
    }

    private struct TestFailure: Error {
        let what: String
        init(_ what: String) { self.what = what }
    }

    @Test func newsAreReadAfterWhatBothSidesHave() throws {
        var pair = try Pair()
        var other = try pair.makeReplica()
        try pair.sync()
        try pair.sync(&other)
        for number in 1...60 { try pair.replica.record("a note, and its number is \(number)") }
        try pair.sync()
        try pair.sync(&other)
        for number in 61...110 { try pair.replica.record("a note, and its number is \(number)") }
        try pair.sync()

        let (news, answer) = try news(for: &other, of: pair)
        let packed = blocks(of: news)
        #expect(packed.count == 1)
        let block = packed[0]
        let isAfterContext = Block.needsContext(block.span)
        #expect(isAfterContext)
        let context = try #require(
            try other.store[other.space].exchangeContext(size: other.head)
        )
        var alone = BlockUnpacker()
        var reader = BlockUnpacker(context: context)
        #expect(throws: FormatError.self) { try alone.unpackAll(packed[0]) }
        #expect(try reader.unpackAll(packed[0]).map(\.head.summary.eventCount) == [50])
        var misled = BlockUnpacker(context: context.reversed())
        #expect(throws: FormatError.self) { try misled.unpackAll(packed[0]) }

        try other.session.receive(answer, at: pair.now)
        #expect(other.head == pair.replica.head)
        #expect(try other.root == pair.authorityRoot)
    }

    /// The side that asks does so without a context once it could not read what came after one.
    @Test func newsThatCannotBeReadAreAskedForAnew() throws {
        var pair = try Pair()
        var other = try pair.makeReplica()
        try pair.sync()
        try pair.sync(&other)
        for number in 1...50 { try pair.replica.record("a note, and its number is \(number)") }
        try pair.sync()
        var (news, _) = try news(for: &other, of: pair)
        for index in news.pieces.indices {
            guard case .block(var block) = news.pieces[index] else { continue }
            block[block.count - 1] ^= 1
            news.pieces[index] = .block(block)
        }
        try other.session.receive(SyncMessage.news(news).encoded(), at: pair.now)
        #expect(other.head == 1)
        #expect(other.session.avoidsContext)
        try pair.sync(&other)
        #expect(other.head == 51)
    }

    @Test func manyEventsTravelInColumns() throws {
        var pair = try Pair()
        var other = try pair.makeReplica()
        try pair.sync()
        try pair.sync(&other)
        for number in 1...40 {
            let texts = (0..<52).map { "a note, and its number is \(number * 52 + $0)" }
            try pair.replica.store.recordNotes(texts, in: pair.replica.space)
        }
        let request = try pair.replica.request(at: pair.now)
        guard case .push(let push) = try SyncMessage(request.span) else {
            throw TestFailure("this is no push")
        }
        #expect(push.blocks.count == 1 && push.blocks[0].prefix(4) == Array("dseg".utf8)[...])
        let answer = pair.authority.answer(request, from: Pair.anyone)
        try pair.replica.session.receive(answer, at: pair.now)
        try pair.sync()
        #expect(pair.replica.pendingCount == 0)
        #expect(pair.replica.head == 2081)

        let (news, arrived) = try news(for: &other, of: pair)
        #expect(blocks(of: news).map { $0.prefix(4) } == [Array("dseg".utf8)[...]])
        #expect(request.count + arrived.count < 2 * 2080 * 8)
        try other.session.receive(arrived, at: pair.now)
        #expect(try other.root == pair.authorityRoot)
    }
}
