import Diario
import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioSync
import DiarioTestSupport
import Testing

/// An authority, and devices on disks of their own that record things with ids of their making.
struct InboxWorld {
    let clock = ManualClock(milliseconds: 1_700_000_000_000)
    let entropy = SeededEntropy(seed: 11)
    private var server: Space
    private let authority: SpaceAuthority
    private let alice = Caller(rights: [.read, .append], actor: "alice")

    private static let files = [
        "pack.json": #"{"name":"shed","version":1}"#,
        "events/tool.bought.1.json": """
        { "title": "shed.tool.bought", "x-diario-version": 1, "type": "object",
          "additionalProperties": false, "required": ["name"],
          "x-diario-subject": "toolId",
          "properties": { "toolId": { "type": "string", "maxLength": 64, "x-diario-id": "new" },
                          "name": { "type": "string", "maxLength": 40 } } }
        """,
        "events/tool.lent.1.json": """
        { "title": "shed.tool.lent", "x-diario-version": 1, "type": "object",
          "additionalProperties": false, "required": ["toolId", "to"],
          "x-diario-subject": "toolId",
          "properties": { "toolId": { "type": "string", "maxLength": 64, "x-diario-id": "tool" },
                          "to": { "type": "string", "maxLength": 40 } } }
        """,
        "events/note.made.1.json": """
        { "title": "shed.note.made", "x-diario-version": 1, "type": "object",
          "additionalProperties": false, "required": ["text"],
          "properties": { "text": { "type": "string", "maxLength": 40 } } }
        """,
    ]

    init() throws {
        let store = try TestReplica.open(CrashDisk(machineID: "server"), clock, entropy)
        let manifest = try store.makeSpace(isAuthority: true)
        server = try Space(store: store, id: manifest.space)
        let files = Self.files.sorted { $0.key < $1.key }.map {
            PackFile(path: $0.key, bytes: Array($0.value.utf8))
        }
        _ = try server.adopt([try Pack(files: files)]) { _, _ in }
        authority = SpaceAuthority(store, manifest.space)
    }

    var root: String { get throws { try server.stats().root.text } }

    func makeDevice(_ disk: CrashDisk = CrashDisk(machineID: "device")) throws -> Device {
        let store = try TestReplica.open(disk, clock, entropy)
        let lineage = try server.store[server.id].status().manifest.lineage
        try store.makeReplica(of: server.id, lineage: lineage, epoch: 0)
        var device = Device(store: store, disk: disk)
        try sync(&device)
        return device
    }

    /// What a device has after its program was started again.
    func reopen(_ device: Device) throws -> Device {
        try? device.store.close()
        return try open(device.disk)
    }

    func open(_ disk: CrashDisk) throws -> Device {
        Device(store: try TestReplica.open(disk, clock, entropy), disk: disk)
    }

    /// Takes and brings events as alice, who alone may be named.
    func sync(_ device: inout Device) throws {
        var session = ReplicaSession(device.store, server.id, seed: 1)
        session.goOn()
        session.heardOfNews()
        for _ in 0..<100 {
            guard case .send(let request) = try session.next(at: clock.now) else { break }
            try session.receive(authority.answer(request, from: alice), at: clock.now)
        }
        device.space = try Space(store: device.store, id: server.id)
        clock.advance(milliseconds: 1000)
    }

    /// What the authority says to all that is pending on a device, which does not hear of it.
    func push(from device: Device) throws -> [Verdict.Kind] {
        let (store, id) = (device.store, server.id)
        let status = try store[id].status()
        let pending = try #require(store[id].standing().pending.first)
        let push = Push(
            standing: Standing(
                lineage: status.manifest.lineage,
                epoch: status.manifest.epoch,
                size: status.head,
                root: try store[id].root()
            ),
            replica: pending.replica,
            blocks: try store[id].pendingBlocks(pending).blocks
        )
        let answer = authority.answer(SyncMessage.push(push).encoded(), from: alice)
        guard case .verdicts(let verdicts) = try SyncMessage(answer.span) else {
            Issue.record("these are no verdicts")
            return []
        }
        return verdicts.list.map(\.kind)
    }

    /// Carries messages until the next request is one that is looked for, and leaves that be.
    func exchange(
        _ session: inout ReplicaSession,
        until isWanted: (SyncMessage) -> Bool
    ) throws {
        while case .send(let request) = try session.next(at: clock.now) {
            if isWanted(try SyncMessage(request.span)) { return }
            try session.receive(authority.answer(request, from: alice), at: clock.now)
        }
        Issue.record("no such request was made")
    }

    func space(of device: Device) throws -> Space {
        try device.space ?? Space(store: device.store, id: server.id)
    }

    /// Records lines of JSON; those with the same `batch` are one.
    @discardableResult
    func record(_ lines: [String], on device: Device) throws -> [Origin] {
        clock.advance(milliseconds: 1000)
        var recorder = LineRecorder(try space(of: device))
        for line in lines { try recorder.add(Array(line.utf8).span) }
        recorder.finish()
        return try recorder.commit()
    }
}

/// A replica of a world, whose messages are carried by hand.
struct Device {
    let store: LogStore
    let disk: CrashDisk
    var space: Space?
}
