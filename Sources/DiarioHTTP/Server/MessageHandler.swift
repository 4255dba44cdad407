import DiarioCore
import DiarioSync
package import DiarioServer
import DiarioStorage

/// Answers the messages of replicas, and whether the server works.
package struct MessageHandler: HTTPHandler {
    private let spaces: ServedSpaces

    package init(_ spaces: ServedSpaces) { self.spaces = spaces }

    package func admit(_ head: HTTPRequest) -> BodyAdmission {
        if head.path == "/healthz" { return .refused(HTTPAnswer(200, .bytes(Array("ok\n".utf8)))) }
        guard Self.space(of: head) != nil else { return .refused(Self.notFound) }
        return .bytes(max: Limits.messageSizeMax)
    }

    package func reply(to request: HTTPRequest, isLast: Bool) -> HTTPReply {
        guard let space = Self.space(of: request) else { return .answer(Self.notFound) }
        let words = (request.headers["authorization"] ?? "").split(separator: " ")
        let token = words.count == 2 && words[0].lowercased() == "bearer" ? String(words[1]) : ""
        let bytes = spaces.answer(request.body, to: space, with: token, at: SystemClock().now)
        let type = (name: "Content-Type", value: "application/vnd.diario.message")
        return .answer(HTTPAnswer(200, headers: [type], .bytes(bytes)))
    }

    private static func space(of request: HTTPRequest) -> String? {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "v1", parts[2] == "spaces",
            parts[4] == "sync", request.method == "POST"
        else { return nil }
        return String(parts[3])
    }

    private static let notFound = ServerProblem(
        status: 404,
        word: "not-found",
        title: "There is nothing here",
        detail: "Nothing has this address and this method.",
        remedy: "Look into schema/format/http.md for what there is."
    ).answer
}
