import DiarioLog

/// Runs the command that was typed.
enum Program {
    static let version = "0.1.0"
    /// The day of that version, for the manual page.
    static let releaseDate = "2026-11-20"
    /// The newest version of the format that the program writes.
    static var formatVersion: Int { DirectoryFormat.current }

    /// What stands in front of the command.
    private struct GlobalWords {
        /// The options that are there, with their values or an empty text.
        private var values: [String: String] = [:]
        let rest: [String]

        var directory: String? { values["C"] }
        var space: String? { values["space"] }

        func has(_ name: String) -> Bool { values[name] != nil }

        init(_ words: [String]) throws(UsageError) {
            var words = words[...]
            while let word = words.first, word.hasPrefix("-") {
                words.removeFirst()
                let options = CommandOption.globals
                let equals = word.hasPrefix("--") ? word.firstIndex(of: "=") : nil
                let spelled = equals.map { String(word[..<$0]) } ?? word
                guard let option = options.first(where: { $0.spellings.contains(spelled) }) else {
                    let known = options.flatMap(\.spellings)
                    let hint = NearestWord.find(word, in: known).map { "; did you mean \($0)?" }
                    throw UsageError(
                        "there is no option \(CellText.oneLine(word)) in front of a command"
                            + "\(hint ?? ".") Try: diario help"
                    )
                }
                guard option.value != nil else {
                    guard equals == nil else {
                        throw UsageError("--\(option.name) takes no value. Try: diario help")
                    }
                    values[option.name] = ""
                    continue
                }
                let behind = equals.map { String(word[word.index(after: $0)...]) }
                guard let value = behind ?? words.popFirst(), !value.isEmpty else {
                    throw UsageError(
                        "\(option.usage) needs its value: diario \(option.usage) COMMAND"
                    )
                }
                values[option.name] = value
            }
            rest = Array(words)
        }
    }

    /// Runs the program; gives its exit code.
    static func run() async -> Int32 {
        SystemCall.fillStandardDescriptors()
        Interrupt.ignoreFailingWrites()
        let output = Output(descriptor: 1)
        let errors = Output(descriptor: 2, name: "stderr")
        do throws(Failure) {
            guard let words = SystemCall.arguments() else {
                throw .usage("an argument is not UTF-8; give it in UTF-8")
            }
            try await run(words, output, errors)
            try output.flush()
            return ExitCode.done.rawValue
        } catch {
            // What was found until then is a result too.
            try? output.flush()
            if let message = error.message {
                try? errors.line("diario: \(message)")
                try? errors.flush()
            }
            return error.exitCode.rawValue
        }
    }

    private static func run(
        _ words: [String],
        _ output: Output,
        _ errors: Output
    ) async throws(Failure) {
        let global = try checkingUsage { () throws(UsageError) in try GlobalWords(words) }
        if global.has("version") || global.rest == ["version"] {
            try output.line("diario \(version) (format \(formatVersion))")
            return
        }
        if global.has("help") {
            try output.line(HelpText.overview(width: output.width))
            return
        }
        if global.rest.isEmpty {
            try errors.line(HelpText.overview(width: errors.width))
            try errors.flush()
            throw .usage("say what to do: diario COMMAND")
        }
        let (name, rest) = try checkingUsage { () throws(UsageError) in
            // `diario schema --help` explains what there is.
            if global.rest.count == 2, ["--help", "-h"].contains(global.rest[1]),
                HelpText.group(global.rest[0], width: 80) != nil
            {
                return (CommandName.help, [global.rest[0]])
            }
            return try CommandName.find(global.rest)
        }
        let arguments = try checkingUsage { () throws(UsageError) in
            try Arguments(rest, of: name.command)
        }
        if arguments.wantsHelp {
            try output.line(HelpText.command(name.command, width: output.width))
            return
        }
        if let space = global.space, !name.isAboutOneSpace {
            throw .usage(misplaced(space, name.command))
        }
        let location = SpaceLocation(
            chosen: global.directory,
            environment: EnvironmentVariable.directory.value,
            current: SystemCall.currentDirectory(),
            owners: global.has("trust-owner")
                ? nil
                : SpaceLocation.owners(
                    user: SystemCall.user(),
                    caller: EnvironmentVariable.caller.value
                )
        )
        let isSilent = global.has("no-progress") || EnvironmentVariable.noProgress.isSet
        let call = Invocation(
            arguments: arguments,
            location: location,
            choice: SpaceChoice(
                text: global.space,
                command: name.rawValue,
                directory: global.directory
            ),
            hidesProgress: isSilent || EnvironmentVariable.terminal.value == "dumb",
            output: output,
            errors: errors
        )
        try await perform(name, call)
    }

