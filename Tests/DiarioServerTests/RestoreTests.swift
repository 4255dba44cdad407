import Diario
import DiarioCore
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync
import DiarioTestSupport
import Testing

/// A server that lost events gets them back from a replica: schema/format/sync.md, section 11.
struct RestoreTests {
    /// A space on a server, with a device that has all of it.
    static func world(seed: UInt64 = 1) throws -> PublishWorld {
        let world = try PublishWorld(seed: seed)
        #expect(try world.publish() == .published)
        try world.sync()
        return world
    }

    /// The same, and the server lost what was recorded last.
    static func worldSetBack(seed: UInt64 = 1) throws -> PublishWorld {
        let world = try Self.world(seed: seed)
        let backup = world.serverDisk.copy()
        for _ in 0..<3 { try world.record() }
        try world.sync()
        try world.replaceServer(with: backup)
        return world
    }

    private static func refusal(_ world: PublishWorld) throws -> Refusal.Reason? {
        var session = world.session(.restoring)
        while case .send(let request) = try session.next(at: world.clock.now) {
            let answer = world.answer(request)
            if case .refusal(let refusal) = try SyncMessage(answer.span) { return refusal.reason }
            try session.receive(answer, at: world.clock.now)
        }
        return nil
    }

    @Test func aServerThatWasSetBackGetsItsEventsBack() throws {
        let world = try Self.worldSetBack()
        let head = world.device[world.space].standing().head
        let root = try world.device[world.space].root()
        let epoch = try world.server[world.home].status().manifest.epoch
        try world.record()
        #expect(try world.publish(.restoring) == .published)
        let home = try world.home
        #expect(try world.server[home].proofs.root(size: head) == root)
        let manifest = try world.server[home].status().manifest
        #expect(!manifest.isWaiting && manifest.isServed)
        #expect(manifest.epoch > epoch)
        // What had the name is gone, and the device need not be made anew.
        #expect(try world.server.manifests().count == 1)
        let space = world.space
        try world.checkPublished()
        #expect(world.space == space)
    }

    @Test(arguments: [false, true])
    func aServerThatLostEverythingGetsItBack(hasEmptySpace: Bool) throws {
        let world = try Self.world()
        for _ in 0..<3 { try world.record() }
        try world.sync()
        let root = try world.device[world.space].root()
        try world.loseServer()
        if hasEmptySpace {
            let id = try world.server.makeWholeSpace(try world.home).space
            try Pair.adopt(in: world.server, id)
        }
        #expect(try world.publish(.restoring) == .published)
        let size = world.device[world.space].standing().head
        #expect(try world.server[try world.home].proofs.root(size: size) == root)
        try world.checkPublished()
    }

    // Nobody knows any more to whom replicas belonged.
    @Test func aReplicaBelongsToWhoPushesFirstWhenTheServerForgot() throws {
        let world = try Self.world()
        let replica = try world.device[world.space].status().replica
        try world.loseServer()
        #expect(try world.publish(.restoring) == .published)
        let name = try PublishWorld.home()
        #expect(try world.control.holder(of: replica, in: name) == nil)
        try world.record()
        try world.checkPublished()
        #expect(try world.control.holder(of: replica, in: name) == .actor("alice"))
    }

    @Test func aReplicaStaysWithWhomItBelongsTo() throws {
        let world = try Self.worldSetBack()
        let replica = try world.device[world.space].status().replica
        #expect(try world.publish(.restoring) == .published)
        let holder = try world.control.holder(of: replica, in: try PublishWorld.home())
        #expect(holder == .actor("alice"))
    }

    @Test func aServerThatLacksNothingIsLeftAlone() throws {
        let world = try Self.world()
        let home = try world.home
        let epoch = try world.server[home].status().manifest.epoch
        guard case .kept(nil, _) = try world.publish(.restoring) else {
            return #expect(Bool(false), "something was missing")
        }
        #expect(try world.home == home)
        #expect(try world.server[home].status().manifest.epoch == epoch)
        // One that waits goes on when its operator says so, and not for this.
        try world.server[home].holdAuthority()
        #expect(try Self.refusal(world) == .waiting)
        try world.server[home].resumeAuthority()
        try world.checkPublished()
    }

    @Test func aServerThatGivesPositionsIsHeldFirst() throws {
        let world = try Self.world()
        let backup = world.serverDisk.snapshot()
        try world.record()
        try world.sync()
        // Nothing shows that it was set back.
        try world.replaceServer(with: backup)
        #expect(try Self.refusal(world) == .ahead)
        try world.server[world.home].holdAuthority()
        #expect(try world.publish(.restoring) == .published)
        try world.checkPublished()
    }

