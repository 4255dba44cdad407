import DiarioCore
package import DiarioProjection
package import DiarioSQLite
import DiarioSchema

/// What is asked of read models.
package enum Question: Sendable {
    /// A query of a pack, with the texts of its parameters by name.
    ///
    /// The name of the pack stands in front (`meals.day`) where several have a query of that name.
    case named(String, [String: String])
    /// One SELECT over the tables of all packs, with the values of its parameters by name.
    case sql(String, [String: Value])
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
    private let values: [String: Value]
    private let source: Source

    private enum Source: Sendable {
        /// The tables of one pack, by their names alone.
        case one(ModelReader.Source)
        /// Those of several, and what to say of tables that are not here.
        case several([ModelReader.Source], listing: [ModelReader.Source], missing: [String: String])
    }

    fileprivate init(
        _ query: PackQuery,
        _ values: [String: Value],
        _ source: ModelReader.Source
    ) {
        packs = [source.pack]
        named = packs
        sql = query.statement.text
        self.values = values
        self.source = .one(source)
    }

    /// A statement for read models that are as they are.
    package init(
        _ sql: String,
        _ values: [String: Value],
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
    }

    /// The rows of the answer, read one after the other.
    package func answer(_ bounds: ModelReader.Bounds) throws(ProjectionError) -> ModelAnswer {
        let reader =
            switch source {
            case .one(let source): try ModelReader(source)
            case .several(let sources, let list, _): try ModelReader(sources, listing: list)
            }
        if case .several(_, _, let missing) = source { reader.missingTables = missing }
        return try reader.answer(sql, values, bounds)
    }
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
            let values: [String: Value]
            do throws(ProjectionError) { values = try query.values(texts) } catch {
                throw DiarioError(.invalid, error.message, rule: "parameter")
            }
            try update([pack.name], progress: progress)
            return PreparedQuestion(query, values, try builtSource(of: pack.name))
        case .sql(let text, let values):
            try update(scope(of: text).packs, progress: progress)
            return PreparedQuestion(text, values, self)
        }
    }
}
