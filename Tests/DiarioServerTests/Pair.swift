import Diario
import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioSync

/// An authority and a replica, each with a log on a disk of its own.
struct Pair {
    static let anyone = Caller(rights: [.read, .append])

    let clock = ManualClock(milliseconds: 1_700_000_000_000)
    let authority: SpaceAuthority
    let authorityStore: LogStore
    var replica: TestReplica
    private let space: SpaceID
    private let lineage: Lineage
    private let entropy: SeededEntropy

    private static let schema = """
        { "title": "test.note.made", "x-diario-version": 1, "type": "object",
          "additionalProperties": false, "required": ["text"],
          "properties": {
            "text": { "type": "string", "maxLength": 40 },
            "secret": { "type": "string", "minLength": 1, "x-diario-personal": true } } }
        """

    init(seed: UInt64 = 7) throws {
        entropy = SeededEntropy(seed: seed)
        authorityStore = try TestReplica.open(CrashDisk(machineID: "server"), clock, entropy)
        let manifest = try authorityStore.makeSpace(isAuthority: true)
        space = manifest.space
        lineage = manifest.lineage
        try Self.adopt(in: authorityStore, space)
        authority = SpaceAuthority(authorityStore, space)
        replica = try TestReplica(space, lineage, clock, entropy)
    }

    /// Lets a space use the pack of these tests.
    static func adopt(in store: LogStore, _ space: SpaceID) throws {
        let pack = try Pack(
            files: [
                PackFile(
                    path: "events/note.made.1.json",
                    bytes: Array(schema.utf8)
                ),
                PackFile(
                    path: "pack.json",
                    bytes: Array(#"{"name":"test","version":1}"#.utf8)
                ),
            ]
        )
        _ = try Space(store: store, id: space).adopt([pack]) { _, _ in }
    }

    var now: Timestamp { clock.now }

    var authorityRoot: Hash32 {
        get throws { try authorityStore.root(of: space) }
    }

    func makeReplica() throws -> TestReplica { try TestReplica(space, lineage, clock, entropy) }

    mutating func sync(as caller: Caller = Pair.anyone) throws {
        try replica.sync(with: authority, as: caller, at: now)
    }
}

/// A replica whose messages are carried by hand.
struct TestReplica {
    private(set) var store: LogStore
    private(set) var session: ReplicaSession
    let space: SpaceID
    private let disk = CrashDisk(machineID: "device")
    private let clock: ManualClock
    private let entropy: SeededEntropy

    init(
        _ space: SpaceID,
        _ lineage: Lineage,
        _ clock: ManualClock,
        _ entropy: SeededEntropy
    ) throws {
        self.space = space
        self.clock = clock
        self.entropy = entropy
        store = try Self.open(disk, clock, entropy)
        try store.makeReplica(of: space, lineage: lineage, epoch: 0)
        session = ReplicaSession(store, space, seed: 1)
    }

    static func open(
        _ disk: CrashDisk,
        _ clock: ManualClock,
        _ entropy: SeededEntropy
    ) throws -> LogStore {
        try open(disk.process(0), clock, entropy)
    }

    static func open(
        _ process: any LogDirectory,
        _ clock: ManualClock,
        _ entropy: SeededEntropy
    ) throws -> LogStore {
        try LogStore.create(in: process)
        let engine = try PackSource.engine()
        guard let reader = EngineReader(engine.types) else {
            preconditionFailure("the engine's pack says how packs are adopted")
        }
        return try LogStore(
            process,
            access: .readWrite,
            time: clock,
            entropy: entropy,
            engine: reader,
            types: engine.types,
            background: .none
        )
    }

    mutating func reopen() throws {
        try store.close()
        store = try Self.open(disk, clock, entropy)
        session = ReplicaSession(store, space, seed: 1)
    }

    var head: UInt64 { store.standing(of: space).head }
    var pendingCount: Int {
        store.standing(of: space).pending.reduce(0) { $0 + $1.sequences.count }
    }
    var root: Hash32 { get throws { try store.root(of: space) } }
    var catalogNames: [String] {
        get throws { try Space(store: store, id: space).catalog.types.map(\.name) }
    }

    func record(
        _ text: String,
        actor: String = "alice",
        subject: String? = nil,
        ifUnchanged: Bool = false
    ) throws {
        try store.recordNote(
            text,
            in: space,
            actor: actor,
            subject: subject,
            ifUnchanged: ifUnchanged
        )
    }

    /// The next request; there must be one.
    mutating func request(at now: Timestamp) throws -> [UInt8] {
        switch try session.next(at: now) {
        case .send(let bytes): return bytes
        case .rest:
            session.heardOfNews()
            guard case .send(let bytes) = try session.next(at: now) else { return [] }
            return bytes
        case .wait, .stop: return []
        }
    }

    /// The request that was made last is lost.
    mutating func lose(at now: Timestamp) { session.failed("the answer is lost", at: now) }

    /// Carries messages until there is nothing more to say.
    mutating func sync(
        with authority: SpaceAuthority,
        as caller: Caller = Pair.anyone,
        at now: Timestamp
    ) throws {
        try sync(at: now) { authority.answer($0, from: caller) }
    }

    /// The same, with whoever answers.
    mutating func sync(at now: Timestamp, _ answer: ([UInt8]) -> [UInt8]) throws {
        session.goOn()
        session.heardOfNews()
        for _ in 0..<100 {
            guard case .send(let request) = try session.next(at: now) else { return }
            try session.receive(answer(request), at: now)
        }
        preconditionFailure("a sync comes to an end")
    }

    /// The same, with requests and answers that are lost or cut; gives up at the first.
    mutating func sync(
        with authority: SpaceAuthority,
        as caller: Caller,
        at now: Timestamp,
        losing random: inout SeededRandom
    ) throws {
        session.goOn()
        session.heardOfNews()
        while case .send(let request) = try session.next(at: now) {
            if random.oneIn(6) { return session.failed("the request is lost", at: now) }
            var answer = authority.answer(request, from: caller)
            if random.oneIn(6) { answer = authority.answer(request, from: caller) }
            if random.oneIn(6) { return session.failed("the answer is lost", at: now) }
            if random.oneIn(6) { answer.removeLast(1 + random.below(answer.count)) }
            try session.receive(answer, at: now)
        }
    }
}

extension LogStore {
    /// Records a note, if the space knows notes.
    func recordNote(
        _ text: String,
        in space: SpaceID,
        actor: String = "alice",
        subject: String? = nil,
        ifUnchanged: Bool = false
    ) throws {
        let catalog = try Space(store: self, id: space).catalog
        guard let type = catalog.newest("test.note.made") else { return }
        var line = EventLine(type: type)
        var reader = PayloadReader()
        let payload = #"{"secret":"s \#(text)","text":"\#(text)"}"#
        try reader.read(Array(payload.utf8).span, as: type, into: &line.payload)
        line.actor = line.keep(Array(actor.utf8).span)
        line.subject = subject.map { line.keep(Array($0.utf8).span) }
        line.ifUnchanged = ifUnchanged
        var batch = DraftBatch()
        try batch.append(line)
        let append = Append(space: space, content: .batch(batch), durability: .synced)
        _ = try self.append(append)
    }
}