    // Each process remembers whether it may give positions, and must notice that it may not.
    @Test func whoIsHeldRecordsNothing() throws {
        let world = try Self.world()
        let home = try world.home
        try world.server.recordNote("before", in: home)
        let other = try TestReplica.open(world.serverDisk.process(1), world.clock, world.entropy)
        try other.recordNote("beside", in: home)
        try world.server.recordNote("again", in: home)
        try other[home].holdAuthority()
        #expect(throws: LogError.self) { try world.server.recordNote("after", in: home) }
        #expect(throws: LogError.self) { try other.recordNote("after", in: home) }
        try other[home].resumeAuthority()
        try world.server.recordNote("resumed", in: home)
        #expect(throws: LogError.self) { try world.device[world.space].holdAuthority() }
        #expect(world.server.validate() == [])
    }

    @Test func aServerWithOtherEventsRefuses() throws {
        let world = try Self.worldSetBack()
        let home = try world.home
        try world.server[home].resumeAuthority()
        try world.server.recordNote("of the server alone", in: home)
        try world.server[home].holdAuthority()
        let root = try world.server[home].root()
        #expect(try Self.refusal(world) == .diverged)
        #expect(try world.home == home)
        #expect(try world.server[home].root() == root)
        // As many events, and others.
        try world.server[home].resumeAuthority()
        for _ in 0..<5 { try world.server.recordNote("and more", in: home) }
        #expect(try Self.refusal(world) == .diverged)
        #expect(world.server.validate() == [])
    }

    @Test func theNameOfASpaceThatIsUsedIsNotGiven() throws {
        let world = try Self.world()
        try world.loseServer()
        let home = try world.server.makeWholeSpace(try world.home).space
        try Pair.adopt(in: world.server, home)
        let lineage = try world.server[home].status().manifest.lineage
        var other = try TestReplica(home, lineage, world.clock, world.entropy)
        try other.sync(at: world.clock.now) { world.answer($0) }
        try other.record("theirs")
        try other.sync(at: world.clock.now) { world.answer($0) }
        #expect(try Self.refusal(world) == .lineage)
        #expect(try world.home == home)
    }

    /// A space that somebody published is kept, though nobody has recorded anything in it yet.
    @Test func aPublishedSpaceWithoutEventsKeepsItsName() throws {
        let world = try Self.world()
        try world.loseServer()
        let other = try PublishWorld(seed: 2, events: 0)
        #expect(try Self.end(of: other.session(), at: world) == .published)
        let home = try world.home
        let status = try world.server[home].status()
        #expect(status.events == 0 && status.tallies.allSatisfy(\.isAuthority))
        #expect(try Self.refusal(world) == .lineage)
        let third = try PublishWorld(seed: 3)
        guard case .kept(.taken, _) = try Self.end(of: third.session(), at: world) else {
            return #expect(Bool(false), "the name was given")
        }
        #expect(try world.home == home)
        #expect(try world.server.manifests().map(\.space) == [home])
        #expect(world.server.validate() == [])
    }

    /// What comes of an attempt that is made at the server of `world`.
    private static func end(
        of session: consuming PublishSession,
        at world: PublishWorld
    ) throws -> PublishSession.Result? {
        while true {
            switch try session.next(at: world.clock.now) {
            case .send(let request):
                try session.receive(world.answer(request), at: world.clock.now)
            case .done(let result): return result
            case .wait, .stop: return nil
            }
        }
    }

    @Test func onlyAnAdministratorMay() throws {
        let world = try Self.world()
        try world.loseServer(rights: [.read, .append, .relay])
        #expect(try Self.refusal(world) == .forbidden)
    }

    @Test func onlyAReplicaCan() throws {
        let world = try PublishWorld()
        #expect(throws: LogError.self) { try world.publish(.restoring) }
        _ = try world.device[world.space].publishing.begin()
        #expect(throws: LogError.self) { try world.publish(.restoring) }
    }

    @Test func whatDoesNotFitIsDropped() throws {
        let world = try Self.worldSetBack()
        let home = try world.home
        var session = world.session(.restoring)
        var reason: Refusal.Reason?
        while case .send(let request) = try session.next(at: world.clock.now) {
            guard case .restore(var publish) = try SyncMessage(request.span) else { break }
            for index in publish.blocks.indices { publish.blocks[index][40] ^= 0xff }
            let answer = world.answer(SyncMessage.restore(publish).encoded())
            if case .refusal(let refusal) = try SyncMessage(answer.span) { reason = refusal.reason }
            try session.receive(answer, at: world.clock.now)
        }
        #expect(reason == .malformed)
        #expect(try world.server.manifests().map(\.space) == [home])
        #expect(try world.publish(.restoring) == .published)
        try world.checkPublished()
    }

