import Diario
import DiarioCore
import DiarioLog
import DiarioProjection
import DiarioSchema
import DiarioSQLite

/// The commands `diario query` and `diario sql`.
enum QueryCommand {
    static func run(_ call: Invocation) throws(Failure) {
        guard let name = call.arguments.operands.first else {
            for option in ["param", "csv", "limit", "timeout"] where call.arguments.has(option) {
                throw .usage("--\(option) goes with the name of a query; `diario query` lists them")
            }
            return try list(call)
        }
        guard !call.arguments.has("names") else {
            throw .usage("--names lists the queries; give it, or the name of one")
        }
        let bounds = try bounds(call)
        let texts = try parameters(call)
        try withModels(
            call,
            follow: { (models) throws(DiarioError) in [try find(name, models).0.name] }
        ) { (models) throws(Failure) in
            let (pack, query) = try reporting { () throws(DiarioError) in try find(name, models) }
            let values: [String: Value]
            do throws(ProjectionError) { values = try query.values(texts) } catch {
                throw .usage(error.message)
            }
            let source = try reporting { () throws(DiarioError) in
                try models.builtSource(of: pack.name)
            }
            try answer(call, query.statement.text, values, bounds) { () throws(ProjectionError) in
                try ModelReader(source)
            }
            try remarkQuarantine(call, models, [pack.name])
        }
    }

    private static func find(
        _ name: String,
        _ models: ReadModels
    ) throws(DiarioError) -> (Pack, PackQuery) {
        do throws(DiarioError) { return try models.query(name) } catch {
            let known = models.packs.flatMap { pack in
                pack.sql.queries.flatMap { [$0.name, "\(pack.name).\($0.name)"] }
            }
            guard error.kind == .notFound, let near = NearestWord.find(name, in: known) else {
                throw error
            }
            throw DiarioError(
                .notFound,
                "There is no query \(CellText.oneLine(name)); did you mean \(near)? "
                    + "`diario query` lists those there are."
            )
        }
    }

    static func sql(_ call: Invocation) throws(Failure) {
        let bounds = try bounds(call)
        let values = try parameters(call).mapValues(value)
        let statement = try statement(call)
        try withModels(
            call,
            follow: { (models) in models.scope(of: statement).packs }
        ) { (models) throws(Failure) in
            let scope = models.scope(of: statement)
            try answer(call, statement, values, bounds) { () throws(ProjectionError) in
                try models.reader(for: scope)
            }
            try remarkQuarantine(call, models, scope.named)
        }
    }

    /// Says of the packs that were read if an answer lacks events.
    private static func remarkQuarantine(
        _ call: Invocation,
        _ models: ReadModels,
        _ packs: [String]
    ) throws(Failure) {
        let events = try reporting { () throws(DiarioError) in try models.quarantined(of: packs) }
        guard !events.isEmpty else { return }
        let names = Set(events.map(\.pack)).sorted().joined(separator: ", ")
        let count = Show.count(UInt64(Set(events.map(\.event.origin)).count), "event")
        call.remark(
            "the answer lacks what the read models of \(names) could not take (\(count)): "
                + "diario quarantine list"
        )
    }

