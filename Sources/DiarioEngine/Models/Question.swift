package import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioProjection
import DiarioSQLite
package import DiarioSchema

/// What is asked of read models.
package enum Question: Sendable {
    /// A query of a pack, with the texts of its parameters by name.
    ///
    /// The name of the pack stands in front (`meals.day`) where several have a query of that name.
    case named(String, [String: String])
    /// One SELECT over the tables of all packs, with the values of its parameters by name.
    case sql(String, [String: SQLValue])

    /// The same with texts for values, of which no query says the type: a number if one is written
    /// as such, NULL, bytes and quoted texts as SQL writes them, else the text.
    package static func sql(_ query: String, texts: [String: String]) -> Question {
        .sql(query, texts.mapValues { SQLValue(literal: $0) })
    }
}

extension SQLValue {
    fileprivate init(literal text: String) {
        let inner = text.dropFirst().dropLast()
        let isDecimal = text.utf8.allSatisfy { (48...57).contains($0) || "-.".utf8.contains($0) }
        if text == "NULL" {
            self = .null
        } else if text.lowercased().hasPrefix("x'"), text.hasSuffix("'"),
            case .blob(let bytes)? = PackQuery.Kind.blob.value(String(inner.dropFirst()))
        {
            self = .blob(bytes)
        } else if let number = Int64(text), String(number) == text {
            self = .integer(number)
        } else if text.count >= 2, text.hasPrefix("'"), text.hasSuffix("'") {
            self = .text(String(inner).replacing("''", with: "'"))
        } else if isDecimal, text.contains("."), let number = Double(text), number.isFinite {
            self = .real(number)
        } else {
            self = .text(text)
        }
    }
}

/// A question whose read models are up to date.
///
/// It is answered by a connection of its own, on any thread, while the read models go on.
package struct PreparedQuestion: Sendable {
    /// The packs whose read models were brought up to date for it.
    package let packs: [String]
    /// Of these the packs whose tables it may read.
    package let named: [String]
    private let sql: String
    /// The query of a pack that is asked, if it is one.
    private let query: PackQuery?
    private let values: [String: SQLValue]
    private let source: Source
    private let space: Space

    private enum Source: Sendable {
        /// The tables of one pack, by their names alone.
        case one(ModelReader.Source)
        /// Those of several, and what to say of tables that are not here.
        case several([ModelReader.Source], listing: [ModelReader.Source], missing: [String: String])
    }

    fileprivate init(
        _ query: PackQuery,
        _ values: [String: SQLValue],
        _ source: ModelReader.Source,
        _ space: Space
    ) {
        packs = [source.pack]
        named = packs
        sql = query.statement.text
        self.query = query
        self.values = values
        self.source = .one(source)
        self.space = space
    }

    /// A statement for read models that are as they are.
    package init(
        _ sql: String,
        _ values: [String: SQLValue],
        _ models: ReadModels
    ) {
        let scope = models.scope(of: sql)
        packs = scope.packs
        named = scope.named
        self.sql = sql
        query = nil
        self.values = values
        let all = models.sources()
        source = .several(
            all.filter { scope.named.contains($0.pack) },
            listing: scope.listsTables ? all : [],
            missing: models.missingTables(besides: all)
        )
        space = models.space
    }

    /// The rows of the answer, read one after the other.
    ///
    /// `isOver` is asked now and then, whether the time for it is over. The remedies are added to
    /// the advice after too many rows, and after too long a time.
    package func answer(
        rowCountMax: Int = Limits.queryRowCountMax,
        rowRemedy: String = "",
        timeRemedy: String = "",
        isOver: @escaping () -> Bool = { false }
    ) throws(DiarioError) -> Answer {
        var bounds = ModelReader.Bounds()
        bounds.isOver = isOver
        bounds.rowCountMax = rowCountMax
        bounds.rowRemedy += rowRemedy
        bounds.timeRemedy += timeRemedy
        let places = try EventPlaces(askedBy: sql, in: space)
        do throws(ProjectionError) {
            let reader =
                switch source {
                case .one(let source): try ModelReader(source)
                case .several(let sources, let list, _): try ModelReader(sources, listing: list)
                }
            if case .several(_, _, let missing) = source { reader.missingTables = missing }
            try reader.addBlobStates(of: SpaceBlobs(space))
            if let places { try reader.set(places) }
            return Answer(try reader.answer(sql, values, bounds), to: query)
        } catch {
            throw DiarioError(error)
        }
    }
}

extension ModelReader {
    /// Lets queries ask for the states of the blobs of a space.
    func addBlobStates(of blobs: SpaceBlobs) throws(ProjectionError) {
        let finder = blobs.finder
        try addBlobStates { (id) throws(UnreadBlob) in
            do throws(LogError) {
                guard let id = Hash32(id.span) else { return .missing }
                return try finder.state(of: id)
            } catch {
                throw UnreadBlob(error.message)
            }
        }
    }
}

