import DiarioServer

/// The target of a path: schema/format/http.md, section 3.
enum Route: Hashable, Sendable {
    case health
    case metrics
    /// The OpenAPI document.
    case description
    case spaces
    /// Something of a space; the text is its name as it was given, which may be none.
    case space(String, Part)

    enum Part: Hashable, Sendable {
        case whole
        case sync
        case head
        case events
        case event(String)
        case segments
        case segment(String)
        case packs
        case pack(String)
        case queries
        case query(String)
        case commands
        case command(String)
        case view(String)
        case wantedBlobs
        case blob(String)
        case replicas
        case tokens
        case token(String)
    }

    /// Nil if the path leads nowhere.
    init?(path: String) {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        let words = path.utf8.dropFirst().split(
            separator: UInt8(ascii: "/"),
            omittingEmptySubsequences: false
        ).map { String(Substring($0)) }
        switch words.count {
        case 1 where words[0] == "healthz": self = .health
        case 1 where words[0] == "metrics": self = .metrics
        case 2 where words[0] == "v1" && words[1] == "openapi.yaml": self = .description
        case 2 where words[0] == "v1" && words[1] == "spaces": self = .spaces
        case 3... where words[0] == "v1" && words[1] == "spaces":
            guard let part = Part(words.dropFirst(3)) else { return nil }
            self = .space(words[2], part)
        default: return nil
        }
    }

    var methods: [String] {
        switch self {
        case .health, .metrics, .description, .spaces: ["GET", "HEAD", "OPTIONS"]
        case .space(_, .sync): ["POST", "OPTIONS"]
        case .space(_, .command), .space(_, .wantedBlobs): ["POST", "OPTIONS"]
        case .space(_, .blob): ["GET", "HEAD", "PUT", "OPTIONS"]
        case .space(_, .events), .space(_, .tokens), .space(_, .view):
            ["GET", "HEAD", "POST", "OPTIONS"]
        case .space(_, .token): ["DELETE", "OPTIONS"]
        case .space: ["GET", "HEAD", "OPTIONS"]
        }
    }
}

extension Route.Part {
    /// The rights of which a request needs one; nil if its message says.
    func right(for method: String) -> Caller.Rights? {
        switch self {
        case .sync: nil
        case .replicas, .tokens, .token: .admin
        case .events where method == "POST": .append
        case .blob where method == "PUT": .append
        case .command, .wantedBlobs: .append
        case .queries, .query: [.read, .ask]
        default: .read
        }
    }

    /// True for the named queries, of which some may be asked without a token.
    var isOfQueries: Bool {
        switch self {
        case .queries, .query: true
        default: false
        }
    }

    /// The parameters that an address may have; nil if others are read or passed over.
    func parameters(isPost: Bool) -> [String]? {
        switch self {
        case .whole, .sync, .query: nil
        case .view where !isPost: nil
        case .events where !isPost: nil
        case .head: ["after", "wait"]
        default: []
        }
    }

    init?(_ words: ArraySlice<String>) {
        // Names of this protocol need no escaping: what has a percent sign is none of them.
        guard words.count <= 2,
            words.allSatisfy({ !$0.isEmpty && !$0.utf8.contains(UInt8(ascii: "%")) })
        else { return nil }
        switch (words.first, words.dropFirst().first) {
        case (nil, _): self = .whole
        case ("sync", nil): self = .sync
        case ("head", nil): self = .head
        case ("events", nil): self = .events
        case ("events", let name?): self = .event(name)
        case ("segments", nil): self = .segments
        case ("segments", let name?): self = .segment(name)
        case ("packs", nil): self = .packs
        case ("packs", let name?): self = .pack(name)
        case ("queries", nil): self = .queries
        case ("queries", let name?): self = .query(name)
        case ("commands", nil): self = .commands
        case ("commands", let name?): self = .command(name)
        case ("views", let name?): self = .view(name)
        case ("blobs", "want"?): self = .wantedBlobs
        case ("blobs", let id?): self = .blob(id)
        case ("replicas", nil): self = .replicas
        case ("tokens", nil): self = .tokens
        case ("tokens", let name?): self = .token(name)
        default: return nil
        }
    }
}
