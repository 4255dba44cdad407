import DiarioCore
import DiarioSchema

/// The columns that queries of a pack may have, and values for them, drawn by their names.
struct DrawnColumns {
    /// The schemas of fields by their names, of all events and calls.
    private var schemas: [String: JSON] = [:]
    private var columns: [String: [(name: String, schema: JSON?)]] = [:]

    init(_ pack: Pack) {
        for type in pack.types { add((try? JSON.parse(type.canonicalSchema))?.value) }
        for declaration in pack.declarations {
            add(declaration.inputSchema)
            add(declaration.resultSchema)
        }
        for query in pack.sql.queries {
            var names = Self.names(in: query.statement.text)
            // All columns of a table are not named one by one.
            if query.statement.text.contains("*") { names.formUnion(schemas.keys) }
            columns[query.name] = names.sorted().map { ($0, schema(of: $0)) }
        }
    }

    private mutating func add(_ schema: JSON?) {
        guard case .object(let members)? = schema?.member("properties")?.item.value else { return }
        for member in members { schemas[member.key] = member.item.value }
    }

    /// All words of a statement but those of SQL, which are in capitals.
    private static func names(in text: String) -> Set<String> {
        let words = text.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")) }
        return Set(words.filter { $0.contains { $0.isLowercase } && $0.count > 1 }.map(String.init))
    }

    /// The schema of a field of this name, or of its end: `fishPoints` are `points`.
    private func schema(of name: String) -> JSON? {
        var name = name[...]
        while !name.isEmpty {
            if let schema = schemas[String(name)] { return schema }
            let rest = name.drop { !$0.isUppercase }
            guard let first = rest.first else { return nil }
            name = Substring(first.lowercased() + rest.dropFirst())
        }
        return nil
    }

    /// A row of the answer to a query; an odd one has values of other kinds, and lacks columns.
    func row(
        of query: String,
        _ parameters: [String: SQLValue],
        isOdd: Bool,
        _ draws: Draws
    ) -> (columns: [String], values: [SQLValue]) {
        var names: [String] = []
        var values: [SQLValue] = []
        for (name, schema) in columns[query, default: []] {
            if isOdd, draws.oneIn(256) { continue }
            names.append(name)
            // Most queries answer with what they were asked for.
            if let asked = parameters[name], !isOdd {
                values.append(asked)
            } else {
                values.append(value(name, schema, isOdd: isOdd, draws))
            }
        }
        return (names, values)
    }

    private func value(
        _ name: String,
        _ schema: JSON?,
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
        if name == "actor" { return .text(draws.pick(["u1", "u1", "u1", "u1", "u1", "-", "u2"])) }
        if name == "state" {
            return .text(draws.pick(["open", "open", "open", "open", "abandoned", "reported"]))
        }
        if name.hasSuffix("OutdatedBy") { return draws.oneIn(4) ? .text("marks") : .null }
        if name.hasPrefix("is") { return .integer(draws.oneIn(3) ? 1 : 0) }
        guard let schema else {
            return draws.pick([
                .null, .integer(draws.extreme()), .text(draws.pick(DrawnValues.ids)),
            ])
        }
        if draws.oneIn(8) { return .null }
        if isOdd, draws.oneIn(4), case .string("integer")? = schema.member("type")?.item.value {
            return .integer(draws.extreme())
        }
        return sql(DrawnValues(draws: draws, badOneIn: isOdd ? 32 : .max).value(name, schema))
    }

    /// A value as a read model keeps it.
    private func sql(_ value: JSON) -> SQLValue {
        switch value {
        case .null: return .null
        case .boolean(let value): return .integer(value ? 1 : 0)
        case .integer(let value): return .integer(value)
        case .number(let value): return .real(value)
        case .string(let text): return .text(text)
        case .array, .object:
            var bytes: [UInt8] = []
            value.appendCanonical(to: &bytes)
            return .text(String(decoding: bytes, as: UTF8.self))
        }
    }
}
