import DiarioCore
import DiarioEngine
package import DiarioSchema
package import DiarioServer
import DiarioStorage
import Synchronization

/// The data directory of a server, as it is reached over HTTP: schema/format/http.md.
package final class ServedDirectory: Sendable {
    let served: ServedSpaces
    let files: SealedFiles
    /// Packs that spaces get which use an older version.
    private let newerPacks: [Pack]
    /// The rules of the packs' commands and views.
    let domains: [Domain]
    let questionTimeMax: Duration
    /// What apps answer beside the spaces.
    private let connectors: [any Connector]
    private let spaces: Mutex<OpenSpaces>
    /// Held while a space is opened: those that are open are served meanwhile.
    private let opening = Mutex<Void>(())
    private let isStopped = Mutex(false)
    private let stop = Signal()
    let revocations = RevocationWatch()
    let contacts = Contacts()
    private let publicRates = AddressRates()
    private let counters = Mutex<(@Sendable () -> ServerCounters.Snapshot?)?>(nil)

    package init(
        _ served: ServedSpaces,
        _ files: SealedFiles,
        domains: [Domain] = [],
        newerPacks: [Pack] = [],
        connectors: [any Connector] = [],
        spaceCountMax: Int = Limits.servedSpaceCountMax,
        modelCountMax: Int = Limits.servedModelCountMax,
        questionTimeMax: Duration = .seconds(Limits.querySecondsMax)
    ) {
        spaces = Mutex(OpenSpaces(spaceCountMax: spaceCountMax, modelCountMax: modelCountMax))
        self.served = served
        self.files = files
        self.domains = domains
        self.newerPacks = newerPacks
        self.connectors = connectors
        self.questionTimeMax = questionTimeMax
    }

    /// Takes what /metrics tells from a server.
    package func measure(by counters: @escaping @Sendable () -> ServerCounters.Snapshot?) {
        self.counters.withLock { $0 = counters }
    }

    /// What the server has done, and does.
    func measured() -> ServerCounters.Snapshot {
        counters.withLock { $0 }.flatMap { $0() } ?? ServerCounters.Snapshot()
    }

    private func metrics() -> HTTPAnswer {
        let counters = measured()
        let spaceCount = spaces.withLock { $0.count }
        let counts = try? served.spaceCounts()
        let text = MetricsText.text(counters, spaceCount: spaceCount, counts)
        return .fresh(200, .metrics, .bytes(text))
    }

    // MARK: Spaces

    /// The space with an id, opened when it is first asked for.
    func space(_ named: NamedSpace) throws -> ServedSpace {
        if let known = spaces.withLock({ $0.find(named.id) }) { return known }
        // One at a time: two must not adopt the same pack.
        return try opening.withLock { _ in
            if let known = spaces.withLock({ $0.find(named.id) }) { return known }
            let space = try served.open(named, newerPacks: newerPacks)
            let made = ServedSpace(space)
            spaces.withLock { $0.add(made, named.id) }
            return made
        }
    }

    /// Runs `body` with the read models of a space, and closes those of others that are too many.
    func withModels<Value: Sendable>(
        of named: NamedSpace,
        until stop: BuildStop,
        _ body: @Sendable (ReadModels) throws -> Value
    ) throws -> Value {
        let space = try space(named)
        spaces.withLock { $0.closeModels(but: named.id) }
        return try space.withModels(until: stop, body)
    }

    /// The spaces that somebody uses.
    var openSpaces: [ServedSpace] { spaces.withLock { $0.all } }

    /// A space if somebody uses it.
    func openSpace(_ named: NamedSpace) -> ServedSpace? { spaces.withLock { $0.find(named.id) } }

    package var blobs: BlobHousekeeping { BlobHousekeeping(self) }

    /// Forgets spaces that others took the place of.
    func forget(_ id: SpaceID) { spaces.withLock { $0.remove(id) } }

    // MARK: What others record

    /// Looks for what other processes record in the directory, and writes down who was heard of,
    /// until `close`; blocks.
    package func watch() {
        defer { writeContacts() }
        var lastWrite = now
        var lastRemoval = now
        // A minute after the start for the first time.
        let first = lastWrite.milliseconds - Self.sweepMillisecondsMin + 60_000
        var lastSweep = Timestamp(milliseconds: first)
        while !isClosed {
            stop.wait(nanosecondsMax: 250_000_000)
            if now.milliseconds - lastWrite.milliseconds > 10_000 {
                writeContacts()
                lastWrite = now
            }
            if now.milliseconds - lastSweep.milliseconds > Self.sweepMillisecondsMin {
                // What cannot be removed now is looked at again.
                try? blobs.removeUnreferred()
                lastSweep = now
            }
            lookForNews()
            if now.milliseconds - lastRemoval.milliseconds > Self.removalMillisecondsMin {
                try? blobs.removeStaying()
                lastRemoval = now
            }
        }
    }

    private static let sweepMillisecondsMin: Int64 = 3_600_000
    private static let removalMillisecondsMin: Int64 = 1_000

    /// Takes up what other processes recorded or revoked, and wakes those who wait for it.
    package func lookForNews() {
        // What cannot be read is told to whoever asks for it.
        try? served.refresh()
        let areRevoked = revocations.look(in: served.control)
        for space in openSpaces where space.bell.listenerCount > 0 {
            areRevoked ? space.bell.ring() : space.ringIfGrown()
        }
    }

    func writeContacts() {
        let heard = contacts.take()
        // Nothing depends on it.
        if !heard.isEmpty { try? served.control.note(heard) }
    }

    /// Whether nothing that takes long is begun or gone on with any more.
    var isClosed: Bool { isStopped.withLock { $0 } }

    /// Ends `watch`, and what takes long.
    package func close() {
        isStopped.withLock { $0 = true }
        stop.raise()
    }

    // MARK: Time

    var now: Timestamp { served.now }
}

