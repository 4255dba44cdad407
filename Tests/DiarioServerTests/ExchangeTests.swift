import Diario
import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioSync
import DiarioTestSupport
import Testing

/// Replicas and their authority, each with a log of its own in memory, and messages that are
/// carried by hand: schema/format/sync.md.
struct ExchangeTests {
    @Test func aReplicaGetsWhatTheAuthorityHas() throws {
        var pair = try Pair()
        try pair.sync()
        try expectEqual(pair.replica.root, pair.authorityRoot)
        #expect(pair.replica.head == 1)
        let names = try pair.replica.catalogNames
        #expect(names.contains("test.note.made"))
    }

    @Test func whatAReplicaRecordsGetsPositions() throws {
        var pair = try Pair()
        try pair.sync()
        for number in 1...5 { try pair.replica.record("n\(number)") }
        #expect(pair.replica.pendingCount == 5)
        try pair.sync()
        #expect(pair.replica.pendingCount == 0)
        #expect(pair.replica.head == 6)
        try expectEqual(pair.replica.root, pair.authorityRoot)
    }

    @Test func aPushThatArrivesTwiceIsAnsweredTheSame() throws {
        var pair = try Pair()
        try pair.sync()
        for number in 1...3 { try pair.replica.record("n\(number)") }
        let push = try pair.replica.request(at: pair.now)
        let first = pair.authority.answer(push, from: Pair.anyone)
        let second = pair.authority.answer(push, from: Pair.anyone)
        #expect(first == second)
        guard case .verdicts(let verdicts) = try SyncMessage(first.span) else {
            return #expect(Bool(false), "these are no verdicts")
        }
        #expect(verdicts.list.map(\.count) == [3])
        // The answer is lost; the pull brings the positions.
        pair.replica.lose(at: pair.now)
        try pair.sync()
        #expect(pair.replica.pendingCount == 0)
        try expectEqual(pair.replica.root, pair.authorityRoot)
    }

