import DiarioCore
import DiarioSQLite
import DiarioSchema

/// The row that an upcast gives, checked against the schema that it is for.
enum UpcastRow {
    /// The problem with one of its fields.
    struct Fault: Error {
        let field: String
        let message: String
    }

    /// The values as the schema has them: in bounds, and in the form in which an event of this
    /// version itself would be bound.
    static func conforming(
        _ values: [SQLValue],
        to type: EventType
    ) throws(Fault) -> [SQLValue] {
        var reader = PayloadReader()
        var payload = Payload()
        payload.reset(fieldCount: type.fields.count)
        var row = values
        for (index, field) in type.fields.enumerated() {
            guard row[index] != .null else {
                guard !field.isRequired else {
                    throw Fault(
                        field: field.name,
                        message: "the upcast leaves the field \(field.name) empty"
                    )
                }
                continue
            }
            guard let text = text(of: row[index], field.kind) else {
                throw Fault(
                    field: field.name,
                    message: "the upcast gives \(field.name) a value of another kind"
                )
            }
            do throws(SchemaError) {
                try reader.readField(text.span, at: index, of: type, into: &payload)
            } catch {
                throw Fault(
                    field: field.name,
                    message: "the upcast gives \(field.name) what it may not be: \(error.message)"
                )
            }
            row[index] = value(row[index], payload, index, field.kind)
        }
        return row
    }

    /// The JSON of a value of SQL; nil if the field cannot have it.
    private static func text(of value: SQLValue, _ kind: Field.Kind) -> [UInt8]? {
        switch (kind, value) {
        case (.integer, .integer(let value)): return JSONText.integer(value)
        case (.number, .integer(let value)):
            return Int64(exactly: Double(value)) == value ? JSONText.integer(value) : nil
        case (.number, .real(let value)):
            return value.isFinite ? JSONText.number(value) : nil
        case (.boolean, .integer(let value)):
            return 0...1 ~= value ? JSONText.boolean(value == 1) : nil
        case (.dateTime, .integer(let value)):
            let time = Timestamp(milliseconds: value)
            return CivilTime.contains(time) ? JSONText.time(time) : nil
        case (.string, .text(let text)), (.enumeration, .text(let text)), (.uuid, .text(let text)),
            (.date, .text(let text)):
            return JSONText.string(text)
        case (.bytes, .blob(let bytes)): return JSONText.bytes(bytes)
        case (.nested, .text(let text)): return Array(text.utf8)
        default: return nil
        }
    }

    /// The value as it is bound for an event that has it itself.
    private static func value(
        _ value: SQLValue,
        _ payload: Payload,
        _ index: Int,
        _ kind: Field.Kind
    ) -> SQLValue {
        switch kind {
        case .number:
            if case .number(let number) = payload.slots[index] { return .real(number) }
        case .nested:
            if let bytes = payload.bytes(at: index) {
                return .text(String(decoding: bytes, as: UTF8.self))
            }
        case .uuid:
            if let bytes = payload.bytes(at: index) {
                var text: [UInt8] = []
                Payload.appendUUID(Array(bytes).span, to: &text)
                return .text(String(decoding: text, as: UTF8.self))
            }
        default: break
        }
        return value
    }
}
