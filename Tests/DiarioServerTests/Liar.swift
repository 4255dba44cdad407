import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioServer
import DiarioSync
import DiarioTestSupport

/// A replica that writes what it pushes as it likes, or an authority what it answers: every message
/// can be read, and what it says is drawn.
struct Liar {
    private let replica: TestReplica
    private let victims: [ReplicaID]

    /// `victims` are ids that belong to others.
    init(_ replica: TestReplica, victims: [ReplicaID]) {
        self.replica = replica
        self.victims = victims
    }

    /// Some of what the authority has not seen, each batch in a block of its own, with lies.
    ///
    /// Nil if it has seen all.
    func push(
        to store: LogStore,
        _ random: inout SeededRandom
    ) throws -> SyncMessage? {
        let space = replica.space
        let author = try replica.store[space].status().replica
        let first = store[space].lastSequence(of: author) + 1
        let last = replica.store[space].lastSequence(of: author)
        guard first <= last else { return nil }
        var blocks: [RawBlock] = []
        for sequences in try batches(of: author, first...last).prefix(1 + random.below(4)) {
            blocks += try self.blocks(of: author, sequences)
        }
        let manifest = try store[space].status().manifest
        var push = Push(
            standing: Standing(
                lineage: manifest.lineage,
                epoch: manifest.epoch,
                size: store[space].head(),
                root: try store[space].root()
            ),
            replica: author,
            blocks: []
        )
        for _ in 0..<random.below(4) {
            let index = random.below(blocks.count)
            Self.lie(in: &blocks[index], store[space].head(), &random)
        }
        if random.oneIn(10) { blocks.append(blocks[random.below(blocks.count)]) }
        if random.oneIn(12) { blocks.swapAt(0, blocks.count - 1) }
        if random.oneIn(12) {
            let other = victims[random.below(victims.count)]
            push.replica = other
            for index in blocks.indices { blocks[index].replicas = [other.rawValue] }
        }
        push.blocks = blocks.map(\.bytes)
        return .push(push)
    }

    /// An answer with lies about some of the news in it; others as they are.
    static func answer(
        _ bytes: [UInt8],
        _ head: UInt64,
        _ random: inout SeededRandom
    ) throws -> [UInt8] {
        guard case .news(var news) = try SyncMessage(bytes.span) else { return bytes }
        var unpacker = BlockUnpacker()
        var pieces: [News.Piece] = []
        for piece in news.pieces {
            switch piece {
            case .block(let packed):
                // One that needs what the replica has is left as it is.
                guard let unpacked = try? unpacker.unpackAll(packed) else {
                    pieces.append(piece)
                    continue
                }
                for (bytes, _) in unpacked {
                    var block = try RawBlock(bytes)
                    if random.oneIn(3) { lie(in: &block, head, &random) }
                    if random.oneIn(12) { lieOfPositions(in: &block, &random) }
                    pieces.append(.block(block.bytes))
                }
            case .own(var run, var hash):
                if random.oneIn(4) { run = lie(of: run, &random) }
                if random.oneIn(8) { hash = news.root }
                pieces.append(.own(run, hash))
            }
        }
        guard !pieces.isEmpty else { return bytes }
        if random.oneIn(12) { pieces.swapAt(0, pieces.count - 1) }
        if random.oneIn(8) { pieces.removeLast() }
        news.pieces = pieces
        if random.oneIn(8) { news.end = random.oneIn(2) ? news.end + 1 : news.head }
        return SyncMessage.news(news).encoded()
    }

    private static func lieOfPositions(in block: inout RawBlock, _ random: inout SeededRandom) {
        switch random.below(4) {
        case 0: block.position = [0, 1, 2, 1 << 61, 1 << 62, .max][random.below(6)]
        case 1: block.times = []
        case 2:
            for index in block.times.indices { block.times[index].acceptedAt -= 1 << 40 }
        default:
            for index in block.times.indices { block.times[index].acceptedAt += 1 << 40 }
        }
    }

    private static func lie(of run: PromotedRun, _ random: inout SeededRandom) -> PromotedRun {
        var (first, count) = (run.firstSequence, run.count)
        var (position, acceptedAt) = (run.firstPosition, run.acceptedAt.milliseconds)
        switch random.below(4) {
        case 0: first = [1, first + 1, 1 << 61][random.below(3)]
        case 1: count = [1, count + 1, 1 << 40][random.below(3)]
        case 2: position = [1, position + 1, 1 << 61][random.below(3)]
        default: acceptedAt = random.oneIn(2) ? 0 : 1 << 50
        }
        return PromotedRun(
            replica: run.replica,
            firstSequence: first,
            count: count,
            firstPosition: position,
            acceptedAt: Timestamp(milliseconds: acceptedAt)
        )
    }

    private func blocks(
        of author: ReplicaID,
        _ sequences: ClosedRange<UInt64>
    ) throws -> [RawBlock] {
        let events = PendingEvents(replica: author, sequences: sequences)
        var unpacker = BlockUnpacker()
        return try replica.store[replica.space].pendingBlocks(events).blocks.map {
            try RawBlock(unpacker.unpack($0).bytes)
        }
    }

    private func batches(
        of author: ReplicaID,
        _ sequences: ClosedRange<UInt64>
    ) throws -> [ClosedRange<UInt64>] {
        var batches: [ClosedRange<UInt64>] = []
        var next = sequences.lowerBound
        for row in try blocks(of: author, sequences).flatMap(\.rows) {
            let envelope = try RawEnvelope(row.publicPart)
            guard envelope.offset == 0 else { continue }
            batches.append(next...next + envelope.count - 1)
            next += envelope.count
        }
        return batches
    }

