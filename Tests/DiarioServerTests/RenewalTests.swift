import Diario
import DiarioCore
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync
import Testing

/// What a replica does when the authority has another log: schema/format/sync.md, sections 7 and 9.
struct RenewalTests {
    static let alice = Caller(rights: [.read, .append], actor: "alice")

    /// The replica has these events, all with positions, as the authority has them.
    private func expectSettled(_ pair: Pair, _ texts: [String]) throws {
        #expect(try pair.replica.texts == texts)
        #expect(pair.replica.pendingCount == 0)
        #expect(try pair.replica.root == pair.authorityRoot)
    }

    private func expectWaiting(_ pair: Pair) {
        guard case .backingOff = pair.replica.session.machine.state else {
            return #expect(Bool(false), "it does not wait")
        }
    }

    @Test func twoDevicesUnderOneIDLoseNothing() throws {
        var pair = try Pair.synced()
        try pair.replica.record("before")
        try pair.sync()
        // A snapshot of the machine: nothing shows that there are two now.
        var twin = try pair.replica.snapshot()
        try pair.replica.record("one")
        try pair.replica.record("two", subject: "s")
        try twin.record("three")
        try twin.record("four", subject: "s")
        try twin.record("five")
        try pair.sync()
        try pair.sync(&twin)
        #expect(twin.pendingCount == 0)
        #expect(twin.session.moved.recordedAgain == 3)
        try pair.sync()
        #expect(try twin.root == pair.authorityRoot)
        #expect(try pair.replica.root == pair.authorityRoot)
        let expected = ["before", "one", "two", "three", "four", "five"]
        #expect(try twin.texts == expected)
        // Both go on.
        try twin.record("six")
        try pair.replica.record("seven")
        try pair.sync(&twin)
        try pair.sync()
        try pair.sync(&twin)
        #expect(try pair.replica.texts == expected + ["six", "seven"])
        #expect(try twin.root == pair.authorityRoot)
        #expect(twin.session.moved.recordedAgain == 3)
        #expect(twin.store.validate() == [])
    }

    @Test func aForkIsNoticedBeforeForeignPositionsAreTakenForOwnEvents() throws {
        var pair = try Pair.synced()
        var twin = try pair.replica.snapshot()
        try pair.replica.record("one")
        try pair.sync()
        try twin.record("two")
        // The pull comes first, and names an own event that has a position under this origin.
        twin.session.heardOfNews()
        try pair.sync(&twin)
        #expect(try twin.texts == ["one", "two"])
        #expect(try twin.root == pair.authorityRoot)
    }

    @Test func whatWasTheSameStaysUnderItsOrigin() throws {
        var pair = try Pair.synced()
        try pair.replica.record("same")
        var twin = try pair.replica.snapshot()
        try pair.replica.record("one")
        try twin.record("two")
        try pair.sync()
        try pair.sync(&twin)
        #expect(try twin.texts == ["same", "one", "two"])
        #expect(twin.session.moved.recordedAgain == 1)
        #expect(twin.pendingCount == 0)
    }

    /// Where one event of a batch is another one there, the logs are the same up to a place within
    /// it; the space could not be made anew then, and the replica never came together with others.
    @Test func aSpaceIsMadeAnewFromTheBeginningOfABatch() throws {
        var pair = try Pair.synced()
        try pair.replica.record("before")
        let replica = pair.replica
        try replica.store.recordNotes(["one", "two", "three"], in: replica.space)
        try pair.sync()
        #expect(pair.replica.head == 5)
        _ = try SpaceRenewal.run(
            SpaceRenewal.Plan(size: 4, epoch: 0),
            of: replica.space,
            in: replica.store
        ) { _ in nil }
        try pair.replica.reopen()
        #expect(pair.replica.head == 2)
        #expect(pair.replica.pendingCount == 3)
        try pair.sync()
        try expectSettled(pair, ["before", "one", "two", "three"])
    }

    @Test func idsMadeOfOriginsFollow() throws {
        var pair = try Pair.synced()
        var twin = try pair.replica.snapshot()
        try pair.replica.record("other")
        try pair.sync()
        let made = try twin.record("made")
        try twin.record("about it", subject: made.text)
        try pair.sync(&twin)
        let subjects = try twin.subjects
        #expect(subjects.count == 1)
        let subject = try #require(Origin(text: subjects[0]))
        #expect(subject.replica != made.replica)
        #expect(try twin.origins.contains(subject))
    }

