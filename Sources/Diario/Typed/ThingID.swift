public import DiarioCore

/// The id of a thing that events are about, such as a plant or a playlist.
///
/// An event that makes a thing gives it an id: the origin of the event, unless another one is
/// given. ``EventBatch/add(_:at:actor:subject:ifUnchanged:)`` returns it, for later events of the
/// same batch to refer to.
public struct ThingID: Hashable, Sendable, ExpressibleByStringLiteral {
    let content: Content

    enum Content: Hashable, Sendable {
        case text(String)
        /// What the event of this number in a batch makes, counted from 1.
        case event(Int, batch: UInt64)
    }

    /// The id that has this text.
    public init(_ text: String) { content = .text(text) }

    /// The id of the thing that the event of this origin made, where the event was given none.
    public init(_ origin: Origin) { self.init(origin.text) }

    public init(stringLiteral value: String) { self.init(value) }

    init(event number: Int, ofBatch batch: UInt64) { content = .event(number, batch: batch) }

    /// The text of the id; nil for the id of an event that is still to be recorded.
    public var text: String? {
        if case .text(let text) = content { text } else { nil }
    }
}

extension ThingID: CustomStringConvertible {
    /// Its text; of an event that is still to be recorded, which of its batch that is.
    public var description: String {
        switch content {
        case .text(let text): text
        case .event(let number, _): "(event \(number) of its batch)"
        }
    }
}
