import DiarioCore
package import DiarioSchema
package import DiarioSync

/// The answer of a server, or of something in between: schema/format/http.md, section 6.
package struct ServerReply: Sendable {
    package let status: Int
    package let headers: [String: String]
    package let body: [UInt8]
    /// The server that it came from, for people.
    package let server: String

    package static let messageType = "application/vnd.diario.message"
    private static let problemType = "application/problem+json"

    /// The names of headers are in lower case.
    package init(status: Int, headers: [String: String], body: [UInt8], server: String) {
        (self.status, self.headers, self.body) = (status, headers, body)
        self.server = server
    }

    /// In lower case and without parameters.
    package var mediaType: String {
        let value = headers["content-type"] ?? ""
        return value.prefix { $0 != ";" && $0 != " " }.lowercased()
    }

    /// The body, if it is JSON.
    package var json: JSON? {
        guard body.count <= Limits.replySizeMax else { return nil }
        return try? JSON.parse(body).value
    }

    /// True if it is an answer to a message, which may be a refusal.
    package var isMessage: Bool { mediaType.hasBytes(of: Self.messageType) }

    /// What the server lets the bearer of the token do, if it says so.
    package var permission: Permission? {
        let roles = headers["diario-roles"] ?? ""
        guard let rights = headers["diario-rights"],
            rights.utf8.count + roles.utf8.count <= Limits.addressSizeMax
        else { return nil }
        func words(_ text: String) -> [String] {
            text.split(separator: ",").map { Self.clean(String($0)) }
        }
        let actor = headers["diario-actor"].flatMap { PercentSigns.decoded($0) }
        return Permission(
            actor: actor.map { Self.clean($0) },
            rights: words(rights),
            roles: words(roles)
        )
    }

    /// The reason why the server refuses the request.
    ///
    /// - Throws: `DiarioError` of the kind `.offline` if this is no answer of a Diario server, but
    ///   for example of the login page of a hotel: then the next one may be.
    package func refusal() throws(DiarioError) -> Refusal {
        let problem = mediaType == Self.problemType ? json : nil
        let words = ["detail", "remedy"].compactMap { problem?.member($0)?.item.value.text }
        // One that ends with a command has no full stop, and another sentence follows.
        let isOpen = words.count > 1 && !(words[0].last.map { ".!?".contains($0) } ?? true)
        let told = Self.clean(words.joined(separator: isOpen ? ". " : " "))
        func refusal(_ reason: Refusal.Reason, _ message: String, number: Int = 0) -> Refusal {
            Refusal(reason, number: UInt64(number), told.isEmpty ? message : told)
        }
        // These mean the same whoever says them.
        switch status {
        case 413:
            return refusal(.tooLarge, "\(server) takes no request of this size. Let it take more.")
        case 429: return refusal(.tooFast, "\(server) is asked too often.", number: retryAfter)
        case 502, 503, 504:
            return refusal(
                .unavailable,
                "\(server) cannot answer now (status \(status)).",
                number: retryAfter
            )
        case 507: return refusal(.full, "\(server) has no room left.", number: retryAfter)
        default: break
        }
        guard problem != nil else { throw foreign }
        switch status {
        case 400, 405, 406, 415: return refusal(.malformed, "\(server) cannot read the request.")
        case 401: return refusal(.unauthorized, "The token is not known. Ask for a new one.")
        case 403: return refusal(.forbidden, "The token does not give this right.")
        case 404: return refusal(.unknownSpace, "There is no such space, or not for this token.")
        case 426: return refusal(.version, "\(server) speaks another version. Use a newer diario.")
        default:
            throw DiarioError(
                .offline,
                "\(server) answers with status \(status)\(told.isEmpty ? "" : ": " + told)"
            )
        }
    }

    /// It is nothing that a Diario server says.
    package var foreign: DiarioError {
        if 300..<400 ~= status, let place = headers["location"] {
            return DiarioError(
                .offline,
                "\(server) says that it is at \(Self.clean(place)) now: give that address, if it "
                    + "is right."
            )
        }
        let type = mediaType.isEmpty ? "no type" : Self.clean(mediaType)
        return DiarioError(
            .offline,
            "\(server) answers with status \(status) and \(type), as no Diario server does: check "
                + "the address, and what is in between."
        )
    }

    /// Seconds, if it says so; a date is not looked at.
    private var retryAfter: Int {
        headers["retry-after"].flatMap { Int($0) }.map { max(0, min($0, 3600)) } ?? 0
    }

    /// As much of a foreign text as a message takes, without what a terminal would obey.
    package static func clean(_ text: String) -> String {
        String(
            text.unicodeScalars.prefix(500).map {
                $0.value < 0x20 || 0x7f...0x9f ~= $0.value ? " " : Character($0)
            }
        )
    }
}

extension DiarioError {
    /// Why the authority does nothing about what was asked.
    package init(_ refusal: Refusal) {
        let kind: Kind =
            switch refusal.reason {
            case .unauthorized, .forbidden: .unauthorized
            case .unknownSpace, .noPack: .notFound
            case .version: .incompatible
            case .lineage, .epoch, .ahead, .diverged: .diverged
            case .waiting: .offline
            case .malformed: .invalid
            case .tooLarge: .tooLarge
            case .tooFast, .unavailable: .offline
            case .full: .full
            }
        self.init(kind, refusal.message)
    }
}
