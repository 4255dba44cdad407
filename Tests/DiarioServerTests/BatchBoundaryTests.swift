import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync
import Testing

/// Batches of 1 to 1,000 events that lie across the ends of blocks, runs, segments, merged
/// segments, exchanges, and pieces of an answer.
struct BatchBoundaryTests {
    /// Runs, merges and exchanges that are small beside a batch, or not.
    private static func sizes(_ random: inout SeededRandom) -> LogSizes {
        var sizes = LogSizes()
        sizes.segmentCount = 16 << random.below(6)
        sizes.mergedCount = sizes.segmentCount * (1 + random.below(8))
        sizes.retirementMilliseconds = 1000
        sizes.columnsCountMin = 2 + random.below(1500)
        sizes.contextCountMin = 3
        sizes.exchangeCount = 1 + random.below(1500)
        return sizes
    }

    private static func texts(_ random: inout SeededRandom) -> [String] {
        let count = [1, 2, 3, 17, 250, 999, 1000][random.below(7)]
        return (0..<count).map { "a note, and its number is \($0)" }
    }

    private static func check(_ replica: TestReplica, _ pair: Pair) throws {
        #expect(replica.pendingCount == 0)
        #expect(try replica.root == pair.authorityRoot)
        #expect(replica.store.validate() == [])
        #expect(try replica.store.verify(replica.space) { _ in nil }.faults == [])
    }

    /// Whatever is sealed when, a copy of the sealed files goes on behind them, also if they were
    /// merged between the list and the copy, and so does a replica that has copied nothing.
    @Test(arguments: UInt64(0)..<24)
    func aCopyOfSealedFilesGoesOn(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let sizes = Self.sizes(&random)
        var pair = try Pair(seed: seed, sizes: sizes)
        let space = pair.replica.space
        try pair.sync()
        for _ in 0..<8 {
            let isPersonal = random.oneIn(2)
            let store = random.oneIn(3) ? pair.authorityStore : pair.replica.store
            let texts = Self.texts(&random)
            try store.recordNotes(texts, in: space, isPersonal: isPersonal)
            if random.oneIn(2) { try pair.sync() }
            if random.oneIn(2) {
                _ = try pair.authorityStore.seal(space, all: random.oneIn(6))
            }
        }
        try pair.sync()
        let listed = try pair.sealedFiles()
        if random.oneIn(2) { _ = try pair.authorityStore.seal(space, all: random.oneIn(2)) }
        var copy = try pair.makeCopy(of: listed, sizes: Self.sizes(&random))
        try pair.sync(&copy)
        try Self.check(copy, pair)
        try copy.store.recordNotes(Self.texts(&random), in: space)
        _ = try copy.store.seal(space, all: random.oneIn(2))
        try pair.sync(&copy)
        try Self.check(copy, pair)
        var other = try pair.makeReplica()
        try pair.sync(&other)
        try Self.check(other, pair)
    }

    /// Each run of the log of a copy begins where a segment ends, within a batch or not.
    @Test(arguments: [2, 3, 17, 250, 1000])
    func everyEndWithinABatchIsGoneOnFrom(count: Int) throws {
        for end in Set([1, 2, count / 2, count - 1].filter { (1..<count).contains($0) }) {
            var sizes = LogSizes()
            sizes.segmentCount = 1024
            sizes.mergedCount = 1024
            let pair = try Pair(sizes: sizes)
            let space = pair.replica.space
            let start = Int(pair.authorityStore[space].standing().head)
            for _ in start..<1024 - end {
                try pair.authorityStore.recordNote("before", in: space)
            }
            let texts = (0..<count).map { "a note, and its number is \($0)" }
            try pair.authorityStore.recordNotes(texts, in: space)
            _ = try pair.authorityStore.seal(space, all: false)
            var copy = try pair.makeCopy(of: try pair.sealedFiles(), sizes: .standard)
            #expect(copy.head == 1024)
            try pair.sync(&copy)
            #expect(copy.head == UInt64(1024 - end + count))
            try Self.check(copy, pair)
        }
    }

    /// The rest of a batch is taken only where its beginning is.
    @Test func theRestOfAnotherBatchIsRefused() throws {
        var sizes = LogSizes()
        sizes.segmentCount = 16
        sizes.mergedCount = 16
        let pair = try Pair(sizes: sizes)
        let space = pair.replica.space
        try pair.authorityStore.recordNotes((0..<30).map { "\($0)" }, in: space)
        _ = try pair.authorityStore.seal(space, all: false)
        var copy = try pair.makeCopy(of: try pair.sealedFiles(), sizes: .standard)
        var empty = try pair.makeReplica()
        _ = try empty.request(at: pair.now)
        let answer = pair.authority.answer(try copy.request(at: pair.now), from: Pair.anyone)
        guard case .news(var news) = try SyncMessage(answer.span),
            case .block(let block) = news.pieces[0]
        else { return #expect(Bool(false), "these are no news") }
        var unpacker = BlockUnpacker()
        #expect(throws: FormatError.self) { try unpacker.unpackAll(block) }
        // As an answer to whoever has nothing.
        try empty.session.receive(answer, at: pair.now)
        #expect(empty.head == 0)
        // As a second piece.
        news.pieces.append(news.pieces[0])
        try copy.session.receive(SyncMessage.news(news).encoded(), at: pair.now)
        #expect(copy.head == 16)
        try pair.sync(&copy)
        try Self.check(copy, pair)
    }

    @Test(arguments: UInt64(0)..<12)
    func aSpaceIsPublishedAndRestored(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let world = try PublishWorld(seed: seed, sizes: Self.sizes(&random))
        func record() throws {
            for _ in 0..<4 {
                try world.record(batchOf: Self.texts(&random).count)
                if random.oneIn(2) { _ = try world.device.seal(world.space, all: random.oneIn(3)) }
            }
        }
        try record()
        #expect(try world.publish() == .published)
        try world.checkPublished("published")
        try record()
        try world.sync()
        let backup = world.serverDisk.copy()
        try record()
        try world.sync()
        _ = try world.device.seal(world.space, all: random.oneIn(2))
        try world.replaceServer(with: backup)
        try record()
        #expect(try world.publish(.restoring) == .published)
        try world.checkPublished("restored")
        #expect(try world.deviceFaults() == [])
    }
}
