import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioSync
import Glibc

/// `diario-bench who`: what it costs an authority to ask who records an event.
enum WhoBench {
    static let help = """
        diario-bench who [OPTIONS]
          A million events are pushed to an authority, one in five of them about a thing drawn at
          random and of a type that only its author records, one in five making a thing: processor
          time with a pack that asks, against the same pack without `who`. Messages are handed over
          in memory; with TMPDIR on a memory disk the log is there too. Then the first push after a
          start, with as many things known.

          --events N      events that are pushed (1000000)
          --runs N        runs of each side, in turn (5)
          --open          the pack without `who` on both sides
          --things        every event makes a thing
          --seed S        of what is drawn (1)

        """

    static func run(_ arguments: inout Arguments) async throws -> Report {
        let isOpen = arguments.flag("--open")
        let onlyThings = arguments.flag("--things")
        let seed = UInt64(try arguments.count("--seed", 0...Int.max) ?? 1)
        let count = try arguments.count("--events", 1000...100_000_000) ?? 1_000_000
        let runs = try arguments.count("--runs", 1...1000) ?? 5
        try arguments.finish()
        let scratch = try Scratch(mayBeInMemory: true)
        func workload(isAsking: Bool) throws -> WhoWorkload {
            try WhoWorkload(
                isAsking: isAsking,
                count: count,
                onlyThings: onlyThings,
                seed: seed,
                in: scratch
            )
        }
        let asking = try workload(isAsking: !isOpen)
        let open = try workload(isAsking: false)
        let pairs = try await compare(runs: runs) {
            try asking.push(in: scratch)
        } baseline: {
            try open.push(in: scratch)
        }
        let name = "push of \(count) events to an authority: processor time"
        return Report(
            benchmark: "who",
            settings: [("events", "\(count)"), ("runs", "\(runs)"), ("seed", "\(seed)")],
            measurements: [Measurement(name, pairs, goal: .atMost(1.2), isTime: true)]
        )
    }
}

/// Events about things, as a device pushes them.
private struct WhoWorkload {
    private let pack: Pack
    private let template: String
    private let space: SpaceID
    private let count: Int
    private var pushes: [[UInt8]] = []

    init(
        isAsking: Bool,
        count: Int,
        onlyThings: Bool,
        seed: UInt64,
        in scratch: Scratch
    ) throws {
        pack = try Self.pack(isAsking: isAsking)
        self.count = count
        template = scratch.path + (isAsking ? "/asking" : "/open")
        let server = try BenchSpace.store(at: template + "/server", isNew: true, helper: nil)
        let manifest = try server.makeSpace(isAuthority: true)
        space = manifest.space
        var adopting = try Space(store: server, id: space)
        _ = try adopting.adopt([pack]) { _, _ in }
        try server.close()
        let device = try BenchSpace.store(at: template + "/device", isNew: true, helper: nil)
        try device.makeReplica(of: space, lineage: manifest.lineage, epoch: 0)
        try record(on: device, onlyThings: onlyThings, seed: seed)
        pushes = try messages(of: device, manifest)
        try device.close()
    }

    private static func pack(isAsking: Bool) throws -> Pack {
        let who = isAsking ? #","who":{"bench.thing.named":{"author":true}}"# : ""
        func schema(_ name: String, _ id: String) -> String {
            """
            {"title":"bench.\(name)","x-diario-version":1,"type":"object",
            "additionalProperties":false,\(id.isEmpty ? "" : "\"x-diario-subject\":\"thingId\",")
            "required":["text"\(id == "thing" ? ",\"thingId\"" : "")],"properties":{
            \(id.isEmpty ? "" : #""thingId":{"type":"string","minLength":1,"maxLength":64,"#
                + #""x-diario-id":"\#(id)"},"#)
            "text":{"type":"string","maxLength":80},
            "amount":{"type":"integer","minimum":0,"maximum":1000000}}}
            """
        }
        let files = [
            "pack.json": #"{"name":"bench","version":1\#(who)}"#,
            "events/thing.made.1.json": schema("thing.made", "new"),
            "events/thing.named.1.json": schema("thing.named", "thing"),
            "events/note.made.1.json": schema("note.made", ""),
        ]
        return try Pack(files: files.map { PackFile(path: $0.key, bytes: Array($0.value.utf8)) })
    }

