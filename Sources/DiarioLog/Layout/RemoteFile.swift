package import DiarioCore

// The server of a replica. Specified in schema/format/directory.md, section 6.

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
        var lines: [(name: String, value: String)] = [("address", address), ("token", token)]
        if let certificates { lines.append((name: "certificates", value: certificates)) }
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
    private static let messageSizeMax = 2048

    /// A sync in which nothing was left to exchange.
    package struct Success: Equatable, Sendable {
        package let at: Timestamp
        /// The authority's head at that time.
        package let head: UInt64

        package init(at: Timestamp, head: UInt64) {
            self.at = at
            self.head = head
        }
    }

    /// A sync that ended with an error.
    package struct Failure: Equatable, Sendable {
        package let at: Timestamp
        package let message: String

        /// Of the message what fits the file, on one line.
        package init(at: Timestamp, message: String) {
            self.at = at
            var (text, size) = ("", 0)
            for scalar in message.unicodeScalars {
                size += String(scalar).utf8.count
                guard size <= LastSyncFile.messageSizeMax else { break }
                text.unicodeScalars.append(scalar.value < 0x20 ? " " : scalar)
            }
            self.message = text
        }
    }

    /// The last that succeeded; nil if none did.
    package let success: Success?
    /// The one after it that failed last; nil if none did.
    package let failure: Failure?

    package init(_ success: Success?, _ failure: Failure? = nil) {
        self.success = success
        self.failure = failure
    }

    package func encoded() -> [UInt8] {
        var lines: [(name: String, value: String)] = []
        if let success {
            lines = [("at", "\(success.at.milliseconds)"), ("head", "\(success.head)")]
        }
        if let failure {
            lines += [("failed", "\(failure.at.milliseconds)"), ("error", failure.message)]
        }
        return NamedLines.encode(Self.heading, lines)
    }

    /// Nil unless `bytes` are such a file that verifies.
    package init?(_ bytes: [UInt8]) {
        guard let lines = NamedLines.decode(bytes, Self.heading) else { return nil }
        func time(_ name: String) -> Timestamp? {
            lines[name].flatMap { Int64($0) }.map { Timestamp(milliseconds: $0) }
        }
        if let at = time("at"), let head = lines["head"].flatMap({ UInt64($0) }) {
            success = Success(at: at, head: head)
        } else {
            success = nil
        }
        if let at = time("failed"), let message = lines["error"] {
            failure = Failure(at: at, message: message)
        } else {
            failure = nil
        }
        guard success != nil || failure != nil else { return nil }
    }
}

/// The content of a space's file `permission`: what its server lets this replica do.
package struct PermissionFile: Equatable, Sendable {
    static let sizeMax = 16 * 1024
    private static let heading = "diario-permission 1"

    /// In whose name the token is; nil for nobody.
    package var actor: String?
    package var rights: [String]
    /// The full names of the roles that the token gives.
    package var roles: [String]

    package init(actor: String?, rights: [String], roles: [String]) {
        self.actor = actor
        self.rights = rights
        self.roles = roles
    }

    package func encoded() -> [UInt8] {
        var lines = [
            (name: "rights", value: rights.joined(separator: ",")),
            (name: "roles", value: roles.joined(separator: ",")),
        ]
        if let actor { lines.insert((name: "actor", value: actor), at: 0) }
        return NamedLines.encode(Self.heading, lines)
    }

    /// Nil unless `bytes` are such a file that verifies.
    package init?(_ bytes: [UInt8]) {
        guard let lines = NamedLines.decode(bytes, Self.heading), let rights = lines["rights"],
            let roles = lines["roles"]
        else { return nil }
        func words(_ text: String) -> [String] { text.split(separator: ",").map { String($0) } }
        self.init(actor: lines["actor"], rights: words(rights), roles: words(roles))
    }
}

/// The content of a space's file `actor`: who acts here where nobody is named.
package struct ActorFile: Equatable, Sendable {
    static let sizeMax = 4096
    private static let heading = "diario-actor 1"

    package let actor: String

    package init(_ actor: String) { self.actor = actor }

    package func encoded() -> [UInt8] { NamedLines.encode(Self.heading, [("actor", actor)]) }

    /// Nil unless `bytes` are such a file that verifies.
    package init?(_ bytes: [UInt8]) {
        guard let actor = NamedLines.decode(bytes, Self.heading)?["actor"] else { return nil }
        self.init(actor)
    }
}