    @Test func aRestoredAuthorityWaitsAndNothingIsLost() throws {
        var pair = try Pair.synced()
        var other = try pair.makeReplica()
        try pair.replica.record("old")
        try pair.sync()
        try pair.sync(&other)
        let backup = pair.authorityDisk.copy()
        try pair.replica.record("mine")
        try pair.sync()
        try other.record("theirs")
        try pair.sync(&other)
        try pair.sync()
        try pair.replica.record("pending")
        #expect(try pair.replica.texts == ["old", "mine", "theirs", "pending"])
        // The server is restored from the backup.
        try pair.restoreAuthority(from: backup)
        try pair.sync()
        expectWaiting(pair)
        #expect(pair.replica.pendingCount == 1)
        try pair.authorityStore.resumeAuthority(of: pair.replica.space)
        pair.clock.advance(milliseconds: 100_000)
        try pair.sync()
        try pair.sync(&other)
        try pair.sync()
        #expect(try pair.replica.texts.sorted() == ["mine", "old", "pending", "theirs"])
        #expect(try pair.replica.root == pair.authorityRoot)
        #expect(try other.root == pair.authorityRoot)
        #expect(pair.replica.session.moved.pendingAgain == 1)
        #expect(pair.replica.session.moved.kept == 1)
        #expect(pair.replica.store.validate() == [])
        #expect(pair.authorityStore.validate() == [])
    }

    /// Replicas that know what came after the first time notice the second time too.
    @Test func aServerRestoredTwiceFromOneBackupHasTwoEpochs() throws {
        var pair = try Pair.synced()
        var other = try pair.makeReplica()
        try pair.replica.record("old")
        try pair.sync()
        try pair.sync(&other)
        let backup = pair.authorityDisk.copy()
        var epochs: [UInt64] = []
        for text in ["first", "second"] {
            try pair.restoreAndResume(from: backup.copy())
            let space = pair.replica.space
            epochs.append(try pair.authorityStore.status(of: space).manifest.epoch)
            pair.clock.advance(milliseconds: 100_000)
            // Only one of the two hears of what was recorded after the first time.
            try pair.sync()
            try pair.replica.record(text)
            try pair.sync()
        }
        #expect(epochs[0] < epochs[1])
        try pair.sync(&other)
        try pair.sync()
        #expect(try pair.replica.texts == ["old", "first", "second"])
        #expect(try other.texts == ["old", "first", "second"])
        #expect(try pair.replica.root == pair.authorityRoot)
        #expect(try other.root == pair.authorityRoot)
        #expect(pair.authorityStore.validate() == [])
    }

    /// The operator's command is another process than the server, which stays as it is.
    @Test func aRunningAuthorityGoesOnAtTheNextRequest() throws {
        var pair = try Pair.synced()
        let backup = pair.authorityDisk.copy()
        try pair.replica.record("one")
        try pair.sync()
        try pair.restoreAuthority(from: backup)
        try pair.sync()
        expectWaiting(pair)
        let space = pair.replica.space
        try pair.besideAuthority { store in
            #expect(try store.manifests().map(\.isWaiting) == [true])
            try store.resumeAuthority(of: space)
        }
        pair.clock.advance(milliseconds: 100_000)
        try pair.sync()
        try expectSettled(pair, ["one"])
        #expect(pair.authorityStore.validate() == [])
    }

    /// A session that goes on takes no verdict of the epoch before for one of this.
    @Test func verdictsThatWereNotReadBeforeARestoreAreAskedForAgain() throws {
        var pair = try Pair.synced()
        var other = try pair.makeReplica()
        try pair.sync(&other)
        let backup = pair.authorityDisk.copy()
        try other.record("theirs")
        try pair.sync(&other)
        // It hears that its event stands behind one that it does not have yet; no news follow.
        try pair.replica.record("mine")
        guard case .send(let push) = try pair.replica.session.next(at: pair.now) else {
            return #expect(Bool(false), "it pushes")
        }
        try pair.replica.session.receive(
            pair.authority.answer(push, from: Pair.anyone),
            at: pair.now
        )
        #expect(pair.replica.session.moved.pushed == 1)
        #expect(pair.replica.pendingCount == 1)
        // Both have the same log, so that nothing has to be given back.
        try pair.restoreAndResume(from: backup)
        try pair.sync()
        try expectSettled(pair, ["mine"])
        #expect(pair.replica.session.moved.pendingAgain == 0)
        #expect(pair.replica.session.moved.kept == 0)
        try pair.sync(&other)
        try pair.sync()
        try expectSettled(pair, ["mine", "theirs"])
    }

