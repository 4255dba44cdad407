import Diario
import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioSync
import Testing

/// An authority and a replica, each with a log on a disk of its own.
struct Pair {
    static let anyone = Caller(rights: [.read, .append])

    let clock = ManualClock(milliseconds: 1_700_000_000_000)
    private(set) var authority: SpaceAuthority
    private(set) var authorityStore: LogStore
    let authorityDisk = CrashDisk(machineID: "server")
    /// The disk that the authority is on by now.
    private var disk: CrashDisk
    var replica: TestReplica
    private let space: SpaceID
    private let lineage: Lineage
    private let entropy: SeededEntropy

    static let schema = """
        { "title": "test.note.made", "x-diario-version": 1, "type": "object",
          "additionalProperties": false, "required": ["text"],
          "properties": {
            "text": { "type": "string", "maxLength": 40 },
            "secret": { "type": "string", "minLength": 1, "x-diario-personal": true } } }
        """

    init(seed: UInt64 = 7, sizes: LogSizes = .standard) throws {
        entropy = SeededEntropy(seed: seed)
        disk = authorityDisk
        authorityStore = try TestReplica.open(authorityDisk.process(0), clock, entropy, sizes)
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
        var adopting = try Space(store: store, id: space)
        _ = try adopting.adopt([pack]) { _, _ in }
    }

    var now: Timestamp { clock.now }

    var authorityRoot: Hash32 {
        get throws { try authorityStore[space].root() }
    }

    /// Another server takes the place of this one, with what a copy of its disk has.
    mutating func restoreAuthority(from backup: CrashDisk) throws {
        authorityStore = try TestReplica.open(backup, clock, entropy)
        authority = SpaceAuthority(authorityStore, space)
        disk = backup
    }

    /// What another process does with the authority's log, on the disk it is on now.
    func besideAuthority(_ body: (LogStore) throws -> Void) throws {
        let store = try TestReplica.open(disk.process(1), clock, entropy)
        try body(store)
        try store.close()
    }

    func makeReplica() throws -> TestReplica { try TestReplica(space, lineage, clock, entropy) }

    /// The pairs of files of the sealed segments that the authority lists now.
    func sealedFiles() throws -> [SegmentName] {
        try authorityStore[space].status().manifest.segments.map(\.name)
    }

    /// A replica that begins with these files as they lie, and has pulled nothing yet.
    func makeCopy(of names: [SegmentName], sizes: LogSizes) throws -> TestReplica {
        try TestReplica(copying: names, of: authorityStore, space, clock, entropy, sizes)
    }

    mutating func sync(as caller: Caller = Pair.anyone) throws {
        try replica.sync(with: authority, as: caller, at: now)
    }

    func sync(_ other: inout TestReplica) throws { try other.sync(with: authority, at: now) }
}

/// A replica whose messages are carried by hand.
struct TestReplica {
    private(set) var store: LogStore
    var session: ReplicaSession
    let disk: CrashDisk
    private let clock: ManualClock
    private let entropy: SeededEntropy

    init(
        _ space: SpaceID,
        _ lineage: Lineage,
        _ clock: ManualClock,
        _ entropy: SeededEntropy
    ) throws {
        disk = CrashDisk(machineID: "device")
        self.clock = clock
        self.entropy = entropy
        store = try Self.open(disk, clock, entropy)
        try store.makeReplica(of: space, lineage: lineage, epoch: 0)
        session = ReplicaSession(store, space, seed: 1)
    }

