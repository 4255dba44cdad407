import DiarioSQLite
import DiarioSchema

/// Tries a read model of a pack on an empty database, and gathers what is wrong with it.
struct ModelCheck {
    private let pack: Pack
    private let model: ReadModel
    private let watch: Watch
    private(set) var problems: [PackProblem] = []
    /// The tables that it makes.
    private var shapes: [TableShape] = []
    /// What it is made of, as far as SQLite accepts it.
    private var definitions: [SQLSyntax] = []
    private var changes: [(syntax: SQLSyntax, parameters: [String: Trait])] = []

    /// Words that make a table come out otherwise on another device, with what to do instead.
    private static let refusedWords: [(word: String, rule: String, remedy: String)] = [
        (
            "AUTOINCREMENT", "sql-autoincrement",
            "numbers would depend on what was deleted; use a key"
        ),
        ("COLLATE", "sql-collate", "texts are compared by their bytes; remove it"),
        ("LIMIT", "sql-limit", "which rows are left depends on their order; use min, max or a key"),
        ("RETURNING", "sql-returning", "nobody reads what it returns; remove it"),
    ]
    /// What may stand behind DEFAULT; SQLite lets nobody look at what functions do there.
    private static let fallbacks = ["NULL", "TRUE", "FALSE"]
    static let rowIDs: Set<String> = ["ROWID", "OID", "_ROWID_"]

    init(_ model: ReadModel, of pack: Pack, _ watch: Watch) {
        self.model = model
        self.pack = pack
        self.watch = watch
    }

    /// Makes its tables and prepares its statements.
    ///
    /// The connection has the tables of the models before it, and asks `watch`.
    mutating func run(on connection: borrowing Connection) {
        watch.begin(.ourOwn)
        let known = (try? TableShape.names(connection).map(\.name)) ?? []
        watch.tables = []
        watch.virtualTables = []
        for definition in model.definitions { define(definition, connection) }
        if problems.isEmpty { checkTables(known, connection) }
        if problems.isEmpty { checkTriggers(connection) }
        guard problems.isEmpty || !shapes.isEmpty else { return }
        for block in model.blocks {
            for statement in block.statements { check(statement, of: block, connection) }
        }
        if !shapes.isEmpty { review() }
        for shape in shapes { watch.otherTables[shape.name] = model.name }
    }

    private mutating func problem(_ line: Int, _ rule: String, _ message: String) {
        let problem = PackProblem(file: model.file, line: line, rule: rule, message: message)
        if !problems.contains(problem) { problems.append(problem) }
    }

    /// The problem that SQLite, or the one who watches, has with a statement.
    private mutating func report(_ error: SQLiteError, _ statement: SQLStatement) {
        let line = error.offset.map { statement.line(at: $0) } ?? statement.line
        if let refusal = watch.refusal {
            return problem(line, refusal.rule, refusal.message)
        }
        var message = error.message
        if message.hasPrefix("no such table") {
            message += "; a statement sees only the tables of its own read model"
        } else if message.hasSuffix("already exists") {
            message += "; all read models of a pack are in one database: give it another name"
        }
        problem(line, "sql", message)
    }

    // MARK: Tables

    private mutating func define(
        _ statement: SQLStatement,
        _ connection: borrowing Connection
    ) {
        let isTrigger = statement.head.contains("TRIGGER")
        let isSound = checkWords(statement, isTrigger: isTrigger)
        watch.begin(.definition)
        do throws(SQLiteError) {
            // First looked at, because it is carried out at once.
            _ = try connection.prepare(statement.text, isKept: false)
            if let syntax = parse(statement, isReported: isSound) {
                let review = StatementReview([])
                review.checkForm(syntax)
                guard !take(review) else { return }
                definitions.append(syntax)
            } else if isSound || statement.words.contains(where: { $0.isKeyword("SELECT") }) {
                return
            }
            watch.begin(.definition)
            try connection.execute(statement.text)
        } catch {
            report(error, statement)
        }
    }

    private mutating func parse(_ statement: SQLStatement, isReported: Bool) -> SQLSyntax? {
        do throws(SQLSyntaxFault) { return try SQLParser.parse(statement) } catch {
            if isReported { problem(error.line, "sql-form", error.message) }
            return nil
        }
    }

    /// Takes over what a review found; true if that is anything.
    private mutating func take(_ review: StatementReview) -> Bool {
        let found = review.takeProblems()
        for found in found { problem(max(1, found.line), found.rule, found.message) }
        return !found.isEmpty
    }

    /// True if no word is refused.
    private mutating func checkWords(_ statement: SQLStatement, isTrigger: Bool) -> Bool {
        let words = statement.words
        let count = problems.count
        for (word, next) in zip(words, words.dropFirst())
        where word.isKeyword("DEFAULT") && !Self.isFallback(next) {
            problem(
                word.line,
                "sql-default",
                "a default is a number, a text or NULL; \(next.text) is none"
            )
        }
        for (index, word) in words.enumerated() {
            guard let text = word.name?.uppercased() else { continue }
            if word.kind == .word,
                let refused = Self.refusedWords.first(where: { $0.word == text })
            {
                problem(word.line, refused.rule, "\(text) is not allowed here: \(refused.remedy)")
            }
            // A trigger has to name the row of the index that it feeds, and WITHOUT ROWID has none.
            if !isTrigger, Self.rowIDs.contains(text),
                index == 0 || !words[index - 1].isKeyword("WITHOUT")
            {
                problem(
                    word.line,
                    "sql-rowid",
                    "row ids are given in the order in which rows come; declare a key and use it"
                )
            }
        }
        return problems.count == count
    }

