import Diario
import DiarioCore
import DiarioHTTP
import DiarioHost
import DiarioSchema

// The commands, views and queries of packs, as commands of the program:
//
//     diario fish                                lists them
//     diario fish judge --species-id sardina --length-mm 115 --on 2026-05-04
//
// Options come from the declaration of the pack that the program carries.

extension Command {
    static let commands = Command(
        "commands",
        "list the commands and views of the packs",
        details: """
            Lists what can be called of the packs that the space uses. Where there is no space, it
            lists those of the packs that come with the program.

            A command checks the rules of its domain, and records what follows, all or nothing. A
            view only answers. Each is called by its pack and its name, as in `diario
            plants water`; over HTTP by POST .../commands/plants.water, or GET .../views/plants.due.
            """,
        options: [.json],
        examples: ["diario commands": "all of them"],
        run: { try PackCommand.list($0) }
    )

    /// The command that `words` begin with; nil if their first one is no name of a pack.
    static func ofPack(
        _ words: [String],
        _ packsInUse: () -> [Pack]
    ) throws -> (command: Command, rest: [String])? {
        guard let first = words.first else { return nil }
        let own = try PackSource.builtIn().first { $0.name == first }
        let inUse = own == nil ? packsInUse().first { $0.name == first } : nil
        guard let pack = own ?? inUse else { return nil }
        let rest = words.dropFirst()
        guard let name = rest.first, !name.hasPrefix("-") else {
            return (PackCommand.overview(of: pack), Array(rest))
        }
        if let command = Command.named("\(first) \(name)") {
            return (command, Array(rest.dropFirst()))
        }
        if let declaration = pack.declarations.first(where: { $0.shortName == name }) {
            return (PackCommand.command(for: declaration), Array(rest.dropFirst()))
        }
        // A space may use another version of a pack that comes with the program.
        let others = own == nil ? [] : packsInUse().filter { $0.name == first }
        let queries = pack.sql.queries + others.flatMap(\.sql.queries)
        if let query = queries.first(where: { $0.name == name }) {
            return (PackCommand.command(for: query, of: pack), Array(rest.dropFirst()))
        }
        let known =
            pack.declarations.map { String($0.shortName) } + pack.sql.queries.map(\.name)
            + Command.all.filter { $0.name.hasPrefix(first + " ") }
            .map { String($0.name.dropFirst(first.count + 1)) }
        let hint = NearestWord.find(name, in: known).map { "; did you mean \(first) \($0)?" } ?? "."
        throw Failure.usage(
            "the pack \(first) has no \(CellText.oneLine(name))\(hint) Try: diario \(first)"
        )
    }
}

/// The commands, views and queries of a pack that the program carries.
enum PackCommand {
    fileprivate static func overview(of pack: Pack) -> Command {
        Command(
            pack.name,
            "list the commands, views and queries of the pack \(pack.name)",
            details: """
                Lists the commands, views and queries of the pack \(pack.name), as they are called.
                Each has a help of its own: diario \(pack.name) NAME --help.
                """,
            options: [.json],
            examples: ["diario \(pack.name)": "all of them"],
            run: { try list([pack], $0) }
        )
    }

    // MARK: A command or a view

    fileprivate static func command(for declaration: Declaration) -> Command {
        let name = "\(declaration.name.prefix { $0 != "." }) \(declaration.shortName)"
        let isCommand = declaration.kind == .command
        var options = declaration.optionTexts.map { option(for: $0, in: declaration) }
        options += declaration.fileOptions.map { name, blob in
            let title = declaration.title(of: "\(blob.name)Id")?.english
            return .value("\(name) FILE", title ?? "the file for \(blob.name)", .file)
        }
        options.append(
            .value("input FILE|-", "the whole input as JSON, in place of the options", .file)
        )
        if isCommand {
            options += [
                .value("at TIME", "when it happened; now if it is not given"),
                .value("actor ID", "who does it; else that of `diario actor set`"),
                .flag("dry-run", "compute everything, and record nothing"),
            ]
        }
        options += [
            .language, .json, .noProgress,
        ]
        var details = declaration.description.english + "\n\n"
        if isCommand {
            details +=
                "Records: \(declaration.events.joined(separator: ", ")). "
                + "Prints the result, or the origins of what it recorded."
            if declaration.newIDField != nil {
                details +=
                    "\n\nThe same call again, with the same id, records nothing and answers "
                    + "as before."
            }
        } else {
            details += "Only answers. Where there is no space, it is asked of a new one."
        }
        if !declaration.fileOptions.isEmpty {
            details +=
                "\n\nA picture is written anew, without place, time and camera, and stored beside "
                + "the events before the call. Its size, and its day if it says one, need not be "
                + "given."
        }
        details += "\n\nNumbers may have a comma or a point. A list of points is \"x,y x,y\"."
        return Command(
            name,
            declaration.description.english,
            details: details,
            options: options,
            examples: [
                example(of: declaration, name): "with what it needs",
                "diario \(name) --input call.json --json": "for a program",
            ],
            run: { try run($0, declaration) }
        )
    }

