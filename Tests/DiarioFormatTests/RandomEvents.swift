import DiarioCore
import DiarioFormat
import DiarioSchema

/// Types and payloads drawn from a seed.
struct RandomEvents {
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// A type of up to 20 fields of random kinds, some personal, perhaps with a new id.
    mutating func type(name: String) throws -> EventType {
        let kinds = [
            #""type": "integer""#, #""type": "number""#, #""type": "string""#,
            #""type": "boolean""#, #""enum": ["a", "b", "c"]"#,
            #""type": "string", "format": "date""#, #""type": "string", "format": "date-time""#,
            #""type": "string", "format": "uuid""#,
            #""type": "string", "contentEncoding": "base64""#,
            #""type": "array", "items": {"type": "integer"}"#,
        ]
        var properties = (0..<random.below(20)).map { index in
            let personal = random.oneIn(3) ? #", "x-diario-personal": true"# : ""
            return "\"f\(index)\": {\(kinds[random.below(kinds.count)])\(personal)}"
        }
        let makesID = random.oneIn(2)
        if makesID { properties.append(#""made": {"type": "string", "x-diario-id": "new"}"#) }
        let subject = makesID && random.oneIn(2) ? #""x-diario-subject": "made", "# : ""
        return try Fixtures.type(
            """
            {"title": "\(name)", "x-diario-version": \(random.below(65_535) + 1), \(subject)
            "type": "object", "additionalProperties": false,
            "properties": {\(properties.joined(separator: ", "))}}
            """
        )
    }

    /// A payload in which each field is absent half the time.
    mutating func payload(of type: EventType) -> Payload {
        var payload = Payload()
        payload.reset(fieldCount: type.fields.count)
        for index in type.fields.indices where random.oneIn(2) {
            fill(index, type.fields[index], in: &payload)
        }
        return payload
    }

    mutating func fill(_ index: Int, _ field: Field, in payload: inout Payload) {
        switch field.kind {
        case .integer: payload.slots[index] = .integer(integer())
        case .number:
            let value = Double(bitPattern: random.next())
            payload.slots[index] = .number(value.isFinite && value != 0 ? value : 0)
        case .boolean: payload.slots[index] = .integer(Int64(random.below(2)))
        case .enumeration:
            payload.slots[index] = .integer(Int64(random.below(field.bounds.values.count)))
        case .date:
            let count = Int(CivilTime.daysMax - CivilTime.daysMin) + 1
            payload.slots[index] = .integer(CivilTime.daysMin + Int64(random.below(count)))
        case .dateTime:
            let count = Int(CivilTime.millisecondsMax - CivilTime.millisecondsMin) + 1
            payload.slots[index] = .integer(CivilTime.millisecondsMin + Int64(random.below(count)))
        case .string: payload.setBytes(text(lengthMax: 200).span, at: index)
        case .nested: payload.setBytes(Array("[\(random.below(1000))]".utf8).span, at: index)
        case .uuid: payload.setBytes(bytes(count: 16).span, at: index)
        case .bytes: payload.setBytes(bytes(count: random.below(200)).span, at: index)
        }
    }

    /// Of any magnitude.
    mutating func integer() -> Int64 {
        Int64(bitPattern: random.next()) >> Int64(random.below(64))
    }

    mutating func bytes(count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(random.below(256)) }
    }

    /// Text of scalars of one to four bytes, without U+0000.
    mutating func text(lengthMax: Int) -> [UInt8] {
        let scalars: [Unicode.Scalar] = [
            "\u{1}", "a", "z", "\u{7f}", "\u{e9}", "\u{20ac}", "\u{10ffff}",
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<random.below(lengthMax + 1) {
            text.append(scalars[random.below(scalars.count)])
        }
        return Array(String(text).utf8)
    }

    mutating func replica() throws -> ReplicaID { try Fixtures.replica(random.next() | 1) }
}
