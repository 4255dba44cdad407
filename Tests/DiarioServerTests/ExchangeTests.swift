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

    private func expectEqual(_ left: Hash32, _ right: Hash32) throws { #expect(left == right) }
}
