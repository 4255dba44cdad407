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
        let reply = try await send(request)
        do throws(DiarioError) { return try request.answer(reply) } catch {
            // What no Diario server says counts as no answer.
            _ = try reply.toldRefusal()
            throw error
        }
    }
}
