import DiarioSchema

/// The forms in which a body comes or goes.
enum MediaType: String, Sendable {
    case message = "application/vnd.diario.message"
    case json = "application/json"
    case lines = "application/x-ndjson"
    case cloudEvent = "application/cloudevents+json"
    case cloudEvents = "application/cloudevents-batch+json"
    case problem = "application/problem+json"
    case events = "text/event-stream"
    case file = "application/octet-stream"
    case description = "application/yaml"
    case metrics = "text/plain; version=0.0.4; charset=utf-8"

    /// The type of a body; nil for one that is not read, or with another encoding.
    init?(ofBody header: String?) {
        guard let header else { return nil }
        if let exact = MediaType(rawValue: header) {
            self = exact
            return
        }
        let parts = header.split(separator: ";").map { Self.trimmed($0).lowercased() }
        guard let first = parts.first else { return nil }
        for parameter in parts.dropFirst() where parameter.hasPrefix("charset=") {
            let charset = parameter.dropFirst("charset=".count).filter { $0 != "\"" }
            guard charset == "utf-8" || charset == "us-ascii" else { return nil }
        }
        self.init(rawValue: first)
    }

    /// The one of `choices` that a client likes best by its header Accept; the first one if it says
    /// nothing, and nil if it takes none of them.
    static func best(of choices: [MediaType], for accept: String?) -> MediaType? {
        guard let accept, !accept.isEmpty else { return choices.first }
        if let exact = choices.first(where: { $0.rawValue == accept }) { return exact }
        let wanted = accept.split(separator: ",").map { Range(String($0)) }
        var best: (choice: MediaType, quality: Double)?
        for choice in choices {
            // The most exact range says how much a form is wanted.
            let ranges = wanted.filter { $0.matches(choice) }
            guard let range = ranges.max(by: { $0.exactness < $1.exactness }), range.quality > 0
            else { continue }
            if best.map({ range.quality > $0.quality }) ?? true { best = (choice, range.quality) }
        }
        return best?.choice
    }

    /// A part of the header Accept.
    private struct Range {
        let name: String
        var quality = 1.0

        init(_ text: String) {
            let parts = text.split(separator: ";").map { MediaType.trimmed($0).lowercased() }
            name = parts.first ?? ""
            for part in parts.dropFirst() where part.hasPrefix("q=") {
                quality = Double(part.dropFirst(2)) ?? 0
            }
        }

        var exactness: Int { name == "*/*" ? 0 : name.hasSuffix("/*") ? 1 : 2 }

        func matches(_ type: MediaType) -> Bool {
            let own = type.rawValue.prefix { $0 != ";" }
            guard exactness == 1 else { return exactness == 0 || own == name }
            return own.hasPrefix(name.dropLast())
        }
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        var text = Substring(text)
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}

extension HTTPAnswer {
    /// An answer that must not be cached.
    static func fresh(
        _ status: Int,
        _ type: MediaType?,
        headers: [(name: String, value: String)] = [],
        _ body: Body = .bytes([])
    ) -> HTTPAnswer {
        var answer = HTTPAnswer(status, headers: headers, body)
        if let type { answer.headers.append((name: "Content-Type", value: type.rawValue)) }
        answer.headers.append((name: "Cache-Control", value: "no-store"))
        return answer
    }

    /// An object or list that is JSON already, and must not be cached.
    static func json(_ bytes: [UInt8], status: Int = 200) -> HTTPAnswer {
        fresh(status, .json, .bytes(bytes + [0x0a]))
    }

    static func object(
        status: Int = 200,
        _ body: (inout JSONObjectWriter) -> Void
    ) -> HTTPAnswer {
        json(JSONObjectWriter.object(body), status: status)
    }
}
