import Diario
import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync
import Testing

/// A space gets its authority elsewhere: schema/format/sync.md, section 10.
struct PublishTests {
    private static func publication(_ answer: [UInt8]) throws -> Publication? {
        guard case .publication(let publication) = try SyncMessage(answer.span) else { return nil }
        return publication
    }

    private static func refusal(_ answer: [UInt8]) throws -> Refusal.Reason? {
        guard case .refusal(let refusal) = try SyncMessage(answer.span) else { return nil }
        return refusal.reason
    }

    @Test func aSpaceGetsItsAuthorityElsewhere() throws {
        let world = try PublishWorld()
        let (head, root) = (
            world.device[world.space].standing().head, try world.device[world.space].root()
        )
        #expect(try world.publish() == .published)
        let home = try world.home
        // The positions are what they were, and one event says what happened.
        #expect(try world.server[home].proofs.root(size: head) == root)
        #expect(world.server[home].standing().head == head + 1)
        try world.record()
        try world.checkPublished()
        #expect(world.server[home].standing().head == head + 2)
        // Another replica gets all of it.
        let lineage = try world.server[home].status().manifest.lineage
        var other = try TestReplica(home, lineage, world.clock, world.entropy)
        try other.sync(at: world.clock.now) { world.answer($0) }
        #expect(try other.root == (try world.server[home].root()))
        #expect(try other.catalogNames.contains("test.note.made"))
    }

    @Test func whatWasPublishedBelongsToWhoPublishedIt() throws {
        let world = try PublishWorld()
        let replica = try world.device[world.space].status().replica
        #expect(try world.publish() == .published)
        let holder = try world.control.holder(of: replica, in: try PublishWorld.home())
        #expect(holder == .actor("alice"))
    }

    @Test(arguments: 0..<10) func messagesThatAreLostDoubledOrLateDoNoHarm(seed: Int) throws {
        let world = try PublishWorld(seed: UInt64(seed))
        #expect(try world.sendThroughHarm(.publishing) == .published)
        try world.checkPublished()
    }

    @Test func aSpaceArrivesInAsManyMessagesAsItTakes() throws {
        let world = try PublishWorld(events: 40)
        var session = world.session()
        var parts = 0
        while case .send(let request) = try session.next(at: world.clock.now) {
            guard case .publish(var publish) = try SyncMessage(request.span) else { break }
            if publish.blocks.count > 1 {
                publish.blocks.removeLast(publish.blocks.count - 1)
                parts += 1
            }
            let answer = world.answer(SyncMessage.publish(publish).encoded())
            try session.receive(answer, at: world.clock.now)
        }
        #expect(parts > 0)
        try world.checkPublished()
    }

    // Each process remembers who gives positions, and must notice that it changed (D1).
    @Test func otherProcessesNoticeWhoGivesPositions() throws {
        let world = try PublishWorld()
        let other = try TestReplica.open(
            world.deviceDisk.process(1),
            world.clock,
            world.entropy
        )
        try other.recordNote("with a position", in: world.space)
        let file = try world.device[world.space].publishing.begin()
        try other.recordNote("without one", in: world.space)
        try other.recordNote("nor this", in: world.space)
        try world.record()
        #expect(try world.device[world.space].status().pending == 3)
        #expect(try world.device[world.space].status().head == file.size)
        try world.device[world.space].publishing.takeBack()
        try other.recordNote("with one again", in: world.space)
        try world.record()
        let status = try world.device[world.space].status()
        #expect(status.pending == 0)
        #expect(status.head == file.size + 5)
        #expect(world.device.validate() == [])
        #expect(other.validate() == [])
    }

    @Test func aRefusalDoesNotGiveTheAuthorityBack() throws {
        let world = try PublishWorld(rights: [.read, .append])
        #expect(try world.publish() == nil)
        #expect(try world.device[world.space].publishing.attempt() != nil)
        #expect(try world.device[world.space].status().manifest.authority == nil)
        try world.record()
        #expect(try world.device[world.space].status().pending == 1)
        // With a better token it goes on.
        let admin = try world.token([.admin])
        var session = world.session()
        while case .send(let request) = try session.next(at: world.clock.now) {
            let now = world.clock.now
            let answer = world.served.answer(request, to: "home", with: admin.text, at: now)
            try session.receive(answer, at: now)
        }
        #expect(try world.device[world.space].publishing.attempt() == nil)
    }

