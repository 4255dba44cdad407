/// One field of an event type's payload, with its rules and annotations.
package struct Field: Sendable {
    package let name: String
    package let kind: Kind
    package let isRequired: Bool
    /// True if the field can be erased later (`x-diario-personal`).
    package let isPersonal: Bool
    /// True if the writer fills in the event's own origin where the field is absent.
    package let isNewID: Bool
    /// The kind of thing that the field refers to (`x-diario-id` other than `new`).
    package let referenceKind: String?
    package let unit: String?
    package let title: String?
    package let description: String?
    package let bounds: Bounds

    /// The name in UTF-8; fields are in the order of these bytes.
    package let nameBytes: [UInt8]

    /// The kind of a field's values, which decides how a payload stores them.
    package enum Kind: UInt8, Sendable {
        /// An integer slot.
        case integer
        /// A number slot.
        case number
        /// A bytes slot: UTF-8.
        case string
        /// An integer slot: 0 or 1.
        case boolean
        /// An integer slot: the index in `bounds.values`.
        case enumeration
        /// An integer slot: days since 1970.
        case date
        /// An integer slot: milliseconds since 1970.
        case dateTime
        /// A bytes slot: 16 bytes.
        case uuid
        /// A bytes slot: the bytes themselves.
        case bytes
        /// A bytes slot: an object or array as canonical JSON.
        case nested
    }

    /// The bounds of a field's values; nil or empty if there are none.
    package struct Bounds: Sendable {
        package var minimum: Int64?
        package var maximum: Int64?
        package var numberMinimum: Double?
        package var numberMaximum: Double?
        /// In Unicode scalars; of the base64 text for bytes; in items for a nested array.
        package var lengthMin: Int?
        package var lengthMax: Int?
        package var pattern: Pattern?
        /// The strings of an enumeration, in the order of the schema.
        package var values: [String] = []
    }
}
