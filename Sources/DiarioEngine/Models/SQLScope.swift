import DiarioProjection
import DiarioSchema

/// The packs that a statement of SQL may read: those of which it has a name.
///
/// Others may be missing or damaged, and are not updated for its answer.
package struct SQLScope: Hashable, Sendable {
    /// Those whose tables it may name.
    package let named: [String]
    /// Those that have to be brought up to date for it.
    package let packs: [String]
    /// True if it asks for the list of all tables.
    let listsTables: Bool
}

extension ReadModels {
    /// The packs that `sql` may read, by the words in it; rather too many than too few.
    package func scope(of sql: String) -> SQLScope {
        let words = SQLWords(sql)
        let mayNameAll = words.all.contains { $0.hasPrefix("pragma_") }
        var named: [String] = []
        for pack in packs {
            let isNamed = mayNameAll || words.all.contains(pack.name)
            if isNamed || hasTable(in: words.tables, pack) { named.append(pack.name) }
        }
        let listsTables = words.all.contains("diario_tables")
        return SQLScope(
            named: named,
            packs: listsTables ? packs.map { $0.name } : named,
            listsTables: listsTables
        )
    }

    private func hasTable(in words: Set<String>, _ pack: Pack) -> Bool {
        if let tables = liveTables(of: pack.name) {
            return tables.contains { name in
                let name = name.lowercased()
                // An index for text or places keeps more beside itself.
                return words.contains { $0 == name || $0.hasPrefix(name + "_") }
            }
        }
        // Not built yet, or damaged: the words with which its definitions begin.
        return pack.sql.readModels.flatMap({ $0.definitions }).contains { definition in
            let start = definition.text.prefix { $0 != "(" }.split { $0.isWhitespace }
                .prefix { $0.lowercased() != "as" }.joined(separator: " ")
            return !SQLWords(start).all.subtracting(Self.definingWords)
                .isDisjoint(with: words)
        }
    }

    private static let definingWords: Set<String> = [
        "create", "table", "virtual", "view", "if", "not", "exists", "using", "fts5", "rtree",
        "rtree_i32",
        "unique", "index", "on", "trigger", "after", "before", "insert", "update", "delete", "of",
        "begin", "into", "for", "each", "row", "when", "as", "old", "new",
    ]

    /// The read models of a pack, whose name is known.
    func builtSource(of pack: String) throws(DiarioError) -> ModelReader.Source {
        guard let source = source(of: pack) else { throw notBuilt(pack) }
        return source
    }

    private func notBuilt(_ pack: String) -> DiarioError {
        DiarioError(
            .notFound,
            "The read models of \(pack) are not built, and nothing can be written here. Build them "
                + "where the space may be written: diario rebuild"
        )
    }

    /// Messages for tables of packs whose read models are not among these, by name.
    func missingTables(besides sources: [ModelReader.Source]) -> [String: String] {
        var missing: [String: String] = [:]
        for pack in packs where !sources.contains(where: { $0.pack == pack.name }) {
            for definition in pack.sql.readModels.flatMap({ $0.definitions }) {
                guard let table = definition.tableName else { continue }
                missing[table] = notBuilt(pack.name).message
            }
        }
        return missing
    }
}

extension SQLStatement {
    /// The name of the table that it makes, in small letters.
    fileprivate var tableName: String? {
        guard let place = head.firstIndex(where: { $0 == "TABLE" || $0 == "VIEW" }) else {
            return nil
        }
        let rest = head[(place + 1)...]
        let name = rest.starts(with: ["IF", "NOT", "EXISTS"]) ? rest.dropFirst(3) : rest
        return name.first?.lowercased()
    }
}
