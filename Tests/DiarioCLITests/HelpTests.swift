import DiarioCLI
import Testing

@Suite struct HelpTests {
    @Test(arguments: CommandName.allCases)
    func theHelpOfACommandNamesAllThatItTakes(name: CommandName) {
        let command = name.command
        let text = HelpText.command(command, width: 80)
        #expect(command.name == name.rawValue)
        let folder = command.name == "init" ? "" : " [-C DIR]"
        #expect(text.contains("use: diario\(folder) \(command.name)"))
        #expect(text.contains(command.operands))
        for option in command.options {
            #expect(text.contains("  \(option.usage)"))
            #expect(!option.summary.isEmpty)
        }
        #expect(command.option("help") != nil)
        #expect((1...3).contains(command.examples.count))
        #expect(!command.details.isEmpty)
    }

    @Test(arguments: CommandName.allCases)
    func theExamplesOfACommandAreTakenByItsParser(name: CommandName) throws {
        for example in name.command.examples {
            let words = shellWords(example.text)
            #expect(words.first == "diario")
            var rest = Array(words.dropFirst())
            if rest.first == "-C" { rest.removeFirst(2) }
            let found = try CommandName.find(rest)
            #expect(found.name == name)
            _ = try Arguments(found.rest, of: found.name.command)
        }
    }

    @Test(arguments: CommandName.allCases, [30, 60, 200])
    func theHelpKeepsToItsWidth(name: CommandName, width: Int) {
        let text = HelpText.command(name.command, width: width)
        let examples = name.command.examples.flatMap { [$0.text, $0.meaning] }
        for line in text.split(separator: "\n") where line.utf8.count > min(max(width, 44), 88) {
            // Examples and usage are typed as they stand.
            #expect(
                line.hasPrefix("use: ") || examples.contains { line.hasSuffix($0) }
                    || name.command.options.contains { line.hasSuffix($0.usage) },
                "\(line)"
            )
        }
    }

    @Test func theOverviewListsEveryCommand() {
        let text = HelpText.overview(width: 80)
        for name in CommandName.allCases {
            #expect(text.contains("  \(name.rawValue)"))
            #expect(text.contains(name.command.summary))
        }
        #expect(HelpText.group("schema", width: 80)?.contains("schema adopt") == true)
        #expect(HelpText.group("log", width: 80) == nil)
    }

    @Test(arguments: CommandName.allCases)
    func summariesAndOptionsAreWrittenAlike(name: CommandName) {
        let command = name.command
        for text in [command.summary] + command.options.map(\.summary) {
            #expect(text.last != ".")
            #expect(text.first?.isUppercase == false)
        }
        for paragraph in command.details { #expect(paragraph.last == ".") }
    }

    /// The words of a command line with single quotes, up to a redirection.
    private func shellWords(_ text: String) -> [String] {
        var words: [String] = []
        var word = ""
        var isQuoted = false
        for character in text {
            if character == "'" {
                isQuoted.toggle()
            } else if character == " ", !isQuoted {
                words.append(word)
                word = ""
            } else {
                word.append(character)
            }
        }
        return Array((words + [word]).prefix { $0 != "<" && $0 != ">" })
    }
}