    /// A call with each option that is required.
    private static func example(of declaration: Declaration, _ name: String) -> String {
        let required = declaration.optionTexts.filter { text in
            declaration.input.fields.contains { $0.name == text.field && $0.isRequired }
        }
        let words = required.map { $0.isFlag ? "--\($0.name)" : "--\($0.name) \($0.sample)" }
        return (["diario \(name)"] + words).joined(separator: " ")
    }

    private static func option(
        for text: OptionText,
        in declaration: Declaration
    ) -> CommandOption {
        let field = declaration.input.fields.first { $0.name == text.field }
        let title = declaration.title(of: text.field)?.english
        let description = declaration.description(of: text.field)?.english
        var summary = [title, description].compactMap { $0 }.joined(separator: ": ")
        if summary.isEmpty { summary = "the field \(text.field)" }
        // The few that fit stand beside the name.
        if text.choices.count > 4 {
            summary += ": one of \(text.choices.joined(separator: ", "))"
        }
        if field?.isRequired == true { summary += " (required)" }
        if text.isFlag { return .flag(text.name, summary) }
        let spellings =
            text.name == text.shortName
            ? ["--\(text.name)"] : ["--\(text.name)", "--\(text.shortName)"]
        return .value(
            "\(text.name) \(text.placeholder)",
            summary,
            text.choices.isEmpty ? .text : .choice(text.choices),
            spellings: spellings
        )
    }

    private static func run(_ call: Invocation, _ declaration: Declaration) throws {
        var wanted = Call(declaration.name, try input(call, declaration))
        wanted.language = call.language ?? .usual
        wanted.isLanguageUsual = call.language == nil
        guard declaration.kind == .command else {
            return try asking(call, declaration) { space in
                wanted.actor = try space.defaultActor()
                try answer(wanted, declaration, call, in: space)
            }
        }
        wanted.at = try call.arguments.time("at")
        wanted.isDryRun = call.has("dry-run")
        let files = try declaration.fileOptions.compactMap { name, blob in
            try call.value(name).map { (try KeptFile($0, for: blob, call), blob) }
        }
        guard files.isEmpty || !wanted.isDryRun else {
            throw Failure.usage(
                "--dry-run stores no file; leave one of the two out",
                in: call.command
            )
        }
        try (wanted.isDryRun ? call.reading : call.writing) { space in
            wanted.actor = try call.value("actor") ?? space.defaultActor()
            var values = CommandValues(try JSON.parse(wanted.input).value)
            var stored: [PutBlob] = []
            do {
                for (file, blob) in files {
                    stored.append(
                        try file.put(for: blob, of: declaration.input, into: &values, in: space)
                    )
                    if file.day == nil, let remark = declaration.dayRemark(values) {
                        call.remark(remark)
                    }
                }
                if !files.isEmpty { wanted.input = values.json }
                try answer(wanted, declaration, call, in: space)
            } catch {
                // No event refers to them.
                for blob in stored { _ = try? space.dropBlob(blob.id) }
                throw error
            }
        }
    }

    /// Runs `body` with the space, or where there is none with a new one that has the pack.
    private static func asking(
        _ call: Invocation,
        _ declaration: Declaration,
        _ body: (Space) throws -> Void
    ) throws {
        guard (try? call.location.find()) == nil, call.location.isUnsaid else {
            return try call.reading(body)
        }
        let pack = String(declaration.name.prefix { $0 != "." })
        try Space.withTemporary(
            in: EnvironmentVariable.temporaryFolder,
            packs: PackSource.builtIn().filter { $0.name == pack },
            body
        )
    }

    /// The input: the options, or a whole one.
    private static func input(_ call: Invocation, _ declaration: Declaration) throws -> [UInt8] {
        let given = declaration.optionTexts.filter { call.has($0.name) }
        if let file = call.value("input") {
            let others = given.map(\.name) + declaration.fileOptions.map(\.name).filter(call.has)
            if let option = others.first {
                throw Failure.usage(
                    "--input is the whole input; leave out --\(option)",
                    in: call.command
                )
            }
            return try call.contents(of: file, "the input", sizeMax: Limits.requestSizeMax)
        }
        var values = CommandValues()
        for option in given {
            let text = option.isFlag ? "true" : call.value(option.name) ?? ""
            guard let value = option.value(text) else {
                throw Failure.usage(
                    "--\(option.name) \(CellText.oneLine(text)) is not right; give "
                        + option.wanted.english,
                    in: call.command
                )
            }
            values.set(option.field, to: value)
        }
        return values.json
    }

