import Diario
import DiarioCore
import DiarioHTTP
import DiarioHost
import DiarioLog
import DiarioSQLite
import DiarioSchema
import DiarioServer
import DiarioStorage
import Foundation

/// Requests as a server's handler sees them, to a space with a few events: targets, queries, ranges
/// and other header fields.
///
/// The input is lines: the method and the target, then header fields. A token that is valid is
/// borne unless the input bears one.
enum RequestSubject {
    private struct Base {
        let handler: ServedDirectory
        let token: String
    }

    private static let base = Result { try makeBase() }

    static func run(_ input: [UInt8]) {
        guard case .success(let base) = base else {
            preconditionFailure("a small server can be made: \(base)")
        }
        let lines = input.split(separator: 0x0a).map { String(decoding: $0, as: UTF8.self) }
        let words = (lines.first ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        guard words.count == 2 else { return }
        let parts = words[1].split(separator: "?", maxSplits: 1).map(String.init)
        guard let path = parts.first else { return }
        var query: [HTTPRequest.Parameter] = []
        for pair in (parts.dropFirst().first ?? "").split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1).map {
                PercentSigns.decoded(String($0))
            }
            guard let first = sides.first, let name = first else { return }
            guard sides.count < 2 || sides[1] != nil else { return }
            query.append(HTTPRequest.Parameter(name, sides.count < 2 ? nil : sides[1]))
        }
        var headers = ["authorization": "Bearer " + base.token]
        for line in lines.dropFirst() {
            let sides = line.split(separator: ":", maxSplits: 1).map(String.init)
            if sides.count == 2 { headers[sides[0].lowercased()] = sides[1] }
        }
        let request = HTTPRequest(words[0], path, query: query, headers: headers)
        // Nothing is recorded: the disk is no part of this.
        guard request.method != "POST" else {
            _ = base.handler.admit(request)
            return
        }
        var reply = base.handler.reply(to: request, .first)
        if case .wait = reply { reply = base.handler.reply(to: request, .last) }
        if case .answer(let answer) = reply {
            precondition(100..<600 ~= answer.status && answer.status != 500, "it is answered")
        }
    }

    private static func makeBase() throws -> Base {
        let path = FileManager.default.temporaryDirectory.path + "/diario-fuzz-request"
        try? FileManager.default.removeItem(atPath: path)
        let directory = try POSIXDirectory(path: path, access: .create)
        try LogStore.create(in: directory)
        let store = try Space.openStore(directory, access: .readWrite)
        let control = try ControlFile(folder: path, .create)
        guard let home = SpaceName("home") else { preconditionFailure("home is a name") }
        let packs = try PackSource.load(names: ["meals"], folders: [])
        try control.name(try Space.make(in: store, packs: packs).id, home, at: store.now)
        var draft = TokenDraft(space: home, rights: [.read, .append, .admin])
        draft.requestsPerSecond = 1_000_000
        let key = try control.makeToken(draft, drawnFrom: SystemEntropy(), at: store.now).key
        let handler = ServedDirectory(
            ServedSpaces(store, control),
            SealedFiles(store, directory)
        )
        let event =
            #"{"type":"meals.weight.recorded","payload":{"day":"2026-03-02","#
            + #""weightG":70000,"source":"manual"}}"#
        _ = handler.reply(
            to: HTTPRequest(
                "POST",
                "/v1/spaces/home/events",
                headers: [
                    "authorization": "Bearer " + key.text, "content-type": "application/json",
                ],
                body: Array(event.utf8)
            ),
            .first
        )
        if let space = try control.spaces().first { _ = try store.seal(space.id, all: true) }
        return Base(handler: handler, token: key.text)
    }
}
