package import DiarioSQLite
package import DiarioSchema

extension JSONObjectWriter {
    /// A row of an answer; bytes are in base64, and numbers that JSON has not are texts.
    package static func row(_ columns: [String], _ values: [Value]) -> [UInt8] {
        object { json in
            for (name, value) in zip(columns, values) { json.add(name, value) }
        }
    }

    private mutating func add(_ name: String, _ value: Value) {
        switch value {
        case .null: addNull(name)
        case .integer(let value): add(name, value)
        case .real(let value) where value.isFinite: add(name, value)
        case .real, .text, .blob: add(name, value.shown)
        }
    }
}

extension Value {
    /// The value as a person reads it; bytes in base64.
    package var shown: String {
        switch self {
        case .null: ""
        case .integer(let value): String(value)
        case .real(let value):
            value.isFinite
                ? String(decoding: JSONObjectWriter.number(value), as: UTF8.self)
                : value < 0 ? "-Infinity" : "Infinity"
        case .text(let text): text
        case .blob(let bytes): String(decoding: CellWriter.base64(bytes[...]), as: UTF8.self)
        }
    }
}
