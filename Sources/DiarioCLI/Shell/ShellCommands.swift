extension Command {
    static let completion = Command(
        "completion",
        "print a script that completes commands in a shell",
        on: .nothing,
        takes: [
            .one(
                Shell.allCases.map(\.rawValue).joined(separator: "|"),
                .choice(Shell.allCases.map(\.rawValue))
            ),
            .any("WORD"),
        ],
        details: """
            Prints a script for bash or zsh. With it the Tab key completes commands, options, files,
            and the event types and queries of the space. The script runs this command again with
            the words that are typed, after --, to get those that the last one can become.

            bash: source it in ~/.bashrc, or put it into a file named diario in
            ~/.local/share/bash-completion/completions. zsh: put it into a file named _diario in a
            folder of fpath.
            """,
        examples: [
            "diario completion bash > ~/.local/share/bash-completion/completions/diario":
                "from the next shell on"
        ],
        run: { try await ShellCommands.completion($0) }
    )

    static let man = Command(
        "man",
        "print the manual page",
        on: .nothing,
        details: "Prints the help of all commands as a page for `man`.",
        examples: [
            "diario man > /usr/local/share/man/man1/diario.1": "so that `man diario` finds it"
        ],
        run: { call in try call.output.append { $0 += ManualPage.text().utf8 } }
    )

    static let help = Command(
        "help",
        "explain a command",
        on: .nothing,
        takes: [.optional("COMMAND", .command), .optional("WORD", .command)],
        details: "Lists the commands, or explains one of them.",
        examples: ["diario help record": "all about recording"],
        run: { try ShellCommands.help($0) }
    )
}

/// The commands that explain the program, to people and to shells.
enum ShellCommands {
    static func completion(_ call: Invocation) async throws {
        let words = call.operands
        guard let shell = Shell(rawValue: words[0]) else {
            let known = Shell.allCases.map(\.rawValue).joined(separator: ", ")
            throw Failure.usage(
                "there is no completion for \(CellText.oneLine(words[0])); choose one of \(known)",
                in: call.command
            )
        }
        guard words.count > 1 else {
            return try call.output.append { $0 += shell.script.utf8 }
        }
        let completion = Completion(Array(words.dropFirst()))
        switch completion.kind {
        case .file: try call.output.line(":files")
        case .folder: try call.output.line(":folders")
        case .typeName, .queryName:
            let list = completion.kind == .queryName ? ["query"] : ["schema", "list"]
            try await Program.run(completion.global + list + ["--names"], call.output, call.errors)
        case .text, .command, .choice: break
        }
        for (word, meaning) in completion.words {
            // zsh takes the part after a colon for the meaning.
            try call.output.line(shell == .zsh && !meaning.isEmpty ? "\(word):\(meaning)" : word)
        }
    }

    static func help(_ call: Invocation) throws {
        let words = call.operands
        let width = call.output.width
        guard !words.isEmpty else { return try call.output.line(HelpText.overview(width: width)) }
        if words.count == 1, let text = HelpText.family(words[0], width: width) {
            return try call.output.line(text)
        }
        let (command, rest) = try Command.find(words)
        guard rest.isEmpty else {
            throw Failure.usage("help takes one command. Try: diario help \(command.name)")
        }
        try call.output.line(HelpText.command(command, width: width))
    }
}
