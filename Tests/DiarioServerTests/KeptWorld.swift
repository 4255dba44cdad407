import Diario
import DiarioCore
import DiarioLog
import DiarioSQLite
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioSync
import DiarioTestSupport
import DiarioTransport
import Testing

/// A server with the replicas of three people, and a backup of it: Alice administers the space, Bob
/// may relay, and Carol may do neither.
struct KeptWorld {
    let clock = ManualClock(milliseconds: 1_700_000_000_000)
    private(set) var server: LogStore
    var replicas: [TestReplica] = []
    private(set) var askingForUnchanged: Origin?
    private var served: ServedSpaces
    private var disk = CrashDisk(machineID: "server")
    private var backup: CrashDisk?
    private var ids: [ReplicaID] = []
    private let control: ControlFile
    private let keys: [TokenKey]
    private let entropy = SeededEntropy(seed: 11)
    private let folder: TemporaryFolder

    private static let people: [(actor: String, rights: Caller.Rights)] = [
        ("alice", [.read, .append, .admin]), ("bob", [.read, .append, .relay]),
        ("carol", [.read, .append]),
    ]

    init() throws {
        folder = try TemporaryFolder()
        control = try ControlFile(folder: folder.path, .create)
        server = try TestReplica.open(disk, clock, entropy)
        served = ServedSpaces(server, control)
        let (control, entropy, now) = (control, entropy, clock.now)
        keys = try Self.people.map { actor, rights in
            var draft = TokenDraft(space: try PublishWorld.home(), rights: rights)
            draft.actor = actor
            return try control.makeTokenAndSpace(draft, drawnFrom: entropy, at: now).key
        }
        let home = try #require(try control.space(try PublishWorld.home())).id
        let lineage = try server.makeWholeSpace(home).lineage
        try Pair.adopt(in: server, home)
        replicas = try keys.map { _ in try TestReplica(home, lineage, clock, entropy) }
        try server.recordNote("by HTTP, before", in: home)
        for index in replicas.indices {
            try sync(index)
            let actor = Self.people[index].actor
            ids.append(try replicas[index].record("before", actor: actor).replica)
            try sync(index)
        }
        backup = disk.copy()
    }