    private static func lie(in block: inout RawBlock, _ head: UInt64, _ random: inout SeededRandom)
    {
        switch random.below(8) {
        case 0: lieOfSalts(in: &block, &random)
        case 1: lieOfTypes(in: &block, &random)
        case 2:
            guard !block.runs.isEmpty else { return }
            let numbers: [UInt64] = [0, 1, block.runs[0].first &+ 1, (1 << 62) - 1, 1 << 62, .max]
            block.runs[0].first = numbers[random.below(numbers.count)]
        case 3: block.flags ^= 1 << UInt16(random.below(3))
        default:
            guard !block.rows.isEmpty else { return }
            let index = random.below(block.rows.count)
            lie(in: &block.rows[index], head, &random)
            // Its highest clock is the one thing that all of a block must agree with.
            let clocks = block.rows.compactMap { try? RawEnvelope($0.publicPart).clock }
            if !random.oneIn(8) { block.highestClock = clocks.max() ?? 0 }
        }
    }

    private static func lieOfSalts(in block: inout RawBlock, _ random: inout SeededRandom) {
        guard var nodes = block.nodes, !nodes.isEmpty else {
            block.nodes = [(0, 0, 0, 0, Array(repeating: 7, count: 16))]
            block.flags |= 2
            return
        }
        let index = random.below(nodes.count)
        switch random.below(6) {
        case 0: nodes[index].value[random.below(16)] ^= 1
        case 1: nodes.append(nodes[index])
        case 2: nodes.remove(at: index)
        case 3: nodes[index].level = UInt8(random.below(11))
        case 4: nodes[index].index = UInt64(random.below(3))
        default:
            var other = nodes[index]
            other.group &+= [1, 5, 1 << 40, (1 << 54) - 2][random.below(4)]
            nodes.append(other)
        }
        block.nodes = nodes
    }

    private static func lieOfTypes(in block: inout RawBlock, _ random: inout SeededRandom) {
        let index = random.below(block.types.count)
        switch random.below(5) {
        case 0: block.types[index].fingerprint[random.below(32)] ^= 1
        case 1: block.types[index].version = [0, 2, 65_535, 65_536, .max][random.below(5)]
        case 2:
            let names = [
                "engine.pack.adopted", "engine.event.rejected", "test.thing.made", "x", "",
            ]
            block.types[index].name = Array(names[random.below(names.count)].utf8)
        case 3: block.types.append(block.types[index])
        default: block.types.swapAt(0, index)
        }
    }

    private static func lie(
        in row: inout RawBlock.Row,
        _ head: UInt64,
        _ random: inout SeededRandom
    ) {
        switch random.below(10) {
        case 0:
            row.personal = random.oneIn(2) ? [] : Array(row.personal.dropLast())
            row.personalCode = UInt64(row.personal.count)
        case 1:
            row.personal += [UInt8(random.below(256))]
            row.personalCode = UInt64(row.personal.count)
        case 2:
            row.personal = Array(repeating: 9, count: 32)
            row.personalCode = 1
        case 3 where !row.personal.isEmpty:
            row.personal[random.below(row.personal.count)] ^= 1 << UInt8(random.below(8))
        case 4: row.typeIndex = UInt64(random.below(4))
        default:
            guard var envelope = try? RawEnvelope(row.publicPart) else { return }
            envelope.lie(head, &random)
            row.publicPart = envelope.bytes
        }
    }
}

/// A public part as its numbers, and what follows them.
private struct RawEnvelope {
    var offset: UInt64
    var count: UInt64
    var clock: UInt64
    var at: Int64
    var base: UInt64
    var flags: UInt8
    var rest: [UInt8]

    init(_ part: [UInt8]) throws {
        var reader = ByteReader(part.span.raw)
        offset = try reader.nextVarint()
        count = try reader.nextVarint()
        clock = try reader.next(UInt64.self)
        at = try reader.nextZigzag()
        base = try reader.nextVarint()
        flags = try reader.next(UInt8.self)
        rest = Array(part[reader.offset...])
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(varint: offset)
        bytes.append(varint: count)
        bytes.append(littleEndian: clock)
        bytes.append(zigzag: at)
        bytes.append(varint: base)
        bytes.append(flags)
        return bytes + rest
    }

    mutating func lie(_ head: UInt64, _ random: inout SeededRandom) {
        switch random.below(9) {
        case 0:
            let step: UInt64 = 1 << 40
            let clocks = [0, 1, (1 << 62) - 1, 1 << 62, .max, clock &+ 1, clock &- step]
            clock = clocks[random.below(clocks.count)]
        case 1: at = [.min, .max, 0, -1, at &+ 1][random.below(5)]
        case 2: base = [0, head, head + 1, 1 << 62, 1 << 62 | 1, .max][random.below(6)]
        case 3: flags ^= 1 << UInt8(random.below(8))
        case 4: offset = [0, 1, 2, .max][random.below(4)]
        case 5: count = [0, 1, 2, 1000, 1001, .max][random.below(6)]
        case 6 where !rest.isEmpty: rest.removeSubrange(random.below(rest.count)...)
        case 7: rest.insert(UInt8(random.below(256)), at: random.below(rest.count + 1))
        default:
            guard !rest.isEmpty else { return }
            rest[random.below(rest.count)] ^= 1 << UInt8(random.below(8))
        }
    }
}
