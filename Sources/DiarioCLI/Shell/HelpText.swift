/// The text of `--help`, made of the table that the parser reads.
package enum HelpText {
    private static let widthMax = 88
    private static let indent = "  "

    /// The list of commands.
    package static func overview(width: Int) -> String {
        let width = min(width, widthMax)
        var lines = [
            "Diario keeps what happens as a log of events that are never altered.", "",
            "use: diario [-C DIR] [--space SPACE] COMMAND ...",
        ]
        for group in Command.groups {
            lines += ["", "\(group.title):"]
            lines += entries(group.commands.map { ($0.name, $0.summary) }, width)
        }
        lines += ["", "Options in front of the command:"]
        lines += entries(CommandOption.globals.map { ($0.usage, $0.summary) }, width)
        lines += ["", "`diario help COMMAND` explains a command."]
        return lines.joined(separator: "\n")
    }

    /// The list of the commands whose first word is `word`, as `schema`; nil if there are none.
    package static func family(_ word: String, width: Int) -> String? {
        let commands = Command.all.filter { $0.name.hasPrefix(word + " ") }
        guard !commands.isEmpty else { return nil }
        let list = entries(commands.map { ($0.name, $0.summary) }, min(width, widthMax))
        return (["use: diario [-C DIR] \(word) COMMAND ...", ""] + list).joined(separator: "\n")
    }

    package static func command(_ command: Command, width: Int) -> String {
        let width = min(width, widthMax)
        var lines = ["use: \(command.usage)"]
        for paragraph in command.details {
            lines += [""] + CellText.wrapped(paragraph, to: width)
        }
        lines += ["", "Options:"]
        lines += entries(command.options.map { ($0.usage, $0.summary) }, width)
        lines += ["", command.examples.count == 1 ? "Example:" : "Examples:"]
        for (text, meaning) in command.examples {
            lines += ["\(indent)\(text)", "\(indent)\(indent)\(meaning)"]
        }
        lines += ["", "Ends with:"]
        lines += entries(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) }, width)
        return lines.joined(separator: "\n")
    }

    /// Names with their meanings beside them, or below where there is no room.
    private static func entries(_ entries: [(String, String)], _ width: Int) -> [String] {
        let column = min(24, entries.reduce(0) { max($0, $1.0.utf8.count) } + 4)
        let room = max(20, width - column)
        return entries.flatMap { name, meaning -> [String] in
            let wrapped = CellText.wrapped(meaning, to: room)
            let margin = String(repeating: " ", count: column)
            var lines = wrapped.map { margin + $0 }
            if name.utf8.count + 4 > column {
                lines.insert(indent + name, at: 0)
            } else if !lines.isEmpty {
                let pad = String(repeating: " ", count: column - 2 - name.utf8.count)
                lines[0] = indent + name + pad + wrapped[0]
            }
            return lines
        }
    }
}
