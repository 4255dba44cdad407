import DiarioSchema

/// The tables whose columns an expression may name.
final class Scope {
    /// A table or a SELECT in FROM.
    struct Source {
        /// In small letters: by which it is named.
        let name: String
        /// Names in small letters.
        let columns: [(name: String, trait: Trait)]
        /// Of a table.
        var shape: TableShape?
        /// Of a SELECT.
        var select: SQLSelect?
        /// What joins it to the sources before it.
        var conditions: [SQLExpression] = []
        var isOuter = false
        var shared: [String] = []

        func trait(_ column: String) -> Trait? { columns.first { $0.name == column }?.trait }
    }

    var sources: [Source]
    /// Names that the SELECT gives to its own columns.
    var aliases: [String: SQLExpression] = [:]
    /// Tables of WITH, by their names in small letters.
    var named: [String: SQLSelect.Named] = [:]
    let parent: Scope?

    init(_ sources: [Source] = [], in parent: Scope? = nil) {
        self.sources = sources
        self.parent = parent
    }

    func named(_ name: String) -> SQLSelect.Named? { named[name] ?? parent?.named(name) }

    /// The source of this level that a column belongs to.
    func place(of column: SQLExpression) -> Int? {
        let name = column.text.lowercased()
        if let qualifier = column.qualifier?.lowercased() {
            return sources.firstIndex { $0.name == qualifier }
        }
        return sources.firstIndex { $0.trait(name) != nil }
    }

    /// What is known of a column; nil if no level has it.
    func trait(_ column: SQLExpression) -> Trait? {
        if let place = place(of: column) {
            let found = sources[place].trait(column.text.lowercased())
            guard sources[place].isOuter, var optional = found else {
                return found ?? Self.rowID(column)
            }
            optional.isOptional = true
            return optional
        }
        return parent?.trait(column) ?? (parent == nil ? Self.rowID(column) : nil)
    }

    func alias(_ column: SQLExpression) -> SQLExpression? {
        guard column.qualifier == nil else { return nil }
        return aliases[column.text.lowercased()]
    }

    private static func rowID(_ column: SQLExpression) -> Trait? {
        ModelCheck.rowIDs.contains(column.text.uppercased()) ? .integer : nil
    }
}
