import Diario

/// One option, of a command or of the program.
package struct CommandOption: Sendable {
    /// Without dashes.
    package let name: String
    /// The spellings, the usual one first: `--help`, `-h`.
    package let spellings: [String]
    /// The name of its value in the help; nil if it takes none.
    package let value: String?
    package let kind: WordKind
    package let isRepeatable: Bool
    /// True if an empty text is a value of it.
    package let mayBeEmpty: Bool
    package let summary: String

    private init(
        _ words: String,
        _ summary: String,
        _ kind: WordKind = .text,
        isRepeatable: Bool = false,
        mayBeEmpty: Bool = false,
        spellings: [String]
    ) {
        let parts = words.split(separator: " ", maxSplits: 1).map(String.init)
        name = parts[0]
        value = parts.count > 1 ? parts[1] : nil
        self.spellings = spellings.isEmpty ? ["--\(parts[0])"] : spellings
        self.kind = kind
        self.isRepeatable = isRepeatable
        self.mayBeEmpty = mayBeEmpty
        self.summary = summary
    }

    static func flag(_ name: String, _ summary: String, spellings: [String] = []) -> CommandOption {
        CommandOption(name, summary, spellings: spellings)
    }

    /// An option with a value: `limit N`.
    static func value(
        _ words: String,
        _ summary: String,
        _ kind: WordKind = .text,
        spellings: [String] = []
    ) -> CommandOption {
        CommandOption(words, summary, kind, spellings: spellings)
    }

    /// An option with a value that may be repeated.
    static func values(
        _ words: String,
        _ summary: String,
        _ kind: WordKind = .text,
        mayBeEmpty: Bool = false
    ) -> CommandOption {
        CommandOption(
            words,
            summary,
            kind,
            isRepeatable: true,
            mayBeEmpty: mayBeEmpty,
            spellings: []
        )
    }

    /// An option whose value is one of a few words.
    static func choice(_ name: String, _ words: [String], _ summary: String) -> CommandOption {
        let value = words.joined(separator: "|")
        return CommandOption("\(name) \(value)", summary, .choice(words), spellings: [])
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
        "pack NAME",
        "a pack of the program, all of them for `all`, or a folder if it has a slash; repeatable",
        .choice(PackSource.builtInNames + ["all"])
    )
    static let schemaFolder = CommandOption.values(
        "schema DIR",
        "take the pack, or the folder of packs, in DIR; repeatable",
        .folder
    )
    static let noProgress = CommandOption.flag(
        "no-progress",
        "show no progress bar, as with DIARIO_NO_PROGRESS=1"
    )

    /// The options in front of the command; of one that is repeated the last counts, so that an
    /// alias with `-C` can be overruled.
    package static let globals: [CommandOption] = [
        CommandOption(
            "C DIR",
            "the folder of the space; else DIARIO_DIR, else the current one or above",
            .folder,
            isRepeatable: true,
            spellings: ["-C"]
        ),
        .values(
            "space SPACE",
            "which one of several in that folder, as a server has: its name or id"
        ),
        .flag("trust-owner", "use a folder that belongs to another user"),
        noProgress,
        .flag("help", "list the commands", spellings: ["--help", "-h"]),
        .flag("version", "show the version of the program"),
    ]
}
