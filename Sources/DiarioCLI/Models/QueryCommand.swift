import Diario
import DiarioCore
import DiarioHost
import DiarioSchema

extension Command {
    static let query = Command(
        "query",
        "answer a named query of a pack",
        takes: [.optional("NAME", .queryName)],
        details: """
            Brings the read models of the pack up to date with the log first, and builds them if
            they are missing or changed; --timeout counts from then on. Where they take very long
            for each event, it ends with an error that says how far they are, and the next query
            goes on.

            Without NAME it lists the queries. If several packs have a query of that name, say
            PACK.NAME. A parameter is also an option, as in --species-id for speciesId:
            `diario query NAME --help` shows those of a query.

            A note on stderr says if events are in quarantine, so that the answer lacks them, and if
            there are more rows than --limit. Without --limit, more than
            \(Limits.queryRowCountMax) rows are an error.

            On a terminal the answer is a table; in a pipe each row is a line with tabs between the
            columns, and - for NULL. With --json it is a list of objects; bytes are base64. With
            --language there are words for codes, as the pack has them. An answer with a column
            `text`, as of a guide, is for reading: on a terminal nothing of it is cut.
            """,
        options: CommandOption.answers + [
            .language, .flag("names", "without NAME: only the names, one a line"),
        ],
        examples: [
            "diario query": "the queries there are",
            "diario query thirsty --param day=2026-05-04 --json": "one of them, for a program",
        ],
        run: { try QueryCommand.run($0) }
    )

    static let sql = Command(
        "sql",
        "ask the read models anything, in SQL",
        takes: [.one("QUERY|-")],
        details: """
            Sees the tables of all packs (of at most 10 in one query), each under its own name, and
            with that of its pack in front where two have the same: meals.food. It may only read:
            SQLite with its functions, but for json_patch, snippet and extensions.

            With - the query is read from the input, as in `diario sql - < query.sql`.

            A parameter, such as :least in the query, gets its value by --param least=3: a number
            where it is written as one, such as 3 or -1.5; NULL; bytes as in x'00ff'; else a text. A
            text that would be one of these goes in quotes: --param "phone='112'".

            The answer and notes are printed as `query` prints them.
            """,
        options: CommandOption.answers,
        examples: [
            "diario sql 'SELECT * FROM diario_tables'":
                "all tables, with their packs and read models",
            "diario sql 'SELECT count(*) AS plants FROM plants.plant' --json":
                "a number for a program",
        ],
        run: { try QueryCommand.sql($0) }
    )
}

extension CommandOption {
    static let answers: [CommandOption] = [
        .values("param NAME=VALUE", "the value of a parameter of the query"),
        .value("limit N", "only the first N rows, at most"),
        .value("timeout SECONDS", "end with an error after so long"),
        .json,
        .flag("csv", "print comma-separated values"),
        .noProgress,
    ]
    static let language = value(
        "language TAG",
        "of words and texts, as in it or de-CH; else the user's, or that of LANG"
    )
}

/// The commands `diario query` and `diario sql`.
enum QueryCommand {
    static func run(_ call: Invocation) throws {
        guard let name = call.arguments.operands.first else {
            let others = ["param", "csv", "limit", "timeout", "language"]
            for option in others where call.arguments.has(option) {
                throw Failure.usage(
                    "--\(option) goes with the name of a query; `diario query` lists them"
                )
            }
            return try list(call)
        }
        guard !call.arguments.has("names") else {
            throw Failure.usage("--names lists the queries; give it, or the name of one")
        }
        try ask(.named(name, try parameters(call)), call, hasWords: call.language != nil)
    }

    static func sql(_ call: Invocation) throws {
        try ask(.sql(try statement(call), texts: try parameters(call)), call)
    }

    static func ask(
        _ question: Question,
        _ call: Invocation,
        hasWords: Bool = false
    ) throws {
        try call.refuseBoth("json", "csv")
        let limit = try call.arguments.count("limit", from: 1)
        let seconds = try call.arguments.count("timeout", from: 1)
        try withModels(call) { models, bar in
            let (language, words) = try telling(question, hasWords, call, models)
            let prepared: PreparedQuestion
            do throws(DiarioError) {
                prepared = try models.ask(question, in: language) { _, done, total in
                    bar.update(done: done, total: total)
                }
            } catch {
                bar.finish()
                if error.rule == "parameter" { throw Failure.usage(error.message) }
                guard error.rule == "query", let near = nearest(question, models) else {
                    throw error
                }
                throw Failure.failed("\(error.message) Did you mean \(near)?")
            }
            bar.finish()
            for note in models.notes { call.remark(note) }
            let end = ContinuousClock.now + .seconds(seconds ?? UInt64(Limits.querySecondsMax))
            let answer = try prepared.answer(
                // No more rows are read than are asked for, and one.
                rowCountMax: limit == nil ? Limits.queryRowCountMax : .max,
                rowRemedy: ", or allow more with --limit",
                timeRemedy: ", or allow more with --timeout"
            ) { ContinuousClock.now > end }
            try print(answer, limit, words, call)
            try remarkQuarantine(call, models, prepared.named)
        }
    }

