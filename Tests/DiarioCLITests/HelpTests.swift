import DiarioCLI
import Testing

@Suite struct HelpTests {
    @Test(arguments: Command.all.map(\.name))
    func theHelpOfACommandNamesAllThatItTakes(name: String) throws {
        let command = try #require(Command.named(name))
        let text = HelpText.command(command, width: 80)
        #expect(text.hasPrefix("use: diario"))
        #expect(text.contains(" \(name)"))
        for operand in command.operands { #expect(text.contains(operand.usage)) }
        for option in command.options {
            #expect(text.contains("  \(option.usage)"))
            #expect(!option.summary.isEmpty)
        }
        #expect(command.option("help") != nil)
        #expect((1...3).contains(command.examples.count))
        #expect(!command.details.isEmpty)
    }

    @Test(arguments: Command.all.map(\.name))
    func theExamplesOfACommandAreTakenByItsParser(name: String) throws {
        for (text, _) in try #require(Command.named(name)).examples {
            let words = shellWords(text)
            #expect(words.first == "diario")
            var rest = Array(words.dropFirst())
            if rest.first == "-C" { rest.removeFirst(2) }
            let found = try Command.find(rest)
            #expect(found.command.name == name)
            _ = try Arguments(found.rest, of: found.command)
        }
    }

    @Test(arguments: Command.all.map(\.name), [30, 60, 200])
    func theHelpKeepsToItsWidth(name: String, width: Int) throws {
        let command = try #require(Command.named(name))
        let text = HelpText.command(command, width: width)
        let examples = command.examples.flatMap { [$0.key, $0.value] }
        for line in text.split(separator: "\n") where line.utf8.count > min(max(width, 44), 88) {
            // Examples and usage are typed as they are.
            #expect(
                line.hasPrefix("use: ") || examples.contains { line.hasSuffix($0) }
                    || command.options.contains { line.hasSuffix($0.usage) },
                "\(line)"
            )
        }
    }

    @Test func theOverviewListsEveryCommandOnce() {
        let text = HelpText.overview(width: 400)
        for command in Command.all { #expect(text.contains("  \(command.name) ")) }
        #expect(Set(Command.all.map(\.name)).count == Command.all.count)
        #expect(HelpText.family("schema", width: 80)?.contains("schema adopt") == true)
        #expect(HelpText.family("log", width: 80) == nil)
    }

    @Test(arguments: Command.all.map(\.name))
    func summariesAndOptionsAreWrittenAlike(name: String) throws {
        let command = try #require(Command.named(name))
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
