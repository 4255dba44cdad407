import DiarioCore
import DiarioEngine
import DiarioHost
import DiarioSchema
import DiarioServer
import DiarioSync

/// Why a request is not done, as RFC 9457 writes it: schema/format/http.md, section 6.
package struct Problem: Error, Sendable {
    package var kind: Kind
    /// What is wrong and where.
    package var detail: String
    /// What to do about it, if there is more to say than what helps with all of its kind.
    package var remedy: String?
    package var retryAfter: Int?
    var line: Int?
    var rule: String?
    var field: String?
    /// The value that a rule is about.
    var value: String?
    /// Of which event, as text.
    var origin: String?
    /// The sequence, or the byte of a blob, that comes next.
    var expected: UInt64?
    /// Where somebody else wrote.
    var position: UInt64?
    /// How many spaces answer, if none does.
    var spaces: ServedSpaces.SpaceCounts?
    /// What went wrong, with the paths of the server: for its log.
    var cause: String?

    /// Each with the word of its type.
    package enum Kind: String, Sendable, CaseIterable {
        case malformed
        case rule
        case unauthorized
        case forbidden
        case notFound = "not-found"
        case damaged
        case method
        case notAcceptable = "not-acceptable"
        case lineage
        case epoch
        case ahead
        case diverged
        case forked
        case gap
        case changed
        case offset
        case digest
        case tooLarge = "too-large"
        case mediaType = "media-type"
        case range
        case version
        case tooFast = "too-fast"
        case failed
        case unavailable
        case waiting
        case tooLong = "too-long"
        case full

        var status: Int {
            switch self {
            case .malformed: 400
            case .unauthorized: 401
            case .forbidden: 403
            case .notFound, .damaged: 404
            case .method: 405
            case .notAcceptable: 406
            case .lineage, .epoch, .ahead, .diverged, .forked, .gap, .changed, .offset: 409
            case .tooLarge: 413
            case .mediaType: 415
            case .range: 416
            case .rule, .digest: 422
            case .version: 426
            case .tooFast: 429
            case .failed: 500
            case .unavailable, .waiting: 503
            case .tooLong: 504
            case .full: 507
            }
        }

        var title: String {
            switch self {
            case .malformed: "The request cannot be read"
            case .rule: "A rule forbids it"
            case .unauthorized: "A token is needed"
            case .forbidden: "The token does not allow this"
            case .notFound: "There is no such thing"
            case .damaged: "It is damaged"
            case .method: "Not with this method"
            case .notAcceptable: "Not in this form"
            case .lineage: "Another space has this name"
            case .epoch: "The authority was restored from a backup"
            case .ahead: "The replica has more events than the authority"
            case .diverged: "The histories differ"
            case .forked: "Another event has this origin"
            case .gap: "Events before it are missing"
            case .changed: "Somebody else was faster"
            case .offset: "The part begins elsewhere"
            case .digest: "These are other bytes"
            case .tooLarge: "Too large"
            case .mediaType: "This form is not read"
            case .range: "There is no such range"
            case .version: "Another version is spoken"
            case .tooFast: "Too fast"
            case .failed: "The server failed"
            case .unavailable: "Not now"
            case .waiting: "The authority waits for its operator"
            case .tooLong: "Too long"
            case .full: "Full"
            }
        }

        /// What helps with all of this kind.
        var remedy: String {
            switch self {
            case .malformed: "Correct that, and send the request again."
            case .rule: "Change what the rule is about, and send the request again."
            case .unauthorized: "Ask for a token: diario token create"
            case .forbidden: "Ask for a token with more rights: diario token create --rights"
            case .notFound: "Check the address; a token is for one space alone."
            case .damaged:
                "A device that has them sends them again with its next sync. Try again later."
            case .method: "Use a method that Allow names."
            case .notAcceptable: "Accept a type that the description of the path has."
            case .lineage: "Check the address, or ask the server's operator."
            case .epoch, .ahead, .diverged: "Sync with a replica: it finds what both have."
            case .forked: "If two programs use one replica id, let each draw its own."
            case .gap: "Send the events from the sequence `expected` on."
            case .changed: "Read what was recorded behind `base`, and decide again."
            case .offset: "Send the part that begins at `expected`."
            case .digest: "Check the bytes, and send them again from the beginning."
            case .tooLarge: "Send less at once."
            case .mediaType: "Send a type that the description of the path has."
            case .range: "Ask for a part that there is."
            case .version: "Install a program that speaks the version that Upgrade names."
            case .failed: "Try again; if it goes on, tell the server's operator."
            case .tooFast, .unavailable: "Try again after the time that Retry-After says."
            case .waiting:
                "Let a replica give it what it lacks: diario remote restore. Or let it go on "
                    + "without that: diario authority resume"
            case .tooLong: "Ask for less, as by other parameters."
            case .full: "Ask the server's administrator for more space."
            }
        }
    }

    package init(
        _ kind: Kind,
        _ detail: String,
        remedy: String? = nil,
        retryAfter: Int? = nil
    ) {
        self.kind = kind
        self.detail = detail
        self.remedy = remedy
        self.retryAfter = retryAfter
    }

    package var answer: HTTPAnswer { answer(allowing: []) }

    /// The same; `methods` are those that the path has.
    func answer(allowing methods: [String]) -> HTTPAnswer {
        let body = JSONObjectWriter.object { json in
            json.add("type", "urn:diario:problem:" + kind.rawValue)
            json.add("title", kind.title)
            json.add("status", kind.status)
            json.add("detail", detail)
            json.add("remedy", remedy ?? kind.remedy)
            if let line { json.add("line", line) }
            if let field { json.add("field", field) }
            if let rule { json.add("rule", rule) }
            if let value { json.add("value", value) }
            if let origin { json.add("origin", origin) }
            if let expected { json.add("expected", expected) }
            if let position { json.add("position", position) }
            if let spaces {
                json.add("waiting", spaces.waiting)
                json.add("damaged", spaces.damaged)
            }
            if let retryAfter { json.add("retryAfter", retryAfter) }
        }
        var headers = [
            (name: "Content-Type", value: MediaType.problem.rawValue),
            (name: "Cache-Control", value: "no-store"),
        ]
        headers += standardHeaders
        if !methods.isEmpty {
            headers.append((name: "Allow", value: methods.joined(separator: ", ")))
        }
        var answer = HTTPAnswer(kind.status, headers: headers, .bytes(body + [0x0a]))
        answer.cause = cause
        return answer
    }

    /// Those that belong to the status, whatever the body is.
    var standardHeaders: [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        if kind == .unauthorized {
            headers.append((name: "WWW-Authenticate", value: "Bearer realm=\"diario\""))
        }
        if kind == .version {
            headers.append((name: "Upgrade", value: "diario/\(SyncMessage.version)"))
        }
        if kind == .offset, let expected {
            headers.append((name: "Upload-Offset", value: "\(expected)"))
        }
        if let retryAfter { headers.append((name: "Retry-After", value: "\(retryAfter)")) }
        return headers
    }
}

