import Diario
import DiarioCore
import DiarioEngine
import DiarioHTTP
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioSync
import DiarioTestSupport
import Testing

/// Somebody who asks a server, by a token of their own.
struct Bearer {
    let token: String
    /// In whose name the token is; nil for nobody.
    let actor: String?
    let isKeeper: Bool
    let mayVouch: Bool
}

/// An event that somebody wants to record about a thing; without an id it makes one of its origin.
struct Deed {
    var what: String
    var version = 1
    var id: String?
    /// The actor that the event names.
    var actor: String?

    private var field: String {
        switch what.prefix(while: { $0 != "." }) {
        case "tool": "toolId"
        case "list": "listId"
        default: "noteId"
        }
    }

    var payload: String { id.map { #"{"\#(field)":"\#($0)"}"# } ?? "{}" }

    func line(_ more: String = "") -> String {
        let actor = actor.map { #","actor":"\#($0)""# } ?? ""
        return #"{"type":"shed.\#(what)","version":\#(version),"payload":\#(payload)\#(actor)"#
            + more + "}"
    }
}

/// The doors by which an event comes to a server.
enum Door: CaseIterable {
    case sync
    case json
    case named
    case cloudEvents
    case command
}

/// A server with the pack of sheds, and those who record there by each door.
final class WhoWorld {
    let world: ServedWorld
    private(set) var handler: ServedDirectory
    private let clock = ManualClock(milliseconds: 1_790_000_000_000)
    private let entropy = SeededEntropy(seed: 3)
    private let space: NamedSpace
    /// By tokens.
    private var devices: [String: (store: LogStore, session: ReplicaSession)] = [:]
    private var named: [String: (replica: ReplicaID, last: UInt64)] = [:]
    private var cloudCount = 0
    /// Of the program on devices.
    var packFormat = Pack.formatMax

    init() throws {
        world = try ServedWorld(packs: [try ShedPack.make()], domains: [ShedPack.domain])
        handler = world.handler
        _ = try world.token()
        space = try #require(try world.control.spaces().first)
    }

    func bearer(
        _ actor: String?,
        isKeeper: Bool = false,
        rights: Caller.Rights = [.read, .append]
    ) throws -> Bearer {
        var draft = TokenDraft(space: space.name, rights: rights)
        draft.actor = actor
        draft.roles = isKeeper ? ["shed.keeper"] : []
        let made = try world.control.makeToken(
            draft,
            drawnFrom: SystemEntropy(),
            at: world.store.now
        )
        return Bearer(
            token: made.key.text,
            actor: actor,
            isKeeper: isKeeper,
            mayVouch: rights.contains(.relay) || rights.contains(.admin)
        )
    }

    /// Lets a server that was just started take the place of this one.
    func restart() {
        handler = world.makeHandler()
    }

    /// The replica that an event of a bearer is of by a door, and the last sequence that it may
    /// name as an id.
    func own(_ door: Door, _ bearer: Bearer) throws -> OwnOrigins {
        switch door {
        case .sync:
            let (store, session) = try device(bearer)
            let replica = try store[session.space].status().replica
            let last = store[session.space].lastSequence(of: replica)
            return OwnOrigins(replica, through: last + 1)
        case .named:
            let own = name(bearer)
            return OwnOrigins(own.replica, through: own.last + 1)
        case .json, .command, .cloudEvents:
            let (replica, last) = try world.store[space.id].author()
            return OwnOrigins(replica, through: door == .cloudEvents ? last + 1 : last)
        }
    }

    /// Records an event by a door; gives its origin if it is accepted, and nil if the rule `who`
    /// refuses it.
    func record(_ deed: Deed, _ door: Door, _ bearer: Bearer) throws -> String? {
        switch door {
        case .sync: return try push([deed], bearer)?.first
        case .json: return try post("/events", deed.line(), bearer)
        case .named:
            let own = name(bearer)
            let origin = Origin(replica: own.replica, sequence: own.last + 1)
            let found = try post("/events", deed.line(#","origin":"\#(origin.text)""#), bearer)
            if found != nil { named[bearer.token]?.last += 1 }
            return found
        case .cloudEvents:
            cloudCount += 1
            let actor = deed.actor.map { #","diarioactor":"\#($0)""# } ?? ""
            let event = """
                {"specversion":"1.0","id":"\(cloudCount)","source":"/shed",
                "type":"shed.\(deed.what)","diarioversion":\(deed.version)\(actor),
                "data":\(deed.payload)}
                """
            return try post("/events", event, bearer, type: "application/cloudevents+json")
        case .command:
            let about = deed.id.map { #","about":"\#($0)""# } ?? ""
            let actor = deed.actor.map { #","actor":"\#($0)""# } ?? ""
            let body = #"{"input":{"what":"\#(deed.what)"\#(about)}\#(actor)}"#
            return try post("/commands/shed.thing.do", body, bearer)
        }
    }

    private func post(
        _ path: String,
        _ body: String,
        _ bearer: Bearer,
        type: String = "application/json"
    ) throws -> String? {
        let answer = try world.post(
            "/v1/spaces/home" + path,
            bearer.token,
            body,
            type: type,
            handler: handler
        )
        guard answer.status == 201 else {
            #expect(answer.status == 422, "\(body): \(answer.text)")
            #expect(answer.text.contains(#""rule":"who""#), "\(answer.text)")
            #expect(answer.text.contains(#""remedy""#), "\(answer.text)")
            return nil
        }
        if case .array(let origins)? = try answer.member("origins") {
            return origins.first?.value.text
        }
        guard case .array(let events)? = try answer.member("events") else { return nil }
        return events.first?.value.member("origin")?.item.value.text
    }

    private func name(_ bearer: Bearer) -> (replica: ReplicaID, last: UInt64) {
        if let known = named[bearer.token] { return known }
        let made = (replica: ReplicaID(drawnFrom: entropy), last: UInt64(0))
        named[bearer.token] = made
        return made
    }

    // MARK: Sync

    private func device(
        _ bearer: Bearer
    ) throws -> (store: LogStore, session: ReplicaSession) {
        if let known = devices[bearer.token] { return known }
        let engine = try PackSource.engine()
        let disk = CrashDisk(machineID: bearer.token)
        let process = disk.process(0)
        try LogStore.create(in: process)
        let store = try LogStore(
            process,
            access: .readWrite,
            time: clock,
            entropy: SeededEntropy(seed: UInt64(devices.count) + 100),
            engine: try #require(EngineReader(engine.types)),
            types: engine.types
        )
        let manifest = try world.store[space.id].status().manifest
        try store.makeReplica(of: space.id, lineage: manifest.lineage, epoch: manifest.epoch)
        let made = (store: store, session: ReplicaSession(store, space.id, seed: 1))
        devices[bearer.token] = made
        _ = try sync(bearer)
        return try #require(devices[bearer.token])
    }

    /// Records a batch on the bearer's device, as any program can, and sends it; gives the origins
    /// if it is accepted.
    func push(_ deeds: [Deed], _ bearer: Bearer) throws -> [String]? {
        let (store, session) = try device(bearer)
        let space = try Space(store: store, id: session.space)
        var recorder = LineRecorder(space)
        let batch = deeds.count == 1 ? "" : #","batch":"b""#
        for deed in deeds { try recorder.add(Array(deed.line(batch).utf8).span) }
        recorder.finish()
        let origins = try recorder.commit().map(\.text)
        let rules = try sync(bearer)
        #expect(rules.allSatisfy { $0 == "who" }, "\(deeds): \(rules)")
        return rules.isEmpty ? origins : nil
    }

    /// Syncs a bearer's device; gives the rules of refusals.
    func sync(_ bearer: Bearer) throws -> [String] {
        guard case (let store, var session)? = devices[bearer.token] else { return [] }
        session.goOn()
        session.heardOfNews()
        var action = try session.next(at: clock.now)
        while case .send(let request) = action {
            let answer = try world.answer(
                HTTPRequest(
                    "POST",
                    "/v1/spaces/home/sync",
                    headers: ServedWorld.bearing(
                        bearer.token,
                        [
                            "content-type": "application/vnd.diario.message",
                            "accept": "application/vnd.diario.message",
                            "diario-packs": "\(packFormat)",
                        ]
                    ),
                    body: request
                ),
                handler: handler
            )
            guard case .bytes(let bytes) = answer.body else { return ["no answer"] }
            try session.receive(bytes, at: clock.now)
            action = try session.next(at: clock.now)
        }
        devices[bearer.token] = (store, session)
        if case .stop(let refusal) = action { throw refusal }
        let inbox = try SpaceInbox(Space(store: store, id: session.space))
        let batches = try inbox.batches()
        for batch in batches { _ = try inbox.drop(batch.origin) }
        return batches.map { $0.refusal?.rule ?? "none" }
    }
}

extension JSON {
    var text: String? { if case .string(let text) = self { text } else { nil } }
}