    private func record(on device: LogStore, onlyThings: Bool, seed: UInt64) throws {
        let catalog = try TypeCatalog([pack])
        func type(_ name: String) throws -> EventType {
            guard let type = catalog.newest(name) else { throw BenchError.failed("no \(name)") }
            return type
        }
        let (made, named) = (try type("bench.thing.made"), try type("bench.thing.named"))
        let note = try type("bench.note.made")
        var random = SeededRandom(seed: seed)
        let replica = try device[space].status().replica
        var things: [Origin] = []
        let actor = Array("anna".utf8)
        var sequence: UInt64 = 0
        while sequence < count {
            var batch = DraftBatch()
            // The last one is alone.
            for _ in 0..<max(1, min(100, count - 1 - Int(sequence))) {
                sequence += 1
                let kind = onlyThings ? 0 : random.below(5)
                let type = kind == 0 ? made : kind == 1 && !things.isEmpty ? named : note
                var payload = Payload()
                payload.reset(fieldCount: type.fields.count)
                let text = Array("what there is to say about it, \(sequence)".utf8)
                payload.setBytes(text.span, at: type.fieldIndex("text") ?? 0)
                payload.slots[type.fieldIndex("amount") ?? 0] = .integer(Int64(random.below(1000)))
                if type === named, let index = type.fieldIndex("thingId") {
                    let id = Array(things[random.below(things.count)].text.utf8)
                    payload.setBytes(id.span, at: index)
                }
                if type === made {
                    things.append(Origin(replica: replica, sequence: sequence))
                }
                try batch.append(payload, type: type, actor: actor.span)
            }
            _ = try device.append(Append(space: space, content: .new([batch])))
        }
    }

    private func messages(of device: LogStore, _ manifest: Manifest) throws -> [[UInt8]] {
        let status = try device[space].status()
        let standing = Standing(
            lineage: manifest.lineage,
            epoch: status.manifest.epoch,
            size: status.head,
            root: try device[space].root()
        )
        var messages: [[UInt8]] = []
        for pending in device[space].standing().pending {
            var first = pending.sequences.lowerBound
            while first <= pending.sequences.upperBound {
                let rest = PendingEvents(
                    replica: pending.replica,
                    sequences: first...pending.sequences.upperBound
                )
                let (blocks, count) = try device[space].pendingBlocks(
                    rest,
                    // The last one is pushed alone, to be timed.
                    countMax: max(1, min(Limits.exchangeCountMax, rest.sequences.count - 1)),
                    inColumns: true
                )
                guard count > 0 else { throw BenchError.failed("nothing is pending") }
                let push = Push(standing: standing, replica: pending.replica, blocks: blocks)
                messages.append(SyncMessage.push(push).encoded())
                first += UInt64(count)
            }
        }
        return messages
    }

    /// Pushes everything to an authority that has nothing of it yet.
    func push(in scratch: Scratch) throws -> Sample {
        let path = scratch.path + "/run"
        try Child.runTool("/bin/cp", ["-a", template + "/server", path])
        defer { scratch.remove("run") }
        let caller = Caller(rights: [.read, .append], actor: "anna")
        var server = try BenchSpace.store(at: path, helper: nil)
        var authority = SpaceAuthority(server, space)
        let start = Self.processorSeconds
        for push in pushes.dropLast() { try take(authority.answer(push, from: caller)) }
        let time = Self.processorSeconds - start
        let memory = Machine.kilobytes("VmRSS")
        try authority.saveAuthors()
        // What a server does while it runs.
        for _ in 0..<2 { _ = try server.seal(space, all: true, waitSeconds: 600) }
        try server.close()
        server = try BenchSpace.store(at: path, helper: nil)
        authority = SpaceAuthority(server, space)
        let first = ContinuousClock.now
        if let last = pushes.last { try take(authority.answer(last, from: caller)) }
        let wait = seconds(since: first)
        try server.close()
        return Sample(
            seconds: time,
            events: count,
            figures: [
                ("us of processor for each", time * 1e6 / Double(count)),
                ("ms for the first push after a start", wait * 1000),
                ("MB in memory at the end", Double(memory) / 1024),
            ]
        )
    }

    private func take(_ answer: [UInt8]) throws {
        guard case .verdicts(let verdicts) = try SyncMessage(answer.span),
            verdicts.list.allSatisfy({ if case .accepted = $0.kind { true } else { false } })
        else { throw BenchError.failed("a push was answered by \(try SyncMessage(answer.span))") }
    }

    private static var processorSeconds: Double {
        var time = timespec()
        // Cannot fail: the clock is there and the place is ours.
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
