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

    /// True if ``waitForNews(after:)`` waits; otherwise news are requested from time to time.
    var waitsForNews: Bool { get }

    /// Waits until the authority has more than `head` events, for about a minute at most, and gives
    /// how many it has; nil if there were no more by then.
    ///
    /// - Throws: ``TransportError`` if there is no answer.
    func waitForNews(after head: UInt64) async throws -> UInt64?

    /// Bytes and requests sent and received so far, if they are counted.
    var traffic: TransportTraffic? { get }
}

extension Transport {
    public var waitsForNews: Bool { false }

    public func waitForNews(after head: UInt64) async throws -> UInt64? { nil }

    public var traffic: TransportTraffic? { nil }
}

/// The traffic of a transport.
public struct TransportTraffic: Hashable, Sendable {
    public var requests = 0
    /// Bytes with all that the carrier adds to messages.
    public var bytesSent = 0
    public var bytesReceived = 0

    public init() {}
}

/// The reason why there is no answer.
public struct TransportError: Error, Hashable, Sendable {
    /// What failed, in one sentence.
    public let message: String

    public init(_ message: String) { self.message = message }
}