extension ServedDirectory: HTTPHandler {
    package func admit(_ head: HTTPRequest) -> BodyAdmission {
        do {
            if let connector = try connector(of: head) {
                return .bytes(max: try connector.admit(head))
            }
            let route = try route(of: head)
            guard ["POST", "PUT"].contains(head.method), case .space(let name, let part) = route
            else { return .bytes(max: 0) }
            let known = try known(head, name)
            if case .blob = part {
                // Before so many bytes are read.
                try Question(request: head, token: known.token, space: known.space, turn: .first)
                    .require(.append)
                return .bytes(max: Limits.blobPartSizeMax)
            }
            try checkBody(of: head, part)
            return .bytes(max: part == .sync ? Limits.messageSizeMax : Limits.requestSizeMax)
        } catch {
            return .refused(finish(refused(Problem(error), head), for: head))
        }
    }

    package func isAboutHealth(_ request: HTTPRequest) -> Bool {
        Route(path: request.path) == .health
    }

    package func reply(to request: HTTPRequest, _ turn: Turn) -> HTTPReply {
        do {
            switch try answer(request, turn) {
            case .answer(let answer): return .answer(finish(answer, for: request))
            case let other: return other
            }
        } catch {
            return .answer(finish(refused(Problem(error), request), for: request))
        }
    }

