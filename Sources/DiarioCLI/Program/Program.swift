import Diario

/// Runs the command that was typed.
enum Program {
    static let version = "0.1.0"
    /// The day of that version, for the manual page.
    static let releaseDate = "2026-11-20"
    /// The newest version of the format that the program writes.
    static var formatVersion: Int { Space.formatVersion }

    /// Runs the program; gives its exit code.
    static func run() async -> Int32 {
        SystemCall.fillStandardDescriptors()
        Interrupt.ignoreFailingWrites()
        let output = Output(descriptor: 1)
        let errors = Output(descriptor: 2, name: "stderr")
        do {
            guard let words = SystemCall.arguments() else {
                throw Failure.usage("an argument is not UTF-8; give it in UTF-8")
            }
            try await run(words, output, errors)
            try output.flush()
            return ExitCode.done.rawValue
        } catch {
            let failure = Failure(error)
            // The part that was found until then is a result too.
            try? output.flush()
            if let message = failure.message {
                try? errors.line("diario: \(message)")
                try? errors.flush()
            }
            return failure.exitCode.rawValue
        }
    }

    /// Runs the command of these words.
    static func run(_ words: [String], _ output: Output, _ errors: Output) async throws {
        let global = try GlobalArguments(words)
        if global.has("version") || global.rest == ["version"] {
            return try output.line("diario \(version) (format \(formatVersion))")
        }
        if global.has("help") { return try output.line(HelpText.overview(width: output.width)) }
        guard let first = global.rest.first else {
            try errors.line(HelpText.overview(width: errors.width))
            try errors.flush()
            throw Failure.usage("say what to do: diario COMMAND")
        }
        // `diario schema --help` lists the commands that begin so.
        if global.rest.count == 2, ["--help", "-h"].contains(global.rest[1]),
            !PackSource.builtInNames.contains(first),
            let text = HelpText.family(first, width: output.width)
        {
            return try output.line(text)
        }
        let (command, rest) = try Command.find(global.rest) {
            Invocation.packsInUse(after: global)
        }
        let arguments = try Arguments(rest, of: command)
        if arguments.wantsHelp {
            return try output.line(HelpText.command(command, width: output.width))
        }
        if let space = global.value("space"), command.scope != .space {
            throw Failure.usage(misplaced(space, command))
        }
        try await command.run(Invocation(arguments, after: global, output, errors))
    }

    private static func misplaced(_ space: String, _ command: Command) -> String {
        let shown = CellText.oneLine(space)
        guard command.option("space") != nil else {
            return "\(command.name) is not about one space, so --space \(shown) says nothing. Try: "
                + "diario help \(command.name)"
        }
        return "--space comes after \(command.name): diario \(command.name) --space \(shown)"
    }
}
