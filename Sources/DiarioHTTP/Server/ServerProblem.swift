import DiarioSchema

/// Answers of the server itself, before a handler sees the request or in its place; their form is
/// that of section 6 of schema/format/http.md.
struct ServerProblem {
    var status: Int
    var word: String
    var title: String
    var detail: String
    var remedy: String
    var retryAfterSeconds: Int?

    var answer: HTTPAnswer {
        let body = JSONObjectWriter.object { json in
            json.add("type", "urn:diario:problem:" + word)
            json.add("title", title)
            json.add("status", status)
            json.add("detail", detail)
            json.add("remedy", remedy)
            if let retryAfterSeconds { json.add("retryAfter", retryAfterSeconds) }
        }
        var headers = [
            (name: "Content-Type", value: "application/problem+json"),
            (name: "Cache-Control", value: "no-store"),
        ]
        if let retryAfterSeconds {
            headers.append((name: "Retry-After", value: "\(retryAfterSeconds)"))
        }
        return HTTPAnswer(status, headers: headers, .bytes(body))
    }

    static func malformed(_ detail: String) -> ServerProblem {
        ServerProblem(
            status: 400,
            word: "malformed",
            title: "The request cannot be read",
            detail: detail,
            remedy: "Send it as RFC 9112 has it."
        )
    }

    static func tooLarge(_ what: String, sizeMax: Int, status: Int = 413) -> ServerProblem {
        ServerProblem(
            status: status,
            word: "too-large",
            title: "The request is too large",
            detail: "\(what) may have \(sizeMax) bytes.",
            remedy: "Send less at once."
        )
    }

    static let encoding = ServerProblem(
        status: 415,
        word: "media-type",
        title: "The body is encoded",
        detail: "Bodies are taken as they are, without Content-Encoding.",
        remedy: "Send it plain: messages are compressed inside."
    )

    static let busy = ServerProblem(
        status: 503,
        word: "unavailable",
        title: "The server has too much to do",
        detail: "Too many requests are under way.",
        remedy: "Try again after the time that Retry-After says.",
        retryAfterSeconds: 2
    )

    static let manyReadings = ServerProblem(
        status: 503,
        word: "unavailable",
        title: "The server has too many questions to answer",
        detail: "Others were under way for as long as this one may wait for its turn.",
        remedy: "Try again after the time that Retry-After says.",
        retryAfterSeconds: 2
    )

    static let stopping = ServerProblem(
        status: 503,
        word: "unavailable",
        title: "The server stops",
        detail: "It takes no new requests.",
        remedy: "Try again after the time that Retry-After says.",
        retryAfterSeconds: 5
    )

    static let fileIsGone = ServerProblem(
        status: 404,
        word: "not-found",
        title: "The file is gone",
        detail: "It was replaced by another one while it was asked for.",
        remedy: "Ask for the list of files again."
    )

    static let failed = ServerProblem(
        status: 500,
        word: "failed",
        title: "The server made a mistake",
        detail: "An answer could not be sent as it was meant.",
        remedy: "Try again; if it goes on, tell the server's operator."
    )
}
