import Diario
import DiarioCore
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync
import Testing

/// Events of others that a server lost: schema/format/sync.md, sections 7 and 9.
struct KeptEventsTests {
    /// What people may do after a server was restored from a backup, in whatever order.
    enum Deed: CaseIterable, CustomTestStringConvertible {
        case resume
        /// By the administrator, whose replica lacks what was recorded last.
        case restore
        case syncAlice
        case syncBob
        case syncCarol

        var testDescription: String { "\(self)" }

        static let orders: [[Deed]] = permutations(of: allCases)

        private static func permutations(of deeds: [Deed]) -> [[Deed]] {
            guard !deeds.isEmpty else { return [[]] }
            return deeds.indices.flatMap { index in
                var rest = deeds
                let first = rest.remove(at: index)
                return permutations(of: rest).map { [first] + $0 }
            }
        }
    }

    @Test(arguments: Deed.orders)
    func nothingThatAReplicaHeldIsGone(order: [Deed]) throws {
        var world = try KeptWorld()
        try world.recordBehindTheBackup()
        let held = try world.held
        #expect(held.count == 12)
        try world.putBack()
        for deed in order {
            switch deed {
            case .resume: try world.resume()
            case .restore: try world.restore()
            case .syncAlice: try world.sync(0)
            case .syncBob: try world.sync(1)
            case .syncCarol: try world.sync(2)
            }
            #expect(try world.held.isSuperset(of: held), "after \(deed)")
        }
        for index in world.replicas.indices { try world.sync(index) }
        // Carol may not send events of others, and need not.
        for index in 0...1 { try world.sync(index, relaying: true) }
        for index in world.replicas.indices { try world.sync(index) }
        let all = try world.origins(of: world.server, world.home)
        #expect(Set(all).isSuperset(of: held))
        #expect(Set(all).count == all.count)
        for replica in world.replicas {
            #expect(try replica.store[replica.space].kept.count().events == 0)
            #expect(replica.pendingCount == 0)
            #expect(try replica.inboxCount == 0)
            #expect(try replica.root == world.server[world.home].root())
            #expect(replica.store.validate() == [])
        }
        #expect(world.server.validate() == [])
        try world.expectOwners()
    }

    /// An author that records over HTTP has no log: the server draws another clock for an event
    /// that it sends once more.
    @Test func whatAnAuthorSentOnceMoreOverHTTPIsKeptNoLonger() throws {
        var world = try KeptWorld()
        let origin = try world.recordOverHTTP("sent by HTTP")
        try world.sync(1)
        try world.putBack()
        try world.resume()
        try world.sync(1)
        let bob = world.replicas[1]
        #expect(try bob.store[bob.space].kept.count().events == 1)
        #expect(try world.recordOverHTTP("sent by HTTP") == origin)
        try world.sync(1)
        let after = world.replicas[1]
        #expect(try after.store[after.space].kept.count().events == 0)
        #expect(try world.origins(of: after.store, after.space).contains(origin))
        // Another event under that origin is none that was kept.
        try world.putBack()
        try world.resume()
        try world.sync(1)
        _ = try world.recordOverHTTP("another")
        try world.sync(1)
        let last = world.replicas[1]
        #expect(try last.store[last.space].kept.count().events == 1)
    }

    @Test func theRightRelayIsNeeded() throws {
        var world = try KeptWorld()
        try world.recordBehindTheBackup()
        try world.sync(2)
        try world.putBack()
        try world.resume()
        try world.sync(2)
        let kept = try world.replicas[2].store[world.replicas[2].space].kept.count().events
        #expect(kept > 0)
        try world.sync(2, relaying: true)
        guard case .paused(let refusal) = world.replicas[2].session.machine.state else {
            return #expect(Bool(false), "it was let in")
        }
        #expect(refusal.reason == .forbidden)
        let carol = world.replicas[2]
        #expect(try carol.store[carol.space].kept.count().events == kept)
    }

    @Test func aRefusedBatchGoesToTheInboxOfWhoSentIt() throws {
        var world = try KeptWorld()
        try world.recordBehindTheBackup()
        try world.putBack()
        try world.resume()
        try world.sync(1)
        // Somebody writes to the subject that an event of Alice's asks to be unchanged.
        try world.server.recordNote("other", in: try world.home, subject: "kept")
        try world.sync(1, relaying: true)
        let bob = world.replicas[1]
        let entry = try #require(try bob.store[bob.space].inbox.entries().first)
        #expect(entry.origin == world.askingForUnchanged)
        #expect(bob.session.moved.relayRefused == 1)
        #expect(try bob.store[bob.space].kept.count().events == 0)
        // So it is for the author.
        try world.sync(0)
        #expect(try world.replicas[0].inboxCount == 1)
    }

    @Test func packsThatTheServerLostComeAlong() throws {
        var world = try KeptWorld()
        try world.adoptAnotherPack()
        let origin = try world.server.recordNote(
            "kept",
            in: try world.home,
            type: "more.note.made"
        )
        for index in world.replicas.indices { try world.sync(index) }
        try world.putBack()
        try world.resume()
        try world.sync(0)
        try world.sync(1)
        // Who may only relay brings no packs, and keeps what needs them.
        try world.sync(1, relaying: true)
        guard case .paused(let refusal) = world.replicas[1].session.machine.state else {
            return #expect(Bool(false), "the pack was taken")
        }
        #expect(refusal.reason == .forbidden)
        #expect(try world.server[world.home].adoptions().count == 1)
        try world.sync(0, relaying: true)
        #expect(try world.server[world.home].adoptions().count == 2)
        let all = try world.origins(of: world.server, world.home)
        #expect(all.contains(origin))
        // The row of reference data is there again, as an event of the authority.
        #expect(all.count == 6)
        try world.sync(1)
        let bob = world.replicas[1]
        #expect(try bob.store[bob.space].kept.count().events == 0)
        #expect(try bob.root == world.server[world.home].root())
    }

