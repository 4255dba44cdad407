import DiarioCore
import DiarioCrypto
import DiarioSchema
package import DiarioSync
import DiarioTransport

/// Carries requests about blobs to a server.
package protocol BlobCarrier: Sendable {
    /// The server that it carries them to, for notes of what is known there.
    var blobServer: String { get }
    /// The text that it sent last for what it lost; nil if it never lost anything, or says nothing.
    var blobLosses: String? { get }

    /// The answer to a request; throws if there is none, or if the server cannot do anything now.
    func carry(_ request: BlobRequest) async throws -> BlobReply
}

// Blobs over HTTP: schema/format/http.md, section 10.
extension HTTPTransport: BlobCarrier {
    package var blobServer: String { address.text }

    package func carry(_ request: BlobRequest) async throws -> BlobReply {
        switch request {
        case .want(let ids): try await want(ids)
        case .send(let id, let offset, let size, let bytes):
            try await put(bytes, of: id, offset: offset, size: size)
        case .fetch(let id, let range): try await fetch(id, range)
        }
    }

    private func want(_ ids: [Hash32]) async throws -> BlobReply {
        let list = ids.map { "\"\($0.text)\"" }.joined(separator: ",")
        let reply = try await send(
            Array("{\"ids\":[\(list)]}".utf8),
            to: "/blobs/want",
            headers: [("Content-Type", "application/json"), ("Accept", "application/json")]
        )
        guard reply.status == 200, let json = reply.json else {
            let refusal = try reply.toldRefusal()
            guard refusal.reason == .forbidden else { throw DiarioError(refusal) }
            return .forbidden(refusal.message)
        }
        return .wanted(
            missing: Self.list(json, "missing", "offset"),
            here: Self.list(json, "here", "size")
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

    private func put(
        _ bytes: [UInt8],
        of id: Hash32,
        offset: Int64,
        size: Int64
    ) async throws -> BlobReply {
        let reply = try await send(
            bytes,
            to: "/blobs/" + id.text,
            headers: [
                ("Content-Type", "application/octet-stream"), ("Accept", "application/json"),
                ("Upload-Offset", "\(offset)"), ("Upload-Length", "\(size)"),
            ],
            isPut: true
        )
        if [200, 201, 204, 409].contains(reply.status),
            let next = reply.headers["upload-offset"].flatMap({ Int64($0) })
        {
            return .taken(next)
        }
        if reply.status == 422 { return .wrong }
        let refusal = try reply.toldRefusal()
        switch refusal.reason {
        case .full, .tooLarge, .malformed: return .refused(refusal.message)
        case .forbidden: return .forbidden(refusal.message)
        default: throw DiarioError(refusal)
        }
    }

    private func fetch(_ id: Hash32, _ range: Range<Int64>) async throws -> BlobReply {
        let reply: ServerReply
        do {
            reply = try await get(
                "/blobs/" + id.text,
                accept: "application/octet-stream",
                range: range.isEmpty ? nil : Int(range.lowerBound)..<Int(range.upperBound),
                sizeMax: Limits.blobPartSizeMax
            )
        } catch let error as DiarioError where error.kind == .notFound {
            return .missing
        }
        guard reply.status == 206 else {
            return .part(reply.body, size: Int64(reply.body.count))
        }
        let words = reply.headers["content-range"]?.split { " -/".contains($0) } ?? []
        guard words.count == 4, words[0] == "bytes", let first = Int64(words[1]),
            first == range.lowerBound, let size = Int64(words[3])
        else {
            throw TransportError("\(reply.server) sends another part of a file than asked for.")
        }
        return .part(reply.body, size: size)
    }
}
