import DiarioCore

/// The declaration of a command or a view in a pack: what it is given, and what it answers.
package final class Declaration: Sendable {
    package enum Kind: String, Sendable {
        case command, view

        /// The folder of a pack that declarations of this kind are in.
        package var folder: String { rawValue + "s" }
    }

    /// The field of a result with sentences for people, which is not recorded.
    package static let textField = "text"

    package let kind: Kind
    /// The full name, `fish.report.file`.
    package let name: String
    package let version: Int
    package let description: Texts
    /// The event types that the command may record, by their full names.
    package let events: [String]
    /// True if it belongs to a person, so that it is not run without an actor.
    package let needsActor: Bool
    /// The form of the input; not an event type, but read and checked like a payload of one.
    package let input: EventType
    package let inputSchema: JSON
    package let result: EventType
    package let resultSchema: JSON
    /// The declaration in RFC 8785 form, without what is for people alone.
    ///
    /// A program runs it if it was made from one with the same text.
    package let canonicalText: [UInt8]

    init(_ parts: Parts) {
        kind = parts.kind
        name = parts.name
        version = parts.version
        description = parts.description
        events = parts.events
        needsActor = parts.needsActor
        input = EventType(parts.input)
        inputSchema = parts.inputSchema
        result = EventType(parts.result)
        resultSchema = parts.resultSchema
        canonicalText = parts.canonicalText
    }

    /// The content of a declaration.
    struct Parts {
        var kind: Kind
        var name: String
        var version: Int
        var description: Texts
        var events: [String]
        var needsActor: Bool
        var input: SchemaParts
        var inputSchema: JSON
        var result: SchemaParts
        var resultSchema: JSON
        var canonicalText: [UInt8]
    }

    /// The name without the pack.
    package var shortName: Substring { name.drop { $0 != "." }.dropFirst() }

    /// The field of the input for the id of the thing that the command makes.
    package var newIDField: Field? { input.newIDFieldIndex.map { input.fields[$0] } }

    /// The field of the input with the subject of an event that makes the command's thing; nil if
    /// events of the type make no such thing, or their subject is not in the input.
    package func subjectField(ofMaking type: EventType) -> String? {
        guard let made = newIDField, let index = type.newIDFieldIndex,
            type.fields[index].name.hasBytes(of: made.name), let subject = type.subjectFieldIndex
        else { return nil }
        if subject == index { return made.name }
        let name = type.fields[subject].name
        let isGiven = input.fields.contains { $0.name.hasBytes(of: name) && $0.isRequired }
        return isGiven ? name : nil
    }

    /// The fields of the input in the order of the declaration.
    package var inputFields: [Field] { input.fieldIndicesAsWritten.map { input.fields[$0] } }

    /// The options that every call has on the command line.
    static let callOptions: Set = [
        "input", "at", "actor", "language", "dry-run", "json", "no-progress", "help",
    ]

    /// The option for the file of each blob of the input, and the blob.
    package var fileOptions: [(name: String, blob: BlobField)] {
        input.blobs.map { (OptionText.dashed($0.name[...]), $0) }
    }

    /// True for a field of the input that follows from a file.
    func isPartOfBlob(_ field: Field) -> Bool {
        input.blobs.contains { blob in
            blob.partIndices.contains { input.fields[$0].name.hasBytes(of: field.name) }
        }
    }

    /// The form of each field of the input as text, in the order of the declaration; those of blobs
    /// follow from files.
    package var optionTexts: [OptionText] {
        let parts = input.blobs.flatMap { blob in
            blob.partIndices.map { input.fields[$0].name }
        }
        return inputFields.filter { !parts.contains($0.name) }.map { field in
            let schema = inputSchema.member("properties")?.item.value.member(field.name)
            return OptionText(field.name, schema?.item.value ?? .object([]))
        }
    }

    /// What a field of the input is called for people; nil if the declaration does not say.
    package func title(of field: String) -> Texts? {
        Texts(inputSchema.member("properties")?.item.value.member(field)?.item.value, "title")
    }

    /// More about a field of the input.
    package func description(of field: String) -> Texts? {
        Texts(
            inputSchema.member("properties")?.item.value.member(field)?.item.value,
            "description"
        )
    }
}