    /// Takes over sealed files as they lie, as `diario clone` does.
    init(
        copying names: [SegmentName],
        of source: LogStore,
        _ space: SpaceID,
        _ clock: ManualClock,
        _ entropy: SeededEntropy,
        _ sizes: LogSizes
    ) throws {
        disk = CrashDisk(machineID: "copy")
        self.clock = clock
        self.entropy = entropy
        store = try Self.open(disk.process(0), clock, entropy, sizes)
        let manifest = try source[space].status().manifest
        try store.makeReplica(
            of: space,
            lineage: manifest.lineage,
            epoch: manifest.epoch,
            isStaging: true
        )
        try store.directory.makeDirectory(LogPaths.segments(space))
        for name in names {
            for path in [LogPaths.segment(name, of: space), LogPaths.sidecar(name, of: space)] {
                let bytes = try Files.contents(of: path, in: source.directory, sizeMax: 1 << 24)
                try Files.replace(path, with: bytes, in: store.directory)
            }
        }
        var intake = SegmentIntake(store, space)
        for name in names { try intake.take(name) }
        try intake.finish(root: try #require(try source[space].proofs.root(size: intake.end)))
        for adoption in intake.adoptions {
            let files = try source.packs.files(adoption.fingerprint)
            try store.keep(files, fingerprint: adoption.fingerprint)
        }
        try store[space].show()
        session = ReplicaSession(store, space, seed: 3)
    }

    /// The same replica on a snapshot of its disk, which does not show that there are two now.
    func snapshot() throws -> TestReplica {
        try TestReplica(continuing: self, on: disk.snapshot())
    }

    /// A copy of its directory on another device, which shows that it is one.
    func copy() throws -> TestReplica {
        try TestReplica(continuing: self, on: disk.copy(machineID: "other device"))
    }

    private init(continuing other: TestReplica, on disk: CrashDisk) throws {
        self.disk = disk
        clock = other.clock
        entropy = other.entropy
        store = try Self.open(disk, clock, entropy)
        session = ReplicaSession(store, other.space, seed: 2)
    }

    var space: SpaceID { session.space }

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
        _ entropy: SeededEntropy,
        _ sizes: LogSizes = .standard
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
            sizes: sizes
        )
    }

    mutating func reopen() throws {
        try store.close()
        try openAgain()
    }

    /// Opens the log again, whatever became of the one that was open.
    mutating func openAgain() throws {
        store = try Self.open(disk, clock, entropy)
        guard let manifest = try store.manifests().first(where: { !$0.isStaging }) else {
            preconditionFailure("the space is there, by one id or another")
        }
        session = ReplicaSession(store, manifest.space, seed: 1)
    }

    var head: UInt64 { store[space].standing().head }
    var inboxCount: Int { get throws { try store[space].inbox.entries().count } }
    var pendingCount: Int {
        store[space].standing().pending.reduce(0) { $0 + $1.sequences.count }
    }
    var root: Hash32 { get throws { try store[space].root() } }
    var catalogNames: [String] {
        get throws { try Space(store: store, id: space).catalog.types.map(\.name) }
    }

    @discardableResult
    func record(
        _ text: String,
        actor: String = "alice",
        subject: String? = nil,
        ifUnchanged: Bool = false
    ) throws -> Origin {
        try store.recordNote(
            text,
            in: space,
            actor: actor,
            subject: subject,
            ifUnchanged: ifUnchanged
        )
    }

    /// What the events say, in the order in which they are applied.
    var texts: [String] {
        get throws {
            try lines { line in
                line.type.fieldIndex("text").flatMap { line.payload.bytes(at: $0) }
                    .map { String(decoding: $0, as: UTF8.self) }
            }
        }
    }

    var origins: [Origin] { get throws { try lines { $0.origin } } }

    /// The clocks by which the events that have positions are compared, in their order.
    var believedClocks: [HybridTime] {
        get throws {
            try lines { line in
                guard let clock = line.clock, let time = line.acceptedAt else { return nil }
                return clock.believed(acceptedAt: time.milliseconds)
            }
        }
    }

    private func lines<Value>(_ body: (EventLine) -> Value?) throws -> [Value] {
        var reader = try EventReader(Space(store: store, id: space), .everything)
        var values: [Value] = []
        while let line = try reader.next() {
            if line.type.name == "test.note.made", let value = body(line) { values.append(value) }
        }
        return values
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
        for _ in 0..<1000 {
            guard case .send(let request) = try session.next(at: now) else { return }
            try session.receive(answer(request), at: now)
        }
        preconditionFailure("a sync comes to an end")
    }
}

extension LogStore {
    /// Records a note, if the space knows notes.
    @discardableResult
    func recordNote(
        _ text: String,
        in space: SpaceID,
        actor: String = "alice",
        subject: String? = nil,
        ifUnchanged: Bool = false,
        type: String = "test.note.made"
    ) throws -> Origin {
        try recordNotes(
            [text],
            in: space,
            actor: actor,
            subject: subject,
            ifUnchanged: ifUnchanged,
            type: type
        )
    }

    /// Records notes as one batch; gives the origin of the first.
    @discardableResult
    func recordNotes(
        _ texts: [String],
        in space: SpaceID,
        actor: String = "alice",
        subject: String? = nil,
        ifUnchanged: Bool = false,
        isPersonal: Bool = true,
        type name: String = "test.note.made"
    ) throws -> Origin {
        let catalog = try Space(store: self, id: space).catalog
        guard let type = catalog.newest(name) else {
            preconditionFailure("the replica has the pack")
        }
        var batch = DraftBatch()
        for text in texts {
            var line = EventLine(type: type)
            var reader = PayloadReader()
            let secret = isPersonal ? #""secret":"s \#(text)","# : ""
            let payload = #"{\#(secret)"text":"\#(text)"}"#
            try reader.read(Array(payload.utf8).span, as: type, into: &line.payload)
            line.actor = line.keep(Array(actor.utf8).span)
            line.subject = subject.map { line.keep(Array($0.utf8).span) }
            line.ifUnchanged = ifUnchanged
            try batch.append(line)
        }
        let append = Append(space: space, content: .new([batch]))
        return try self.append(append)[0].firstOrigin
    }
}
