/// An error in a line of JSON, a payload or a schema, with what a person needs to correct it.
package struct SchemaError: Error, Equatable, Sendable {
    /// The broken rule; its raw value is stable.
    package let kind: Kind
    /// The full name of the event type, where it is known.
    package let typeName: String?
    /// The path in the payload, as `a.b[3]`, or the key of the line; empty for the whole.
    package let path: String
    /// The value found, as JSON, shortened to about 60 characters.
    package let value: String
    /// The byte at which the fault was found, counted from the start of the line or file.
    package let byteOffset: Int
    /// The line of the file or stream, counted from 1, if the caller or the reader knows it.
    package var line: Int?
    /// What is wrong and how to correct it, without the line.
    package let message: String

    package init(
        kind: Kind,
        typeName: String?,
        path: String,
        value: String,
        byteOffset: Int,
        line: Int?,
        message: String
    ) {
        self.kind = kind
        self.typeName = typeName
        self.path = path
        self.value = value
        self.byteOffset = byteOffset
        self.line = line
        self.message = message
    }

    /// The stable name of the rule that was broken, in kebab case.
    package var rule: String { kind.rawValue }

    /// Every rule that JSON, a payload or a line can break.
    package enum Kind: String, CaseIterable, Sendable {
        // The text is no JSON, or none that Diario takes.
        case unexpectedByte = "syntax"
        case unexpectedEnd = "unexpected-end"
        case trailingBytes = "trailing-bytes"
        case invalidUTF8 = "utf-8"
        case controlCharacter = "control-character"
        case zeroCharacter = "zero-character"
        case loneSurrogate = "lone-surrogate"
        case invalidEscape = "escape"
        case tooDeep = "depth"
        case tooLarge = "line-size"
        case duplicateKey = "duplicate-key"
        case explicitNull = "null"

        // The payload does not fit its type.
        case wrongType = "type"
        case unknownField = "unknown-field"
        case missingField = "required"
        case belowMinimum = "minimum"
        case aboveMaximum = "maximum"
        case beyondInteger = "int64"
        case beyondNumber = "binary64"
        case tooShort = "min-length"
        case tooLong = "max-length"
        case tooFewItems = "min-items"
        case tooManyItems = "max-items"
        case patternMismatch = "pattern"
        case notInEnumeration = "enum"
        case invalidDate = "date"
        case invalidDateTime = "date-time"
        case invalidUUID = "uuid"
        case invalidBase64 = "base64"
        case notHash = "blob-bytes"
        case invalidSubject = "subject"
        case invalidReference = "batch-reference"
        case beyondEvent = "event-size"

        // The keys of the line beside the payload.
        case unknownKey = "unknown-key"
        case missingKey = "missing-key"
        case unknownType = "unknown-type"
        case unknownVersion = "unknown-version"
        case subjectNotAllowed = "subject-not-allowed"
        case invalidKey = "invalid-key"
    }
}

extension SchemaError: CustomStringConvertible {
    package var description: String {
        if let line { "line \(line): \(message)" } else { message }
    }
}

/// A fault as the readers throw it: small enough to come back in registers.
///
/// `SchemaError.init(explaining:...)` reads the text once more, up to the fault, to say where it
/// is; so the path of a field costs nothing while all is well.
struct Fault: Error {
    let kind: SchemaError.Kind
    /// The rule's node in the type, or -1 where no schema is concerned.
    let node: Int32
    /// The offset of the offending value, key or byte.
    let offset: Int32

    init(_ kind: SchemaError.Kind, at offset: Int, node: Int = -1) {
        self.kind = kind
        self.node = Int32(node)
        self.offset = Int32(clamping: offset)
    }
}
