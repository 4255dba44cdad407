package import DiarioCore
package import DiarioEngine
import DiarioCrypto
import DiarioFormat
import DiarioLog
package import DiarioSchema
package import DiarioStorage
import DiarioSync

/// The replica in a page: one space in a directory, and what a page may do with it.
///
/// Used by one thread. Input and answers are JSON, but where it is said otherwise.
package final class Page {
    private let directory: any LogDirectory
    private let time: any TimeSource
    private let entropy: any EntropySource
    private let domains: [Domain]
    private let makePlace: (SpaceID) -> any ModelPlace
    private var helper = PageHelper()
    private var models: ReadModels?
    private var session: ReplicaSession?
    private var blobs: PageBlobs?
    /// What is to be sent next.
    private var request: [UInt8] = []
    private var copying: CopyJob?

    package init(
        _ directory: any LogDirectory,
        time: any TimeSource,
        entropy: any EntropySource,
        domains: [Domain],
        makePlace: @escaping (SpaceID) -> any ModelPlace
    ) {
        self.directory = directory
        self.time = time
        self.entropy = entropy
        self.domains = domains
        self.makePlace = makePlace
    }

    /// Something that is done at once: its name, the input, and what comes of it.
    package func call(_ name: String, _ input: [UInt8]) throws(DiarioError) -> [UInt8] {
        switch name {
        case "about": return Self.about
        case "refusal": return try refusal(input)
        case "open": return try open(input)
        case "close": return try close()
        case "status": return try status()
        case "declared": return try declared()
        case "event": return try event(PageInput(input))
        case "prove": return try prove(PageInput(input))
        case "record": return try record(input)
        case "run": return try run(PageInput(input))
        case "changed": return try changed()
        case "inbox": return try inbox()
        case "refused": return try refused(PageInput(input))
        case "recordAgain": return try recordAgain(PageInput(input))
        case "discard": return try discard(PageInput(input))
        case "quarantine": return try quarantine()
        case "quarantine.retry": return try retryQuarantine()
        case "permit": return try permit(PageInput(input))
        case "sync.next": return try nextOfSync()
        case "sync.request": return request
        case "sync.answer": return try takeAnswer(input)
        case "sync.failed": return try noteFailure(PageInput(input))
        case "sync.news": return try goOn()
        case "copy.request", "copy.listing", "copy.part", "copy.answer", "copy.skip":
            guard let copying else { throw Self.notOpen }
            return try copying.call(name, input)
        default:
            guard name.hasPrefix("blobs."), let blobs else {
                throw DiarioError(.invalid, "A page has no call \(name), or not now.")
            }
            return try blobs.call(name, input)
        }
    }

    /// Something that takes several steps.
    package func begin(_ name: String, _ input: [UInt8]) throws(DiarioError) -> any PageJob {
        switch name {
        case "copy":
            let job = try CopyJob(input, in: directory, surroundings(), seed: entropy.next())
            copying = job
            return job
        case "salvage": return try SalvageJob(directory, surroundings())
        case "follow": return FollowJob(try opened())
        case "ask": return AnswerJob(try question(PageInput(input)), try opened())
        case "verify": return try VerifyJob(try opened().space)
        case "export": return try ExportJob(try opened().space, PageInput(input))
        case "events": return try EventsJob(try opened().space, PageInput(input))
        case "rest": return RestJob(try opened().space, helper)
        case "hash": return HashJob(try opened().space)
        default: throw DiarioError(.invalid, "A page has no work \(name).")
        }
    }

    private static var notOpen: DiarioError { DiarioError(.notFound, "No space is open here.") }

    func opened() throws(DiarioError) -> ReadModels {
        guard let models else { throw Self.notOpen }
        return models
    }

    private func surroundings() -> Surroundings {
        helper = PageHelper()
        return Surroundings(time: time, entropy: entropy, helper: helper)
    }

    /// What the module is.
    private static var about: [UInt8] {
        JSONObjectWriter.object { $0.add("packs", Pack.formatMax) }
    }

    /// Why a server refuses something that is no message, as an error.
    private func refusal(_ told: [UInt8]) throws(DiarioError) -> [UInt8] {
        DiarioError(try PageInput.reply(told).refusal()).json
    }

    // MARK: Opening

    /// Opens the space of the directory; of several the one that is named.
    private func open(_ input: [UInt8]) throws(DiarioError) -> [UInt8] {
        let name = try input.isEmpty ? nil : PageInput(input).optionalText("space")
        let id = name.flatMap { SpaceID(text: $0) }
        copying = nil
        _ = try close()
        try use(
            Space.open(
                in: directory,
                space: id,
                access: .readWrite,
                surroundings(),
                path: "this browser"
            )
        )
        return try place()
    }

    /// Goes on with a space that is open.
    package func use(_ space: Space) {
        let models = ReadModels(space, in: makePlace(space.id))
        self.models = models
        blobs = PageBlobs(models)
        session = nil
    }

    private func close() throws(DiarioError) -> [UInt8] {
        guard let closing = models else { return [] }
        try closing.endPart()
        (models, session, blobs) = (nil, nil, nil)
        // Not by `Space.close`, which seals what is due however long that takes.
        do { try closing.space.store.close() } catch { throw DiarioError(error) }
        return []
    }

    // MARK: What there is

    private func status() throws(DiarioError) -> [UInt8] {
        let space = try opened().space
        let state = try space.state()
        let root: String
        do { root = try space.store[space.id].root().text } catch { throw DiarioError(error) }
        let permission = try space.permission()
        let inbox = try SpaceInbox(space).batches().count
        let quarantined = try opened().quarantined().count
        let machine = session?.machine
        return JSONObjectWriter.object { json in
            json.add("space", space.id.text)
            json.add("replica", state.replica.text)
            json.add("events", state.events)
            json.add("head", state.head)
            json.add("root", root)
            json.add("pending", state.pending)
            json.add("inbox", inbox)
            json.add("quarantined", quarantined)
            if let permission {
                if let actor = permission.actor { json.add("actor", actor) }
                json.add("rights", texts: permission.rights)
                json.add("roles", texts: permission.roles)
            }
            if let failure = machine?.failure { json.add("lastError", failure) }
        }
    }

    /// The packs in use with their commands, views, queries and types.
    private func declared() throws(DiarioError) -> [UInt8] {
        let packs = try opened().space.usedPacks
        return JSONObjectWriter.object { json in
            json.add(
                "packs",
                list: packs.map { PackForms.json(of: $0.pack, fingerprint: $0.fingerprint.text) }
            )
        }
    }

    /// All of an event, by its position or origin.
    private func event(_ input: PageInput) throws(DiarioError) -> [UInt8] {
        guard let (line, hash) = try opened().space.event(input.event()) else {
            throw DiarioError(.notFound, "There is no such event.")
        }
        return line.json(hash: hash)
    }

    /// Proves that an event is among the first `size`, or that those begin with the first `from`.
    private func prove(_ input: PageInput) throws(DiarioError) -> [UInt8] {
        let (space, size) = (try opened().space, try input.number("size"))
        if let from = try input.number("from") {
            return try space.proveConsistency(from: from, to: size).bytes(isIndented: false)
        }
        return try space.proveInclusion(
            of: space.position(of: input.event()),
            size: size,
            includesEvent: input.isTrue("row")
        ).bytes(isIndented: false)
    }

    // MARK: Recording

    /// Lines of JSON; their origins, once the events are durable.
    private func record(_ lines: [UInt8]) throws(DiarioError) -> [UInt8] {
        var recorder = LineRecorder(try opened().space)
        var origins: [Origin] = []
        var start = 0
        while start < lines.count {
            let end = lines[start...].firstIndex(of: UInt8(ascii: "\n")) ?? lines.count
            try recorder.add(lines.span.extracting(start..<end))
            if recorder.isFull { origins += try recorder.commit() }
            start = end + 1
        }
        recorder.finish()
        origins += try recorder.commit()
        return JSONObjectWriter.object { $0.add("origins", texts: origins.map { $0.text }) }
    }

    /// A command or a view; its answer.
    ///
    /// Read models that are behind are brought up to date first, so `follow` goes before it.
    private func run(_ input: PageInput) throws(DiarioError) -> [UInt8] {
        var call = Call(try input.text("name"), input.json("input") ?? Array("{}".utf8))
        let models = try opened()
        call.actor = try input.optionalText("actor")
        if call.actor == nil { call.actor = try models.space.defaultActor() }
        if let at = try input.time("at") { call.at = at }
        if let tag = try input.optionalText("language"), let language = Language(tag: tag) {
            call.language = language
        } else {
            call.isLanguageUsual = true
        }
        call.isDryRun = input.isTrue("dryRun")
        return try models.call(call, of: domains).json
    }

    // MARK: Asking

    private func question(_ input: PageInput) throws(DiarioError) -> Question {
        let parameters = try input.texts("parameters")
        if let sql = try input.optionalText("sql") { return .sql(sql, texts: parameters) }
        return .named(try input.text("query"), parameters)
    }

    /// The tables that changed since this was asked last, by pack.
    private func changed() throws(DiarioError) -> [UInt8] {
        let tables = try opened().takeChangedTables()
        return JSONObjectWriter.object { json in
            for (pack, names) in tables.sorted(by: { $0.key < $1.key }) where !names.isEmpty {
                json.add(pack, texts: names.sorted())
            }
        }
    }

    // MARK: Sync

    /// What the server lets this replica do, as it said last.
    private func permit(_ input: PageInput) throws(DiarioError) -> [UInt8] {
        let models = try opened()
        let permission = Permission(
            actor: try input.optionalText("actor"),
            rights: try input.list("rights"),
            roles: try input.list("roles")
        )
        if permission != models.space.gate?.permission {
            try models.space.setPermission(permission)
        }
        return []
    }

    private func nextOfSync() throws(DiarioError) -> [UInt8] {
        let space = try opened().space
        var current = session ?? ReplicaSession(space.store, space.id, seed: entropy.next())
        let action: ReplicaSession.Action
        let now = space.now
        do { action = try current.next(at: now) } catch { throw DiarioError(error) }
        session = current
        if case .send(let bytes) = action { request = bytes }
        let (head, failure) = (current.authorityHead, current.machine.failure)
        return JSONObjectWriter.object { json in
            switch action {
            case .send: json.add("action", "send")
            case .wait(let until):
                json.add("action", "wait")
                json.add("milliseconds", max(until.milliseconds - now.milliseconds, 1))
                if let failure { json.add("message", failure) }
            case .rest:
                json.add("action", "rest")
                json.add("head", head)
            case .stop(let refusal):
                json.add("action", "stop")
                json.add("message", refusal.message)
            }
        }
    }

    /// The answer of the server: its head as JSON, a zero byte, and its body.
    private func takeAnswer(_ told: [UInt8]) throws(DiarioError) -> [UInt8] {
        let models = try opened()
        guard var current = session else { throw Self.notOpen }
        let reply = try PageInput.reply(told)
        let message: [UInt8]
        do throws(DiarioError) {
            message =
                reply.isMessage
                ? reply.body : SyncMessage.refusal(try reply.refusal()).encoded()
        } catch {
            current.failed(error.message, at: models.space.now)
            session = current
            return try place()
        }
        do { try current.receive(message, at: models.space.now) } catch {
            throw DiarioError(error)
        }
        session = current
        if let permission = reply.permission, permission != models.space.gate?.permission {
            try models.space.setPermission(permission)
        }
        if current.space != models.space.id {
            var space = models.space
            try space.move(to: current.space)
            try models.endPart()
            use(space)
            session = current
        } else {
            try models.space.takeUpAdoptions()
        }
        return try place()
    }

    /// Who writes here, and how far the log has come.
    private func place() throws(DiarioError) -> [UInt8] {
        let state = try opened().space.state()
        return JSONObjectWriter.object { json in
            json.add("replica", state.replica.text)
            json.add("head", state.head)
        }
    }

    /// There was no answer.
    private func noteFailure(_ input: PageInput) throws(DiarioError) -> [UInt8] {
        let (message, now) = (try input.text("message"), try opened().space.now)
        session?.failed(message, at: now)
        return []
    }

    /// The server has news, or the network is there again.
    private func goOn() throws(DiarioError) -> [UInt8] {
        session?.heardOfNews()
        session?.goOn()
        return []
    }
}
