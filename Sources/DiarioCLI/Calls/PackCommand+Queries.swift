import Diario
import DiarioHTTP
import DiarioHost
import DiarioSchema

// The queries of packs, as commands of the program.

extension Command {
    /// `diario query NAME` with the parameters of that query as options, for the words after
    /// `query`; nil if they have no need of them, or name no query.
    static func namedQuery(_ words: [String], _ packsInUse: () -> [Pack]) -> Command? {
        // What `query` itself takes needs no look into the space.
        guard let name = words.first, !name.hasPrefix("-"),
            (try? Arguments(words, of: .query))?.wantsHelp != false
        else { return nil }
        let inUse = packsInUse()
        let packs = inUse.isEmpty ? (try? PackSource.builtIn()) ?? [] : inUse
        let found = packs.flatMap { pack in
            pack.sql.queries.filter { [$0.name, "\(pack.name).\($0.name)"].contains(name) }
                .map { (pack: pack, query: $0) }
        }
        guard found.count == 1 else { return nil }
        return PackCommand.command(forAsking: found[0].query, of: found[0].pack)
    }
}

extension PackCommand {
    /// `diario PACK QUERY`, for people: with words, where the pack has them.
    static func command(for query: PackQuery, of pack: Pack) -> Command {
        var options = options(of: query)
        if !pack.texts.isEmpty || query.takesLanguage { options.append(.language) }
        return Command(
            "\(pack.name) \(query.name)",
            query.title,
            details: query.title + "\n\nThe same as: diario query \(pack.name).\(query.name)",
            options: with(answers: CommandOption.answers.filter { $0.name != "param" }, options),
            examples: ["diario \(pack.name) \(query.name) --json": "for a program"],
            run: { call in
                try QueryCommand.ask(
                    .named("\(pack.name).\(query.name)", values(of: query, call)),
                    call,
                    hasWords: !pack.texts.isEmpty
                )
            }
        )
    }

    /// `diario query QUERY`, with codes as in `--json` unless a language is asked for.
    fileprivate static func command(forAsking query: PackQuery, of pack: Pack) -> Command {
        Command(
            "query \(query.name)",
            query.title,
            details: query.title + "\n\nA query of the pack \(pack.name).",
            options: with(answers: CommandOption.answers, options(of: query) + [.language]),
            examples: ["diario query \(query.name) --json": "for a program"],
            run: { call in
                var texts = try QueryCommand.parameters(call)
                for (name, text) in values(of: query, call) {
                    guard texts.updateValue(text, forKey: name) == nil else {
                        throw Failure.usage("\(name) is there twice, as an option and in --param")
                    }
                }
                try QueryCommand.ask(
                    .named("\(pack.name).\(query.name)", texts),
                    call,
                    hasWords: call.language != nil
                )
            }
        )
    }

    /// Its parameters, but for the language, which has an option of its own.
    private static func asked(_ query: PackQuery) -> [PackQuery.Parameter] {
        query.parameters.filter { $0.name != PackQuery.language }
    }

    private static func options(of query: PackQuery) -> [CommandOption] {
        asked(query).map { parameter in
            let name = OptionText.dashed(parameter.name[...])
            var notes: [String] = []
            let choices = parameter.values.choices
            if !choices.isEmpty { notes.append("one of \(choices.joined(separator: ", "))") }
            if let source = parameter.source { notes.append("one of the query \(source)") }
            switch parameter.fallback {
            case "NULL"?: notes.append("may be left out")
            case let fallback?: notes.append("else \(fallback)")
            case nil: notes.append("required")
            }
            return .value(
                "\(name) \(choices.isEmpty ? parameter.values.text.uppercased() : "VALUE")",
                notes.joined(separator: "; "),
                .text,
                spellings: name == parameter.name
                    ? ["--\(name)"] : ["--\(name)", "--\(parameter.name)"]
            )
        }
    }

    /// A parameter goes before an option of the same name.
    private static func with(
        answers: [CommandOption],
        _ options: [CommandOption]
    ) -> [CommandOption] {
        options + answers.filter { answer in !options.contains { $0.name == answer.name } }
    }

    private static func values(of query: PackQuery, _ call: Invocation) -> [String: String] {
        var values: [String: String] = [:]
        for parameter in asked(query) {
            values[parameter.name] = call.value(OptionText.dashed(parameter.name[...]))
        }
        return values
    }
}
