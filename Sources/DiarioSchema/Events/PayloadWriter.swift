import DiarioCore

/// Writes payloads as JSON: absent fields left out, keys in byte order, canonical values.
package enum PayloadWriter {
    /// Appends `payload`, which holds the values of an event of `type`.
    package static func append(
        _ payload: Payload,
        of type: EventType,
        to output: inout [UInt8]
    ) {
        precondition(
            payload.slots.count == type.fields.count,
            "a payload has one slot for each field"
        )
        let rules = type.rules
        let names = rules.names.span
        let arena = payload.arena.span
        output.append(0x7b)
        var isFirst = true
        for index in payload.slots.indices {
            let slot = payload.slots[index]
            if case .absent = slot { continue }
            if !isFirst { output.append(0x2c) }
            isFirst = false
            let node = rules.nodes[index]
            JSONWriter.append(names.extracting(node.token.indices), to: &output)
            switch slot {
            case .absent: break
            case .integer(let value): append(value, node: node, rules: rules, to: &output)
            case .number(let value): JSONWriter.appendNumber(value, to: &output)
            case .bytes(let start, let count):
                let part = arena.extracting(Int(start)..<Int(start) + Int(count))
                append(part, kind: node.kind, to: &output)
            }
        }
        output.append(0x7d)
    }

    private static func append(
        _ value: Int64,
        node: SchemaNode,
        rules: SchemaRules,
        to output: inout [UInt8]
    ) {
        switch node.kind {
        case .boolean: output.append(contentsOf: (value != 0 ? "true" : "false").utf8)
        case .enumeration:
            let text = rules.valueTexts[Int(node.children.start) + Int(value)].indices
            JSONWriter.appendString(rules.names.span.extracting(text), to: &output)
        case .date:
            output.append(0x22)
            CivilTime.appendDate(value, to: &output)
            output.append(0x22)
        case .dateTime: appendTime(Timestamp(milliseconds: value), to: &output)
        case .integer, .number, .string, .uuid, .bytes, .object, .array:
            JSONWriter.appendInteger(value, to: &output)
        }
    }

    private static func append(
        _ bytes: Span<UInt8>,
        kind: SchemaNode.Kind,
        to output: inout [UInt8]
    ) {
        switch kind {
        case .object, .array: JSONWriter.append(bytes, to: &output)
        case .uuid:
            output.append(0x22)
            TextEncodings.appendUUIDText(bytes, to: &output)
            output.append(0x22)
        case .bytes:
            output.append(0x22)
            TextEncodings.appendBase64(bytes, to: &output)
            output.append(0x22)
        case .string, .integer, .number, .boolean, .enumeration, .date, .dateTime:
            JSONWriter.appendString(bytes, to: &output)
        }
    }

    static func appendTime(_ time: Timestamp, to output: inout [UInt8]) {
        output.append(0x22)
        CivilTime.appendDateTime(time, to: &output)
        output.append(0x22)
    }
}
