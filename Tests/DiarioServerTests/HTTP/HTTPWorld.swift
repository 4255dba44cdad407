import Diario
import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioHost
import DiarioLog
import DiarioSQLite
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioSync
import DiarioTestSupport
import Foundation
import Synchronization

/// A served space behind a small server on this machine, as far as a replica needs one.
final class HTTPWorld: Sendable {
    let folder: TemporaryFolder
    let space: Space
    let control: ControlFile
    let key: TokenKey
    private let served: ServedSpaces
    private let server: Mutex<LoopbackServer?>
    private let state = Mutex(State())

    private struct State: Sendable {
        /// Those who wait for news.
        var waiting: [Signal] = []
        /// Answers a request in the place of the server, if it wants to.
        var mischief: (@Sendable (LoopbackServer.Request) -> [LoopbackServer.Step]?)?
        var targets: [String] = []
    }

    /// Those that the tests record events of, read once for all of them.
    static let packs = Result { try PackSource.builtIn().filter { $0.name == "meals" } }

    static let messageType = "application/vnd.diario.message"

    init(rights: Caller.Rights = [.read, .append]) throws {
        folder = try TemporaryFolder()
        let path = folder.path + "/server"
        space = try Space.create(at: path, packs: try Self.packs.get())
        control = try ControlFile(folder: folder.path, .create)
        guard let home = SpaceName("home") else { preconditionFailure("home is a name") }
        try control.name(space.id, home, at: space.store.now)
        key = try control.makeToken(
            TokenDraft(space: home, rights: rights),
            drawnFrom: SystemEntropy(),
            at: space.store.now
        ).key
        served = ServedSpaces(space.store, control)
        server = Mutex(nil)
        let made = try LoopbackServer { [weak self] in self?.answer($0) ?? [.close] }
        server.withLock { $0 = made }
    }

    var port: Int { server.withLock { $0?.port ?? 0 } }
    var address: String { "http://127.0.0.1:\(port)/v1/spaces/home" }
    var head: UInt64 { space.store[space.id].standing().head }
    var connectionCount: Int { server.withLock { $0?.connectionCount ?? 0 } }

    /// The targets of all requests so far.
    var targets: [String] { state.withLock { $0.targets } }

    func transport() throws -> HTTPTransport { try HTTPTransport(to: address, token: key.text) }

    /// Answers requests in the place of the server; those that it leaves alone are answered well.
    func interfere(_ body: (@Sendable (LoopbackServer.Request) -> [LoopbackServer.Step]?)?) {
        state.withLock { $0.mischief = body }
    }

    func stop() { server.withLock { $0?.stop() } }

