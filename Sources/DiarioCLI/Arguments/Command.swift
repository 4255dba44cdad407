/// A command as its help tells it and as its parser takes it: one table for both.
package struct Command: Sendable {
    /// What is typed after `diario`, as `record` or `schema check`.
    package let name: String
    /// The operands as the usage line shows them.
    package let operands: String
    package let operandCount: ClosedRange<Int>
    /// One line that completes "this command ...".
    package let summary: String
    /// Paragraphs; each is wrapped to the width of the terminal.
    package let details: [String]
    package let options: [CommandOption]
    /// Commands as they are typed, each with what it does.
    package let examples: [Example]

    package struct Example: Sendable {
        package let text: String
        package let meaning: String
    }

    /// The option named `name`, without its dashes.
    package func option(_ name: some StringProtocol) -> CommandOption? {
        options.first { $0.name == name }
    }
}

/// One option of a command.
package struct CommandOption: Sendable {
    /// Without dashes.
    package let name: String
    /// What its value is called; nil if it takes none.
    package let value: String?
    package let isRepeatable: Bool
    package let summary: String

    static func flag(_ name: String, _ summary: String) -> CommandOption {
        CommandOption(name: name, value: nil, isRepeatable: false, summary: summary)
    }

    static func value(_ name: String, _ value: String, _ summary: String) -> CommandOption {
        CommandOption(name: name, value: value, isRepeatable: false, summary: summary)
    }

    static func values(_ name: String, _ value: String, _ summary: String) -> CommandOption {
        CommandOption(name: name, value: value, isRepeatable: true, summary: summary)
    }

    /// As the help shows it: `--limit N`.
    package var usage: String { value.map { "--\(name) \($0)" } ?? "--\(name)" }

    static let help = CommandOption.flag("help", "show this help and do nothing")
    static let json = CommandOption.flag("json", "print JSON, for programs")
}