    @Test func theNameOfAnotherSpaceIsNotGiven() throws {
        let world = try PublishWorld()
        let home = try world.server.makeWholeSpace(try world.home).space
        try Pair.adopt(in: world.server, home)
        var other = try TestReplica(
            home,
            try world.server[home].status().manifest.lineage,
            world.clock,
            world.entropy
        )
        try other.sync(at: world.clock.now) { world.answer($0) }
        try other.record("theirs")
        try other.sync(at: world.clock.now) { world.answer($0) }
        let root = try world.server[home].root()
        guard case .kept(.taken, _) = try world.publish() else {
            return #expect(Bool(false), "the name was given")
        }
        #expect(try world.home == home)
        #expect(try world.server[home].root() == root)
        try world.checkKept()
        #expect(try world.server.manifests().count == 1)
    }

    @Test func aSpaceThatNobodyUsedGivesWay() throws {
        let world = try PublishWorld()
        let home = try world.server.makeWholeSpace(try world.home).space
        try Pair.adopt(in: world.server, home)
        #expect(try world.publish() == .published)
        #expect(try world.home != home)
        #expect(try !world.server.hasSpace(home))
        try world.checkPublished()
    }

    @Test func aSpaceWithWhichOthersSyncIsNotGivenAway() throws {
        let world = try PublishWorld()
        try world.device[world.space].markServed()
        #expect(throws: LogError.self) { try world.publish() }
        #expect(try world.device[world.space].publishing.attempt() == nil)
        try world.checkKept()
    }

    // Else a server that is restored from a backup would give the same positions again.
    @Test func anAuthorityThatTookOverDoesNotGoOnFromABackup() throws {
        let world = try PublishWorld()
        #expect(try world.publish() == .published)
        #expect(try world.server[world.home].status().manifest.isServed)
    }

    @Test func aClockFarAheadIsNotTakenOver() throws {
        let world = try PublishWorld()
        world.clock.advance(milliseconds: 600_000)
        try world.record()
        world.clock.advance(milliseconds: -600_000)
        guard case .kept(.aheadOfTime, _) = try world.publish() else {
            return #expect(Bool(false), "it was taken over")
        }
        try world.checkKept()
        world.clock.advance(milliseconds: 600_000)
        #expect(try world.publish() == .published)
        try world.checkPublished()
    }

    @Test func anAbandonedAttemptIsNeverAdopted() throws {
        let world = try PublishWorld()
        var session = world.session()
        var sent: [[UInt8]] = []
        // All but the last message arrives.
        while case .send(let request) = try session.next(at: world.clock.now) {
            sent.append(request)
            guard sent.count < 3 else { break }
            try session.receive(world.answer(request), at: world.clock.now)
        }
        guard case .kept(.abandoned, _) = try world.publish(.abandoning) else {
            return #expect(Bool(false), "it was not abandoned")
        }
        try world.checkKept()
        for request in sent {
            let publication = try #require(try Self.publication(world.answer(request)))
            #expect(publication.outcome == .ended(.abandoned))
        }
        #expect(try world.server.manifests().isEmpty)
        // Another attempt may follow.
        #expect(try world.publish() == .published)
        try world.checkPublished()
    }

    @Test func whatWasAdoptedCannotBeAbandoned() throws {
        let world = try PublishWorld()
        var session = world.session()
        while case .send(let request) = try session.next(at: world.clock.now) {
            let answer = world.answer(request)
            // The last answer is lost.
            guard try Self.publication(answer)?.outcome != .adopted else { break }
            try session.receive(answer, at: world.clock.now)
        }
        #expect(try world.publish(.abandoning) == .published)
        try world.checkPublished()
    }

