/// The address on which a server listens: `127.0.0.1:8080`, `[::1]:8080`, `localhost:0`.
package struct ListenAddress: Hashable, Sendable {
    /// Without brackets.
    package let host: String
    package let port: UInt16

    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        var host = text[..<colon]
        let digits = text[text.index(after: colon)...]
        // Else a plus sign would pass.
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits)
        else { return nil }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { return nil }
        } else if host.contains(":") {
            // Without brackets the end of an IPv6 address would be unknown.
            return nil
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
        self.host = String(host)
        self.port = port
    }
}
