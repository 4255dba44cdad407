import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync
import Testing

/// What comes from elsewhere may be anything: it is refused or taken, and nothing traps, hangs or
/// is damaged by it.
struct MutationTests {
    // MARK: Making mutants

    /// Changes a few bytes, cuts some off, or puts some in.
    private static func mutate(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        for _ in 0...random.below(3) where !bytes.isEmpty {
            let place = random.below(bytes.count)
            switch random.below(6) {
            case 0, 1: bytes[place] ^= UInt8(1 << random.below(8))
            case 2: bytes[place] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)]
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + 1 + random.below(8)))
            case 4: bytes.insert(UInt8(random.below(256)), at: place)
            default:
                let other = random.below(bytes.count)
                bytes.swapAt(place, other)
            }
        }
        return bytes
    }

    /// The same with the checksum that its other bytes have; `place` is where that stands.
    private static func sealed(_ bytes: [UInt8], checksumAt place: Int) -> [UInt8] {
        guard bytes.count >= place + 4 else { return bytes }
        var bytes = bytes
        let (head, rest) = (Array(bytes[..<place]), Array(bytes[(place + 4)...]))
        let sum = Checksum.crc32c(
            rest.span.raw,
            continuing: Checksum.crc32c(head.span.raw)
        )
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
        return bytes
    }

    /// A message whose body was changed, mostly with the size and checksum that it has then.
    private static func mutant(of message: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        guard !random.oneIn(8) else { return mutate(message, &random) }
        var bytes = Array(message[..<16]) + mutate(Array(message[16...]), &random)
        let size = bytes.count - 16
        for index in 0..<4 { bytes[8 + index] = UInt8(truncatingIfNeeded: size >> (8 * index)) }
        return sealed(bytes, checksumAt: 12)
    }

    /// A push of which a row in a block was changed, as only a replica with a fault would send it.
    private static func mutant(of push: Push, _ random: inout SeededRandom) throws -> [UInt8] {
        var unpacker = BlockUnpacker()
        var push = push
        let index = random.below(push.blocks.count)
        let block = try unpacker.unpackAll(push.blocks[index])[0].bytes
        push.blocks[index] = mutantBlock(block, &random)
        return SyncMessage.push(push).encoded()
    }

    private static func mutantBlock(_ block: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = Array(block[..<24]) + mutate(Array(block[24...]), &random)
        let size = bytes.count - 24
        for place in [12, 16] {
            for index in 0..<4 {
                bytes[place + index] = UInt8(truncatingIfNeeded: size >> (8 * index))
            }
        }
        return sealed(bytes, checksumAt: 20)
    }

    /// All messages of a sync in which events were accepted, refused and fetched.
    private static func exchange() throws -> [[UInt8]] {
        var pair = try Pair()
        var other = try pair.makeReplica()
        var messages: [[UInt8]] = []
        let caller = Caller(rights: [.read, .append], actor: "alice")
        try pair.sync(as: caller)
        try other.sync(with: pair.authority, as: caller, at: pair.now)
        for round in 0..<3 {
            for number in 0..<4 {
                try pair.replica.record("n\(round) \(number)", subject: "s\(number)")
                try other.record("o\(round)", actor: number == 1 ? "mallory" : "alice")
            }
            for _ in 0..<20 {
                let request = try pair.replica.request(at: pair.now)
                guard !request.isEmpty else { break }
                let answer = pair.authority.answer(request, from: caller)
                messages += [request, answer]
                pair.replica.lose(at: pair.now)
                pair.clock.advance(milliseconds: 70_000)
                guard messages.count < 8 else { break }
            }
            try pair.sync(as: caller)
            try other.sync(with: pair.authority, as: caller, at: pair.now)
        }
        messages += [SyncMessage.refusal(Refusal(.full, "there is no room")).encoded()]
        return messages
    }

    // MARK: Properties

    @Test(arguments: UInt64(0)..<4) func anAuthorityAnswersWhateverItIsSent(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var pair = try Pair()
        try pair.sync()
        for number in 0..<6 {
            try pair.replica.record(
                "n\(number)",
                subject: number.isMultiple(of: 2) ? "s" : nil,
                ifUnchanged: number == 3
            )
        }
        let request = try pair.replica.request(at: pair.now)
        guard case .push(let push) = try SyncMessage(request.span) else {
            return #expect(Bool(false), "pending events are pushed")
        }
        let pull = Pull(standing: push.standing, own: [])
        let requests = [request, SyncMessage.pull(pull).encoded()]
        for _ in 0..<150 {
            let bytes =
                random.oneIn(2)
                ? try Self.mutant(of: push, &random)
                : Self.mutant(of: requests[random.below(2)], &random)
            let answer = pair.authority.answer(bytes, from: Pair.anyone)
            _ = try SyncMessage(answer.span)
        }
        #expect(pair.authorityStore.validate() == [])
        let space = pair.replica.space
        #expect(try pair.authorityStore.verify(space) { _ in nil }.faults == [])
        // A replica that does as it should gets all of it.
        var other = try pair.makeReplica()
        try other.sync(with: pair.authority, at: pair.now)
        let (ours, theirs) = (try other.root, try pair.authorityRoot)
        #expect(ours == theirs)
    }

    @Test(arguments: UInt64(0)..<6) func aReplicaStandsWhateverItIsAnswered(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let pair = try Pair()
        var other = try pair.makeReplica()
        var replica = try pair.makeReplica()
        try replica.sync(with: pair.authority, at: pair.now)
        let caller = Caller(rights: [.read, .append], actor: "alice")
        var session = ReplicaSession(replica.store, replica.space, seed: seed)
        for step in 0..<60 {
            try replica.record("n\(step)", actor: random.oneIn(4) ? "mallory" : "alice")
            try other.sync(with: pair.authority, as: caller, at: pair.now)
            try other.record("o\(step)")
            session.heardOfNews()
            guard case .send(let request) = try session.next(at: pair.now) else {
                // Whoever lies about where it stands makes a replica wait for a person.
                try replica.reopen()
                session = ReplicaSession(replica.store, replica.space, seed: seed)
                continue
            }
            var answer = pair.authority.answer(request, from: caller)
            if !random.oneIn(3) { answer = Self.mutant(of: answer, &random) }
            do throws(LogError) { try session.receive(answer, at: pair.now) } catch {
                Issue.record("seed \(seed), step \(step): \(error.message)")
            }
            pair.clock.advance(milliseconds: 70_000)
            #expect(replica.store.validate() == [])
        }
        #expect(try replica.store.verify(replica.space) { _ in nil }.faults == [])
    }

    @Test(arguments: UInt64(0)..<2) func aFileOfTheInboxIsReadOrRefused(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var pair = try Pair()
        try pair.sync()
        try pair.replica.record("bad", actor: "mallory")
        try pair.sync(as: Caller(rights: [.read, .append], actor: "alice"))
        let space = pair.replica.space
        let directory = pair.replica.store.directory
        let entry = try #require(try pair.replica.store[space].inbox.entries().first)
        let path = LogPaths.inboxEntry(entry.replica, entry.sequences.lowerBound, of: space)
        let file = try Files.contents(of: path, in: directory, sizeMax: Limits.blockSizeMax)
        var unpacker = BlockUnpacker()
        let block = try unpacker.unpack(entry.block).bytes
        for _ in 0..<2000 {
            var bytes = Self.mutate(file, &random)
            if !random.oneIn(4) {
                bytes = Array(file[..<24]) + Self.mutantBlock(block, &random)
                let size = bytes.count - 24
                for index in 0..<4 {
                    bytes[16 + index] = UInt8(truncatingIfNeeded: size >> (8 * index))
                }
                bytes = Self.sealed(bytes, checksumAt: 20)
            }
            guard let read = try? InboxEntry(bytes.span) else { continue }
            #expect(!read.sequences.isEmpty)
        }
        for _ in 0..<1000 {
            let note = InboxNote(old: entry.origin, count: 1, new: entry.origin)
            var bytes = Self.mutate(note.encoded(), &random)
            if bytes.count == note.encoded().count {
                bytes = Self.sealed(bytes, checksumAt: 52)
            }
            guard let read = try? InboxNote(bytes.span) else { continue }
            #expect(read.encoded() == bytes)
        }
    }
}
