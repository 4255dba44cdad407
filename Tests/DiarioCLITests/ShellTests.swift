import DiarioCLI
import Testing

/// That the scripts work is tested by tools/validators/cli.py, in bash itself.
@Suite struct ShellTests {
    private func words(_ typed: String...) -> [String] { Completion(typed).words.map(\.word) }

    @Test(arguments: Command.all.map(\.name))
    func everyCommandAndOptionIsCompleted(name: String) throws {
        let command = try #require(Command.named(name))
        let parts = name.split(separator: " ").map(String.init)
        #expect(Completion([String(parts[0].prefix(2))]).words.contains { $0.word == parts[0] })
        if parts.count == 2 {
            #expect(Completion([parts[0], ""]).words.contains { $0.word == parts[1] })
        }
        let options = Completion(parts + ["-"]).words.map(\.word)
        #expect(options == command.options.flatMap(\.spellings))
        for option in command.options where option.value != nil {
            let completion = Completion(parts + [option.spellings[0], ""])
            #expect(completion.kind == option.kind)
            if case .choice(let choices) = option.kind {
                #expect(completion.words.map(\.word) == choices)
            }
        }
    }

    @Test func aWordIsCompletedByTheWordsBeforeIt() {
        #expect(words("sch") == ["schema"])
        #expect(words("schema", "") == ["check", "list", "adopt", "types"])
        #expect(words("log", "--re") == ["--replica", "--reverse"])
        #expect(words("log", "--limit", "--re") == [])
        #expect(words("help", "schema", "") == ["check", "list", "adopt", "types"])
        #expect(words("help", "log", "") == [])
        #expect(words("completion", "") == ["bash", "zsh"])
        #expect(words("-").contains("--no-progress"))
        #expect(words("frobnicate", "") == [])
        #expect(words("record", "--", "--") == [])
        #expect(Completion(["import", ""]).kind == .file)
        #expect(Completion(["-C", ""]).kind == .folder)
        #expect(Completion(["query", ""]).kind == .queryName)
    }

    @Test func theSpaceOfNamesIsThatOfTheWordsBeforeTheCommand() {
        let completion = Completion(["-C", "here", "--space", "log", "log", "--type", "fi"])
        #expect(completion.kind == .typeName)
        #expect(completion.global == ["-C", "here", "--space", "log"])
    }

    @Test func everyWordHasAKindThatFits() {
        for command in Command.all {
            #expect(command.operandKind(command.operandCount.upperBound) == nil)
            if command.operandCount.upperBound > 0 { #expect(command.operandKind(0) != nil) }
        }
    }

    @Test func aPageOfTheManualSaysWhatTheHelpSays() {
        let page = ManualPage.text()
        let plain = page.replacing("\\-", with: "-")
        for name in [
            "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXIT STATUS", "ENVIRONMENT",
            "FILES", "EXAMPLES", "SEE ALSO",
        ] {
            #expect(page.contains("\n.SH \(name)\n"))
        }
        for command in Command.all {
            #expect(plain.contains("\n.SS \(command.name)\n"))
            for option in command.options {
                #expect(plain.contains("\\fB--\(option.name)\\fP"), "\(option.name)")
            }
        }
        for code in ExitCode.allCases { #expect(plain.contains("\\fB\(code.rawValue)\\fP\n")) }
        for variable in EnvironmentVariable.allCases { #expect(plain.contains(variable.rawValue)) }
    }

    /// A line that begins with a dot or an apostrophe is a command of roff, and a bare dash becomes
    /// a hyphen that cannot be copied.
    @Test func noTextOfTheManualIsTakenForACommand() {
        for line in ManualPage.text().split(separator: "\n") {
            if line.hasPrefix(".") {
                let known = [".TH ", ".SH ", ".SS ", ".PP", ".TP", ".B ", ".BR "]
                #expect(known.contains { line.hasPrefix($0) }, "\(line)")
            }
            #expect(!line.hasPrefix("'"), "\(line)")
            if !line.hasPrefix(".TH") {
                #expect(!line.replacing("\\-", with: "").contains("-"), "\(line)")
            }
        }
    }
}
