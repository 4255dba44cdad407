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
package protocol EventInput {
    /// How many bytes of the file were read.
    var offset: Int { get }
    /// How many events were read.
    var number: Int { get }
    /// What the events say that no event of Diario has: it is not recorded.
    var ignoredNames: [String] { get }

    /// Gives the next event and its place to `body`; false at the end.
    mutating func next(
        _ body: (Span<UInt8>, InputPlace) throws(DiarioError) -> Void
    ) throws(DiarioError) -> Bool
}

/// The forms in which events come and go.
package enum EventForm: Sendable {
    /// One JSON object in each line.
    case lines
    /// A JSON array of CloudEvents: schema/format/cloudevents.md.
    case cloudEvents

    /// What a file is by its first byte that is no blank: `[` begins CloudEvents.
    package static func detected(in file: any LogFile) throws(DiarioError) -> EventForm {
        var bytes: [UInt8] = []
        var offset = 0
        // Not for ever: lines are bounded too, and no writer puts that many blanks in front.
        while offset <= Limits.lineSizeMax {
            bytes.removeAll(keepingCapacity: true)
            do throws(StorageError) {
                try file.read(at: offset, count: 4096, into: &bytes)
            } catch {
                throw DiarioError(error)
            }
            guard !bytes.isEmpty else { return .lines }
            let start = offset == 0 ? ByteOrderMark.size(atStartOf: bytes) : 0
            if let first = bytes[start...].first(where: { !$0.isJSONBlank }) {
                return first == UInt8(ascii: "[") ? .cloudEvents : .lines
            }
            offset += bytes.count
        }
        return .lines
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
