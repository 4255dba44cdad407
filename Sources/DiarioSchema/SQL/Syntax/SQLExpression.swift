/// An expression of a statement, as far as those who look for mistakes need it.
package struct SQLExpression: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case null, integer, real, text, blob
        /// `text` is its name.
        case parameter
        /// `text` is its name, `qualifier` that of its table.
        case column
        /// `text` is the operator in capitals, as in `||`, `NOT`, `IN`, `BETWEEN`, `CASE`.
        ///
        /// `operands` of a CASE are its base if it has one, pairs of WHEN and THEN, and ELSE.
        case operation
        /// `text` is the function in small letters.
        case call
        /// `text` is the type in capitals.
        case cast
        /// Values in brackets with commas between them.
        case row
        /// A SELECT in brackets, whose first row counts.
        case subquery
        case exists
        /// IN with a SELECT; the operand stands before it.
        case membership
        case raise
    }

    package let kind: Kind
    package let text: String
    package var qualifier: String?
    package var operands: [SQLExpression] = []
    /// The SELECT of a subquery: none or one.
    package var selects: [SQLSelect] = []
    /// Conditions behind FILTER: none or one.
    package var filters: [SQLExpression] = []
    /// A call with DISTINCT, with OVER or with ORDER BY among its arguments.
    package var isDistinct = false
    package var isWindow = false
    package var isOrdered = false
    /// A CASE with a base, or one with ELSE.
    package var hasBase = false
    package var hasElse = false
    package let line: Int

    init(_ kind: Kind, _ text: String, line: Int, _ operands: [SQLExpression] = []) {
        self.kind = kind
        self.text = text
        self.line = line
        self.operands = operands
    }

    /// A column of a table.
    package init(column: String, of qualifier: String) {
        self.init(.column, column, line: 0)
        self.qualifier = qualifier
    }
}

/// A SELECT, or VALUES, with what is put together by UNION and the like.
package struct SQLSelect: Equatable, Sendable {
    /// One SELECT of a compound one.
    package struct Core: Equatable, Sendable {
        package var isDistinct = false
        package var columns: [Column] = []
        package var sources: [Source] = []
        package var condition: SQLExpression?
        package var groups: [SQLExpression] = []
        package var having: SQLExpression?
        package var hasWindow = false
        /// The rows of VALUES; empty for a SELECT.
        package var rows: [[SQLExpression]] = []
    }

    /// A column of the result.
    package struct Column: Equatable, Sendable {
        /// Nil for a star.
        package var expression: SQLExpression?
        /// The name behind AS.
        package var alias: String?
        /// The table before a star.
        package var starTable: String?
    }

    /// What stands in FROM.
    package struct Source: Equatable, Sendable {
        /// The table's name; of a function that gives a table, the function's; nil for a SELECT.
        package var table: String?
        /// Arguments of a function that gives a table; nil for a table.
        package var arguments: [SQLExpression]?
        package var selects: [SQLSelect] = []
        package var alias: String?
        package var condition: SQLExpression?
        /// Columns that both sides have, of USING.
        package var shared: [String] = []
        package var isOuter = false
        package var isNatural = false
        package var line = 0
    }

    /// A table that stands in front of the SELECT, behind WITH.
    package struct Named: Equatable, Sendable {
        package var name: String
        package var columns: [String]
        package var selects: [SQLSelect]

        package init(name: String, columns: [String], selects: [SQLSelect]) {
            self.name = name
            self.columns = columns
            self.selects = selects
        }
    }

    package var named: [Named] = []
    package var cores: [Core] = []
    /// Whether rows of several SELECTs are put together without doubles.
    package var isCombined = false
    package var order: [SQLExpression] = []
    package var line = 0
}
