package import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioProjection
import DiarioSQLite
import DiarioSchema

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
    private let values: [String: SQLValue]
    private let source: Source
    private let blobs: SpaceBlobs

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
        _ blobs: SpaceBlobs
    ) {
        packs = [source.pack]
        named = packs
        sql = query.statement.text
        self.values = values
        self.source = .one(source)
        self.blobs = blobs
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
        self.values = values
        let all = models.sources()
        source = .several(
            all.filter { scope.named.contains($0.pack) },
            listing: scope.listsTables ? all : [],
            missing: models.missingTables(besides: all)
        )
        blobs = SpaceBlobs(models.space)
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
        do throws(ProjectionError) {
            let reader =
                switch source {
                case .one(let source): try ModelReader(source)
                case .several(let sources, let list, _): try ModelReader(sources, listing: list)
                }
            if case .several(_, _, let missing) = source { reader.missingTables = missing }
            try reader.addBlobStates(of: blobs)
            return Answer(try reader.answer(sql, values, bounds))
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

    fileprivate init(_ rows: ModelAnswer) { self.rows = rows }

    package var columns: [String] { rows.columns }
    /// The tables that it is read from.
    package var readTables: Set<String> { rows.readTables }

    /// Throws if two columns have one name: as an object, a row would lose one of them.
    package func checkNames() throws(DiarioError) {
        do { try rows.checkNames() } catch { throw DiarioError(error) }
    }

    /// The next row; nil after the last one.
    package func next() throws(DiarioError) -> AnswerRow? {
        do { return try rows.next().map { AnswerRow(columns: columns, values: $0) } } catch {
            throw DiarioError(error)
        }
    }
}

/// A row of an answer.
package struct AnswerRow: Equatable, Sendable {
    package let columns: [String]
    package let values: [SQLValue]

    /// An object of JSON; bytes are in base64, and numbers that JSON has not are texts.
    package var json: [UInt8] {
        JSONObjectWriter.object { json in
            for (name, value) in zip(columns, values) { json.add(name, value) }
        }
    }

    /// The values as a person reads them; bytes in base64, and nil for NULL.
    package var texts: [String?] { values.map { $0 == .null ? nil : $0.shown } }
}

extension ReadModels {
    /// Brings the read models that a question reads up to what the log holds.
    ///
    /// - Throws: `DiarioError` with the rule `parameter` if a parameter is missing or does not have
    ///   the type that the query declares.
    package func ask(
        _ question: Question,
        progress: Progress = { _, _, _ in }
    ) throws(DiarioError) -> PreparedQuestion {
        try takeUpAdoptions()
        switch question {
        case .named(let name, let texts):
            let (pack, query) = try self.query(name)
            let values: [String: SQLValue]
            do throws(ProjectionError) { values = try query.values(texts) } catch {
                throw DiarioError(.invalid, error.message, rule: "parameter")
            }
            try update([pack.name], progress: progress)
            let source = try builtSource(of: pack.name)
            return PreparedQuestion(query, values, source, SpaceBlobs(space))
        case .sql(let text, let values):
            try update(scope(of: text).packs, progress: progress)
            return PreparedQuestion(text, values, self)
        }
    }
}
