/// The manual page, in the macros `man` of roff; made of what the parser and the help read.
package enum ManualPage {
    /// Files below the folder of a space; schema/format/directory.md says what is in them.
    private static let files: [(path: String, meaning: String)] = [
        (".diario/", "what makes a folder a space; nothing in it is meant to be edited"),
        (".diario/wal/*.dwal", "the write-ahead log: all events that are in no other file"),
        (".diario/packs/", "the packs that were adopted, by their fingerprints"),
        (".diario/spaces/", "for each space its manifest and the ids of its replica"),
        (".diario/lock", "is locked while something is recorded"),
        (".diario/format", "the version of the format"),
    ]

    package static func text() -> String {
        var page = ManualText()
        page.line(
            ".TH DIARIO 1 \"\(Program.releaseDate)\" \"Diario \(Program.version)\" "
                + "\"User Commands\""
        )
        page.section("NAME")
        page.line("diario \\- keep what happens as a log of events that are never altered")
        page.section("SYNOPSIS")
        page.line(".B diario")
        let globals = CommandOption.globals.map { "[\(ManualText.usage($0))]" }
        for option in globals { page.line(option) }
        page.line("\\fICOMMAND\\fP \\fR...\\fP")
        page.section("DESCRIPTION")
        page.paragraph(
            "Diario records events, each checked against the JSON Schema of its type, in a log in "
                + "the folder of a space. What was recorded is on the disk, and stays as it is."
        )
        page.paragraph(
            "Options of a command may be before, between and after its operands, as --name "
                + "VALUE or --name=VALUE. After -- all words are operands."
        )
        page.section("OPTIONS")
        page.options(CommandOption.globals)
        page.section("COMMANDS")
        for command in Command.all { page.command(command) }
        page.section("EXIT STATUS")
        for code in ExitCode.allCases { page.item("\\fB\(code.rawValue)\\fP", code.meaning) }
        page.section("ENVIRONMENT")
        for variable in EnvironmentVariable.allCases {
            page.item("\\fB\(ManualText.escaped(variable.rawValue))\\fP", variable.meaning)
        }
        page.section("FILES")
        for file in files {
            page.item("\\fI\(ManualText.escaped(file.path))\\fP", file.meaning)
        }
        page.section("EXAMPLES")
        for (text, meaning) in Command.all.flatMap(\.examples) { page.example(text, meaning) }
        page.section("SEE ALSO")
        page.line(".BR bash (1),")
        page.line(".BR zsh (1)")
        page.paragraph(
            "schema/README.md says how to write a pack of event types, schema/format/ what "
                + "every byte on disk means, schema/format/cloudevents.md how events become "
                + "CloudEvents."
        )
        return page.text
    }
}

/// Puts a manual page together, line by line.
private struct ManualText {
    private(set) var text = ""

    private static let widthMax = 76

    /// The text with what roff would take for commands escaped.
    static func escaped(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&\(plain)" : plain
    }

    /// An option with its value, marked up.
    static func usage(_ option: CommandOption) -> String {
        let names = option.spellings.map { "\\fB\(escaped($0))\\fP" }.joined(separator: ", ")
        return option.value.map { "\(names) \\fI\(escaped($0))\\fP" } ?? names
    }

    /// True if the last line was a heading.
    private var isBehindHeading = false

    mutating func line(_ line: String) {
        text += line + "\n"
        isBehindHeading = line.hasPrefix(".SH")
    }

    mutating func section(_ name: String) { line(".SH \(name)") }

    mutating func paragraph(_ words: String) {
        // A heading begins a paragraph already.
        if !isBehindHeading { line(".PP") }
        prose(words)
    }

    /// A text for people, in which words between backquotes are typed.
    private mutating func prose(_ words: String) {
        let parts = words.split(separator: "`", omittingEmptySubsequences: false)
        var marked = ""
        for (index, part) in parts.enumerated() {
            let isTyped = !index.isMultiple(of: 2)
            let plain = Self.escaped(String(part))
            marked += isTyped ? "\\fB\(plain)\\fP" : plain
        }
        wrapped(marked)
    }

    /// Adds words in lines as short as the linters of manual pages want them.
    private mutating func wrapped(_ words: String) {
        for part in CellText.wrapped(words, to: Self.widthMax) {
            // A line that begins with a dot or an apostrophe would be a command.
            line(part.hasPrefix(".") || part.hasPrefix("'") ? "\\&\(part)" : part)
        }
    }

    mutating func item(_ name: String, _ meaning: String) {
        line(".TP")
        line(name)
        prose(meaning)
    }

    mutating func options(_ options: [CommandOption]) {
        for option in options { item(Self.usage(option), option.summary) }
    }

    mutating func command(_ command: Command) {
        line(".SS \(Self.escaped(command.name))")
        let operands = command.operands.map { " \\fI\(Self.escaped($0.usage))\\fP" }.joined()
        line("\\fBdiario \(Self.escaped(command.name))\\fP\(operands) [\\fIOPTION\\fP]...")
        for details in command.details { paragraph(details) }
        options(command.options)
    }

    mutating func example(_ text: String, _ meaning: String) {
        item("\\fB\(Self.escaped(text))\\fP", meaning)
    }
}