    @Test func aMessageBeforeWhichItWasAbandonedBeginsNothing() throws {
        let world = try PublishWorld()
        var session = world.session()
        guard case .send(let request) = try session.next(at: world.clock.now) else {
            return #expect(Bool(false), "nothing is sent")
        }
        #expect(try world.publish(.abandoning) != .published)
        let late = try #require(try Self.publication(world.answer(request)))
        #expect(late.outcome == .ended(.abandoned))
    }

    @Test func ofTwoCopiesTheSecondFollows() throws {
        let world = try PublishWorld()
        let copy = try TestReplica.open(world.deviceDisk.copy(), world.clock, world.entropy)
        #expect(try world.publish() == .published)
        var session = PublishSession(copy, world.space, seed: 2)
        while case .send(let request) = try session.next(at: world.clock.now) {
            try session.receive(world.answer(request), at: world.clock.now)
        }
        #expect(try copy[world.space].status().manifest.authority == nil)
        #expect(try copy[world.space].publishing.attempt() == nil)
        try world.checkPublished()
    }

    @Test func ofTwoCopiesThatWentTheirOwnWaysTheSecondStays() throws {
        let world = try PublishWorld()
        let copy = try TestReplica.open(world.deviceDisk.copy(), world.clock, world.entropy)
        try copy.recordNote("their own", in: world.space)
        try world.record()
        #expect(try world.publish() == .published)
        var session = PublishSession(copy, world.space, seed: 2)
        while case .send(let request) = try session.next(at: world.clock.now) {
            try session.receive(world.answer(request), at: world.clock.now)
        }
        guard case .done(.kept(.diverged, _)) = try session.next(at: world.clock.now) else {
            return #expect(Bool(false), "it followed")
        }
        #expect(try copy[world.space].status().manifest.authority != nil)
        #expect(copy.validate() == [])
        try world.checkPublished()
    }

    @Test func whatDoesNotMatchTheRootIsDropped() throws {
        let world = try PublishWorld()
        var session = world.session()
        var outcome: Publication.Outcome?
        while case .send(let request) = try session.next(at: world.clock.now) {
            guard case .publish(var publish) = try SyncMessage(request.span) else { break }
            publish.standing.root = SHA256.hash([1].span)
            let answer = world.answer(SyncMessage.publish(publish).encoded())
            outcome = try Self.publication(answer)?.outcome
            try session.receive(answer, at: world.clock.now)
        }
        #expect(outcome == .ended(.root))
        #expect(try world.server.manifests().isEmpty)
        try world.checkKept()
    }

    @Test func blocksThatAreNoneEndTheAttempt() throws {
        let world = try PublishWorld()
        var session = world.session()
        var outcome: Publication.Outcome?
        while case .send(let request) = try session.next(at: world.clock.now) {
            guard case .publish(var publish) = try SyncMessage(request.span) else { break }
            for index in publish.blocks.indices { publish.blocks[index][40] ^= 0xff }
            let answer = world.answer(SyncMessage.publish(publish).encoded())
            outcome = try Self.publication(answer)?.outcome
            try session.receive(answer, at: world.clock.now)
        }
        #expect(outcome == .ended(.malformed))
        try world.checkKept()
    }

    @Test func aSpaceBeyondTheQuotaWaits() throws {
        let world = try PublishWorld()
        try world.control.setQuota(of: try PublishWorld.home(), SpaceQuota(eventsMax: 2))
        #expect(try world.publish() == nil)
        #expect(try world.device[world.space].publishing.attempt() != nil)
        try world.control.setQuota(of: try PublishWorld.home(), SpaceQuota())
        #expect(try world.publish() == .published)
        try world.checkPublished()
    }

    @Test func theFileSurvivesAsItWasAndNotDamaged() throws {
        let world = try PublishWorld()
        let file = try world.device[world.space].publishing.begin()
        #expect(try world.device[world.space].publishing.begin() == file)
        let bytes = file.encoded()
        #expect(PublishingFile(bytes.span) == file)
        for bit in 0..<bytes.count * 8 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(PublishingFile(flipped.span) == nil)
        }
        let cut = Array(bytes.dropLast())
        #expect(PublishingFile(cut.span) == nil)
    }
}
