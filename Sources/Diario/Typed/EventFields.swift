public import DiarioCore
import DiarioSchema

/// The fields of one event, by their number: how generated code writes and reads a payload.
///
/// A field's number is its place among the names of all fields in byte order, from 0. The form of a
/// value must be that of its field, else the program ends: the plugin sees to that.
public struct EventFields: Sendable {
    var builder: PayloadBuilder

    init() { builder = PayloadBuilder() }

    init(_ payload: Payload, of type: EventType) { builder = PayloadBuilder(payload, of: type) }

    // MARK: Writing

    /// Sets an integer; nil leaves it absent.
    ///
    /// - Throws: ``DiarioError`` if it is outside the bounds of the schema.
    public mutating func set(_ value: Int?, at field: Int) throws {
        guard let value else { return }
        try checking { (builder) throws(SchemaError) in
            try builder.setInteger(Int64(value), at: field)
        }
    }

    /// Sets a number; nil leaves it absent.
    ///
    /// - Throws: ``DiarioError`` if it is not finite, or outside the bounds of the schema.
    public mutating func set(_ value: Double?, at field: Int) throws {
        guard let value else { return }
        try checking { (builder) throws(SchemaError) in try builder.setNumber(value, at: field) }
    }

    /// Sets a boolean; nil leaves it absent.
    public mutating func set(_ value: Bool?, at field: Int) {
        guard let value else { return }
        builder.setBoolean(value, at: field)
    }

    /// Sets a text; nil leaves it absent.
    ///
    /// - Throws: ``DiarioError`` if its length or its form is not that of the schema.
    public mutating func set(_ value: String?, at field: Int) throws {
        guard let value else { return }
        try checking { (builder) throws(SchemaError) in try builder.setText(value, at: field) }
    }

    /// Sets an enumeration to the value of that number in the schema, from 0; nil leaves it absent.
    public mutating func set(code: Int?, at field: Int) {
        guard let code else { return }
        builder.setCode(code, at: field)
    }

    /// Sets a date; nil leaves it absent.
    public mutating func set(_ value: CivilDay?, at field: Int) {
        guard let value else { return }
        builder.setDays(Int64(value.daysSince1970), at: field)
    }

    /// Sets a date-time; nil leaves it absent.
    ///
    /// - Throws: ``DiarioError`` if it is not in the years 1 to 9999.
    public mutating func set(_ value: Timestamp?, at field: Int) throws {
        guard let value else { return }
        try checking { (builder) throws(SchemaError) in try builder.setTime(value, at: field) }
    }

    /// Sets a uuid; nil leaves it absent.
    public mutating func set(_ value: UniqueID?, at field: Int) {
        guard let value else { return }
        builder.setUUID(value.high, value.low, at: field)
    }

    /// Sets bytes; nil leaves them absent.
    ///
    /// - Throws: ``DiarioError`` if there are more or fewer than the schema takes.
    public mutating func set(_ value: [UInt8]?, at field: Int) throws {
        guard let value else { return }
        try checking { (builder) throws(SchemaError) in try builder.setBytes(value, at: field) }
    }

    /// Sets a nested value; nil leaves it absent.
    ///
    /// - Throws: ``DiarioError`` if the text is no JSON, or does not fit the schema.
    public mutating func set(_ value: JSONText?, at field: Int) throws {
        guard let value else { return }
        try checking { (builder) throws(SchemaError) in
            try builder.setJSON(value.text, at: field)
        }
    }

    /// Sets an id; nil leaves it absent.
    ///
    /// - Throws: ``DiarioError`` if its length or its form is not that of the schema, or if it is
    ///   the id of an event of another batch.
    public mutating func set(_ value: ThingID?, at field: Int) throws {
        switch value?.content {
        case nil: return
        case .text(let text): try set(text, at: field)
        case .event(let number, let batch):
            guard batch == self.batch else {
                throw DiarioError(
                    .invalid,
                    "\(builder.type.name): field \(builder.type.fields[field].name): the id is "
                        + "that of an event in another batch; take it from the origin that append "
                        + "gave",
                    rule: "batch-reference",
                    field: builder.type.fields[field].name
                )
            }
            try checking { (builder) throws(SchemaError) in
                try builder.setReference(number, at: field)
            }
        }
    }

    /// The batch that the event is added to.
    var batch: UInt64 = 0

    private mutating func checking(
        _ body: (inout PayloadBuilder) throws(SchemaError) -> Void
    ) throws(DiarioError) {
        do throws(SchemaError) { try body(&builder) } catch { throw DiarioError(error) }
    }
}