/// The rows that answer a question, one after the other.
package final class Answer {
    private let rows: ModelAnswer
    /// For each column of the answer what the pack says of it.
    private let declared: [PackQuery.Column?]
    /// The name of the query, for errors.
    private let query: String

    fileprivate init(_ rows: ModelAnswer, to query: PackQuery?) {
        self.rows = rows
        self.query = query?.name ?? ""
        declared = rows.columns.map { query?.column($0) }
    }

    package var columns: [String] { rows.columns }
    /// The tables that it is read from.
    package var readTables: Set<String> { rows.readTables }

    /// Throws if two columns have one name: as an object, a row would lose one of them.
    package func checkNames() throws(DiarioError) {
        do { try rows.checkNames() } catch { throw DiarioError(error) }
    }

    /// The next row; nil after the last one.
    ///
    /// Throws if a value is not as the pack says: a row is not left out.
    package func next() throws(DiarioError) -> AnswerRow? {
        let values: [SQLValue]?
        do { values = try rows.next() } catch { throw DiarioError(error) }
        guard let values else { return nil }
        for index in declared.indices {
            guard let column = declared[index], let words = column.fault(values[index]) else {
                continue
            }
            throw DiarioError(
                .invalid,
                "The query \(query) answers otherwise than its pack says: the column "
                    + "\(column.name) \(words). Correct the query, or what it answers.",
                rule: "query-answers",
                field: "\(query).\(column.name)"
            )
        }
        return AnswerRow(columns: columns, values: values, declared: declared)
    }
}

/// A row of an answer.
package struct AnswerRow: Equatable, Sendable {
    package let columns: [String]
    package let values: [SQLValue]
    fileprivate let declared: [PackQuery.Column?]

    /// An object of JSON; bytes are in base64, and numbers that JSON has not are texts.
    ///
    /// Where the pack says what a column has, it is that: true and false, times, lists, objects.
    package var json: [UInt8] {
        JSONObjectWriter.object { json in
            for index in columns.indices {
                let (name, value) = (columns[index], values[index])
                if let column = declared[index], column.differsInJSON,
                    let typed = column.values.json(value)
                {
                    json.add(name, typed)
                } else {
                    json.add(name, value)
                }
            }
        }
    }

    /// The values as a person reads them; bytes in base64, and nil for NULL.
    package var texts: [String?] { values.map { $0 == .null ? nil : $0.shown } }
}

extension ReadModels {
    /// Brings the read models that a question reads up to what the log holds.
    ///
    /// A parameter `language` that is not given is the `language`.
    ///
    /// - Throws: `DiarioError` with the rule `parameter` if a parameter is missing or does not have
    ///   the type that the query declares, or a value that the query does not have which it names.
    package func ask(
        _ question: Question,
        in language: Language? = nil,
        progress: Progress = { _, _, _ in }
    ) throws(DiarioError) -> PreparedQuestion {
        try takeUpAdoptions()
        switch question {
        case .named(let name, var texts):
            let (pack, query) = try self.query(name)
            if let language, query.takesLanguage, texts["language"] == nil {
                texts["language"] = language.tag
            }
            let values: [String: SQLValue]
            do throws(ProjectionError) { values = try query.values(texts) } catch {
                throw DiarioError(.invalid, error.message, rule: "parameter")
            }
            try update([pack.name], progress: progress)
            let source = try builtSource(of: pack.name)
            let sources = ParameterSources(source: source, space: space)
            try sources.check(values, given: texts, of: query, in: pack)
            return PreparedQuestion(query, values, source, space)
        case .sql(let text, let values):
            try update(scope(of: text).packs, progress: progress)
            return PreparedQuestion(text, values, self)
        }
    }
}

/// The queries of a pack that have the values of parameters.
private struct ParameterSources {
    let source: ModelReader.Source
    let space: Space

    /// Makes sure that the values that were given are of the queries that the parameters name.
    func check(
        _ values: [String: SQLValue],
        given texts: [String: String],
        of query: PackQuery,
        in pack: Pack
    ) throws(DiarioError) {
        for parameter in query.parameters {
            guard let text = texts[parameter.name], let value = values[parameter.name],
                let other = pack.sql.queries.first(where: { $0.name == parameter.source })
            else { continue }
            let known = try firstColumn(of: other, for: value)
            guard !known.contains(value) else { continue }
            let all = try firstColumn(of: other, for: nil).map { $0.shown }
            var words =
                "\(parameter.name) is one of the query \(other.name), and \"\(text)\" is none"
            if let near = NearestName.find(text, in: all) {
                words += "; did you mean \(near)?"
            } else if 1...Self.toldValueCountMax ~= all.count {
                words += "; it has \(all.joined(separator: ", "))"
            }
            throw DiarioError(.invalid, words, rule: "parameter", field: parameter.name)
        }
    }

    /// The most values that a message lists.
    private static let toldValueCountMax = 20

    /// What a query has in its first column: all of it, or what is left if it is asked for a value.
    private func firstColumn(
        of query: PackQuery,
        for value: SQLValue?
    ) throws(DiarioError) -> [SQLValue] {
        let values: [String: SQLValue]
        do throws(ProjectionError) { values = try query.asking(for: value) } catch {
            throw DiarioError(error)
        }
        let answer = try PreparedQuestion(query, values, source, space).answer()
        var found: [SQLValue] = []
        while let row = try answer.next() {
            if let first = row.values.first { found.append(first) }
        }
        return found
    }
}
