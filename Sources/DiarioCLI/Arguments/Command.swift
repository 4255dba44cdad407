import Diario

/// A command as its help tells it and as its parser takes it.
///
/// One table for the parser, `--help`, the completion of shells and the manual page.
package struct Command: Sendable {
    /// What is typed after `diario`, as `record` or `schema check`.
    package let name: String
    /// The operands as the usage line shows them.
    package let operands: String
    package let operandCount: ClosedRange<Int>
    /// What each operand is, in their order; those behind the last are texts.
    package let operandKinds: [WordKind]
    /// One line that completes "this command ...".
    package let summary: String
    /// Paragraphs; each is wrapped to the width of the terminal.
    package let details: [String]
    package let options: [CommandOption]
    /// Commands as they are typed, each with what it does.
    package let examples: [Example]
    /// Whether the folder of a space may be named in front of the command.
    package let takesSpaceFolder: Bool

    package struct Example: Sendable {
        package let text: String
        package let meaning: String
    }

    package init(
        name: String,
        operands: String,
        operandCount: ClosedRange<Int>,
        operandKinds: [WordKind] = [],
        summary: String,
        details: [String],
        options: [CommandOption],
        examples: [Example],
        takesSpaceFolder: Bool = true
    ) {
        self.takesSpaceFolder = takesSpaceFolder
        self.name = name
        self.operands = operands
        self.operandCount = operandCount
        self.operandKinds = operandKinds
        self.summary = summary
        self.details = details
        self.options = options
        self.examples = examples
    }

    /// How it is typed: `diario [-C DIR] record TYPE [JSON|-] [OPTION]...`.
    package var usage: String {
        let program = takesSpaceFolder ? "diario [-C DIR]" : "diario"
        return [program, name, operands, "[OPTION]..."].filter { !$0.isEmpty }
            .joined(separator: " ")
    }

    /// The option named `name`, without its dashes.
    package func option(_ name: some StringProtocol) -> CommandOption? {
        options.first { $0.name == name }
    }
}

/// What a word of the command line stands for: what a shell can offer in its place.
package enum WordKind: Equatable, Sendable {
    /// Anything, so nothing is offered.
    case text
    case file
    case folder
    /// An event type of the space.
    case typeName
    /// A query of a pack of the space.
    case queryName
    /// A command of the program.
    case command
    /// The second word of a command, if the word before begins one of two words.
    case secondWord
    /// One of a few words.
    case choice([String])
}

/// One option, of a command or of the program.
package struct CommandOption: Sendable {
    /// Without dashes.
    package let name: String
    /// How it is typed, the usual way first: `--help`, `-h`.
    package let spellings: [String]
    /// What its value is called; nil if it takes none.
    package let value: String?
    /// What its value is.
    package let kind: WordKind
    package let isRepeatable: Bool
    package let summary: String

    private init(
        _ name: String,
        spellings: [String] = [],
        value: String?,
        _ kind: WordKind,
        isRepeatable: Bool,
        _ summary: String
    ) {
        self.name = name
        self.spellings = spellings.isEmpty ? ["--\(name)"] : spellings
        self.value = value
        self.kind = kind
        self.isRepeatable = isRepeatable
        self.summary = summary
    }

    static func flag(
        _ name: String,
        _ summary: String,
        spellings: [String] = []
    ) -> CommandOption {
        CommandOption(
            name,
            spellings: spellings,
            value: nil,
            .text,
            isRepeatable: false,
            summary
        )
    }

    static func value(
        _ name: String,
        _ value: String,
        _ summary: String,
        _ kind: WordKind = .text,
        spellings: [String] = []
    ) -> CommandOption {
        CommandOption(
            name,
            spellings: spellings,
            value: value,
            kind,
            isRepeatable: false,
            summary
        )
    }

    static func values(
        _ name: String,
        _ value: String,
        _ summary: String,
        _ kind: WordKind = .text
    ) -> CommandOption {
        CommandOption(name, value: value, kind, isRepeatable: true, summary)
    }

    /// An option whose value is one of a few words.
    static func choice(_ name: String, _ words: [String], _ summary: String) -> CommandOption {
        let value = words.joined(separator: "|")
        return CommandOption(name, value: value, .choice(words), isRepeatable: false, summary)
    }

    /// As the help shows it: `--limit N`.
    package var usage: String { value.map { "\(spellings[0]) \($0)" } ?? spellings[0] }

    static let help = CommandOption.flag(
        "help",
        "show this help and do nothing",
        spellings: ["--help", "-h"]
    )
    static let json = CommandOption.flag("json", "print JSON, for programs")
    static let pack = CommandOption.values(
        "pack",
        "NAME",
        "a pack of the program, all of them for `all`, or a folder if it has a slash; repeatable",
        .choice(PackSource.builtInNames + ["all"])
    )
    static let schemaFolder = CommandOption.values(
        "schema",
        "DIR",
        "take the pack, or the folder of packs, in DIR; repeatable",
        .folder
    )
    static let noProgress = CommandOption.flag(
        "no-progress",
        "show no progress bar, as with DIARIO_NO_PROGRESS=1"
    )

    /// What stands in front of the command.
    package static let globals: [CommandOption] = [
        .value(
            "C",
            "DIR",
            "the folder of the space; else DIARIO_DIR, else the current one or above",
            .folder,
            spellings: ["-C"]
        ),
        .value(
            "space",
            "SPACE",
            "which one of several in that folder, as a server has: its name or id"
        ),
        .flag("trust-owner", "use a folder that belongs to another user"),
        noProgress,
        .flag("help", "list the commands", spellings: ["--help", "-h"]),
        .flag("version", "show the version of the program"),
    ]
}
