import DiarioCore

/// The address of a space on a server, as `https://example.org/v1/spaces/home`.
///
/// It is http or https, without a password, a query or a fragment. Before `/v1` there may be
/// another path, for a server behind a proxy.
package struct SpaceAddress: Hashable, Sendable {
    package let isSecure: Bool
    /// A name or an IP address; one of version 6 in brackets.
    package let host: String
    /// Nil for the usual one.
    package let port: Int?
    /// In front of `/v1`; empty if there is none.
    package let prefix: String
    /// The name of the space: schema/format/control.md, section 4.
    package let space: String

    private static let form = "give one as https://example.org/v1/spaces/NAME"

    package init(_ text: String) throws(TransportError) {
        let bytes = Array(text.utf8)
        let shown = Self.shown(bytes)
        guard bytes.count <= Limits.addressSizeMax else {
            throw TransportError("The address has \(bytes.count) bytes; \(Self.form).")
        }
        guard bytes.allSatisfy({ 0x21...0x7e ~= $0 && !Self.foreign.contains($0) }) else {
            throw TransportError(
                "The address \(shown) has a character that no address has; \(Self.form)."
            )
        }
        let rest: Substring
        if text.lowercased().hasPrefix("https://") {
            isSecure = true
            rest = text.dropFirst(8)
        } else if text.lowercased().hasPrefix("http://") {
            isSecure = false
            rest = text.dropFirst(7)
        } else {
            throw TransportError("The address \(shown) is not of https or http; \(Self.form).")
        }
        guard !rest.contains("?"), !rest.contains("#") else {
            throw TransportError("The address \(shown) has a query; \(Self.form).")
        }
        let authority = rest.prefix { $0 != "/" }
        guard !authority.contains("@") else {
            throw TransportError(
                "The address holds a name or password in front of its server; give the token "
                    + "apart, and the address as https://example.org/v1/spaces/NAME."
            )
        }
        guard let (host, port) = Self.server(authority) else {
            throw TransportError("The address \(shown) names no server; \(Self.form).")
        }
        self.host = host
        self.port = port
        var path = rest.dropFirst(authority.count)
        if path.hasSuffix("/") { path.removeLast() }
        var parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts.first == "", let name = parts.popLast(),
            parts.popLast() == "spaces", parts.popLast() == "v1", Self.isName(name),
            parts.dropFirst().allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." })
        else { throw TransportError("The address \(shown) names no space; \(Self.form).") }
        prefix = parts.joined(separator: "/")
        space = String(name)
    }

    /// The server alone, as people know it.
    package var server: String { port.map { "\(host):\($0)" } ?? host }

    /// The whole address, in one form.
    package var text: String {
        "\(isSecure ? "https" : "http")://\(server)\(prefix)/v1/spaces/\(space)"
    }

    /// True if the server is this machine, so that no proxy is used.
    package var isLoopback: Bool {
        host == "localhost" || host == "[::1]" || host.hasPrefix("127.")
    }

    /// ASCII that an address may not contain: quotes, brackets and the like.
    private static let foreign: Set<UInt8> = [0x22, 0x3c, 0x3e, 0x5c, 0x5e, 0x60, 0x7b, 0x7c, 0x7d]

    private static func server(_ text: Substring) -> (host: String, port: Int?)? {
        var host = text[...]
        var port: Int?
        let colon = text.lastIndex(of: ":")
        if let colon, !text[colon...].contains("]") {
            let digits = text[text.index(after: colon)...]
            guard let number = Int(digits), 1...65_535 ~= number, digits.allSatisfy(\.isNumber)
            else { return nil }
            port = number
            host = text[..<colon]
        }
        let isAddress = host.hasPrefix("[") && host.hasSuffix("]")
        let inner = isAddress ? host.dropFirst().dropLast() : host
        let allowed = isAddress ? ":." : "-._"
        let isRight = inner.allSatisfy { $0.isLetter || $0.isNumber || allowed.contains($0) }
        guard !inner.isEmpty, isRight else { return nil }
        return (host.lowercased(), port)
    }

    private static func isName(_ text: Substring) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, bytes.count <= Limits.spaceNameSizeMax else { return false }
        let others = bytes.allSatisfy { isLetterOrDigit($0) || [0x2d, 0x2e, 0x5f].contains($0) }
        return isLetterOrDigit(first) && others
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        0x61...0x7a ~= byte || 0x30...0x39 ~= byte
    }

    /// The address shortened for a message, without control characters.
    private static func shown(_ bytes: [UInt8]) -> String {
        let safe = bytes.prefix(200).map { 0x20...0x7e ~= $0 ? $0 : 0x3f }
        return String(decoding: safe, as: UTF8.self)
    }
}
