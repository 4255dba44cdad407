import DiarioCLI
import Testing

/// That the scripts work is tested by tools/validators/cli.py, in the shells themselves.
@Suite struct ShellTests {
    @Test(arguments: Shell.allCases)
    func aScriptNamesAllCommandsAndOptions(shell: Shell) {
        let script = CompletionScript.text(for: shell)
        for command in CommandName.allCases.map(\.command) {
            for word in command.name.split(separator: " ") { #expect(script.contains(word)) }
            for option in command.options {
                let name = shell == .fish ? "-l \(option.name) " : "--\(option.name)"
                #expect(script.contains(name), "\(command.name) \(name)")
            }
        }
        #expect(script.contains("schema list"))
        #expect(script.hasSuffix("\n"))
        #expect(script.utf8.allSatisfy { $0 < 0x80 })
    }

    @Test(arguments: Shell.allCases)
    func noQuoteOfAScriptStaysOpen(shell: Shell) {
        for line in CompletionScript.text(for: shell).split(separator: "\n")
        where !line.hasPrefix("#") {
            let plain = line.replacing("'\\''", with: "").replacing("\\'", with: "")
            #expect(plain.count { $0 == "'" }.isMultiple(of: 2), "\(line)")
        }
    }

    @Test func everyWordKindIsOfferedByEveryShell() {
        let kinds = CommandName.allCases.map(\.command).flatMap { command in
            command.operandKinds + command.options.map(\.kind)
        }
        for kind in [WordKind.text, .file, .folder, .typeName, .queryName, .command, .secondWord] {
            #expect(kinds.contains(kind))
        }
        #expect(kinds.contains(.choice(["synced", "written"])))
    }

    @Test func operandsAreNoMoreThanTheirKindsSay() {
        for command in CommandName.allCases.map(\.command) {
            #expect(command.operandKinds.count <= command.operandCount.upperBound)
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
        for command in CommandName.allCases.map(\.command) {
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
