package import DiarioCore

extension PayloadReader {
    /// Reads one field alone, from the JSON of its value, and checks it as a payload's is checked.
    ///
    /// `payload` has a slot for each field of `type`; the one of this field was absent.
    package mutating func readField(
        _ text: Span<UInt8>,
        at index: Int,
        of type: EventType,
        into payload: inout Payload
    ) throws(SchemaError) {
        do throws(Fault) {
            guard text.count <= Limits.lineSizeMax else { throw Fault(.tooLarge, at: 0) }
            var cursor = JSONCursor(text)
            cursor.skipSpace()
            let stored = type.rules
            try readValue(&cursor, RulesView(stored), node: index, options: [], into: &payload)
            cursor.skipSpace()
            try cursor.expectEnd()
        } catch {
            throw SchemaError(explaining: error, in: text, type: type)
        }
    }
}

/// Writes values that do not come from JSON as JSON.
package enum JSONText {
    package static func integer(_ value: Int64) -> [UInt8] {
        var text: [UInt8] = []
        JSONWriter.appendInteger(value, to: &text)
        return text
    }

    /// Of a finite number.
    package static func number(_ value: Double) -> [UInt8] {
        var text: [UInt8] = []
        JSONWriter.appendNumber(value, to: &text)
        return text
    }

    package static func string(_ value: String) -> [UInt8] {
        var text: [UInt8] = []
        JSONWriter.appendString(value, to: &text)
        return text
    }

    package static func boolean(_ value: Bool) -> [UInt8] { Array((value ? "true" : "false").utf8) }

    /// Of a time in the years 1 to 9999.
    package static func time(_ value: Timestamp) -> [UInt8] {
        var text: [UInt8] = []
        PayloadWriter.appendTime(value, to: &text)
        return text
    }

    package static func bytes(_ value: [UInt8]) -> [UInt8] {
        var text: [UInt8] = [0x22]
        TextEncodings.appendBase64(value.span, to: &text)
        text.append(0x22)
        return text
    }
}
