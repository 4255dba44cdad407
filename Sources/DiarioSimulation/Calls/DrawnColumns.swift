import DiarioCore
import DiarioSchema

/// Rows of the answers to queries of a pack, drawn by what it says that they are.
struct DrawnColumns {
    private let queries: [PackQuery]

    init(_ pack: Pack) { queries = pack.sql.queries }

    /// A row of the answer to a query; an odd one has values of other kinds, and lacks columns.
    func row(
        of query: String,
        _ parameters: [String: SQLValue],
        isOdd: Bool,
        _ draws: Draws
    ) -> (columns: [String], values: [SQLValue]) {
        var names: [String] = []
        var values: [SQLValue] = []
        for column in queries.first(where: { $0.name == query })?.columns ?? [] {
            if isOdd, draws.oneIn(256) { continue }
            names.append(column.name)
            // Most queries answer with what they were asked for.
            if let asked = parameters[column.name], !isOdd {
                values.append(asked)
            } else {
                values.append(value(of: column, isOdd: isOdd, draws))
            }
        }
        return (names, values)
    }

    private func value(
        of column: PackQuery.Column,
        isOdd: Bool,
        _ draws: Draws
    ) -> SQLValue {
        if isOdd, draws.oneIn(64) {
            return draws.pick([
                .null, .integer(draws.extreme()), .real(.infinity), .text("[1,{}]"),
                .text(#"{"xMpx":9223372036854775807,"yMpx":-9223372036854775808}"#), .text("{"),
                .blob([]), .text(""),
            ])
        }
        let name = column.name
        if name == "actor" { return .text(draws.pick(["u1", "u1", "u1", "u1", "u1", "-", "u2"])) }
        // Most are open, and nothing that they follow from has changed.
        if name == "state", draws.oneIn(2) { return .text("open") }
        if column.mayBeNull, draws.oneIn(name.hasSuffix("OutdatedBy") ? 1 : 8), !draws.oneIn(4) {
            return .null
        }
        if isOdd, draws.oneIn(4), column.values.kind == .integer {
            return .integer(draws.extreme())
        }
        let drawn = DrawnValues(draws: draws, badOneIn: isOdd ? 32 : .max)
        return column.values.sql(drawn.value(name, column.values.schema))
    }
}

extension QueryValues {
    /// A value of JSON as a read model keeps it.
    fileprivate func sql(_ value: JSON) -> SQLValue {
        switch value {
        case .null: return .null
        case .boolean(let value): return .integer(value ? 1 : 0)
        case .integer(let value): return .integer(value)
        case .number(let value): return .real(value)
        case .string(let text):
            return kind == .time || kind == .blob ? self.sql(text) : .text(text)
        case .array, .object:
            var bytes: [UInt8] = []
            value.appendCanonical(to: &bytes)
            return .text(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// A time or bytes, which JSON has as a text.
    private func sql(_ text: String) -> SQLValue {
        if kind == .time { return kind.value(text) ?? .text(text) }
        let bytes = CommandValues(.object(of: [("bytes", .string(text))])).bytes("bytes")
        return bytes.map { .blob($0) } ?? .text(text)
    }
}
