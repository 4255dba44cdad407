import DiarioCore
import DiarioFormat
import DiarioSchema
package import DiarioStorage

/// Where an event stands in the input, for those who must mend it.
package struct InputPlace {
    /// The line on which it starts, counted from 1.
    let line: Int
    /// Of an array: which element it is, and at which byte it starts, both counted from 1.
    var element: (number: Int, byte: Int)?
    /// Of an array that was read whole: which element it is, counted from 1.
    var number: Int?

    init(line: Int, element: (number: Int, byte: Int)? = nil) {
        self.line = line
        self.element = element
    }

    var text: String {
        if let number { return "element \(number) (line \(line))" }
        guard let element else { return "line \(line)" }
        return "element \(element.number) (line \(line), byte \(element.byte))"
    }

    /// Where a batch begins, in the words of a sentence.
    var beginning: String { element.map { "element \($0.number)" } ?? "line \(line)" }
}

/// A file of events, whatever its form, as lines that an export in JSON would have.
enum EventInput {
    case lines(FileLines)
    case cloudEvents(CloudEventBatch)

    /// How many bytes of the file were read.
    var offset: Int {
        switch self {
        case .lines(let lines): lines.offset
        case .cloudEvents(let batch): batch.offset
        }
    }

    /// How many events were read.
    var number: Int {
        switch self {
        case .lines(let lines): lines.number
        case .cloudEvents(let batch): batch.number
        }
    }

    /// What the events say that no event of Diario has: it is not recorded.
    var ignoredNames: [String] {
        switch self {
        case .lines: []
        case .cloudEvents(let batch): batch.ignoredNames
        }
    }

    /// Gives the next event and its place to `body`; false at the end.
    mutating func next(
        _ body: (Span<UInt8>, InputPlace) throws(DiarioError) -> Void
    ) throws(DiarioError) -> Bool {
        switch consume self {
        case .lines(var lines):
            defer { self = .lines(lines) }
            return try lines.next(body)
        case .cloudEvents(var batch):
            defer { self = .cloudEvents(batch) }
            return try batch.next(body)
        }
    }
}

/// The forms in which events come and go.
package enum EventForm: Sendable {
    /// One JSON object in each line.
    case lines
    /// CloudEvents, in a JSON array or one after the other: schema/format/cloudevents.md.
    case cloudEvents

    /// What a file is by how it begins: `[`, or an object with `specversion`, are CloudEvents.
    package static func detected(in file: any LogFile) throws(DiarioError) -> EventForm {
        var scan = FormScan()
        var bytes: [UInt8] = []
        var offset = 0
        // Not for ever: lines are bounded too, and no writer puts that many blanks in front.
        while offset <= Limits.lineSizeMax {
            bytes.removeAll(keepingCapacity: true)
            do throws(StorageError) {
                try file.read(at: Int64(offset), count: 4096, into: &bytes)
            } catch {
                throw DiarioError(error)
            }
            guard !bytes.isEmpty else { return .lines }
            let start = offset == 0 ? ByteOrderMark.size(atStartOf: bytes) : 0
            for byte in bytes[start...] {
                if let form = scan.next(byte) { return form }
            }
            offset += bytes.count
        }
        return .lines
    }
}

/// Looks for the key `specversion` in the first object of a file.
private struct FormScan {
    private static let key = Array("specversion".utf8)

    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// The string that came last in the object itself, as far as it may be the key.
    private var text: [UInt8] = []

    /// The form, once a byte tells.
    mutating func next(_ byte: UInt8) -> EventForm? {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            // One more than the key has tells that it is another string.
            if isInString, depth == 1, text.count <= Self.key.count { text.append(byte) }
            return nil
        }
        guard !byte.isJSONBlank else { return nil }
        switch byte {
        case UInt8(ascii: "\"") where depth > 0:
            isInString = true
            if depth == 1 { text.removeAll(keepingCapacity: true) }
        case UInt8(ascii: ":") where depth == 1:
            if text == Self.key { return .cloudEvents }
        case UInt8(ascii: "["):
            if depth == 0 { return .cloudEvents }
            depth += 1
        case UInt8(ascii: "{"): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth -= 1
            if depth <= 0 { return .lines }
        default:
            if depth == 0 { return .lines }
        }
        return nil
    }
}

extension UInt8 {
    /// Whether it may stand between the values of JSON.
    var isJSONBlank: Bool { self == 0x20 || self == 0x0a || self == 0x0d || self == 0x09 }
}

extension DiarioError {
    /// An error about the event at `place`.
    static func refused(_ place: InputPlace, _ what: String) -> DiarioError {
        DiarioError(.invalid, "\(place.text): \(what)", line: place.line)
    }

    init(_ error: SchemaError, at place: InputPlace) {
        var message = error.message
        // CloudEvents have other names for what a line calls its keys.
        if place.element != nil, let name = CloudEventName.attribute(ofKey: error.path) {
            message = message.replacing("key \(error.path): ", with: "attribute \(name): ")
        }
        self.init(
            error.kind == .tooLarge ? .tooLarge : .invalid,
            "\(place.text): \(message)",
            line: place.line,
            rule: error.rule,
            field: error.path
        )
    }

    init(_ error: FormatError, at place: InputPlace) {
        let plain = DiarioError(error)
        self.init(plain.kind, "\(place.text): \(plain.message)", line: place.line)
    }
}