    private static func answer(
        _ wanted: Call,
        _ declaration: Declaration,
        _ call: Invocation,
        in space: Space
    ) throws {
        let models = try ReadModels(space)
        let answer: CallAnswer
        do {
            answer = try call.withBar("Following the log", unit: "events") { bar in
                try models.call(wanted, of: App.domains) { _, done, total in
                    bar.update(done: done, total: total)
                }
            }
        } catch let error as DiarioError where error.kind == .rule && call.isJSON {
            try call.errors.json(error.ruleFields)
            try call.errors.flush()
            throw Failure.found
        } catch let error as DiarioError where error.kind == .rule {
            throw Failure.failed(error.told(by: declaration.optionTexts))
        }
        for note in models.notes { call.remark(note) }
        guard !call.isJSON else {
            let json = declaration.kind == .command ? answer.json : answer.result
            return try call.output.line(String(decoding: json, as: UTF8.self))
        }
        try print(answer, declaration, call)
    }

    /// What the result says in sentences, else its fields, one a line; without a result, the
    /// origins of what was recorded.
    private static func print(
        _ answer: CallAnswer,
        _ declaration: Declaration,
        _ call: Invocation
    ) throws {
        let result = try JSON.parse(answer.result).value
        if case .array(let lines)? = result.member(Declaration.textField)?.item.value {
            for line in lines {
                if case .string(let text) = line.value {
                    try call.output.line(CellText.oneLine(text))
                }
            }
            return
        }
        let fields = declaration.result.fieldIndicesAsWritten.map { declaration.result.fields[$0] }
        let members = fields.compactMap { result.member($0.name) }
        guard !members.isEmpty else {
            for event in answer.events { try call.output.line(event.origin?.text ?? event.type) }
            return
        }
        let width = members.reduce(0) { max($0, $1.key.count) } + 2
        for member in members {
            let name = member.key
            let shown: String =
                switch member.item.value {
                case .string(let text): CellText.oneLine(text)
                case .integer(let value):
                    HumanUnit(of: name).map { "\($0.text(value)) \($0.symbol)" } ?? "\(value)"
                case let value: String(decoding: value.asWritten, as: UTF8.self)
                }
            let pad = String(repeating: " ", count: width - name.count)
            try call.output.line(name + pad + shown)
        }
    }

    // MARK: The list

    static func list(_ call: Invocation) throws {
        guard (try? call.location.find()) != nil else {
            return try list(PackSource.builtIn(), call)
        }
        var packs: [Pack] = []
        try call.reading { packs = $0.packs }
        try list(packs, call)
    }

    private static func list(_ packs: [Pack], _ call: Invocation) throws {
        if call.isJSON {
            return try call.output.json(
                packs.flatMap(\.declarations).map { JSONText(bytes: $0.json) }
            )
        }
        var rows: [[String]] = []
        for pack in packs {
            rows += pack.declarations.map { declaration in
                [
                    declaration.kind.rawValue, "\(pack.name) \(declaration.shortName)",
                    CellText.oneLine(declaration.description.english),
                ]
            }
            rows += Command.all.filter { $0.name.hasPrefix(pack.name + " ") }.map {
                ["program", $0.name, $0.summary]
            }
            guard packs.count == 1 else { continue }
            // A command of the program stands before a query of its name.
            let queries = pack.sql.queries.filter {
                Command.named("\(pack.name) \($0.name)") == nil
            }
            rows += queries.map {
                ["query", "\(pack.name) \($0.name)", CellText.oneLine($0.title)]
            }
        }
        guard !rows.isEmpty else {
            return try call.output.line("no pack here declares a command or a view")
        }
        try call.output.table(
            [
                Table.Column("KIND"), Table.Column("NAME", widthMin: 24),
                Table.Column("DOES", widthMin: 20),
            ],
            rows
        )
    }
}

extension DiarioError {
    /// A broken rule, in which a field is called as its option is.
    fileprivate func told(by options: [OptionText]) -> String {
        let text = [message, remedy].compactMap { $0 }.joined(separator: " ")
        guard let option = options.first(where: { $0.field == field }) else { return text }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        return words.map { $0 == option.field ? "--\(option.name)" : String($0) }
            .joined(separator: " ")
    }

    /// A broken rule, for programs.
    fileprivate var ruleFields: Fields {
        [
            "rule": ifKnown(rule), "field": ifKnown(field), "value": ifKnown(value),
            "message": message, "remedy": ifKnown(remedy),
        ]
    }
}

extension Declaration {
    /// What to say of a picture without a day; nil if nobody asks for one.
    fileprivate func dayRemark(_ values: CommandValues) -> String? {
        guard input.fieldIndex("takenOn") != nil, values["takenOn"] == nil,
            values["takenAt"] == nil
        else { return nil }
        return "the picture does not say its day, so today is taken; else give --taken-on DATE"
    }
}
