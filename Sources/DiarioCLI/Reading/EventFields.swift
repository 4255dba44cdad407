import Diario
import DiarioSchema

/// The parts of an event as texts for people.
struct EventFields {
    private let line: EventLine

    init(_ line: EventLine) { self.line = line }

    var position: String { line.position.map { "\($0)" } ?? "-" }
    var origin: String { line.origin?.text ?? "-" }
    var acceptedAt: String { line.acceptedAt.map { Show.time($0) } ?? "-" }
    var at: String { line.at.map { Show.time($0) } ?? "-" }
    var type: String { line.type.name }
    var version: String { "\(line.type.version)" }
    var actor: String { line.actor.map { text(line.arena[$0]) } ?? "-" }

    /// The time of the author without fractions of a second, for tables.
    var shortTime: String {
        guard at.hasSuffix("Z") else { return at }
        return at.prefix(10) + " " + at.dropFirst(11).prefix(8)
    }

    /// The subject of the event, from its own field or from the payload.
    var subject: String {
        if let subject = line.subject { return text(line.arena[subject]) }
        guard let index = line.type.subjectFieldIndex else { return "-" }
        switch line.payload.slots[index] {
        case .absent, .number: return "-"
        case .integer(let value): return "\(value)"
        case .bytes:
            guard let bytes = line.payload.bytes(at: index) else { return "-" }
            guard line.type.fields[index].kind == .uuid else { return text(bytes) }
            var uuid: [UInt8] = []
            TextEncodings.appendUUIDText(bytes.span, to: &uuid)
            return String(decoding: uuid, as: UTF8.self)
        }
    }

    var payload: String { CellText.json(String(decoding: payloadBytes, as: UTF8.self)) }

    private var payloadBytes: [UInt8] {
        var bytes: [UInt8] = []
        PayloadWriter.append(line.payload, of: line.type, to: &bytes)
        return bytes
    }

    /// The value of a field as JSON; nil if it is absent.
    func value(_ name: String) -> String? {
        guard let item = try? JSON.parse(payloadBytes).value.member(name)?.item else { return nil }
        var bytes: [UInt8] = []
        item.value.appendCanonical(to: &bytes)
        return CellText.json(String(decoding: bytes, as: UTF8.self))
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String {
        CellText.oneLine(String(decoding: bytes, as: UTF8.self))
    }
}

extension Space {
    /// Refuses a filter that wants types which the space does not have: the result would look as if
    /// nothing had happened.
    func checkTypes(of filter: EventFilter) throws {
        let names = catalog.types.map(\.name)
        for wanted in filter.types {
            let isKnown =
                wanted.hasSuffix(".")
                ? names.contains { $0.hasPrefix(wanted) } : names.contains(wanted)
            guard isKnown else { throw failure(unknownType: wanted) }
        }
    }

    /// That there is no such type, or no pack with such a beginning; with the nearest name.
    func failure(unknownType name: String) -> Failure {
        let names = catalog.types.map(\.name)
        let beginnings = Set(names.compactMap { $0.split(separator: ".").first }).map { "\($0)." }
        guard !beginnings.contains(name) else {
            return .failed(
                "\(CellText.oneLine(name)) begins the names of several types, and one is wanted. "
                    + "Try: diario schema list"
            )
        }
        let hint = NearestWord.find(name, in: names + beginnings.sorted())
            .map { "; did you mean \($0)?" }
        return .failed(
            "the space has no type \(CellText.oneLine(name))\(hint ?? ".") Try: diario schema list"
        )
    }
}
