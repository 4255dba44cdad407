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
            epochs.append(try pair.authorityStore[space].status().manifest.epoch)
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
            try store[space].resumeAuthority()
        }
        pair.clock.advance(milliseconds: 100_000)
        try pair.sync()
        try expectSettled(pair, ["one"])
        #expect(pair.authorityStore.validate() == [])
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
        _ = try authorityStore[replica.space].author()
        try authorityStore[replica.space].resumeAuthority()
        clock.advance(milliseconds: 100_000)
    }
}
