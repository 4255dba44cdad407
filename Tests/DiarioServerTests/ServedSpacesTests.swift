import DiarioCore
import DiarioLog
import DiarioSQLite
import DiarioServer
import DiarioSync
import DiarioTestSupport
import Testing

/// Spaces as they are served, to those who have tokens: schema/format/control.md.
struct ServedSpacesTests {
    /// A pair whose authority is served under the name `home`.
    private struct World {
        let folder: TemporaryFolder
        let control: ControlFile
        let served: ServedSpaces
        let entropy = SeededEntropy(seed: 11)
        var pair: Pair

        init() throws {
            folder = try TemporaryFolder()
            control = try ControlFile(folder: folder.path, .create)
            pair = try Pair()
            served = ServedSpaces(pair.authorityStore, control)
            try control.name(pair.replica.space, try Self.name("home"), at: pair.now)
            // The types of the pack: else nothing can be recorded.
            try pair.sync()
        }

        static func name(_ text: String) throws -> SpaceName { try #require(SpaceName(text)) }

        func token(
            _ rights: Caller.Rights = [.read, .append],
            for space: String = "home",
            actor: String? = nil,
            _ change: (inout TokenDraft) -> Void = { _ in }
        ) throws -> (key: TokenKey, token: Token) {
            var draft = TokenDraft(space: try Self.name(space), rights: rights)
            draft.actor = actor
            change(&draft)
            return try control.makeTokenAndSpace(draft, drawnFrom: entropy, at: pair.now)
        }

        func answer(
            _ request: [UInt8],
            _ key: TokenKey,
            to name: String = "home"
        ) throws
            -> SyncMessage
        {
            let answer = served.answer(request, to: name, with: key.text, at: pair.now)
            return try SyncMessage(answer.span)
        }

        func sync(_ replica: inout TestReplica, _ key: TokenKey) throws {
            let now = pair.now
            try replica.sync(at: now) { served.answer($0, to: "home", with: key.text, at: now) }
        }

        var head: UInt64 { pair.authorityStore[pair.replica.space].standing().head }
    }

    private static func reason(_ message: SyncMessage) -> Refusal.Reason? {
        guard case .refusal(let refusal) = message else { return nil }
        return refusal.reason
    }

    @Test func whoHasNoneDoesNot() throws {
        var world = try World()
        let request = try world.pair.replica.request(at: world.pair.now)
        let stranger = TokenKey(drawnFrom: SeededEntropy(seed: 99))
        #expect(Self.reason(try world.answer(request, stranger)) == .unauthorized)
        let (key, token) = try world.token()
        #expect(Self.reason(try world.answer(request, key)) == nil)
        #expect(Self.reason(try world.answer(request, key, to: "work")) == .unknownSpace)
        let (other, _) = try world.token(for: "work")
        #expect(Self.reason(try world.answer(request, other)) == .unknownSpace)
        #expect(Self.reason(try world.answer([1, 2, 3], key)) == .malformed)
        // From the next request on.
        #expect(try world.control.revokeToken(token.id, at: world.pair.now))
        #expect(Self.reason(try world.answer(request, key)) == .unauthorized)
    }

    @Test func aSpaceWithOnlyANameIsMadeWhenItIsAskedFor() throws {
        var world = try World()
        let (key, _) = try world.token(for: "work")
        let id = try #require(try world.control.space(try World.name("work"))).id
        #expect(try !world.pair.authorityStore.hasSpace(id))
        let request = try world.pair.replica.request(at: world.pair.now)
        #expect(Self.reason(try world.answer(request, key, to: "work")) == .lineage)
        #expect(try world.pair.authorityStore.hasSpace(id))
        let manifest = try world.pair.authorityStore[id].status().manifest
        #expect(manifest.authority != nil)
    }

    @Test func aTokenGivesNoMoreThanItsRights() throws {
        var world = try World()
        let (reader, _) = try world.token([.read])
        try world.sync(&world.pair.replica, reader)
        #expect(world.pair.replica.head == 1)
        try world.pair.replica.record("mine")
        let push = try world.pair.replica.request(at: world.pair.now)
        #expect(Self.reason(try world.answer(push, reader)) == .forbidden)
        #expect(world.head == 1)
        let (writer, _) = try world.token([.append])
        #expect(Self.reason(try world.answer(push, writer)) == nil)
        #expect(world.head == 2)
    }

