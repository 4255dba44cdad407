import DiarioCore
import DiarioSQLite
package import DiarioSchema

extension JSONObjectWriter {
    mutating func add(_ name: String, _ value: SQLValue) {
        switch value {
        case .null: addNull(name)
        case .integer(let value): add(name, value)
        case .real(let value) where value.isFinite: add(name, value)
        case .real, .text, .blob: add(name, value.shown)
        }
    }
}

extension SQLValue {
    /// The value as a person reads it; bytes in base64.
    var shown: String {
        switch self {
        case .null: ""
        case .integer(let value): String(value)
        case .real(let value):
            value.isFinite
                ? String(decoding: JSONText.number(value), as: UTF8.self)
                : value < 0 ? "-Infinity" : "Infinity"
        case .text(let text): text
        case .blob(let bytes): String(decoding: CellWriter.base64(bytes[...]), as: UTF8.self)
        }
    }
}

extension PackQuery {
    /// What it answers and is asked with, as an object of JSON.
    package func json(in pack: Pack) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("pack", pack.name)
            json.add("name", name)
            json.add("title", title)
            json.add(
                "parameters",
                list: parameters.map { parameter in
                    JSONObjectWriter.object { json in
                        json.add("name", parameter.name)
                        json.add("type", parameter.values.text)
                        if let source = parameter.source { json.add("of", source) }
                        if let fallback = parameter.fallback { json.add("default", fallback) }
                    }
                }
            )
            guard let columns else { return }
            json.add(
                "answers",
                list: columns.map { column in
                    JSONObjectWriter.object { json in
                        json.add("name", column.name)
                        json.add("type", column.values.text)
                        if column.mayBeNull { json.add("null", true) }
                    }
                }
            )
        }
    }
}
