/// The commands and views of a pack that the program has rules for.
public struct Domain: Sendable {
    package let pack: String
    package let entries: [Entry]
    /// The language that the user of a space prefers; nil if they never said.
    package let language: @Sendable (any CommandSpace) -> Language?

    package init(
        _ pack: String,
        language: @escaping @Sendable (any CommandSpace) -> Language? = { _ in nil },
        _ entries: [Entry]
    ) {
        self.pack = pack
        self.language = language
        self.entries = entries
    }

    /// One command or view.
    package struct Entry: Sendable {
        package let declaration: DeclaredCall
        package let run:
            @Sendable (CommandValues, any CommandSpace) throws(BrokenRule) -> RawOutcome

        /// A command, which records events.
        package static func command<Input: CommandInput>(
            _ run:
                @escaping @Sendable (Input, any CommandSpace) throws(BrokenRule) -> Outcome<
                    Input.Result
                >
        ) -> Entry {
            Entry(declaration: Input.declaration) { (values, space) throws(BrokenRule) in
                let outcome = try run(try read(values), space)
                return RawOutcome(events: outcome.events, result: outcome.result.values)
            }
        }

        /// A view, which only answers.
        package static func view<Input: CommandInput>(
            _ run: @escaping @Sendable (Input, any CommandSpace) throws(BrokenRule) -> Input.Result
        ) -> Entry {
            Entry(declaration: Input.declaration) { (values, space) throws(BrokenRule) in
                RawOutcome(events: [], result: try run(try read(values), space).values)
            }
        }

        /// The input as a Swift value; it was checked by the form that the type is made from.
        private static func read<Input: CommandInput>(
            _ values: CommandValues
        ) throws(BrokenRule) -> Input {
            do throws(MissingValue) { return try Input(from: values) } catch {
                throw BrokenRule(
                    "form",
                    field: error.name,
                    Texts("The input lacks \(error.name).", it: "Manca \(error.name)."),
                    remedy: Texts("Give it.", it: "Indicalo.")
                )
            }
        }
    }
}

/// The declaration that generated code was made from.
public struct DeclaredCall: Sendable {
    /// The full name, such as `fish.report.file`.
    package let name: String
    package let version: Int
    /// The declaration in canonical form.
    package let text: StaticString

    /// Made by the program that makes Swift types of a pack.
    public init(name: String, version: Int, text: StaticString) {
        self.name = name
        self.version = version
        self.text = text
    }
}

/// What a command or a view is given, as a Swift value: the call itself.
public protocol CommandInput: NestedValues {
    associatedtype Result: NestedValues
    static var declaration: DeclaredCall { get }
    /// The domain that has the rules.
    static var domain: Domain { get }
}

/// An event that a command records, as a Swift value.
package protocol NewEvent {
    /// The full name of the type, and its version.
    static var type: (name: String, version: Int) { get }
    func encode(into values: inout CommandValues)
}

/// What came of a command.
package struct Outcome<Result: NestedValues> {
    package var events: [RecordedValues] = []
    package let result: Result

    /// Fields of the result that are absent are those of the events with the same names.
    package init(_ result: Result) { self.result = result }

    /// Records an event after those that were given before.
    package mutating func record(_ event: some NewEvent) { events.append(RecordedValues(event)) }

    /// The same outcome with one more event.
    package func recording(_ event: some NewEvent) -> Outcome {
        var outcome = self
        outcome.record(event)
        return outcome
    }
}

/// What came of a command or a view, without its Swift types.
package struct RawOutcome {
    package let events: [RecordedValues]
    package var result: CommandValues
}

/// An event that a command records, as values by name.
package struct RecordedValues: Sendable {
    package let name: String
    package let version: Int
    package let payload: CommandValues

    init<Event: NewEvent>(_ event: Event) {
        (name, version) = Event.type
        var values = CommandValues()
        event.encode(into: &values)
        payload = values
    }
}
