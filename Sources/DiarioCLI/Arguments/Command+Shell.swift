// The commands that make the program at home in a shell. Help and parser both read this.

extension Command {
    static let completion = Command(
        name: "completion",
        operands: Shell.allCases.map(\.rawValue).joined(separator: "|"),
        operandCount: 1...1,
        operandKinds: [.choice(Shell.allCases.map(\.rawValue))],
        summary: "print a script that completes commands in a shell",
        details: [
            "Prints a script for bash, zsh or fish. With it the Tab key completes commands, "
                + "options, files, and the event types of the space.",
            "bash: source it in ~/.bashrc, or put it into a file named diario in "
                + "~/.local/share/bash-completion/completions. zsh: put it into a file named "
                + "_diario in a folder of fpath. fish: put it into a file named diario.fish in "
                + "~/.config/fish/completions.",
        ],
        options: [.help],
        examples: [
            Example(
                text: "diario completion fish > ~/.config/fish/completions/diario.fish",
                meaning: "from the next fish on"
            )
        ]
    )

    static let man = Command(
        name: "man",
        operands: "",
        operandCount: 0...0,
        summary: "print the manual page",
        details: [
            "Prints all that the help says as a page for `man`, with exit codes, environment and "
                + "files."
        ],
        options: [.help],
        examples: [
            Example(
                text: "diario man > /usr/local/share/man/man1/diario.1",
                meaning: "so that `man diario` finds it"
            )
        ]
    )
}

/// The shells that can be taught the words of the program.
package enum Shell: String, CaseIterable, Sendable {
    case bash
    case zsh
    case fish
}