    @Test func aRefusalThatIsGoneIsJudgedAgain() throws {
        var pair = try Pair.synced()
        let backup = pair.authorityDisk.copy()
        try pair.recordAmongGoodOnesOneThatIsRefused()
        #expect(try pair.replica.inboxCount == 1)
        try pair.restoreAndResume(from: backup)
        try pair.sync(as: Self.alice)
        try expectSettled(pair, ["one", "two"])
        #expect(try pair.replica.inboxCount == 1)
    }

    @Test func aSequenceThatNobodyHasDoesNotHoldUpTheOthers() throws {
        var pair = try Pair.synced()
        let backup = pair.authorityDisk.copy()
        try pair.recordAmongGoodOnesOneThatIsRefused()
        let space = pair.replica.space
        for entry in try pair.replica.store[space].inbox.entries() {
            try pair.replica.store[space].inbox.drop(entry)
        }
        try pair.restoreAndResume(from: backup)
        try pair.sync(as: Self.alice)
        try expectSettled(pair, ["one", "two"])
    }

    /// A replica that was copied is made anew; the power goes at one disk operation after another.
    @Test(arguments: zip([1, 2, 3], CrashDisk.CutMoment.allCases))
    func aCrashLeavesTheOldSpaceOrTheNewOne(first: Int, moment: CrashDisk.CutMoment) throws {
        var random = SeededRandom(seed: 5)
        var operation = first
        while true {
            var pair = try Pair.synced(seed: UInt64(operation))
            var twin = try pair.replica.snapshot()
            try pair.replica.record("one")
            try pair.sync()
            try twin.record("two")
            try twin.record("three", subject: "s")
            twin.disk.cutAfter(operations: operation, moment)
            var wasCut = false
            do {
                try pair.sync(&twin)
            } catch let error as LogError {
                guard error == .storage(.cut) else { throw error }
                wasCut = true
            }
            twin.disk.crash(using: &random)
            try twin.openAgain()
            #expect(twin.store.validate() == [])
            pair.clock.advance(milliseconds: 100_000)
            try pair.sync(&twin)
            #expect(try twin.texts == ["one", "two", "three"])
            #expect(try twin.root == pair.authorityRoot)
            try pair.sync()
            #expect(try pair.replica.root == pair.authorityRoot)
            // Every third is enough: three moments share the work.
            operation += 3
            guard wasCut else { break }
        }
        #expect(operation > 40)
    }

    @Test func aPersonMayGoBackToWhatTheAuthorityHas() throws {
        var pair = try Pair.synced()
        // The disk of the server forgets what it acknowledged, and its directory does not show it.
        let earlier = pair.authorityDisk.snapshot()
        try pair.replica.record("one")
        try pair.sync()
        try pair.restoreAuthority(from: earlier)
        try pair.sync()
        guard case .paused(let refusal) = pair.replica.session.machine.state else {
            return #expect(Bool(false), "it does not pause")
        }
        #expect(refusal.reason == .ahead)
        pair.replica.session.rejoin()
        try pair.sync()
        #expect(try pair.replica.texts == ["one"])
        #expect(try pair.replica.root == pair.authorityRoot)
    }
}

extension Pair {
    /// A pair whose replica has the types of the pack.
    fileprivate static func synced(seed: UInt64 = 7) throws -> Pair {
        var pair = try Pair(seed: seed)
        try pair.sync()
        return pair
    }

    fileprivate mutating func recordAmongGoodOnesOneThatIsRefused() throws {
        try replica.record("one")
        try replica.record("bad", actor: "mallory")
        try replica.record("two")
        try sync(as: RenewalTests.alice)
    }

    /// A server that takes the place of this one notices that it was restored, and goes on.
    fileprivate mutating func restoreAndResume(from backup: CrashDisk) throws {
        try restoreAuthority(from: backup)
        _ = try authorityStore.author(of: replica.space)
        try authorityStore.resumeAuthority(of: replica.space)
        clock.advance(milliseconds: 100_000)
    }
}