    @Test func severalRestoresLeaveSeveralFiles() throws {
        var world = try KeptWorld()
        try world.recordBehindTheBackup()
        let held = try world.held
        for _ in 0..<2 {
            try world.putBack()
            try world.resume()
            try world.sync(1)
            #expect(try world.held.isSuperset(of: held))
            // Carol's come back with her, and go again.
            try world.sync(2)
            try world.sync(1)
        }
        try world.sync(1, relaying: true)
        for index in world.replicas.indices { try world.sync(index) }
        #expect(try Set(world.origins(of: world.server, world.home)).isSuperset(of: held))
        let bob = world.replicas[1]
        #expect(try bob.store[bob.space].kept.count().events == 0)
    }

    @Test func whatIsGivenUpIsGone() throws {
        var world = try KeptWorld()
        try world.recordBehindTheBackup()
        try world.putBack()
        try world.resume()
        try world.sync(1)
        let bob = world.replicas[1]
        try bob.store[bob.space].kept.removeAll()
        #expect(try bob.store[bob.space].kept.count() == (0, 0))
        try world.sync(1, relaying: true)
        #expect(world.replicas[1].session.moved.relayed == 0)
    }

    @Test func anOperatorMayGoBackOnPurpose() throws {
        var world = try KeptWorld()
        try world.recordBehindTheBackup()
        try world.putBack()
        try world.server[world.home].holdAuthority(mayBeRestored: false)
        let head = world.server[try world.home].head()
        try world.restore()
        #expect(try world.server[world.home].head() == head)
        try world.resume()
        #expect(try world.server[world.home].mayBeRestored())
    }

    @Test func anAdministratorsSyncGivesAServerBackWhatItLacks() async throws {
        var world = try KeptWorld()
        try world.recordBehindTheBackup()
        try world.sync(0)
        let (head, root) = (world.replicas[0].head, try world.replicas[0].root)
        try world.putBack()
        let (diary, transport) = try world.diary(0)
        let report = try await diary.sync(with: transport)
        #expect(report.hasRestored)
        #expect((report.kept, report.pendingAgain) == (0, 0))
        #expect(try world.server[try world.home].proofs.root(size: head) == root)
        #expect(try await !diary.sync(with: transport).hasRestored)
    }

    @Test(arguments: [false, true])
    func othersWaitAndAreToldWhatHelps(isOnPurpose: Bool) async throws {
        var world = try KeptWorld()
        try world.recordBehindTheBackup()
        try world.putBack()
        let home = try world.home
        if isOnPurpose { try world.server[home].holdAuthority(mayBeRestored: false) }
        let head = world.server[home].head()
        let (diary, transport) = try world.diary(isOnPurpose ? 0 : 1)
        let error = await #expect(throws: DiarioError.self) {
            try await diary.sync(with: transport)
        }
        #expect(error?.kind == .offline)
        let word = isOnPurpose ? "--no-restore" : "diario remote restore"
        #expect(error?.message.contains(word) == true)
        #expect(world.server[home].head() == head)
    }

    @Test func aReportSaysHowManyOfEach() async throws {
        var world = try KeptWorld()
        try world.recordBehindTheBackup()
        try world.putBack()
        try world.resume()
        let (diary, transport) = try world.diary(1)
        let report = try await diary.sync(with: transport)
        #expect((report.pendingAgain, report.kept, report.keptReplicas) == (2, 6, 3))
        let sent = try await diary.sendKept(with: transport)
        #expect((sent.relayed, sent.relayRejected, sent.kept) == (6, 0, 0))
    }

    /// The power of the device goes at one disk operation after another while it is made anew.
    @Test(arguments: zip([1, 2, 3], CrashDisk.CutMoment.allCases))
    func aCrashLosesNothingThatIsKept(first: Int, moment: CrashDisk.CutMoment) throws {
        var random = SeededRandom(seed: 5)
        var operation = first
        while true {
            var world = try KeptWorld()
            try world.recordBehindTheBackup()
            let held = try world.held
            try world.putBack()
            try world.resume()
            let disk = world.replicas[1].disk
            disk.cutAfter(operations: operation, moment)
            var wasCut = false
            do { try world.sync(1, relaying: true) } catch let error as LogError {
                guard error == .storage(.cut) else { throw error }
                wasCut = true
            }
            disk.crash(using: &random)
            try world.replicas[1].openAgain()
            #expect(try world.held.isSuperset(of: held), "cut after \(operation)")
            world.clock.advance(milliseconds: 100_000)
            try world.sync(1)
            try world.sync(1, relaying: true)
            #expect(try Set(world.origins(of: world.server, world.home)).isSuperset(of: held))
            // A part is enough: three moments share the work.
            operation += 12
            guard wasCut else { break }
        }
        #expect(operation > 40)
    }
}
