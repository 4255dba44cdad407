/// Carries messages between a replica and its authority.
///
/// The one protocol that an app may conform to: a test carries messages in memory, and an app that
/// has a connection of its own uses that.
public protocol Transport: Sendable {
    /// Brings a request to the authority, and its answer back.
    ///
    /// A request may be lost, or its answer; nothing is wrong about carrying it twice.
    ///
    /// - Throws: ``TransportError`` if there is no answer.
    func exchange(_ request: [UInt8]) async throws -> [UInt8]
}

/// Why a carrier brought no answer.
public struct TransportError: Error, Hashable, Sendable {
    /// What failed, in a sentence for people.
    public let message: String

    public init(_ message: String) { self.message = message }
}
