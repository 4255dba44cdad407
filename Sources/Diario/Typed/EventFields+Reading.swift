public import DiarioCore
import DiarioSchema

extension EventFields {
    /// The value of a field that the schema requires.
    ///
    /// - Throws: ``DiarioError`` if it is absent.
    public func required<Value>(_ value: Value?, at field: Int) throws -> Value {
        if let value { return value }
        let name = builder.type.fields[field].name
        throw DiarioError(
            .invalid,
            "\(builder.type.name): field \(name): required, but absent",
            rule: SchemaError.Kind.missingField.rawValue,
            field: name
        )
    }

    /// An integer; nil if it is absent.
    public func integer(at field: Int) -> Int? {
        guard case .integer(let value) = builder.payload.slots[field] else { return nil }
        return Int(value)
    }

    /// A number; nil if it is absent.
    public func number(at field: Int) -> Double? {
        guard case .number(let value) = builder.payload.slots[field] else { return nil }
        return value
    }

    /// A boolean; nil if it is absent.
    public func boolean(at field: Int) -> Bool? { integer(at: field).map { $0 != 0 } }

    /// A text; nil if it is absent.
    public func text(at field: Int) -> String? {
        builder.payload.bytes(at: field).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The number in the schema of an enumeration's value, from 0; nil if it is absent.
    public func code(at field: Int) -> Int? { integer(at: field) }

    /// A date; nil if it is absent.
    public func day(at field: Int) -> CivilDay? {
        integer(at: field).flatMap { CivilDay(daysSince1970: $0) }
    }

    /// A date-time; nil if it is absent.
    public func time(at field: Int) -> Timestamp? {
        guard case .integer(let value) = builder.payload.slots[field] else { return nil }
        return Timestamp(milliseconds: value)
    }

    /// A uuid; nil if it is absent.
    public func uniqueID(at field: Int) -> UniqueID? {
        guard let bytes = builder.payload.bytes(at: field), bytes.count == 16 else { return nil }
        return UniqueID(
            high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
            low: bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
        )
    }

    /// Bytes; nil if they are absent.
    public func bytes(at field: Int) -> [UInt8]? {
        builder.payload.bytes(at: field).map { Array($0) }
    }

    /// A nested value; nil if it is absent.
    public func json(at field: Int) -> JSONText? { text(at: field).map { JSONText($0) } }

    /// An id; nil if it is absent.
    public func thing(at field: Int) -> ThingID? { text(at: field).map { ThingID($0) } }
}
