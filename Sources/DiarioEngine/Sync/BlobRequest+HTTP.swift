import DiarioCore
import DiarioCrypto
import DiarioSchema
package import DiarioSync

// Blobs over HTTP: schema/format/http.md, section 10.
extension BlobRequest {
    /// What is asked of a server, below the address of the space.
    package var path: String {
        switch self {
        case .want: "/blobs/want"
        case .send(let id, _, _, _), .fetch(let id, _): "/blobs/" + id.text
        }
    }

    package var method: String {
        switch self {
        case .want: "POST"
        case .send: "PUT"
        case .fetch: "GET"
        }
    }

    package var headers: [(name: String, value: String)] {
        switch self {
        case .want: [("Content-Type", "application/json"), ("Accept", "application/json")]
        case .send(_, let offset, let size, _):
            [
                ("Content-Type", "application/octet-stream"), ("Accept", "application/json"),
                ("Upload-Offset", "\(offset)"), ("Upload-Length", "\(size)"),
            ]
        case .fetch(_, let range):
            [("Accept", "application/octet-stream")]
                + (range.isEmpty
                    ? [] : [("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")])
        }
    }

    package var body: [UInt8] {
        switch self {
        case .want(let ids):
            JSONObjectWriter.object { $0.add("ids", JSON.array(of: ids.map { .string($0.text) })) }
        case .send(_, _, _, let bytes): bytes
        case .fetch: []
        }
    }

    /// What a server answers to it.
    ///
    /// - Throws: ``DiarioError`` if the server cannot do anything now.
    package func answer(_ reply: ServerReply) throws(DiarioError) -> BlobReply {
        switch self {
        case .want: try Self.wanted(reply)
        case .send: try Self.taken(reply)
        case .fetch(_, let range): try Self.part(reply, range)
        }
    }

    private static func wanted(_ reply: ServerReply) throws(DiarioError) -> BlobReply {
        guard reply.status == 200, let json = reply.json else {
            let refusal = try reply.refusal()
            guard refusal.reason == .forbidden else { throw DiarioError(refusal) }
            return .forbidden(refusal.message)
        }
        return .wanted(
            missing: list(json, "missing", "offset"),
            here: list(json, "here", "size")
        )
    }

    /// What cannot be read is left out: the server is asked again the next time.
    private static func list(_ json: JSON, _ name: String, _ key: String) -> [Hash32: Int64] {
        guard case .array(let items)? = json.member(name)?.item.value else { return [:] }
        var found: [Hash32: Int64] = [:]
        for item in items {
            guard let id = item.value.member("id")?.item.value.text.flatMap({ Hash32(text: $0) }),
                let number = item.value.member(key)?.item.value.position,
                let value = Int64(exactly: number)
            else { continue }
            found[id] = value
        }
        return found
    }

    private static func taken(_ reply: ServerReply) throws(DiarioError) -> BlobReply {
        if [200, 201, 204, 409].contains(reply.status),
            let next = reply.headers["upload-offset"].flatMap({ Int64($0) })
        {
            return .taken(next)
        }
        if reply.status == 422 { return .wrong }
        let refusal = try reply.refusal()
        switch refusal.reason {
        case .full, .tooLarge, .malformed: return .refused(refusal.message)
        case .forbidden: return .forbidden(refusal.message)
        default: throw DiarioError(refusal)
        }
    }

    private static func part(
        _ reply: ServerReply,
        _ range: Range<Int64>
    ) throws(DiarioError) -> BlobReply {
        switch reply.status {
        case 200, 204: return .part(reply.body, size: Int64(reply.body.count))
        case 206: break
        default:
            let error = DiarioError(try reply.refusal())
            guard error.kind == .notFound else { throw error }
            return .missing
        }
        // As in `bytes 0-99/1234`.
        let words = (reply.headers["content-range"] ?? "").split { " -/".contains($0) }
        guard words.count == 4, words[0] == "bytes", Int64(words[1]) == range.lowerBound,
            let size = Int64(words[3])
        else {
            throw DiarioError(
                .offline,
                "\(reply.server) sends another part of a file than was asked for."
            )
        }
        return .part(reply.body, size: size)
    }
}
