import Diario
import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioSQLite
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioSync
import DiarioTestSupport
import Testing

/// A device whose space is its own authority, and a server that shall take it over; each has a disk
/// of its own, which can be cut.
final class PublishWorld {
    let clock = ManualClock(milliseconds: 1_700_000_000_000)
    let deviceDisk = CrashDisk(machineID: "device")
    private(set) var serverDisk = CrashDisk(machineID: "server")
    private(set) var device: LogStore
    /// The space on the device by now: it may have been made anew.
    private(set) var space: SpaceID
    private(set) var server: LogStore
    private(set) var control: ControlFile
    private(set) var served: ServedSpaces
    private(set) var key: TokenKey
    /// Events whose recording was acknowledged, and those that were tried.
    private(set) var recorded = 0
    private(set) var tried = 0
    /// The attempt that was sent last.
    private(set) var publishedAttempt: AttemptID?
    var random: SeededRandom
    let entropy: SeededEntropy
    private var folder: TemporaryFolder

    init(
        seed: UInt64 = 1,
        events: Int = 3,
        rights: Caller.Rights = [.read, .append, .admin],
        sizes: LogSizes = .standard
    ) throws {
        entropy = SeededEntropy(seed: seed)
        random = SeededRandom(seed: seed)
        folder = try TemporaryFolder()
        device = try TestReplica.open(deviceDisk.process(0), clock, entropy, sizes)
        server = try TestReplica.open(serverDisk.process(0), clock, entropy, sizes)
        control = try ControlFile(folder: folder.path, .create)
        served = ServedSpaces(server, control)
        space = try device.makeSpace(isAuthority: true).space
        var draft = TokenDraft(space: try Self.home(), rights: rights)
        draft.actor = "alice"
        key = try control.makeTokenAndSpace(draft, drawnFrom: entropy, at: clock.now).key
        try Pair.adopt(in: device, space)
        for _ in 0..<events { try record() }
    }

