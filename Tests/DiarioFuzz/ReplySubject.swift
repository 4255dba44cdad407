import Diario
import DiarioLog
import DiarioSchema
import DiarioSync
import DiarioTransport

/// What a client is told by servers, and where they are said to be.
enum ReplySubject {
    static func address(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let address = try? SpaceAddress(text) else { return }
        precondition((try? SpaceAddress(address.text)) == address, "an address has one form")
    }

    /// Two bytes of status, then header fields, an empty line and a body.
    static func reply(_ bytes: [UInt8]) {
        guard bytes.count > 2, let address else { return }
        let status = 100 + (Int(bytes[0]) << 8 | Int(bytes[1])) % 500
        let rest = bytes[2...]
        let gap = rest.indices.first { rest[$0...].starts(with: [0x0a, 0x0a]) } ?? rest.endIndex
        let reply = ServerReply(
            status: status,
            headers: HTTPFields.parse(Array(rest[..<gap])),
            body: Array(rest[gap...].dropFirst(2)),
            server: address.server
        )
        _ = reply.json
        guard let refusal = try? reply.refusal() else { return }
        precondition(!refusal.message.isEmpty, "whoever is refused is told why")
        precondition(
            refusal.message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f },
            "nothing is told that a terminal would obey"
        )
    }

    private static let address = try? SpaceAddress("https://example.org/v1/spaces/home")

    /// Names of a list become paths.
    static func listing(_ bytes: [UInt8]) {
        guard let json = try? JSON.parse(bytes).value, let list = SegmentListing(json) else {
            return
        }
        for segment in list.segments {
            precondition(segment.files.count == 2, "a segment has a sidecar")
            for file in segment.files {
                precondition(!file.name.contains("/"), "a name leads nowhere else")
            }
            let name = segment.files[0].name
            precondition(LogPaths.segmentName(name) == segment.name, "a segment has one name")
        }
    }
}
