package import DiarioCore

/// A question that a pack answers from its read models.
package struct PackQuery: Equatable, Sendable {
    /// How SQL has the values of a parameter or of a column.
    package enum Kind: String, CaseIterable, Sendable {
        case integer = "INTEGER"
        case real = "REAL"
        case text = "TEXT"
        case blob = "BLOB"
        case date = "DATE"
        case boolean = "BOOLEAN"
        /// An integer: milliseconds since 1970.
        case time = "TIME"
        /// A text.
        case json = "JSON"

        fileprivate var isNew: Bool { self == .time || self == .json }
    }

    package struct Parameter: Equatable, Sendable {
        package let name: String
        package let values: QueryValues
        /// The value if it is left out, as SQL would write it; nil if it must be given.
        package let fallback: String?
        /// The query whose first column has all values that it may have; nil if its type says all.
        package let source: String?
    }

    /// The parameter that is the language of the caller, if they do not give it.
    package static let language = "language"

    /// A column that the query says it answers; one object, since each value of a row is checked.
    package final class Column: Sendable {
        package let name: String
        package let values: QueryValues
        package let mayBeNull: Bool
        /// The line of the file that names it.
        package let line: Int
        /// True if JSON has the values otherwise than SQL.
        package let differsInJSON: Bool
        private let kind: Kind
        private let choices: [String]
        /// True if the kind says all.
        private let isPlain: Bool

        init(name: String, values: QueryValues, mayBeNull: Bool, line: Int) {
            self.name = name
            self.values = values
            self.mayBeNull = mayBeNull
            self.line = line
            differsInJSON = [.boolean, .time, .json].contains(values.kind)
            (kind, choices, isPlain) = (values.kind, values.choices, values.isPlain)
        }

        /// What is wrong with a value in it; nil if nothing is.
        package func fault(_ value: SQLValue) -> String? {
            switch value {
            case .null:
                return mayBeNull ? nil : "has NULL, and may not; write \(values.text)? if it may"
            case .text(let text) where choices.contains(where: { $0.hasBytes(of: text) }):
                return nil
            default: return isPlain && kind.has(value) ? nil : values.fault(value)
            }
        }
    }

    /// Values of parameters for which the query is tried.
    package struct Example: Equatable, Sendable {
        package let values: [String: SQLValue]
        package let line: Int
    }

    package let name: String
    package let parameters: [Parameter]
    /// The columns of the answer; nil if the pack does not say.
    package let columns: [Column]?
    package let examples: [Example]
    /// The description in its heading.
    package let title: String
    /// The path of its file in the pack.
    package let file: String
    package let statement: SQLStatement

    /// True if a program that reads packs of format 3 would not know the type of a parameter.
    var hasNewParameters: Bool {
        parameters.contains { $0.values.text != $0.values.kind.rawValue || $0.values.kind.isNew }
    }

    /// True if a program that reads packs of format 4 would not know where values come from.
    var hasSources: Bool { parameters.contains { $0.source != nil } }

    package var takesLanguage: Bool {
        parameters.contains { $0.name.hasBytes(of: Self.language) }
    }

    package func column(_ name: String) -> Column? {
        columns?.first { $0.name.hasBytes(of: name) }
    }

    /// A row of the answer as a schema, with the names of types beside what they stand for; nil if
    /// the pack does not say what the query answers.
    ///
    /// What is NULL is a member that may be missing, or with `asNull` one that may be null.
    package func answerSchema(asNull: Bool = false) -> JSON? {
        guard let columns else { return nil }
        let required = columns.filter { asNull || !$0.mayBeNull }
        let null: JSON = .object(of: [("type", .string("null"))])
        return .object(of: [
            ("type", .string("object")), ("additionalProperties", .boolean(false)),
            ("required", .array(of: required.map { .string($0.name) })),
            (
                "properties",
                .object(
                    of: columns.map { column in
                        let schema = column.values.schema
                        return (
                            column.name,
                            asNull && column.mayBeNull
                                ? .object(of: [("anyOf", .array(of: [schema, null]))]) : schema
                        )
                    }
                )
            ),
        ])
    }
}

extension PackQuery.Column: Equatable {
    package static func == (left: PackQuery.Column, right: PackQuery.Column) -> Bool {
        left.name.hasBytes(of: right.name) && left.values == right.values
            && left.mayBeNull == right.mayBeNull && left.line == right.line
    }
}
