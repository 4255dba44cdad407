import DiarioSchema

/// What is known of a value of SQL before there is one.
struct Trait: Equatable {
    struct Kinds: OptionSet {
        let rawValue: UInt8

        static let integer = Kinds(rawValue: 1)
        static let real = Kinds(rawValue: 2)
        static let text = Kinds(rawValue: 4)
        static let blob = Kinds(rawValue: 8)
        static let all: Kinds = [.integer, .real, .text, .blob]
    }

    /// What it may be beside NULL.
    var kinds: Kinds = []
    /// Whether it depends on what can be erased.
    var isPersonal = false
    /// Whether it may be a text of which nobody knows that it is JSON.
    var isLoose = false
    /// What a value inside may be, if it is JSON.
    var members: Kinds = []
    var isOptional = false

    static let integer = Trait(kinds: .integer)
    static let text = Trait(kinds: .text, isLoose: true)
    static let null = Trait(isOptional: true)
    /// Of what is not understood, the worst.
    static let unknown = Trait(
        kinds: .all,
        isPersonal: true,
        isLoose: true,
        members: .all,
        isOptional: true
    )

    var mayBeReal: Bool { kinds.contains(.real) }

    mutating func formUnion(_ other: Trait) {
        kinds.formUnion(other.kinds)
        isPersonal = isPersonal || other.isPersonal
        isLoose = isLoose || other.isLoose
        members.formUnion(other.members)
        isOptional = isOptional || other.isOptional
    }

    func union(_ other: Trait) -> Trait {
        var both = self
        both.formUnion(other)
        return both
    }

    /// A value of these kinds that is made of others: personal and NULL if one of them is.
    static func made(of traits: [Trait], _ kinds: Kinds) -> Trait {
        Trait(
            kinds: kinds,
            isPersonal: traits.contains(where: \.isPersonal),
            isLoose: kinds.contains(.text),
            isOptional: traits.contains(where: \.isOptional)
        )
    }
}

extension Trait {
    init(_ field: Field, of type: EventType) {
        kinds = Self.kinds(of: field.kind)
        isPersonal = field.isPersonal
        isOptional = !field.isRequired && !field.isNewID
        if field.kind == .nested, let index = type.fieldIndex(field.name) {
            for kind in type.memberKinds(at: index) { members.formUnion(Self.kinds(of: kind)) }
        } else {
            isLoose = kinds.contains(.text)
        }
    }

    init(_ parameter: EnvelopeParameter) {
        switch parameter {
        case .position, .accepted, .base: self = Trait(kinds: .integer, isOptional: true)
        case .sequence, .version, .at, .clock: self = .integer
        case .replica, .origin, .type: self = .text
        case .actor, .subject: self = Trait(kinds: .text, isLoose: true, isOptional: true)
        }
    }

    /// Of a column, before anything is put into it.
    init(_ column: TableShape.Column) {
        switch column.type.uppercased() {
        case "INT", "INTEGER": kinds = .integer
        case "REAL": kinds = .real
        case "TEXT": kinds = .text
        case "BLOB": kinds = .blob
        default: kinds = .all
        }
        isOptional = !column.isNeeded
    }

    private static func kinds(of kind: Field.Kind) -> Kinds {
        switch kind {
        case .integer, .boolean, .dateTime: .integer
        case .number: .real
        case .string, .enumeration, .date, .uuid, .nested: .text
        case .bytes: .blob
        }
    }
}
