/// An event as a Swift value.
///
/// The build plugin `DiarioEvents` makes a type that conforms to this for every event type of a
/// pack; nobody need write one by hand. What is not of such a type is recorded and read as JSON.
public protocol TypedEvent: Equatable, Sendable {
    /// The event type that the Swift type was made from.
    static var schema: EventSchema { get }

    /// Sets the fields that are not absent.
    ///
    /// - Throws: ``DiarioError`` that names the field and the rule that its value breaks.
    func encode(into fields: inout EventFields) throws

    /// Takes the values of the fields.
    ///
    /// - Throws: ``DiarioError`` if a field is absent that the schema requires.
    init(from fields: EventFields) throws
}

/// The event type that a Swift type stands for: one version of it, with its schema.
public struct EventSchema: Sendable {
    /// The full name of the type, such as `meals.food.logged`.
    public let name: String
    /// The version of the type.
    public let version: Int
    /// The schema in canonical form.
    let text: StaticString

    /// Made by the plugin; `text` is the schema in the form of RFC 8785, without what does not
    /// change its meaning.
    public init(name: String, version: Int, text: StaticString) {
        self.name = name
        self.version = version
        self.text = text
    }
}