    /// The language of an answer, if the query has to know it or there are words, and the words.
    private static func telling(
        _ question: Question,
        _ hasWords: Bool,
        _ call: Invocation,
        _ models: ReadModels
    ) throws -> (Language?, AnswerWords?) {
        guard case .named(let name, _) = question, let (pack, query) = try? models.query(name),
            hasWords || query.takesLanguage
        else { return (nil, nil) }
        let language = try call.language(of: pack.name, models)
        return (language, hasWords ? AnswerWords(query, of: pack, in: language) : nil)
    }

    /// Opens the space and its read models, with a bar for following the log.
    static func withModels(
        _ call: Invocation,
        _ body: (ReadModels, ProgressBar) throws -> Void
    ) throws {
        try call.reading { space in
            let models = try ReadModels(space)
            try call.withBar("Following the log", unit: "events") { try body(models, $0) }
        }
    }

    /// The name of a query that was probably meant.
    private static func nearest(_ question: Question, _ models: ReadModels) -> String? {
        guard case .named(let name, _) = question else { return nil }
        let known = models.packs.flatMap { pack in
            pack.sql.queries.flatMap { [$0.name, "\(pack.name).\($0.name)"] }
        }
        return NearestWord.find(name, in: known)
    }

    /// Says of the packs that were read if an answer lacks events.
    private static func remarkQuarantine(
        _ call: Invocation,
        _ models: ReadModels,
        _ packs: [String]
    ) throws {
        let events = try models.quarantined(of: packs)
        guard !events.isEmpty else { return }
        let names = Set(events.map(\.pack)).sorted().joined(separator: ", ")
        let count = Show.count(UInt64(Set(events.map(\.event.origin)).count), "event")
        call.remark(
            "the answer lacks events that the read models of \(names) could not take (\(count)): "
                + "diario quarantine list"
        )
    }

    // MARK: Words

    /// The query that was given, or that comes from the input.
    private static func statement(_ call: Invocation) throws -> String {
        guard call.arguments.operands[0] == "-" else { return call.arguments.operands[0] }
        let bytes = try call.wholeInput("the query", sizeMax: Limits.sqlStatementSizeMax)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure.failed("the query is not UTF-8; save it in UTF-8")
        }
        return text
    }

    /// The values of --param.
    static func parameters(_ call: Invocation) throws -> [String: String] {
        var values: [String: String] = [:]
        for text in call.arguments.all("param") {
            guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
                throw Failure.usage(
                    "--param \(CellText.oneLine(text)) is not right; give NAME=VALUE, as in "
                        + "--param day=2026-05-04"
                )
            }
            let name = String(text[..<equals])
            guard values[name] == nil else { throw Failure.usage("--param \(name) is there twice") }
            values[name] = String(text[text.index(after: equals)...])
        }
        return values
    }

    // MARK: Answers

    private static func print(
        _ answer: Answer,
        _ limit: UInt64?,
        _ words: AnswerWords?,
        _ call: Invocation
    ) throws {
        if call.isJSON { try answer.checkNames() }
        var printer = try AnswerPrinter(answer.columns, words, call)
        var (rest, hasMore) = (limit ?? .max, false)
        while !hasMore, let row = try answer.next() {
            hasMore = rest == 0
            guard !hasMore else { continue }
            rest -= 1
            try printer.add(row)
        }
        try printer.end()
        // Remarks about the answer come after it.
        try call.output.flush()
        if hasMore { call.remark("there are more rows than the --limit of \(limit ?? 0)") }
    }

    // MARK: The list of queries

    private static func list(_ call: Invocation) throws {
        try call.reading { space in
            let found = try ReadModels(space).packs.flatMap { pack in
                pack.sql.queries.map { (pack, $0) }
            }
            if call.arguments.has("names") { return try printNames(found, call) }
            guard !call.isJSON else {
                return try call.output.json(found.map { JSONText(bytes: $0.1.json(in: $0.0)) })
            }
            guard !found.isEmpty else {
                return try call.output.line("no pack of this space has a query")
            }
            try call.output.table(
                [
                    Table.Column("PACK"), Table.Column("QUERY", widthMin: 20),
                    Table.Column("PARAMETERS", widthMin: 20),
                    Table.Column("ANSWERS", widthMin: 10),
                ],
                found.map { pack, query in
                    let parameters = query.parameters.map { parameter in
                        "\(parameter.name) \(parameter.values.text)"
                            + (parameter.fallback.map { " = \($0)" } ?? "")
                    }
                    return [
                        pack.name, query.name, parameters.joined(separator: ", "),
                        CellText.oneLine(query.title),
                    ]
                }
            )
        }
    }

    /// The names as they can be typed: with the pack where several have a query of that name.
    private static func printNames(_ found: [(Pack, PackQuery)], _ call: Invocation) throws {
        try call.refuseBoth("names", "json")
        let counts = Dictionary(found.map { ($0.1.name, 1) }, uniquingKeysWith: +)
        for (pack, query) in found {
            let isAlone = counts[query.name] == 1
            try call.output.line(isAlone ? query.name : "\(pack.name).\(query.name)")
        }
    }
}
