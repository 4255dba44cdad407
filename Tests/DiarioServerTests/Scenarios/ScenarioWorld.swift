import Diario
import DiarioCore
import DiarioLog
import DiarioSQLite
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioSync
import DiarioTestSupport
import Testing

/// What a scenario happens to: a server that serves one space, and replicas that have names.
final class ScenarioWorld {
    /// A device with a replica.
    struct Device {
        var disk: CrashDisk
        let clock: ManualClock
        var store: LogStore
        var session: ReplicaSession
        var key: TokenKey
        /// The name of its space on the server.
        var home = Server.name
        /// What was sent and not answered.
        var request: [UInt8]?
        /// What was answered and not heard.
        var answer: [UInt8]?
        var backup: CrashDisk?
    }

    /// What became of the command so far.
    var trace: [String] = []
    var devices: [String: Device] = [:]
    /// What people call replicas by, instead of their ids.
    private(set) var names: [ReplicaID: String] = [:]
    let clock = ManualClock(milliseconds: 1_700_000_000_000)
    let entropy = SeededEntropy(seed: 7)
    private(set) var server: Server

    /// The authority's side.
    struct Server {
        static let name = "home"

        let folder: TemporaryFolder
        let control: ControlFile
        var disk: CrashDisk
        var store: LogStore
        var served: ServedSpaces
        var space: SpaceID
        let lineage: Lineage
        var backup: CrashDisk?
    }

    init() throws {
        server = try Self.makeServer(clock, entropy)
        try adopt("notes")
        noteNames()
        trace = []
    }

    private static func makeServer(_ clock: ManualClock, _ entropy: SeededEntropy) throws -> Server
    {
        let folder = try TemporaryFolder()
        let control = try ControlFile(folder: folder.path, .create)
        let disk = CrashDisk(machineID: "server")
        let store = try TestReplica.open(disk, clock, entropy)
        let manifest = try store.makeSpace(isAuthority: true)
        try control.name(manifest.space, try spaceName(), at: clock.now)
        return Server(
            folder: folder,
            control: control,
            disk: disk,
            store: store,
            served: ServedSpaces(store, control),
            space: manifest.space,
            lineage: manifest.lineage
        )
    }

    static func spaceName() throws -> SpaceName { try #require(SpaceName(Server.name)) }

    /// A pack with one type of event, `NAME.thing.noted`.
    private static func pack(_ name: String) throws -> Pack {
        let schema = """
            { "title": "\(name).thing.noted", "x-diario-version": 1, "type": "object",
              "additionalProperties": false, "required": ["text"],
              "properties": { "text": { "type": "string", "maxLength": 40 } } }
            """
        return try Pack(
            files: [
                PackFile(path: "events/thing.noted.1.json", bytes: Array(schema.utf8)),
                PackFile(
                    path: "pack.json",
                    bytes: Array(#"{"name":"\#(name)","version":1}"#.utf8)
                ),
            ]
        )
    }

    // MARK: The server

    func adopt(_ pack: String) throws {
        try adopt(pack, in: Space(store: server.store, id: server.space))
    }

    func adopt(_ pack: String, in space: Space) throws {
        var space = space
        _ = try space.adopt([try Self.pack(pack)]) { _, _ in }
    }

    /// The server's space is the one that was published from now on.
    func followPublished(_ space: SpaceID) { server.space = space }

    func backUpServer() { server.backup = server.disk.snapshot() }

    /// With what a backup has; only a copy shows that it is one.
    func restoreServer(isNoticed: Bool) throws {
        let backup = try #require(server.backup, "there is a backup")
        server.disk = isNoticed ? backup.copy() : backup.snapshot()
        server.store = try TestReplica.open(server.disk, clock, entropy)
        server.served = ServedSpaces(server.store, server.control)
    }

    /// All is gone but the name of the space and who may come.
    func wipeServer() throws {
        server = try Self.makeServer(clock, entropy)
        try adopt("notes")
        for name in devices.keys.sorted() {
            let key = try makeKey(nil, [.read, .append])
            devices[name]?.key = key
        }
    }

    func makeKey(_ actor: String?, _ rights: Caller.Rights) throws -> TokenKey {
        var draft = TokenDraft(space: try Self.spaceName(), rights: rights)
        draft.actor = actor
        return try server.control.makeTokenAndSpace(draft, drawnFrom: entropy, at: clock.now).key
    }

    func answer(_ request: [UInt8], to device: Device) -> [UInt8] {
        server.served.answer(request, to: device.home, with: device.key.text, at: clock.now)
    }

    // MARK: Replicas

    func device(_ name: String) throws -> Device {
        try #require(devices[name], "there is no replica \(name)")
    }

    func addReplica(_ name: String, actor: String?, _ rights: Caller.Rights) throws {
        let disk = CrashDisk(machineID: name)
        let own = ManualClock(milliseconds: clock.now.milliseconds)
        let store = try TestReplica.open(disk, own, entropy)
        try store.makeReplica(of: server.space, lineage: server.lineage, epoch: 0)
        devices[name] = Device(
            disk: disk,
            clock: own,
            store: store,
            session: ReplicaSession(store, server.space, seed: 1),
            key: try makeKey(actor, rights)
        )
    }

    /// The program is started, on this disk.
    func start(_ name: String, like device: Device, on disk: CrashDisk) throws {
        var started = device
        started.disk = disk
        started.store = try TestReplica.open(disk, device.clock, entropy)
        let manifest = try #require(try started.store.manifests().first { !$0.isStaging })
        started.session = ReplicaSession(started.store, manifest.space, seed: 1)
        started.request = nil
        started.answer = nil
        devices[name] = started
    }

    func space(of name: String) throws -> Space {
        let device = try device(name)
        return try Space(store: device.store, id: device.session.space)
    }

    // MARK: Names

    /// Gives names to ids that are new, and says so.
    func noteNames() {
        note("server", try? server.store[server.space].status().manifest.authority)
        for (name, device) in devices.sorted(by: { $0.key < $1.key }) {
            let status = try? device.store[device.session.space].status()
            note(name, status?.replica)
            // Who gives positions writes what it says under an id of its own.
            note("\(name)'s authority", status?.manifest.authority)
        }
    }

    private func note(_ name: String, _ replica: ReplicaID?) {
        guard let replica, names[replica] == nil else { return }
        let taken = Set(names.values)
        var (called, number) = (name, 2)
        while taken.contains(called) {
            called = name + "\(number)"
            number += 1
        }
        names[replica] = called
        // The first one goes without saying.
        if called != name { trace.append("\(name) is known as \(called) from now on") }
    }

    func name(_ replica: ReplicaID) -> String { names[replica] ?? "?" }

    /// `a-1`, or `a-1..3`.
    func range(_ replica: ReplicaID, _ first: UInt64, _ last: UInt64) -> String {
        let start = "\(name(replica))-\(first)"
        return first == last ? start : start + "..\(last)"
    }

    /// The text with names where it has ids.
    func named(_ text: String) -> String {
        names.reduce(text) { $0.replacing($1.key.text, with: $1.value) }
    }

    /// The origin that is called `a-1`.
    func origin(_ text: some StringProtocol) -> Origin? {
        let parts = text.split(separator: "-")
        guard parts.count == 2, let sequence = UInt64(parts[1]),
            let replica = names.first(where: { $0.value == parts[0] })?.key
        else { return nil }
        return Origin(replica: replica, sequence: sequence)
    }
}
