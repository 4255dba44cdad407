import DiarioCore
import DiarioCrypto
import DiarioFormat
package import DiarioSchema

/// Writes events as one JSON array of CloudEvents: schema/format/cloudevents.md, section 3.
///
/// Nothing but the schemas of the types is kept between events.
package struct CloudEventWriter {
    private var count = 0
    /// For each type the reference to its schema, which takes a hash to make; the type too, because
    /// only while it lives is its identifier its own.
    private var schemas: [ObjectIdentifier: (type: EventType, text: String)] = [:]

    package init() {}

    /// Appends `line` with the separator before it.
    package mutating func append(_ line: EventLine, to output: inout [UInt8]) {
        output += (count == 0 ? "[\n" : ",\n").utf8
        count += 1
        let origin = line.origin?.text ?? ""
        output += #"{"specversion":"1.0","id":""#.utf8
        output += origin.utf8
        output += #"","source":""#.utf8
        output += (CloudEventName.sourceStart + (line.origin?.replica.text ?? "")).utf8
        output += #"","type":""#.utf8
        output += line.type.nameBytes
        output += #"","datacontenttype":"application/json","dataschema":""#.utf8
        output += schema(of: line.type).utf8
        output.append(0x22)
        appendSubject(line, to: &output)
        if let at = line.at { Self.append("time", at, to: &output) }
        output += ",\"\(CloudEventName.version)\":\(line.type.version)".utf8
        if let actor = line.actor {
            let text = String(decoding: line.arena[actor], as: UTF8.self)
            Self.append(
                text,
                CloudEventName.actor,
                escaped: CloudEventName.escapedActor,
                to: &output
            )
        }
        if line.ifUnchanged { output += ",\"\(CloudEventName.ifUnchanged)\":true".utf8 }
        appendExported(line, to: &output)
        output += ",\"data\":".utf8
        PayloadWriter.append(line.payload, of: line.type, to: &output)
        output.append(0x7d)
    }

    /// Appends the end of the array.
    package mutating func finish(_ output: inout [UInt8]) {
        output += (count == 0 ? "[]\n" : "\n]\n").utf8
    }

    /// The reference to the schema of a type, by its fingerprint.
    private mutating func schema(of type: EventType) -> String {
        let id = ObjectIdentifier(type)
        if let known = schemas[id] { return known.text }
        let text = Self.schema(type)
        schemas[id] = (type, text)
        return text
    }

    static func schema(_ type: EventType) -> String {
        CloudEventName.schemaStart
            + "\(type.name)/\(type.version)/\(Fingerprint.schema(type).text)"
    }

    private func appendSubject(_ line: EventLine, to output: inout [UInt8]) {
        if let subject = line.subject {
            let text = String(decoding: line.arena[subject], as: UTF8.self)
            Self.append(text, "subject", escaped: CloudEventName.escapedSubject, to: &output)
        } else if let text = line.payloadSubject, CloudEventName.isAllowed(text), !text.isEmpty {
            // For those who route events by it; the payload has it anyway.
            Self.append("subject", text, to: &output)
        }
    }

    private func appendExported(_ line: EventLine, to output: inout [UInt8]) {
        // As texts, because numbers of CloudEvents have 32 bits.
        if let position = line.position {
            Self.append(CloudEventName.position, "\(position)", to: &output)
        }
        if let base = line.base { Self.append(CloudEventName.base, "\(base)", to: &output) }
        if let clock = line.clock {
            Self.append(
                CloudEventName.clock,
                "\(clock.milliseconds)-\(clock.counter)",
                to: &output
            )
        }
        if let time = line.acceptedAt { Self.append(CloudEventName.acceptedAt, time, to: &output) }
        if let batch = line.batch {
            let text = String(decoding: line.arena[batch], as: UTF8.self)
            Self.append(CloudEventName.batch, text, to: &output)
        }
    }

    private static func append(
        _ text: String,
        _ name: String,
        escaped: String,
        to output: inout [UInt8]
    ) {
        if CloudEventName.isAllowed(text) {
            append(name, text, to: &output)
        } else {
            append(escaped, CloudEventName.escaped(text), to: &output)
        }
    }

    private static func append(_ name: String, _ text: String, to output: inout [UInt8]) {
        output += ",\"\(name)\":".utf8
        JSON.string(text).appendCanonical(to: &output)
    }

    private static func append(_ name: String, _ time: Timestamp, to output: inout [UInt8]) {
        output += ",\"\(name)\":\"".utf8
        CivilTime.appendDateTime(time, to: &output)
        output.append(0x22)
    }
}

extension EventLine {
    /// The subject as text, if a field of the payload has it.
    var payloadSubject: String? {
        guard let index = type.subjectFieldIndex else { return nil }
        switch payload.slots[index] {
        case .absent, .number: return nil
        case .integer(let value): return "\(value)"
        case .bytes:
            guard let bytes = payload.bytes(at: index) else { return nil }
            guard type.fields[index].kind == .uuid else {
                return String(decoding: bytes, as: UTF8.self)
            }
            return CellWriter.uuid(bytes)
        }
    }
}
