import Diario
import DiarioCore
import DiarioFish
import DiarioHTTP
import DiarioHost
import DiarioLog
import DiarioSQLite
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioTestSupport
import Testing

/// A served directory that is asked without sockets.
struct ServedWorld {
    let folder: TemporaryFolder
    let control: ControlFile
    let store: LogStore
    let handler: ServedDirectory
    /// Makes another one, as of a server that was just started.
    let makeHandler: @Sendable () -> ServedDirectory
    /// What spaces are made with.
    private let packs: [Pack]

    /// One pack is enough, and read once.
    static let meals = Result { try PackSource.load(names: ["meals"], folders: []) }

    init(
        packs: [Pack]? = nil,
        domains: [Domain] = [Fish.domain],
        newerPacks: [Pack] = [],
        connectors: [any Connector] = [],
        spaceCountMax: Int = Limits.servedSpaceCountMax,
        modelCountMax: Int = Limits.servedModelCountMax,
        questionTimeMax: Duration = .seconds(Limits.querySecondsMax)
    ) throws {
        folder = try TemporaryFolder()
        let directory = try POSIXDirectory(
            path: folder.path + "/" + LogPaths.directoryName,
            access: .create
        )
        try LogStore.create(in: directory)
        store = try Space.openStore(directory, access: .readWrite)
        self.packs = try packs ?? Self.meals.get()
        control = try ControlFile(folder: directory.rootPath, .create)
        let (store, control) = (store, control)
        makeHandler = { @Sendable in
            ServedDirectory(
                ServedSpaces(store, control),
                SealedFiles(store, directory),
                domains: domains,
                newerPacks: newerPacks,
                connectors: connectors,
                spaceCountMax: spaceCountMax,
                modelCountMax: modelCountMax,
                questionTimeMax: questionTimeMax
            )
        }
        handler = makeHandler()
    }

    func token(
        _ rights: Caller.Rights = [.read, .append],
        for space: String = "home",
        actor: String? = nil
    ) throws -> String {
        let name = try #require(SpaceName(space))
        if try control.space(name) == nil {
            let id = try Space.make(in: store, packs: packs).id
            try control.name(id, name, at: store.now)
        }
        var draft = TokenDraft(space: name, rights: rights)
        draft.actor = actor
        return try control.makeToken(draft, drawnFrom: SystemEntropy(), at: store.now).0.text
    }

    /// Asks as the server does: the head first, then the whole.
    ///
    /// Questions and scans have their turn at once, and end early if `stop` is asked.
    func reply(
        _ request: HTTPRequest,
        isLast: Bool = false,
        until stop: BuildStop = BuildStop(),
        handler: ServedDirectory? = nil
    ) -> HTTPReply {
        let handler = handler ?? self.handler
        if ["POST", "PUT"].contains(request.method) {
            var head = request
            head.body = []
            switch handler.admit(head) {
            case .refused(let answer): return .answer(answer)
            case .bytes(let max):
                guard request.body.count <= max else {
                    return .answer(Problem(.tooLarge, "The body is too large.").answer)
                }
            }
        }
        let reply = handler.reply(to: request, isLast ? .last : .first)
        guard case .reading(let reading) = reply else { return reply }
        return .answer(reading.read(stop))
    }

    func answer(
        _ request: HTTPRequest,
        isLast: Bool = false,
        handler: ServedDirectory? = nil
    ) throws -> HTTPAnswer {
        let reply = reply(request, isLast: isLast, handler: handler)
        guard case .answer(let answer) = reply else {
            throw Waiting()
        }
        return answer
    }

    struct Waiting: Error {}

    func get(
        _ path: String,
        _ token: String?,
        query: [HTTPRequest.Parameter] = [],
        headers: [String: String] = [:],
        isLast: Bool = false
    ) throws -> HTTPAnswer {
        try answer(
            HTTPRequest("GET", path, query: query, headers: Self.bearing(token, headers)),
            isLast: isLast
        )
    }

    func post(
        _ path: String,
        _ token: String?,
        _ body: String,
        type: String = "application/json",
        handler: ServedDirectory? = nil
    ) throws -> HTTPAnswer {
        try answer(
            HTTPRequest(
                "POST",
                path,
                headers: Self.bearing(token, ["content-type": type]),
                body: Array(body.utf8)
            ),
            handler: handler
        )
    }

    /// Records an event as another process does, with a log of its own on the directory.
    func recordElsewhere(_ line: String) throws {
        let directory = try POSIXDirectory(
            path: folder.path + "/" + LogPaths.directoryName,
            access: .readWrite
        )
        let store = try Space.openStore(directory, access: .readWrite)
        let id = try #require(try control.spaces().first).id
        var recorder = LineRecorder(try Space(store: store, id: id))
        try recorder.add(Array(line.utf8).span)
        recorder.finish()
        #expect(try recorder.commit().count == 1)
        try store.close()
    }

    static func bearing(
        _ token: String?,
        _ headers: [String: String] = [:]
    ) -> [String: String] {
        var headers = headers
        if let token { headers["authorization"] = "Bearer \(token)" }
        return headers
    }

    static func weight(_ day: String, _ grams: Int = 70_000) -> String {
        #"{"type":"meals.weight.recorded","payload":{"day":"\#(day)","weightG":\#(grams),"#
            + #""source":"manual"}}"#
    }
}

extension HTTPAnswer {
    var text: String {
        guard case .bytes(let bytes) = body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The member of the object that the body is.
    func member(_ key: String) throws -> JSON? {
        guard case .bytes(let bytes) = body else { return nil }
        return try JSON.parse(bytes).value.member(key)?.item.value
    }

    func list() throws -> [JSON] {
        guard case .bytes(let bytes) = body, case .array(let items) = try JSON.parse(bytes).value
        else { return [] }
        return items.map(\.value)
    }
}
