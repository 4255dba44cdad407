package import DiarioCore

// What a replica remembers of its server. Specified in schema/format/log.md, section 7.

/// The content of a space's file `remote`: where its authority is, and how to get in.
package struct RemoteFile: Equatable, Sendable {
    static let sizeMax = 16 * 1024
    private static let heading = "diario-remote 1"

    /// As `https://example.org/v1/spaces/home`.
    package var address: String
    package var token: String
    /// A file with certificates to trust in place of the system's.
    package var certificates: String?

    package init(address: String, token: String, certificates: String? = nil) {
        self.address = address
        self.token = token
        self.certificates = certificates
    }

    package func encoded() -> [UInt8] {
        var lines = [("address", address), ("token", token)]
        if let certificates { lines.append(("certificates", certificates)) }
        return NamedLines.encode(Self.heading, lines)
    }

    /// Nil unless `bytes` are such a file that verifies.
    package init?(_ bytes: [UInt8]) {
        guard let lines = NamedLines.decode(bytes, Self.heading), let address = lines["address"],
            let token = lines["token"]
        else { return nil }
        self.init(address: address, token: token, certificates: lines["certificates"])
    }
}

/// The content of a space's file `last-sync`.
package struct LastSyncFile: Equatable, Sendable {
    static let sizeMax = 4096
    private static let heading = "diario-last-sync 1"

    /// When nothing was left to exchange.
    package let at: Timestamp
    /// How many events the authority had then.
    package let head: UInt64

    package init(at: Timestamp, head: UInt64) {
        self.at = at
        self.head = head
    }

    package func encoded() -> [UInt8] {
        NamedLines.encode(Self.heading, [("at", "\(at.milliseconds)"), ("head", "\(head)")])
    }

    /// Nil unless `bytes` are such a file that verifies.
    package init?(_ bytes: [UInt8]) {
        guard let lines = NamedLines.decode(bytes, Self.heading),
            let at = lines["at"].flatMap({ Int64($0) }),
            let head = lines["head"].flatMap({ UInt64($0) })
        else { return nil }
        self.init(at: Timestamp(milliseconds: at), head: head)
    }
}
