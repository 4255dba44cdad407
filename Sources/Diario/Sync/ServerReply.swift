import DiarioCore
package import DiarioSchema
package import DiarioSync
package import DiarioTransport

/// The answer of a server, or of something in between: schema/format/http.md, section 6.
package struct ServerReply: Sendable {
    package let status: Int
    package let headers: [String: String]
    package let body: [UInt8]
    /// The server that it came from, for people.
    package let server: String

    static let messageType = "application/vnd.diario.message"
    private static let problemType = "application/problem+json"

    package init(_ answer: HTTPClient.Answer, from address: SpaceAddress) {
        status = answer.status
        headers = answer.headers
        body = answer.body
        server = address.server
    }

    /// In lower case and without parameters.
    var mediaType: String {
        let value = headers["content-type"] ?? ""
        return value.prefix { $0 != ";" && $0 != " " }.lowercased()
    }

    /// The body, if it is JSON.
    package var json: JSON? {
        guard body.count <= Limits.replySizeMax else { return nil }
        return try? JSON.parse(body).value
    }

    /// What the server lets the bearer of the token do, if it says so.
    var permission: Permission? {
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
    /// - Throws: `TransportError` if this is no answer of a Diario server, but for example of the
    ///   login page of a hotel: then the next one may be.
    package func refusal() throws -> Refusal {
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
            throw TransportError(
                "\(server) answers with status \(status)\(told.isEmpty ? "" : ": " + told)"
            )
        }
    }

    /// It is nothing that a Diario server says.
    var foreign: TransportError {
        if 300..<400 ~= status, let place = headers["location"] {
            return TransportError(
                "\(server) says that it is at \(Self.clean(place)) now: give that address, if it "
                    + "is right."
            )
        }
        let type = mediaType.isEmpty ? "no type" : Self.clean(mediaType)
        return TransportError(
            "\(server) answers with status \(status) and \(type), as no Diario server does: check "
                + "the address, and what is in between."
        )
    }

    /// Seconds, if it says so; a date is not looked at.
    private var retryAfter: Int {
        headers["retry-after"].flatMap { Int($0) }.map { max(0, min($0, 3600)) } ?? 0
    }

    /// As much of a foreign text as a message takes, without what a terminal would obey.
    static func clean(_ text: String) -> String {
        String(
            text.unicodeScalars.prefix(500).map {
                $0.value < 0x20 || 0x7f...0x9f ~= $0.value ? " " : Character($0)
            }
        )
    }
}