    /// The events of several replicas lie between one another in a segment.
    @Test func aPushThatArrivesAgainWhenItsEventsAreSealedIsAnsweredTheSame() throws {
        var pair = try Pair()
        try pair.sync()
        var other = try pair.makeReplica()
        try other.sync(with: pair.authority, at: pair.now)
        var pushes: [(push: [UInt8], answer: [UInt8])] = []
        for round in 1...4 {
            try other.record("theirs \(round)")
            try other.sync(with: pair.authority, at: pair.now)
            try pair.sync()
            for number in 0..<round { try pair.replica.record("\(round).\(number)") }
            let push = try pair.replica.request(at: pair.now)
            pushes.append((push, pair.authority.answer(push, from: Pair.anyone)))
            pair.replica.lose(at: pair.now)
            try pair.sync()
        }
        _ = try pair.authorityStore.seal(pair.replica.space, all: true)
        try other.record("behind it")
        try other.sync(with: pair.authority, at: pair.now)
        for (push, answer) in pushes {
            let again = try SyncMessage(pair.authority.answer(push, from: Pair.anyone).span)
            guard case .verdicts(let verdicts) = again,
                case .verdicts(let before) = try SyncMessage(answer.span)
            else { return #expect(Bool(false), "these are no verdicts") }
            #expect(verdicts.list == before.list)
        }
    }

    @Test func aRefusedBatchGoesToTheInboxAndTheOthersGoOn() throws {
        var pair = try Pair()
        try pair.sync()
        try pair.replica.record("good")
        try pair.replica.record("bad", actor: "mallory")
        try pair.replica.record("good again")
        let caller = Caller(rights: [.read, .append], actor: "alice")
        try pair.sync(as: caller)
        #expect(pair.replica.pendingCount == 0)
        // The pack, two events, and the refusal.
        #expect(pair.replica.head == 4)
        try expectEqual(pair.replica.root, pair.authorityRoot)
        let inbox = try pair.replica.store[pair.replica.space].inbox.entries()
        #expect(inbox.map(\.sequences) == [2...2])
        #expect(pair.replica.session.moved.refused == 1)
        // Sequences of refused events are used up.
        try pair.replica.record("later")
        try pair.sync(as: caller)
        #expect(pair.replica.head == 5)
        try expectEqual(pair.replica.root, pair.authorityRoot)
    }

    @Test func whatWasRefusedStaysOutAfterReopening() throws {
        var pair = try Pair()
        try pair.sync()
        try pair.replica.record("bad", actor: "mallory")
        try pair.sync(as: Caller(rights: [.read, .append], actor: "alice"))
        try pair.replica.reopen()
        #expect(pair.replica.pendingCount == 0)
        #expect(pair.replica.store.validate() == [])
        try expectEqual(pair.replica.root, pair.authorityRoot)
    }

    @Test func foreignEventsComeBetweenOurOwn() throws {
        var pair = try Pair()
        try pair.sync()
        var other = try pair.makeReplica()
        try other.sync(with: pair.authority, at: pair.now)
        try pair.replica.record("ours")
        try other.record("theirs")
        try other.sync(with: pair.authority, at: pair.now)
        try pair.replica.record("ours too")
        try pair.sync()
        try other.sync(with: pair.authority, at: pair.now)
        #expect(pair.replica.head == 4)
        try expectEqual(pair.replica.root, pair.authorityRoot)
        try expectEqual(other.root, pair.authorityRoot)
    }

    @Test func ifUnchangedIsKept() throws {
        var pair = try Pair()
        try pair.sync()
        var other = try pair.makeReplica()
        try pair.replica.record("thing", subject: "s1")
        try pair.sync()
        try other.sync(with: pair.authority, at: pair.now)
        try pair.replica.record("mine", subject: "s1", ifUnchanged: true)
        try other.record("theirs", subject: "s1")
        try other.sync(with: pair.authority, at: pair.now)
        try pair.sync()
        let inbox = try pair.replica.store[pair.replica.space].inbox.entries()
        #expect(inbox.count == 1)
        try expectEqual(pair.replica.root, pair.authorityRoot)
    }

    /// A push comes after what the server itself wrote, and after what another process wrote.
    @Test(arguments: [false, true])
    func whatWasNotReadYetIsAChangeToo(isBeside: Bool) throws {
        var pair = try Pair()
        try pair.sync()
        try pair.replica.record("thing", subject: "s1")
        try pair.sync()
        try pair.replica.record("mine", subject: "s1", ifUnchanged: true)
        let space = pair.replica.space
        func write(_ store: LogStore) throws {
            try store.recordNote("theirs", in: space, subject: "s1")
        }
        if isBeside { try pair.besideAuthority(write) } else { try write(pair.authorityStore) }
        try pair.sync()
        let inbox = try pair.replica.store[space].inbox.entries()
        #expect(inbox.count == 1)
        try expectEqual(pair.replica.root, pair.authorityRoot)
    }

    @Test func anotherSpaceIsToldApart() throws {
        var pair = try Pair()
        try pair.sync()
        let stranger = try Pair(seed: 8)
        let request = try pair.replica.request(at: pair.now)
        let answer = stranger.authority.answer(request, from: Pair.anyone)
        guard case .refusal(let refusal) = try SyncMessage(answer.span) else {
            return #expect(Bool(false), "that is no refusal")
        }
        #expect(refusal.reason == .lineage)
    }

    @Test func aRequestOfBeforeTheFirstReleaseIsToldWhatToDo() throws {
        var pair = try Pair()
        try pair.sync()
        var request = try pair.replica.request(at: pair.now)
        request.replaceSubrange(0..<4, with: Array("DMSG".utf8))
        let answer = pair.authority.answer(request, from: Pair.anyone)
        guard case .refusal(let refusal) = try SyncMessage(answer.span) else {
            return #expect(Bool(false), "that is no refusal")
        }
        #expect(refusal.reason == .version)
        #expect(refusal.message.contains("before the first release: export the events"))
        #expect(throws: FormatError.beforeFirstRelease) { try SyncMessage(request.span) }
    }

    @Test(arguments: 0..<8) func anyOrderOfManyReplicasConverges(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let pair = try Pair()
        var replicas = [try pair.makeReplica(), try pair.makeReplica(), try pair.makeReplica()]
        for replica in replicas.indices {
            try replicas[replica].sync(with: pair.authority, at: pair.now)
        }
        for step in 0..<60 {
            let index = random.below(replicas.count)
            switch random.below(5) {
            case 0, 1, 2:
                try replicas[index].record(
                    "\(step)",
                    actor: random.oneIn(5) ? "mallory" : "alice",
                    subject: random.oneIn(2) ? "s\(random.below(3))" : nil,
                    ifUnchanged: random.oneIn(3)
                )
            case 3:
                try replicas[index].sync(
                    with: pair.authority,
                    as: Caller(rights: [.read, .append], actor: "alice"),
                    at: pair.now,
                    losing: &random
                )
            default: try replicas[index].reopen()
            }
            pair.clock.advance(milliseconds: 70_000)
        }
        for index in replicas.indices {
            try replicas[index].sync(
                with: pair.authority,
                as: Caller(rights: [.read, .append], actor: "alice"),
                at: pair.now
            )
            #expect(replicas[index].pendingCount == 0)
        }
        for index in replicas.indices {
            try replicas[index].sync(with: pair.authority, at: pair.now)
            try expectEqual(replicas[index].root, pair.authorityRoot)
            #expect(replicas[index].store.validate() == [])
        }
        #expect(pair.authorityStore.validate() == [])
    }

    private func expectEqual(_ left: Hash32, _ right: Hash32) throws { #expect(left == right) }
}