    private static func misplaced(_ space: String, _ command: Command) -> String {
        let shown = CellText.oneLine(space)
        guard command.option("space") != nil else {
            return "\(command.name) is not about one space, so --space \(shown) says nothing. Try: "
                + "diario help \(command.name)"
        }
        return "--space stands behind \(command.name): diario \(command.name) --space \(shown)"
    }

    private static func perform(
        _ name: CommandName,
        _ call: Invocation
    ) async throws(Failure) {
        switch name {
        case .initialize: try InitCommand.run(call)
        case .record: try RecordCommand.run(call)
        case .log: try LogCommand.run(call)
        case .show: try ShowCommand.run(call)
        case .stats: try StatsCommand.run(call)
        case .verify: try VerifyCommand.run(call)
        case .repair: try RepairCommand.run(call)
        case .seal: try SealCommand.run(call)
        case .prove: try ProveCommand.run(call)
        case .check: try CheckCommand.run(call)
        case .sync: try await SyncCommand.run(call)
        case .clone: try await CloneCommand.run(call)
        case .publish: try await PublishCommand.run(call)
        case .remoteSet: try RemoteCommand.set(call)
        case .remoteShow: try RemoteCommand.show(call)
        case .remoteRemove: try RemoteCommand.remove(call)
        case .remoteRestore: try await RestoreCommand.run(call)
        case .status: try StatusCommand.run(call)
        case .export: try ExportCommand.run(call)
        case .importEvents: try ImportCommand.run(call)
        case .schemaCheck: try SchemaCommand.check(call)
        case .schemaList: try SchemaCommand.list(call)
        case .schemaAdopt: try SchemaCommand.adopt(call)
        case .serve: try ServeCommand.run(call)
        case .tokenCreate: try TokenCommand.create(call)
        case .tokenList: try TokenCommand.list(call)
        case .tokenRevoke: try TokenCommand.revoke(call)
        case .spaceList: try SpaceCommand.list(call)
        case .spaceCreate: try SpaceCommand.create(call)
        case .spaceName: try SpaceCommand.name(call)
        case .spaceRename: try SpaceCommand.rename(call)
        case .spaceRemove: try SpaceCommand.remove(call)
        case .spaceQuota: try SpaceCommand.quota(call)
        case .replicas: try ReplicasCommand.run(call)
        case .authorityStatus: try AuthorityCommand.status(call)
        case .authorityResume: try AuthorityCommand.resume(call)
        case .authorityHold: try AuthorityCommand.hold(call)
        case .backup: try BackupCommand.run(call)
        case .inspect: try InspectCommand.run(call)
        case .query: try QueryCommand.run(call)
        case .sql: try QueryCommand.sql(call)
        case .rebuild: try RebuildCommand.run(call)
        case .quarantineList: try QuarantineCommand.list(call)
        case .quarantineShow: try QuarantineCommand.show(call)
        case .quarantineRetry: try QuarantineCommand.retry(call)
        case .inboxList: try InboxCommand.list(call)
        case .inboxShow: try InboxCommand.show(call)
        case .inboxRetry: try InboxCommand.retry(call)
        case .inboxDrop: try InboxCommand.drop(call)
        case .harness: try HarnessCommand.run(call)
        case .completion: try CompletionCommand.run(call)
        case .man: try ManCommand.run(call)
        case .help: try HelpCommand.run(call)
        }
    }
}