    private func answer(
        _ request: HTTPRequest,
        _ turn: Turn
    ) throws -> HTTPReply {
        if let connector = try connector(of: request) {
            return try connector.reply(to: request, in: self)
        }
        let route = try route(of: request)
        guard request.method != "OPTIONS" else {
            return .answer(CrossOrigin.preflight(route.methods))
        }
        switch route {
        case .health: return .answer(try health())
        case .metrics: return .answer(metrics())
        case .description:
            return .answer(
                HTTPAnswer(
                    200,
                    headers: [(name: "Content-Type", value: MediaType.description.rawValue)],
                    .bytes(OpenAPIDocument.bytes)
                )
            )
        case .spaces:
            let (token, space) = try served.admitToOwnSpace(try Self.token(of: request), at: now)
            let question = Question(request: request, token: token, space: space, turn: turn)
            try question.allow([])
            try question.require(.read)
            return .answer(.json([0x5b] + (try outline(question)) + [0x5d]))
        case .space(let name, let part):
            if let queries = try publicQueries(of: name, part, request) {
                return try answer(queries, part)
            }
            let word = try Self.token(of: request)
            // Whoever waits asked once.
            let (token, space) =
                turn == .first
                ? try served.admit(word, to: name, at: now)
                : try served.identify(word, to: name, at: now)
            // What the command line recorded beside the server counts from the next request on.
            // Where it cannot be read, whoever needs it is told.
            if turn == .first { try? served.refreshAfterOthers() }
            let question = Question(request: request, token: token, space: space, turn: turn)
            switch try answer(question, part) {
            case .answer(var answer):
                answer.token = token.id.text
                return .answer(answer)
            case let other: return other
            }
        }
    }

    /// The queries that a request without a token may ask; nil if it needs one.
    private func publicQueries(
        of name: String,
        _ part: Route.Part,
        _ request: HTTPRequest
    ) throws -> ServedQueries? {
        guard part.isOfQueries, request.headers["authorization"] == nil,
            let queries = try ServedQueries(directory: self, request: request, ofAnybodyIn: name)
        else { return nil }
        try publicRates.take(request, at: now)
        try? served.refreshAfterOthers()
        return queries
    }

    private func answer(_ queries: ServedQueries, _ part: Route.Part) throws -> HTTPReply {
        guard case .query(let name) = part else { return .answer(try queries.list()) }
        return .reading(try queries.answer(name))
    }

    /// A question or a scan, whose answer is finished as that of any request.
    func reading(
        for question: Question,
        _ body: @escaping @Sendable (BuildStop) throws -> HTTPAnswer
    ) -> Reading<HTTPAnswer> {
        reading(question.request, as: question.owner, token: question.token, body)
    }

    /// The same; `token` is nil for those who have none.
    func reading(
        _ request: HTTPRequest,
        as owner: ReadOwner,
        token: Token?,
        _ body: @escaping @Sendable (BuildStop) throws -> HTTPAnswer
    ) -> Reading<HTTPAnswer> {
        Reading(owner) { stop in
            var answer: HTTPAnswer
            do { answer = try body(stop) } catch { answer = Problem(error).answer }
            answer.token = token?.id.text
            return self.finish(answer, for: request)
        }
    }

    private func answer(_ question: Question, _ part: Route.Part) throws -> HTTPReply {
        let isPost = question.request.method == "POST"
        if let parameters = part.parameters(isPost: isPost) { try question.allow(parameters) }
        if let right = part.right(for: question.request.method) { try question.require(right) }
        return switch part {
        case .sync: .answer(try sync(question))
        case .head: try head(question)
        case .events where isPost: .answer(try record(question))
        case .events: try events(question)
        case .event(let name): .reading(try event(name, question))
        case .whole: .answer(.json(try outline(question)))
        case .segments: .answer(try segments(question))
        case .segment(let name): .answer(try segment(name, question))
        case .packs: .answer(try packs(question))
        case .pack(let fingerprint): .answer(try pack(fingerprint, question))
        case .queries, .query:
            try answer(ServedQueries(directory: self, question: question), part)
        case .commands: .answer(try ServedCall(directory: self, question: question).list())
        case .command(let name):
            .reading(try ServedCall(directory: self, question: question).command(name))
        case .view(let name):
            .reading(try ServedCall(directory: self, question: question).view(name))
        case .wantedBlobs: .reading(try ServedBlobs(directory: self, question: question).want())
        case .blob(let id): try ServedBlobs(directory: self, question: question).answer(id)
        case .replicas: .answer(try replicas(question))
        case .tokens where isPost: .answer(try makeToken(question))
        case .tokens: .answer(try tokens(question))
        case .token(let id): .answer(try revokeToken(id, question))
        }
    }