    @Test func whatTheQuotaDoesNotHoldWaits() throws {
        let world = try Self.worldSetBack()
        try world.control.setQuota(of: try PublishWorld.home(), SpaceQuota(eventsMax: 2))
        #expect(try Self.refusal(world) == .full)
        try world.control.setQuota(of: try PublishWorld.home(), SpaceQuota())
        #expect(try world.publish(.restoring) == .published)
        try world.checkPublished()
    }

    @Test func itMayHappenTwice() throws {
        let world = try Self.worldSetBack()
        #expect(try world.publish(.restoring) == .published)
        // Before the device knows of the new epoch, all is lost but who may come.
        try world.replaceServer(with: CrashDisk(machineID: "another server"))
        #expect(try world.publish(.restoring) == .published)
        try world.checkPublished()
    }

    // The attempt of a publication stands in the log, for all who read it.
    @Test func anAttemptUnderAnotherNameIsOutOfReach() throws {
        let world = try Self.world()
        let status = try world.device[world.space].status()
        let published = try #require(world.publishedAttempt)
        let other = try #require(SpaceName("other"))
        let key = try world.control.makeTokenAndSpace(
            TokenDraft(space: other, rights: [.admin]),
            drawnFrom: world.entropy,
            at: world.clock.now
        ).key
        var session = world.session(.restoring)
        guard case .send(let request) = try session.next(at: world.clock.now),
            case .restore(var publish) = try SyncMessage(request.span)
        else { return #expect(Bool(false), "nothing is sent") }
        publish.attempt = published
        let answer = world.served.answer(
            SyncMessage.restore(publish).encoded(),
            to: "other",
            with: key.text,
            at: world.clock.now
        )
        #expect(try SyncMessage(answer.span).kind == .publication)
        // What was published is so for ever, whatever is asked about it.
        let abandon = Abandon(
            attempt: published,
            standing: Standing(
                lineage: Lineage(high: 1, low: 2),
                epoch: status.manifest.epoch,
                size: 0,
                root: try #require(try world.device[world.space].proofs.root(size: 0))
            )
        )
        let known = try SyncMessage(world.answer(SyncMessage.abandon(abandon).encoded()).span)
        guard case .publication(let publication) = known else {
            return #expect(Bool(false), "\(known)")
        }
        #expect(publication.outcome == .adopted)
    }

    @Test func whatAnotherAttemptLeftIsDropped() throws {
        let world = try Self.worldSetBack()
        var session = world.session(.restoring)
        // One device begins, and is never heard of again.
        for _ in 0..<2 {
            guard case .send(let request) = try session.next(at: world.clock.now),
                case .restore(var publish) = try SyncMessage(request.span)
            else { break }
            publish.standing.size -= 1
            publish.blocks.removeAll()
            _ = world.answer(SyncMessage.restore(publish).encoded())
        }
        #expect(try world.server.manifests().count == 2)
        #expect(try world.publish(.restoring) == .published)
        #expect(try world.server.manifests().count == 1)
        try world.checkPublished()
    }

    // A device that was on its way with others' events is no worse off.
    @Test func whoHasMoreGoesBackToWhatTheServerHas() throws {
        let world = try Self.world()
        let home = try world.home
        let status = try world.server[home].status()
        var other = try TestReplica(home, status.manifest.lineage, world.clock, world.entropy)
        try other.sync(at: world.clock.now) { world.answer($0) }
        try world.record()
        try world.sync()
        try other.record("theirs, which the device never saw")
        try other.sync(at: world.clock.now) { world.answer($0) }
        try world.loseServer()
        #expect(try world.publish(.restoring) == .published)
        try other.sync(at: world.clock.now) { world.answer($0) }
        try world.checkPublished(foreign: 1)
        try other.sync(at: world.clock.now) { world.answer($0) }
        #expect(try other.root == (try world.server[world.home].root()))
    }

    @Test(arguments: 0..<10) func messagesThatAreLostDoubledOrLateDoNoHarm(seed: Int) throws {
        let world = try Self.worldSetBack(seed: UInt64(seed))
        // Who lost the last answer is told that nothing is missing.
        switch try world.sendThroughHarm(.restoring) {
        case .published, .kept(nil, _): break
        case let result: #expect(Bool(false), "\(String(describing: result))")
        }
        try world.checkPublished()
    }
}
