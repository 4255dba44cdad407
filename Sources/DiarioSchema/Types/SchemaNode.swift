/// The rules for one value of a payload, in a form that is read without counting references.
///
/// The nodes of a type are in one array: first those of its fields, in byte order of the names,
/// then those of nested values. Names and enum values, of no fixed size, are in separate arrays.
struct SchemaNode: Sendable {
    var kind: Kind
    var isRequired = false
    /// True if the field refers to a thing, so that `#3` may be the id of a new one.
    var isReference = false
    /// True if the field is the subject of its event.
    var isSubject = false
    /// True if the bytes are 32: the id or the key of a blob.
    var isHash = false
    /// The bytes `"name":` in `SchemaRules.names`.
    var token = SchemaRange()
    /// The member that a writer of the schema's own order writes after this one, or -1.
    var successor: Int32 = -1
    /// The index in `SchemaRules.patterns`, or -1.
    var pattern: Int32 = -1
    /// The members of an object or the one item of an array, in `SchemaRules.nodes`; the values of
    /// an enumeration, in `SchemaRules.values`.
    var children = SchemaRange()
    /// Bounds of an integer, of a length or of a count of items.
    var minimum = Int64.min
    var maximum = Int64.max
    var numberMinimum = -Double.infinity
    var numberMaximum = Double.infinity

    enum Kind: UInt8, Sendable {
        case integer, number, string, boolean, enumeration, date, dateTime, uuid, bytes
        case object, array

        var fieldKind: Field.Kind {
            switch self {
            case .integer: .integer
            case .number: .number
            case .string: .string
            case .boolean: .boolean
            case .enumeration: .enumeration
            case .date: .date
            case .dateTime: .dateTime
            case .uuid: .uuid
            case .bytes: .bytes
            case .object, .array: .nested
            }
        }
    }
}

/// A part of one of the arrays of `SchemaRules`.
struct SchemaRange: Sendable {
    var start: Int32 = 0
    var count: Int32 = 0

    init(start: Int = 0, count: Int = 0) {
        self.start = Int32(start)
        self.count = Int32(count)
    }

    var indices: Range<Int> { Int(start)..<Int(start) + Int(count) }
}

/// One value of an enumeration.
struct EnumerationValue: Sendable {
    /// The bytes in `SchemaRules.names`.
    var text: SchemaRange
    /// The index in the order of the schema.
    var index: Int32
}

/// All rules of a type, laid out for reading payloads fast.
struct SchemaRules: Sendable {
    var nodes: [SchemaNode] = []
    /// Tokens and values, one after another.
    var names: [UInt8] = []
    /// Within each enumeration sorted by length, then by bytes.
    var values: [EnumerationValue] = []
    /// The bytes of the values in `names`, within each enumeration in the order of the schema.
    var valueTexts: [SchemaRange] = []
    var patterns: [Pattern] = []

    /// The name of the member that `node` is.
    func name(of node: Int) -> String {
        let token = nodes[node].token.indices
        guard token.count > 3 else { return "" }
        return String(
            decoding: names[token.lowerBound + 1..<token.upperBound - 2],
            as: UTF8.self
        )
    }

    /// The values of an enumeration in the order of the schema.
    func values(of node: Int) -> [String] {
        valueTexts[nodes[node].children.indices]
            .map { String(decoding: names[$0.indices], as: UTF8.self) }
    }
}
