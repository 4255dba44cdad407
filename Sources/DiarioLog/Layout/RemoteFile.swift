package import DiarioCore
import DiarioFormat

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

/// Lines of a name, a space and a value, between a heading and a checksum.
private enum NamedLines {
    static func encode(_ heading: String, _ lines: [(name: String, value: String)]) -> [UInt8] {
        let text = lines.reduce(heading + "\n") { $0 + "\($1.name) \($1.value)\n" }
        let bytes = Array(text.utf8)
        return bytes + Array("crc32c \(Checksum.crc32c(bytes.span.raw))\n".utf8)
    }

    /// Nil if the heading is another one, or the checksum does not hold.
    static func decode(_ bytes: [UInt8], _ heading: String) -> [String: String]? {
        guard bytes.last == 0x0a else { return nil }
        let start = (bytes.dropLast().lastIndex(of: 0x0a) ?? -1) + 1
        let body = Array(bytes[..<start])
        let last = String(decoding: bytes[start...].dropLast(), as: UTF8.self)
        guard last == "crc32c \(Checksum.crc32c(body.span.raw))" else { return nil }
        let lines = String(decoding: body, as: UTF8.self).split(separator: "\n")
        guard lines.first.map(String.init) == heading else { return nil }
        var values: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let space = line.firstIndex(of: " ") else { return nil }
            values[String(line[..<space])] = String(line[line.index(after: space)...])
        }
        return values
    }
}