    /// The space on the server.
    var home: SpaceID {
        get throws { try #require(try control.space(try PublishWorld.home())).id }
    }

    // MARK: Deeds

    /// Eight events that the backup lacks; Bob's device has all of them.
    mutating func recordBehindTheBackup() throws {
        for round in 0..<2 {
            for index in replicas.indices {
                let asks = index == 0 && round == 0
                let origin = try replicas[index].record(
                    "after \(round)",
                    actor: Self.people[index].actor,
                    subject: asks ? "kept" : nil,
                    ifUnchanged: asks
                )
                if asks { askingForUnchanged = origin }
                try sync(index)
                if index == 1 { try server.recordNote("by HTTP \(round)", in: try home) }
            }
        }
        try sync(1)
    }

    /// Records a note as the first event of a client without a log.
    func recordOverHTTP(_ text: String) throws -> Origin {
        clock.advance(milliseconds: 1000)
        let replica = try #require(ReplicaID(rawValue: 77))
        let origin = Origin(replica: replica, sequence: 1)
        let json = """
            {"type":"test.note.made","origin":"\(origin.text)",
             "payload":{"text":"\(text)","secret":"s"}}
            """
        let body = try EventBody(
            Array(json.utf8),
            .json,
            by: ActorPolicy(own: "carol", mayNameOthers: false),
            to: try Space(store: server, id: try home)
        )
        var named = try #require(body.named)
        let head = server[try home].head()
        _ = try named.append(after: 0, behind: head, server[try home].clock())
        return origin
    }

    /// Lets the space use a pack of which the backup knows nothing, with a row of reference data.
    func adoptAnotherPack() throws {
        let schema = Pair.schema.replacing("test.note", with: "more.note")
        let pack = try Pack(
            files: [
                PackFile(path: "events/note.made.1.json", bytes: Array(schema.utf8)),
                PackFile(path: "pack.json", bytes: Array(#"{"name":"more","version":1}"#.utf8)),
                PackFile(path: "reference/note.made.1.csv", bytes: Array("text\nrow\n".utf8)),
            ]
        )
        var space = try Space(store: server, id: try home)
        _ = try space.adopt([pack]) { _, _ in }
    }

    /// A copy of the backup takes the place of the server.
    mutating func putBack() throws {
        disk = try #require(backup).copy(machineID: "another server")
        server = try TestReplica.open(disk, clock, entropy)
        served = ServedSpaces(server, control)
        clock.advance(milliseconds: 100_000)
        let id = try #require(try server.manifests().first { !$0.isStaging }).space
        #expect(try home == id)
        // It finds out that it is a copy.
        _ = try server[id].author()
    }

    func resume() throws { try server[home].resumeAuthority() }

    /// Alice's device gives back what it has, if the server takes it.
    func restore() throws {
        let alice = replicas[0]
        var session = PublishSession(alice.store, alice.space, seed: 1, .restoring)
        for _ in 0..<50 {
            guard case .send(let request) = try session.next(at: clock.now) else { return }
            try session.receive(answer(request, 0), at: clock.now)
        }
    }

    mutating func sync(_ index: Int, relaying: Bool = false) throws {
        clock.advance(milliseconds: 1000)
        if relaying { replicas[index].session.relay() }
        let (served, key, now) = (served, keys[index].text, clock.now)
        try replicas[index].sync(at: now) { request in
            served.answer(request, to: "home", with: key, at: now)
        }
    }

    /// The device of a person by the door that apps use, and the way to the server.
    func diary(_ index: Int) throws -> (diary: Diary, transport: Carrier) {
        let replica = replicas[index]
        let diary = Diary(space: try Space(store: replica.store, id: replica.space))
        return (diary, Carrier(served: served, key: keys[index].text, now: clock.now))
    }

    struct Carrier: Transport {
        let served: ServedSpaces
        let key: String
        let now: Timestamp

        func exchange(_ request: [UInt8]) async throws -> [UInt8] {
            served.answer(request, to: "home", with: key, at: now)
        }
    }

    private func answer(_ request: [UInt8], _ index: Int) -> [UInt8] {
        served.answer(request, to: "home", with: keys[index].text, at: clock.now)
    }

    // MARK: What there is

    /// Events of a log, with positions or pending.
    func origins(of store: LogStore, _ space: SpaceID) throws -> [Origin] {
        var filter = EventFilter()
        filter.includesAuthority = true
        var reader = try EventReader(Space(store: store, id: space), filter)
        var origins: [Origin] = []
        while let line = try reader.next() {
            guard line.type.name.hasSuffix(".note.made"), let origin = line.origin else { continue }
            origins.append(origin)
        }
        return origins
    }

    /// Events that some replica has: with a position, pending, kept, or refused.
    var held: Set<Origin> {
        get throws {
            var held: Set<Origin> = []
            for replica in replicas {
                let (store, space) = (replica.store, replica.space)
                held.formUnion(try origins(of: store, space))
                var place: KeptPlace?
                while let run = try store[space].kept.next(
                    behind: place,
                    without: [],
                    countMax: 10
                ) {
                    place = run.end
                    held.formUnion(run.sequences.map { Origin(replica: run.replica, sequence: $0) })
                }
                for entry in try store[space].inbox.entries() {
                    held.formUnion(
                        entry.sequences.map { Origin(replica: entry.replica, sequence: $0) }
                    )
                }
            }
            return held
        }
    }

    /// Whoever sent events, replicas belong to those to whom they belonged.
    func expectOwners() throws {
        for (id, person) in zip(ids, Self.people) {
            let holder = try control.holder(of: id, in: try PublishWorld.home())
            #expect(holder == .actor(person.actor))
        }
    }
}
