import DiarioCore
import DiarioSchema

/// The parts of an event as texts for people.
struct EventFields {
    private let line: EventLine

    init(_ line: EventLine) { self.line = line }

    var position: String { line.position.map { "\($0)" } ?? "-" }
    var origin: String { line.origin?.text ?? "-" }
    var acceptedAt: String { line.acceptedAt.map { Show.time($0.milliseconds) } ?? "-" }
    var at: String { line.at.map { Show.time($0.milliseconds) } ?? "-" }
    var type: String { line.type.name }
    var version: String { "\(line.type.version)" }
    var actor: String { line.actor.map { text(line.arena[$0]) } ?? "-" }

    /// The time of the author without fractions of a second, which nobody reads in a table.
    var shortTime: String {
        guard let at = line.at else { return "-" }
        let text = Show.time(at.milliseconds)
        guard text.hasSuffix("Z") else { return text }
        return text.prefix(10) + " " + text.dropFirst(11).prefix(8)
    }

    /// What the event is about, wherever its type says that.
    var subject: String {
        if let subject = line.subject { return text(line.arena[subject]) }
        guard let index = line.type.subjectFieldIndex else { return "-" }
        switch line.payload.slots[index] {
        case .absent, .number: return "-"
        case .integer(let value): return "\(value)"
        case .bytes:
            guard let bytes = line.payload.bytes(at: index) else { return "-" }
            guard line.type.fields[index].kind == .uuid else { return text(bytes) }
            return Self.uuid(bytes)
        }
    }

    var payload: String {
        var bytes: [UInt8] = []
        PayloadWriter.append(line.payload, of: line.type, to: &bytes)
        return CellText.json(String(decoding: bytes, as: UTF8.self))
    }

    /// The value of a field as JSON; nil if it is absent.
    func value(_ name: String) -> String? {
        var bytes: [UInt8] = []
        PayloadWriter.append(line.payload, of: line.type, to: &bytes)
        guard let item = try? JSON.parse(bytes).value.member(name)?.item else { return nil }
        bytes.removeAll()
        item.value.appendCanonical(to: &bytes)
        return CellText.json(String(decoding: bytes, as: UTF8.self))
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String {
        CellText.oneLine(String(decoding: bytes, as: UTF8.self))
    }

    private static func uuid(_ bytes: ArraySlice<UInt8>) -> String {
        let digits = Show.hexadecimal(bytes)
        var parts: [Substring] = []
        var rest = digits[...]
        for size in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return parts.joined(separator: "-")
    }
}