    // The seeds of its salts are the server's: a device would draw others.
    @Test func aReplicaThatRecordsOverHTTPDoesNotSync() throws {
        var world = try World()
        let (alice, token) = try world.token(actor: "alice")
        let (relay, _) = try world.token([.append, .relay], actor: "bob")
        let replica = try world.pair.replica.store[world.pair.replica.space].status().replica
        let bound = try world.control.bind(
            replica,
            in: try World.name("home"),
            to: token.holder,
            isNamed: true,
            at: world.pair.now
        )
        #expect(bound == token.holder)
        try world.pair.replica.record("one")
        let push = try world.pair.replica.request(at: world.pair.now)
        #expect(Self.reason(try world.answer(push, alice)) == .forbidden)
        #expect(world.head == 1)
        // Who gives back what a restored server lacks has the seeds.
        #expect(Self.reason(try world.answer(push, relay)) == nil)
        #expect(world.head == 2)
    }

    @Test func anotherTokenOfTheSameActorWillDo() throws {
        var world = try World()
        let (first, token) = try world.token(actor: "alice")
        try world.pair.replica.record("one")
        try world.sync(&world.pair.replica, first)
        #expect(try world.control.revokeToken(token.id, at: world.pair.now))
        let (second, _) = try world.token(actor: "alice")
        try world.pair.replica.record("two")
        try world.sync(&world.pair.replica, second)
        #expect(world.head == 3)
        let (relay, _) = try world.token([.read, .append, .relay], actor: "bob")
        try world.pair.replica.record("three")
        try world.sync(&world.pair.replica, relay)
        #expect(world.head == 4)
    }

    @Test func aReplicaThatBelongsToNobodyNeedsARelay() throws {
        var world = try World()
        try world.pair.replica.record("one")
        // As if the control file had been lost.
        try world.pair.sync()
        try world.pair.replica.record("two")
        let push = try world.pair.replica.request(at: world.pair.now)
        let (alice, _) = try world.token(actor: "alice")
        #expect(Self.reason(try world.answer(push, alice)) == .forbidden)
        let (admin, _) = try world.token([.read, .append, .admin])
        #expect(Self.reason(try world.answer(push, admin)) == nil)
        #expect(world.head == 3)
    }

    @Test func aFullSpaceTakesNoMore() throws {
        var world = try World()
        let (key, _) = try world.token()
        let home = try World.name("home")
        try world.control.setQuota(of: home, SpaceQuota(eventsMax: 3))
        try world.sync(&world.pair.replica, key)
        for number in 1...2 { try world.pair.replica.record("\(number)") }
        let push = try world.pair.replica.request(at: world.pair.now)
        #expect(Self.reason(try world.answer(push, key)) == nil)
        // What it has it says again.
        #expect(Self.reason(try world.answer(push, key)) == nil)
        world.pair.replica.lose(at: world.pair.now)
        try world.pair.replica.record("3")
        try world.sync(&world.pair.replica, key)
        #expect(world.head == 3)
        #expect(world.pair.replica.pendingCount == 1)
        try world.control.setQuota(of: home, SpaceQuota(eventsMax: 4))
        world.pair.clock.advance(milliseconds: 120_000)
        try world.sync(&world.pair.replica, key)
        #expect(world.head == 4)
        #expect(world.pair.replica.pendingCount == 0)
        try world.control.setQuota(of: home, SpaceQuota(bytesMax: 1))
        try world.pair.replica.record("5")
        let last = try world.pair.replica.request(at: world.pair.now)
        #expect(Self.reason(try world.answer(last, key)) == .full)
    }

    @Test func whoIsTooFastWaits() throws {
        var world = try World()
        let (key, _) = try world.token { $0.requestsPerSecond = 1 }
        let request = try world.pair.replica.request(at: world.pair.now)
        for _ in 0..<10 { #expect(Self.reason(try world.answer(request, key)) == nil) }
        guard case .refusal(let refusal) = try world.answer(request, key) else {
            return #expect(Bool(false), "that is no refusal")
        }
        #expect(refusal.reason == .tooFast)
        #expect(refusal.number == 1)
        // Others are served.
        let (other, _) = try world.token()
        #expect(Self.reason(try world.answer(request, other)) == nil)
        world.pair.clock.advance(milliseconds: 1000)
        #expect(Self.reason(try world.answer(request, key)) == nil)
    }

    @Test func whoPushesTooMuchWaits() throws {
        var world = try World()
        let (key, _) = try world.token { $0.eventsPerSecond = 1 }
        try world.sync(&world.pair.replica, key)
        for number in 1...500 { try world.pair.replica.record("\(number)") }
        let push = try world.pair.replica.request(at: world.pair.now)
        // What the largest push may bring, and no more.
        for _ in 0..<Limits.exchangeCountMax / 500 {
            #expect(Self.reason(try world.answer(push, key)) == nil)
        }
        #expect(Self.reason(try world.answer(push, key)) == .tooFast)
        #expect(world.head == 501)
    }
}