    /// Whoever waits for news asks again whether there are some.
    func ring() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for signal in waiting { signal.raise() }
    }

    // MARK: Devices

    /// An empty replica in a folder of that name.
    func makeDiary(_ name: String) throws -> Diary {
        let directory = try POSIXDirectory(
            path: folder.path + "/\(name)/" + LogPaths.directoryName,
            access: .create
        )
        try LogStore.create(in: directory)
        let store = try Space.openStore(directory, access: .readWrite)
        let lineage = try space.store[space.id].status().manifest.lineage
        try store.makeReplica(of: space.id, lineage: lineage, epoch: 0)
        return Diary(space: try Space(store: store, id: space.id))
    }

    /// Records so many weights, as one batch.
    static func weigh(_ diary: Diary, count: Int = 1) async throws {
        var batch = diary.makeBatch()
        for index in 0..<count {
            let json = #"{"day":"2026-03-02","weightG":\#(60_000 + index),"source":"manual"}"#
            try batch.add("meals.weight.recorded", json: json)
        }
        _ = try await diary.append(batch)
    }

    /// Records weights on the server itself, which no replica did, in batches of a size.
    func fill(count: Int, inBatchesOf size: Int = 1000) async throws {
        let diary = Diary(space: space)
        for start in stride(from: 0, to: count, by: size) {
            try await Self.weigh(diary, count: min(size, count - start))
        }
        ring()
    }

    /// Seals all that is there, or complete runs only, after what is being sealed in the
    /// background.
    func seal(all: Bool = true) throws {
        _ = try space.store.seal(space.id, all: all, waitSeconds: 600)
    }

    // MARK: The server

    private func answer(_ request: LoopbackServer.Request) -> [LoopbackServer.Step] {
        let mischief = state.withLock { state in
            state.targets.append(request.target)
            return state.mischief
        }
        if let steps = mischief?(request) { return steps }
        let prefix = "/v1/spaces/home"
        guard request.target.hasPrefix(prefix) else { return Self.problem(404, "No such space.") }
        let path = String(request.target.dropFirst(prefix.count))
        let token = String((request.headers["authorization"] ?? "").dropFirst(7))
        if path == "/sync" {
            let answer = served.answer(request.body, to: "home", with: token, at: space.store.now)
            ring()
            return LoopbackServer.reply(Self.status(of: answer), Self.messageType, answer)
        }
        guard token == key.text else {
            return Self.problem(401, "The token is not known.", remedy: "Ask for a new one.")
        }
        if path == "/segments" { return segments() }
        if path.hasPrefix("/segments/") { return file(String(path.dropFirst(10)), request) }
        if path.hasPrefix("/head") { return waited(path) }
        return Self.problem(404, "There is nothing here.")
    }

    static func problem(
        _ status: Int,
        _ detail: String,
        remedy: String = ""
    ) -> [LoopbackServer.Step] {
        let text = #"{"status":\#(status),"detail":"\#(detail)","remedy":"\#(remedy)"}"#
        return LoopbackServer.reply(status, "application/problem+json", Array(text.utf8))
    }

    private static func status(of answer: [UInt8]) -> Int {
        guard case .refusal(let refusal)? = try? SyncMessage(answer.span) else { return 200 }
        return refusal.reason == .unauthorized ? 401 : 409
    }

    private func waited(_ path: String) -> [LoopbackServer.Step] {
        let after = path.split(whereSeparator: { "?&".contains($0) })
            .first { $0.hasPrefix("after=") }.flatMap { UInt64($0.dropFirst(6)) }
        let signal = Signal()
        while head <= after ?? 0 {
            state.withLock { $0.waiting.append(signal) }
            if head > after ?? 0 { break }
            signal.wait()
            if head <= after ?? 0 { return LoopbackServer.reply(204, nil) }
        }
        return LoopbackServer.reply(200, "application/json", Array(#"{"head":\#(head)}"#.utf8))
    }

    private func segments() -> [LoopbackServer.Step] {
        do {
            let manifest = try space.store[space.id].status().manifest
            let sealed = manifest.segments.last?.last ?? 0
            let root = try space.store[space.id].proofs.root(size: sealed)
            let items = try manifest.segments.map { entry in
                let files = [
                    (LogPaths.segment(entry.name, of: space.id), "segment"),
                    (LogPaths.sidecar(entry.name, of: space.id), "sidecar"),
                ]
                let shown = try files.map { path, kind in
                    let bytes = try contents(path)
                    let name = path.split(separator: "/").last ?? ""
                    return #"{"name":"\#(name)","kind":"\#(kind)","size":\#(bytes.count),"#
                        + #""sha256":"\#(SHA256.hash(bytes.span).text)"}"#
                }
                return #"{"first":\#(entry.first),"last":\#(entry.last),"files":["#
                    + shown.joined(separator: ",") + "]}"
            }
            let text =
                #"{"lineage":"\#(manifest.lineage.text)","epoch":\#(manifest.epoch),"#
                + #""head":\#(head),"root":"\#(root?.text ?? "")","sealed":\#(sealed),"#
                + #""segments":["# + items.joined(separator: ",") + "]}"
            return LoopbackServer.reply(200, "application/json", Array(text.utf8))
        } catch {
            return Self.problem(500, "\(error)")
        }
    }

    private func contents(_ path: String) throws -> [UInt8] {
        try Files.contents(of: path, in: space.store.directory, sizeMax: 1 << 30)
    }

    private func file(
        _ name: String,
        _ request: LoopbackServer.Request
    ) -> [LoopbackServer.Step] {
        guard let bytes = try? contents(LogPaths.segments(space.id) + "/" + name) else {
            return Self.problem(404, "There is no such file.")
        }
        let type = "application/octet-stream"
        guard let range = request.headers["range"] else {
            return LoopbackServer.reply(200, type, bytes)
        }
        let ends = range.dropFirst(6).split(separator: "-").compactMap { Int($0) }
        let part = Array(bytes[ends[0]...min(ends[1], bytes.count - 1)])
        let place = "bytes \(ends[0])-\(ends[0] + part.count - 1)/\(bytes.count)"
        return LoopbackServer.reply(206, type, part, headers: [("Content-Range", place)])
    }
}
