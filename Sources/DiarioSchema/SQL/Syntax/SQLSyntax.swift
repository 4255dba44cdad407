/// What a statement of a read model does, taken apart.
package enum SQLSyntax: Equatable, Sendable {
    case insert(Insert)
    case update(Update)
    case delete(Delete)
    case select(SQLSelect)
    case createTable(CreateTable)
    case createIndex(CreateIndex)
    case createTrigger(CreateTrigger)
    case createVirtualTable(CreateVirtualTable)

    package struct Insert: Equatable, Sendable {
        package var named: [SQLSelect.Named] = []
        package var table = ""
        package var alias: String?
        /// What stands behind OR; REPLACE for a REPLACE.
        package var resolution: String?
        /// Nil if none are named.
        package var columns: [String]?
        /// Nil for DEFAULT VALUES.
        package var source: SQLSelect?
        package var upserts: [Upsert] = []
        package var line = 0
    }

    /// What happens where a row is there already.
    package struct Upsert: Equatable, Sendable {
        /// Columns of the key; empty if none are named.
        package var target: [SQLExpression] = []
        package var targetCondition: SQLExpression?
        /// Empty for DO NOTHING.
        package var changes: [Change] = []
        package var condition: SQLExpression?
        package var line = 0
    }

    /// Columns that are given the value of an expression.
    package struct Change: Equatable, Sendable {
        package var columns: [String]
        package var value: SQLExpression
    }

    package struct Update: Equatable, Sendable {
        package var named: [SQLSelect.Named] = []
        package var table = ""
        package var alias: String?
        package var resolution: String?
        package var changes: [Change] = []
        package var sources: [SQLSelect.Source] = []
        package var condition: SQLExpression?
        package var line = 0
    }

    package struct Delete: Equatable, Sendable {
        package var named: [SQLSelect.Named] = []
        package var table = ""
        package var alias: String?
        package var condition: SQLExpression?
        package var line = 0
    }

    package struct CreateTable: Equatable, Sendable {
        package struct Column: Equatable, Sendable {
            package var name: String
            package var type: String
            package var generated: SQLExpression?
            package var line: Int
        }

        package var name = ""
        package var columns: [Column] = []
        package var checks: [SQLExpression] = []
        /// What stands behind ON CONFLICT in a rule of the table.
        package var resolutions: [String] = []
        /// Where foreign keys are that are looked at only at the end of a transaction.
        package var deferredLines: [Int] = []
        /// Made of a SELECT.
        package var isOfSelect = false
        package var line = 0
    }

    package struct CreateIndex: Equatable, Sendable {
        package var name = ""
        package var table = ""
        package var isUnique = false
        package var columns: [SQLExpression] = []
        package var condition: SQLExpression?
        package var line = 0
    }

    package struct CreateTrigger: Equatable, Sendable {
        package var name = ""
        package var table = ""
        package var condition: SQLExpression?
        package var body: [SQLSyntax] = []
        package var line = 0
    }

    package struct CreateVirtualTable: Equatable, Sendable {
        package var name = ""
        package var module = ""
        /// Each as words: those of an option begin with its name and `=`.
        package var arguments: [[SQLWord]] = []
        package var line = 0
    }
}

/// A form of SQL that packs may not use, because nothing here knows what it means.
package struct SQLSyntaxFault: Error, Equatable, Sendable {
    package let line: Int
    package let message: String
}