    static func home() throws -> SpaceName { try #require(SpaceName("home")) }

    /// The space on the server that has the name.
    var home: SpaceID {
        get throws { try #require(try control.space(try Self.home())).id }
    }

    func record() throws { try record(batchOf: 1) }

    func record(batchOf count: Int) throws {
        let texts = (1...count).map { "\(tried + $0)" }
        tried += count
        try device.recordNotes(texts, in: space)
        recorded += count
    }

    func token(_ rights: Caller.Rights) throws -> TokenKey {
        let draft = TokenDraft(space: try Self.home(), rights: rights)
        return try control.makeTokenAndSpace(draft, drawnFrom: entropy, at: clock.now).key
    }

    func answer(_ request: [UInt8]) -> [UInt8] {
        served.answer(request, to: "home", with: key.text, at: clock.now)
    }

    /// The power of the server goes, and comes back.
    func restartServer() throws {
        serverDisk.crash(using: &random)
        server = try TestReplica.open(serverDisk, clock, entropy)
        control = try ControlFile(folder: folder.path, .readWrite)
        served = ServedSpaces(server, control)
    }

    /// The server goes on with what another disk has.
    func replaceServer(with disk: CrashDisk) throws {
        serverDisk = disk
        server = try TestReplica.open(disk, clock, entropy)
        served = ServedSpaces(server, control)
    }

    /// The server and all it knew is gone; another one has the name, and a token for the device.
    func loseServer(rights: Caller.Rights = [.admin]) throws {
        folder = try TemporaryFolder()
        control = try ControlFile(folder: folder.path, .create)
        var draft = TokenDraft(space: try Self.home(), rights: rights)
        draft.actor = "alice"
        key = try control.makeTokenAndSpace(draft, drawnFrom: entropy, at: clock.now).key
        try replaceServer(with: CrashDisk(machineID: "another server"))
    }

    func restartDevice() throws {
        deviceDisk.crash(using: &random)
        device = try TestReplica.open(deviceDisk, clock, entropy)
    }

    /// What `diario verify` finds wrong with the space on the device.
    func deviceFaults() throws -> [String] {
        try device.verify(space) { _ in nil }.faults.map(\.file)
    }

    func session(_ purpose: PublishSession.Purpose = .publishing) -> PublishSession {
        PublishSession(device, space, seed: 1, purpose)
    }

    /// Carries messages until the attempt has come to its end, or somebody must do something.
    @discardableResult
    func publish(
        _ purpose: PublishSession.Purpose = .publishing
    ) throws -> PublishSession.Result? {
        var session = session(purpose)
        for _ in 0..<500 {
            switch try session.next(at: clock.now) {
            case .send(let request):
                if case .publish(let publish) = try SyncMessage(request.span) {
                    publishedAttempt = publish.attempt
                }
                try session.receive(answer(request), at: clock.now)
            case .wait, .stop: return nil
            case .done(let result): return result
            }
        }
        preconditionFailure("an attempt comes to its end")
    }

    /// The same, while messages are lost, cut, doubled and late, and both sides lose their power.
    ///
    /// In the end all that was sent comes once more. Nil if there was no end.
    func sendThroughHarm(_ purpose: PublishSession.Purpose) throws -> PublishSession.Result? {
        var sent: [[UInt8]] = []
        var result: PublishSession.Result?
        for _ in 0..<200 where result == nil {
            var session = session(purpose)
            session: while true {
                switch try session.next(at: clock.now) {
                case .done(let end):
                    result = end
                    break session
                case .wait, .stop: break session
                case .send(let request):
                    sent.append(request)
                    if random.oneIn(4) { try record() }
                    if random.oneIn(3) { _ = answer(sent[random.below(sent.count)]) }
                    if random.oneIn(4) { break session }
                    var answer = answer(request)
                    if random.oneIn(4) { break session }
                    if random.oneIn(6) { answer.removeLast(1 + random.below(answer.count)) }
                    try session.receive(answer, at: clock.now)
                }
            }
            if random.oneIn(4) { try restartServer() }
            if random.oneIn(4) { try restartDevice() }
            clock.advance(milliseconds: 1000)
        }
        for request in sent { _ = answer(request) }
        return result
    }

    /// Syncs the device with what the server has by now.
    func sync() throws {
        var session = ReplicaSession(device, space, seed: 1)
        for _ in 0..<500 {
            guard case .send(let request) = try session.next(at: clock.now) else { return }
            try session.receive(answer(request), at: clock.now)
            space = session.space
        }
        preconditionFailure("a sync comes to an end")
    }

    /// The server gives the positions, and both have the same: everything that was acknowledged.
    ///
    /// Other replicas recorded `foreign` events of these.
    func checkPublished(_ where: String = "", foreign: Int = 0) throws {
        let comment = Comment(rawValue: `where`)
        #expect(try device[space].publishing.attempt() == nil, comment)
        #expect(try device[space].status().manifest.authority == nil, comment)
        try sync()
        let home = try home
        let (there, here) = (try server[home].status(), try device[space].status())
        #expect(here.pending == 0, comment)
        #expect(there.manifest.authority != nil, comment)
        #expect(!there.manifest.isStaging, comment)
        #expect(there.manifest.lineage == here.manifest.lineage, comment)
        #expect(try server[home].root() == (try device[space].root()), comment)
        #expect((recorded...tried).contains(there.events - foreign), comment)
        try checkLogs(comment)
    }

    /// The device gives the positions, and has everything that was acknowledged.
    func checkKept(_ where: String = "") throws {
        let comment = Comment(rawValue: `where`)
        let here = try device[space].status()
        #expect(try device[space].publishing.attempt() == nil, comment)
        #expect(here.manifest.authority != nil, comment)
        #expect(here.pending == 0, comment)
        #expect((recorded...tried).contains(here.events), comment)
        let head = here.head
        try record()
        #expect(try device[space].status().head == head + 1, comment)
        try checkLogs(comment)
    }

    private func checkLogs(_ comment: Comment) throws {
        #expect(server.validate() == [], comment)
        #expect(device.validate() == [], comment)
    }
}