    // MARK: What holds for every request

    private func route(of request: HTTPRequest) throws -> Route {
        guard let route = Route(path: request.path) else { throw Problem.nothingHere }
        try Self.check(request.method, route.methods)
        return route
    }

    private static func check(_ method: String, _ known: [String]) throws {
        guard known.contains(method) else {
            throw Problem(.method, "This path is asked with \(known.joined(separator: ", ")).")
        }
    }

    /// The one that has the path of a request; nil if it is none of theirs.
    private func connector(of request: HTTPRequest) throws -> (any Connector)? {
        for connector in connectors {
            guard let methods = connector.methods(of: request.path) else { continue }
            try Self.check(request.method, methods)
            return connector
        }
        return nil
    }

    /// The token that a request bears; empty if it bears none.
    private static func token(of request: HTTPRequest) throws -> String {
        let header = request.headers["authorization"] ?? ""
        let words = header.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else {
            throw Problem.noToken
        }
        return String(words[1])
    }

    /// Who asks, and for what; counts as no request.
    func known(_ request: HTTPRequest, _ name: String) throws -> (token: Token, space: NamedSpace) {
        try served.identify(try Self.token(of: request), to: name, at: now)
    }

    private func checkBody(of head: HTTPRequest, _ part: Route.Part) throws {
        if let coding = head.headers["content-encoding"], coding.lowercased() != "identity" {
            throw Problem(
                .mediaType,
                "The body is encoded as \(coding.prefix(20)).",
                remedy: "Send it as it is; messages are compressed inside."
            )
        }
        let allowed: [MediaType] =
            switch part {
            case .sync: [.message]
            case .events: [.json, .lines, .cloudEvent, .cloudEvents]
            default: [.json]
            }
        guard let type = MediaType(ofBody: head.headers["content-type"]), allowed.contains(type)
        else {
            throw Problem(
                .mediaType,
                "The body's Content-Type is not read here.",
                remedy: "Send " + allowed.map(\.rawValue).joined(separator: ", or ") + "."
            )
        }
    }

    /// The answer that says so; for replicas in their own form.
    private func refused(_ problem: Problem, _ request: HTTPRequest) -> HTTPAnswer {
        let methods =
            Route(path: request.path)?.methods
            ?? connectors.lazy.compactMap { $0.methods(of: request.path) }.first
        guard problem.kind == .method, let methods else { return problem.answer }
        return problem.answer(allowing: methods)
    }

    private func finish(_ answer: HTTPAnswer, for request: HTTPRequest) -> HTTPAnswer {
        var answer = answer
        if request.headers["origin"] != nil { answer.headers += CrossOrigin.headers }
        return answer
    }
}

/// What browsers are told about requests from pages of elsewhere.
enum CrossOrigin {
    static let headers = [
        (name: "Access-Control-Allow-Origin", value: "*"),
        (
            name: "Access-Control-Expose-Headers",
            value: "Stream-Next-Offset, Stream-Up-To-Date, Stream-Cursor, ETag, Retry-After, "
                + "Content-Range, Upload-Offset, Diario-Blobs-Lost"
        ),
    ]

    static func preflight(_ methods: [String]) -> HTTPAnswer {
        HTTPAnswer(
            204,
            headers: [
                (name: "Allow", value: methods.joined(separator: ", ")),
                (
                    name: "Access-Control-Allow-Methods",
                    value: methods.joined(separator: ", ")
                ),
                (
                    name: "Access-Control-Allow-Headers",
                    value: "Authorization, Content-Type, Accept, If-None-Match, Range, "
                        + "Diario-Packs, Diario-Replica, Upload-Offset, Upload-Length"
                ),
                (name: "Access-Control-Max-Age", value: "86400"),
            ]
        )
    }
}