    private static func isFallback(_ word: SQLWord) -> Bool {
        switch word.kind {
        case .number, .text, .blob: true
        case .symbol: word.text == "-" || word.text == "+"
        case .word: fallbacks.contains(word.text.uppercased()) || word.isKeyword("VALUES")
        case .quotedName, .parameter: false
        }
    }

    private mutating func checkTables(
        _ known: [String],
        _ connection: borrowing Connection
    ) {
        let all: [TableShape]
        let foreignKeys: [[Value]]
        do throws(SQLiteError) {
            watch.begin(.ourOwn)
            all = try TableShape.all(connection)
            foreignKeys = try connection.rows(
                "SELECT t.name, f.on_update, f.on_delete FROM pragma_table_list AS t, "
                    + "pragma_foreign_key_list(t.name) AS f"
            )
        } catch {
            return problem(1, "sql", error.message)
        }
        shapes = all.filter { !known.contains($0.name) }
        for shape in shapes {
            let line = line(ofTable: shape.name)
            if shape.isVirtual {
                watch.virtualTables.insert(shape.name)
                continue
            }
            watch.tables.insert(shape.name)
            if shape.primaryKey.isEmpty {
                problem(
                    line,
                    "table-key",
                    "the table \(shape.name) has no primary key; declare one"
                )
            }
            if !shape.isStrict {
                problem(
                    line,
                    "table-strict",
                    "the table \(shape.name) takes any value in any column; end it with STRICT"
                )
            }
            if let column = shape.misplacedColumn {
                // SQLite tells of changed rows without such columns, and counts those behind anew.
                problem(
                    line,
                    "table-generated",
                    "the column \(column.name) of \(shape.name) is generated when it is read; "
                        + "write it behind all others, or end it with STORED"
                )
            }
        }
        for key in foreignKeys {
            guard case .text(let table) = key[0], watch.tables.contains(table),
                key[1] != .text("NO ACTION") || key[2] != .text("NO ACTION")
            else { continue }
            problem(
                line(ofTable: table),
                "table-reference",
                "a foreign key of \(table) changes rows by itself; write that below -- on TYPE"
            )
        }
        if watch.tables.isEmpty {
            problem(1, "table-none", "the read model has no table; add CREATE TABLE")
        }
    }

    private func line(ofTable name: String) -> Int {
        let found = model.definitions.first { definition in
            definition.head.contains("TABLE")
                && definition.words.contains { $0.name?.lowercased() == name.lowercased() }
        }
        return found?.line ?? 1
    }

    /// Triggers and defaults are looked at by SQLite only where something needs them.
    private mutating func checkTriggers(_ connection: borrowing Connection) {
        for shape in shapes where !shape.isVirtual {
            let columns = shape.columns.filter { !$0.isGenerated }.map { "\"\($0.name)\"" }
            let table = "\"\(shape.name)\""
            let values = columns.map { _ in "NULL" }.joined(separator: ", ")
            let changes = columns.map { "\($0) = \($0)" }.joined(separator: ", ")
            for statement in [
                "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(values))",
                "INSERT INTO \(table) DEFAULT VALUES", "UPDATE \(table) SET \(changes)",
                "DELETE FROM \(table)",
            ] {
                watch.begin(.change)
                do throws(SQLiteError) {
                    _ = try connection.prepare(statement, isKept: false)
                } catch {
                    let trigger = model.definitions.first { $0.head.contains("TRIGGER") }
                    let isOfTrigger = watch.refusal?.rule == "sql-trigger"
                    let table = line(ofTable: shape.name)
                    problem(
                        isOfTrigger ? trigger?.line ?? table : table,
                        watch.refusal?.rule ?? "sql",
                        watch.refusal?.message ?? error.message
                    )
                    return
                }
            }
        }
    }

    // MARK: Changes

    private mutating func check(
        _ statement: SQLStatement,
        of block: ReadModel.Block,
        _ connection: borrowing Connection
    ) {
        let isSound = checkWords(statement, isTrigger: false)
        watch.begin(.change)
        do throws(SQLiteError) { _ = try connection.prepare(statement.text, isKept: false) } catch {
            return report(error, statement)
        }
        guard let syntax = parse(statement, isReported: isSound) else { return }
        changes.append((syntax, parameters(of: block)))
    }

    /// What the parameters of a block's statements may be.
    private func parameters(of block: ReadModel.Block) -> [String: Trait] {
        var traits: [String: Trait] = [:]
        for parameter in EnvelopeParameter.allCases {
            traits[parameter.rawValue] = Trait(parameter)
        }
        for name in block.types {
            guard let type = pack.types.last(where: { $0.name == name }) else { continue }
            for field in type.fields {
                traits[field.name, default: Trait()].formUnion(Trait(field, of: type))
            }
        }
        return traits
    }

    // MARK: What the statements mean together

    private mutating func review() {
        let review = StatementReview(shapes)
        // What comes into one column may come from there into another.
        var hasNews = true
        while hasNews {
            hasNews = false
            for definition in definitions {
                guard case .createTable(let table) = definition else { continue }
                hasNews = review.gather(generated: table) || hasNews
            }
            for change in changes {
                review.parameters = change.parameters
                hasNews = review.gather(change.syntax) || hasNews
            }
        }
        review.parameters = [:]
        for definition in definitions { review.check(definition: definition) }
        for change in changes {
            review.parameters = change.parameters
            review.check(change.syntax)
        }
        _ = take(review)
    }
}
