/// A nested value of a payload, as JSON.
///
/// It is checked when its event is added to a batch. What is read again is in canonical form (RFC
/// 8785), so it may be written in another way than what was given.
public struct JSONText: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The JSON.
    public let text: String

    /// The value that `text` says in JSON; not checked yet.
    public init(_ text: String) { self.text = text }

    public init(stringLiteral value: String) { self.init(value) }
}