extension Problem {
    /// A path that leads nowhere.
    static var nothingHere: Problem {
        Problem(
            .notFound,
            "There is nothing at this path.",
            remedy: "Spaces are at /v1/spaces/NAME."
        )
    }

    static var noToken: Problem {
        Problem(
            .unauthorized,
            "The request bears no token.",
            remedy: "Send the header `Authorization: Bearer` with one."
        )
    }

    /// The problem of a request that threw `error`: the one place where errors become problems.
    init(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let refusal as Refusal: self.init(refusal)
        case let error as ControlError: self.init(error)
        case let conflict as OriginConflict: self.init(conflict)
        default:
            self = Refusal(ofLog: error).map { Problem($0) } ?? Problem(DiarioError(error))
            if [.failed, .unavailable].contains(kind) { cause = DiarioError(error).message }
        }
    }

    init(_ conflict: OriginConflict) {
        switch conflict.kind {
        case .forked: self.init(.forked, conflict.message)
        case .gap(let expected):
            self.init(.gap, conflict.message)
            self.expected = expected
        case .changed(let position):
            self.init(.changed, conflict.message)
            self.position = position
        }
        origin = conflict.origin.text
        line = conflict.line
    }

    init(_ refusal: Refusal) {
        let kind: Kind =
            switch refusal.reason {
            case .malformed: .malformed
            case .version: .version
            case .unauthorized: .unauthorized
            case .forbidden: .forbidden
            case .unknownSpace, .noPack: .notFound
            case .lineage: .lineage
            case .epoch: .epoch
            case .ahead: .ahead
            case .diverged: .diverged
            case .tooLarge: .tooLarge
            case .tooFast: .tooFast
            case .full: .full
            case .unavailable: .unavailable
            case .waiting: .waiting
            }
        self.init(kind, refusal.message)
        switch refusal.reason {
        case .unauthorized, .forbidden, .lineage, .ahead, .tooFast, .full: splitDetail()
        default: break
        }
        switch refusal.reason {
        case .tooFast, .unavailable, .waiting: retryAfter = Int(clamping: max(refusal.number, 1))
        case .full: retryAfter = 60
        default: break
        }
    }

    /// Takes what stands behind the first sentence for the remedy.
    private mutating func splitDetail() {
        guard let end = detail.firstRange(of: ". ") else { return }
        remedy = String(detail[end.upperBound...])
        detail = String(detail[..<end.lowerBound]) + "."
    }

    init(_ error: DiarioError) {
        let kind: Kind =
            switch error.kind {
            case .invalid: .malformed
            case .rule: .rule
            case .notFound: .notFound
            case .full: .full
            case .tooLarge: .tooLarge
            case .unauthorized: .forbidden
            case .busy, .offline, .readOnly: .unavailable
            // Files of a space are damaged, as whoever syncs with it is told.
            case .corrupt where error.fault != nil: .unavailable
            default: .failed
            }
        self.init(kind, Self.words(for: error, kind))
        line = error.line
        rule = error.rule
        value = error.value
        if let text = error.remedy { remedy = text }
        field = error.field.flatMap { $0.isEmpty ? nil : $0 }
        if kind == .unavailable { retryAfter = 5 }
    }

    /// Whoever asks over a network is told no paths of the server; its log has them.
    private static func words(for error: DiarioError, _ kind: Kind) -> String {
        guard [.full, .failed, .unavailable].contains(kind) else { return error.message }
        return switch error.kind {
        case .full: "The disk of the server is full."
        case .readOnly: "The files of the server cannot be written."
        case .corrupt: "Files of the server are damaged."
        case .system: "A file of the server cannot be used."
        default:
            // As which process holds which lock.
            error.message.utf8.contains(UInt8(ascii: "/"))
                ? "The server cannot do this now." : error.message
        }
    }

    init(_ error: ControlError) {
        switch error {
        case .invalid, .taken: self.init(.malformed, error.message)
        case .unknownSpace, .unknownToken: self.init(.notFound, error.message)
        case .sqlite, .storage, .missing, .foreign, .newer, .damaged:
            self.init(Refusal(error))
            cause = error.message
        }
    }
}
