import DiarioSchema

/// The Swift source of one field of an event type.
struct FieldSource {
    private let field: Field
    /// The number by which it is encoded.
    private let index: Int
    /// The name of the Swift type for its values, if it is an enumeration.
    private let choice: String?
    /// True if the pack gives that name.
    private let isNamed: Bool
    /// With back quotes where Swift needs them.
    let name: String

    init(_ field: Field, index: Int, choice: String?, isNamed: Bool) {
        self.isNamed = isNamed
        self.field = field
        self.index = index
        self.choice = choice
        name = SwiftNames.field(field.name)
    }

    /// True if it may be absent; what is personal may be erased.
    var isOptional: Bool { !field.isRequired || field.isPersonal }

    var swiftType: String { valueType + (isOptional ? "?" : "") }

    var isRequired: Bool { field.isRequired }

    private var isThing: Bool { field.isNewID || field.referenceKind != nil }

    private var valueType: String {
        switch field.kind {
        case .integer: "Int"
        case .number: "Double"
        case .string: isThing ? "ThingID" : "String"
        case .boolean: "Bool"
        case .enumeration: choice ?? "Int"
        case .date: "CivilDay"
        case .dateTime: "Timestamp"
        case .uuid: "UniqueID"
        case .bytes: "[UInt8]"
        case .nested: "JSONText"
        }
    }

    var setMayThrow: Bool {
        switch field.kind {
        case .boolean, .enumeration, .date, .uuid: false
        case .integer, .number, .string, .dateTime, .bytes, .nested: true
        }
    }

    /// The statement that encodes it.
    var set: String {
        let value =
            choice == nil ? name : "code: \(name)\(isOptional ? "?" : "").code"
        return (setMayThrow ? "try " : "") + "fields.set(\(value), at: \(index))"
    }

    /// The target of its decoded value.
    var assigned: String { name == "fields" ? "self.fields" : name }

    /// Adds the statement that decodes it.
    func appendRead(to text: inout SwiftText) {
        let value =
            choice.map { "\($0)(code: fields.code(at: \(index)))" }
            ?? "fields.\(reader)(at: \(index))"
        guard !isOptional else { return text.line("\(assigned) = \(value)") }
        text.call("\(assigned) = try fields.required", [value, "at: \(index)"])
    }

    private var reader: String {
        switch field.kind {
        case .integer: "integer"
        case .number: "number"
        case .string: isThing ? "thing" : "text"
        case .boolean: "boolean"
        case .enumeration: "code"
        case .date: "day"
        case .dateTime: "time"
        case .uuid: "uniqueID"
        case .bytes: "bytes"
        case .nested: "json"
        }
    }

    /// The expression for its value as the text of a subject.
    var asText: String {
        switch valueType {
        case "String": name
        case "Int": isOptional ? "\(name).map { String($0) }" : "String(\(name))"
        default: "\(name)\(isOptional ? "?" : "").text"
        }
    }

    // MARK: The comment

    var comment: [String] {
        var notes: [String] = []
        if let unit = field.unit { notes.append("In \(unit).") }
        notes += bounds
        if field.isNewID { notes.append("The origin of the event if nil.") }
        if let kind = field.referenceKind { notes.append("The id of a \(kind).") }
        if field.isPersonal { notes.append("Personal: it may be erased.") }
        let text = Comment.paragraphs(field.title, field.description)
        let note = notes.joined(separator: " ")
        guard let first = text.first else {
            guard let first = notes.first else { return [] }
            return [first, notes.dropFirst().joined(separator: " ")].filter { !$0.isEmpty }
        }
        return [first] + text.dropFirst() + (note.isEmpty ? [] : [note])
    }

    private var bounds: [String] {
        let bounds = field.bounds
        var notes: [String] = []
        let (low, high): (String?, String?) =
            field.kind == .number
            ? (bounds.numberMinimum.map { "\($0)" }, bounds.numberMaximum.map { "\($0)" })
            : (bounds.minimum.map { "\($0)" }, bounds.maximum.map { "\($0)" })
        switch (low, high) {
        case (let low?, let high?): notes.append("From \(low) to \(high).")
        case (let low?, nil): notes.append("At least \(low).")
        case (nil, let high?): notes.append("At most \(high).")
        case (nil, nil): break
        }
        if field.kind == .string {
            switch (bounds.lengthMin, bounds.lengthMax) {
            case (let low?, let high?): notes.append("From \(low) to \(high) characters.")
            case (let low?, nil): notes.append("At least \(low) characters.")
            case (nil, let high?): notes.append("At most \(high) characters.")
            case (nil, nil): break
            }
            if let pattern = bounds.pattern?.text { notes.append("Matches `\(pattern)`.") }
        }
        return notes
    }

    // MARK: The values of an enumeration

    /// Adds the Swift type for the values, if it is an enumeration of this field alone.
    func appendChoice(to text: inout SwiftText) {
        guard let choice, !isNamed else { return }
        text.line()
        text.line("/// The values of `\(field.name)`.")
        ChoiceSource(name: choice, values: field.bounds.values, hasCodes: true).append(to: &text)
    }
}