    /// The query that was given, or that comes from the input.
    private static func statement(_ call: Invocation) throws(Failure) -> String {
        guard call.arguments.operands[0] == "-" else { return call.arguments.operands[0] }
        if SystemCall.isTerminal(0) {
            call.remark("reading the query from the terminal; end it with Ctrl-D")
        }
        var bytes = try LineSource.wholeInput(sizeMax: Limits.sqlStatementSizeMax)
        bytes.removeFirst(ByteOrderMark.size(atStartOf: bytes))
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .failed("the query is not UTF-8; save it in UTF-8")
        }
        return text
    }

    /// A number where a text is written as one, for no table says here what a parameter is compared
    /// with; NULL and bytes as SQL writes them; a text in quotes as in SQL is that text.
    private static func value(_ text: String) -> Value {
        if text == "NULL" { return .null }
        if text.lowercased().hasPrefix("x'"), text.hasSuffix("'"),
            case .blob(let bytes)? = PackQuery.Kind.blob.value(String(text.dropFirst(2).dropLast()))
        {
            return .blob(bytes)
        }
        if let number = Int64(text), String(number) == text { return .integer(number) }
        if text.count >= 2, text.hasPrefix("'"), text.hasSuffix("'") {
            return .text(
                text.dropFirst().dropLast().split(separator: "''", omittingEmptySubsequences: false)
                    .joined(separator: "'")
            )
        }
        let isDecimal = text.utf8.allSatisfy { (48...57).contains($0) || "-.".utf8.contains($0) }
        if isDecimal, text.contains("."), let number = Double(text), number.isFinite {
            return .real(number)
        }
        return .text(text)
    }

    /// Opens the space and brings its read models up to date: those of the packs that `follow`
    /// gives, or all.
    static func withModels(
        _ call: Invocation,
        follow: (ReadModels) throws(DiarioError) -> [String]? = { (_) in nil },
        _ body: (ReadModels) throws(Failure) -> Void
    ) throws(Failure) {
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            let models = try reporting { () throws(DiarioError) in try ReadModels(space) }
            let bar = call.progressBar("Following the log", unit: "events")
            defer { bar.finish() }
            try reporting { () throws(DiarioError) in
                try models.update(try follow(models)) { _, done, total in
                    bar.update(done: done, total: total)
                }
            }
            bar.finish()
            for note in models.notes { call.remark(note) }
            try body(models)
        }
    }

    /// The names as they can be typed: with the pack where several have a query of that name.
    private static func printNames(
        _ found: [(Pack, PackQuery)],
        _ call: Invocation
    ) throws(Failure) {
        guard !call.arguments.has("json") else {
            throw .usage("--names and --json are two ways to print; choose one")
        }
        let counts = Dictionary(found.map { ($0.1.name, 1) }, uniquingKeysWith: +)
        for (pack, query) in found {
            let isAlone = counts[query.name] == 1
            try call.output.line(isAlone ? query.name : "\(pack.name).\(query.name)")
        }
    }

    private static func list(_ call: Invocation) throws(Failure) {
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            let models = try reporting { () throws(DiarioError) in try ReadModels(space) }
            let found = models.packs.flatMap { pack in pack.sql.queries.map { (pack, $0) } }
            guard !call.arguments.has("names") else { return try printNames(found, call) }
            guard !call.arguments.has("json") else {
                return try call.output.jsonList(found.map { json($0.0, $0.1) })
            }
            guard !found.isEmpty else {
                return try call.output.line("no pack of this space has a query")
            }
            var table = Table(
                [
                    Table.Column("PACK"), Table.Column("QUERY", widthMin: 20),
                    Table.Column("PARAMETERS", widthMin: 20),
                    Table.Column("ANSWERS", widthMin: 10),
                ],
                width: call.output.width
            )
            let rows = found.map { pack, query in
                let parameters = query.parameters.map { parameter in
                    "\(parameter.name) \(parameter.kind.rawValue)"
                        + (parameter.fallback.map { " = \($0)" } ?? "")
                }
                return [
                    pack.name, query.name, parameters.joined(separator: ", "),
                    CellText.oneLine(query.title),
                ]
            }
            table.fit(rows)
            try call.output.line(table.heading)
            for row in rows { try call.output.line(table.line(row)) }
        }
    }

    private static func json(_ pack: Pack, _ query: PackQuery) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("pack", pack.name)
            json.add("name", query.name)
            json.add("title", query.title)
            json.add(
                "parameters",
                list: query.parameters.map { parameter in
                    JSONObjectWriter.object { json in
                        json.add("name", parameter.name)
                        json.add("type", parameter.kind.rawValue)
                        if let fallback = parameter.fallback { json.add("default", fallback) }
                    }
                }
            )
        }
    }

    // MARK: Answers

    private static func answer(
        _ call: Invocation,
        _ sql: String,
        _ values: [String: Value],
        _ bounds: ModelReader.Bounds,
        _ open: () throws(ProjectionError) -> ModelReader
    ) throws(Failure) {
        let printer = AnswerPrinter(call)
        let limit = try checkingUsage { () throws(UsageError) in
            try call.arguments.count("limit", from: 1)
        }
        do throws(ProjectionError) {
            let reader = try open()
            let answer = try reader.answer(sql, values, bounds)
            if call.arguments.has("json") { try answer.checkNames() }
            try printing { () throws(Failure) in try printer.begin(answer.columns) }
            var (rest, hasMore) = (limit ?? .max, false)
            while !hasMore, let row = try answer.next() {
                hasMore = rest == 0
                guard !hasMore else { continue }
                rest -= 1
                try printing { () throws(Failure) in try printer.add(row) }
            }
            try printing { () throws(Failure) in
                try printer.end()
                // What is said about the answer comes after it.
                try call.output.flush()
            }
            if hasMore { call.remark("there are more rows than the --limit of \(limit ?? 0)") }
        } catch {
            if let failure = printer.failure { throw failure }
            throw .failed(error.message)
        }
        func printing(_ body: () throws(Failure) -> Void) throws(ProjectionError) {
            do throws(Failure) { try body() } catch {
                printer.failure = error
                throw .query(QueryFault(.limit, "nobody reads the answer"))
            }
        }
    }

    private static func bounds(_ call: Invocation) throws(Failure) -> ModelReader.Bounds {
        guard !(call.arguments.has("json") && call.arguments.has("csv")) else {
            throw .usage("--json and --csv are two ways to print; choose one")
        }
        var bounds = ModelReader.Bounds()
        bounds.rowRemedy += ", or allow more with --limit"
        bounds.timeRemedy += ", or allow more with --timeout"
        let (limit, seconds) = try checkingUsage { () throws(UsageError) in
            (
                try call.arguments.count("limit", from: 1),
                try call.arguments.count("timeout", from: 1)
            )
        }
        // No more rows are read than are asked for, and one.
        if limit != nil { bounds.rowCountMax = .max }
        let end = ContinuousClock.now + .seconds(Int64(seconds ?? UInt64(Limits.querySecondsMax)))
        bounds.isOver = { ContinuousClock.now > end }
        return bounds
    }

    private static func parameters(_ call: Invocation) throws(Failure) -> [String: String] {
        var values: [String: String] = [:]
        for text in call.arguments.all("param") {
            guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
                throw .usage(
                    "--param \(CellText.oneLine(text)) is not right; give NAME=VALUE, as in "
                        + "--param day=2026-05-04"
                )
            }
            let name = String(text[..<equals])
            guard values[name] == nil else { throw .usage("--param \(name) is there twice") }
            values[name] = String(text[text.index(after: equals)...])
        }
        return values
    }
}
