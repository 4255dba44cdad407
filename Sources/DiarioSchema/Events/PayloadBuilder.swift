package import DiarioCore

/// Fills a payload value by value, each checked by the rules of its field, as JSON would be.
///
/// Keep one for many events: it reuses its memory. A value of another form than that of its field
/// is a mistake of the caller and traps.
package struct PayloadBuilder: Sendable {
    package private(set) var type: EventType = .blank
    package private(set) var payload = Payload()
    private var reader = PayloadReader()

    package init() {}

    /// A builder with a payload that was read from the log.
    package init(_ payload: Payload, of type: EventType) {
        self.type = type
        self.payload = payload
    }

    /// Starts an event of `type`, with all fields absent.
    package mutating func begin(_ type: EventType) {
        if self.type !== type { self.type = type }
        payload.reset(fieldCount: type.fields.count)
    }

    /// Makes sure that no required field is absent.
    package func finish() throws(SchemaError) {
        for index in payload.slots.indices {
            guard case .absent = payload.slots[index], type.rules.nodes[index].isRequired else {
                continue
            }
            throw SchemaError(.missingField, value: "", at: index, of: type)
        }
    }

    package mutating func setInteger(_ value: Int64, at index: Int) throws(SchemaError) {
        let node = node(index, .integer)
        guard node.minimum...node.maximum ~= value else {
            let kind: SchemaError.Kind = value < node.minimum ? .belowMinimum : .aboveMaximum
            throw SchemaError(kind, value: "\(value)", at: index, of: type)
        }
        payload.slots[index] = .integer(value)
    }

    package mutating func setNumber(_ value: Double, at index: Int) throws(SchemaError) {
        let node = node(index, .number)
        guard value.isFinite else {
            throw SchemaError(.beyondNumber, value: "\(value)", at: index, of: type)
        }
        guard value >= node.numberMinimum, value <= node.numberMaximum else {
            let kind: SchemaError.Kind = value < node.numberMinimum ? .belowMinimum : .aboveMaximum
            throw SchemaError(kind, value: "\(value)", at: index, of: type)
        }
        payload.slots[index] = .number(value)
    }

    package mutating func setBoolean(_ value: Bool, at index: Int) {
        _ = node(index, .boolean)
        payload.slots[index] = .integer(value ? 1 : 0)
    }

    /// Sets an enumeration to the value that has this index in the schema.
    package mutating func setCode(_ code: Int, at index: Int) {
        let node = node(index, .enumeration)
        precondition(0..<Int(node.children.count) ~= code, "the schema has a value of this number")
        payload.slots[index] = .integer(Int64(code))
    }

    /// Sets a date to the day that comes so many days after 1970-01-01.
    package mutating func setDays(_ days: Int64, at index: Int) {
        _ = node(index, .date)
        precondition(CivilTime.daysMin...CivilTime.daysMax ~= days, "the calendar has the day")
        payload.slots[index] = .integer(days)
    }

    package mutating func setTime(_ time: Timestamp, at index: Int) throws(SchemaError) {
        _ = node(index, .dateTime)
        guard CivilTime.contains(time) else {
            throw SchemaError(.invalidDateTime, value: "\(time.milliseconds)", at: index, of: type)
        }
        payload.slots[index] = .integer(time.milliseconds)
    }

    package mutating func setText(_ text: String, at index: Int) throws(SchemaError) {
        let node = node(index, .string)
        let start = payload.arena.count
        payload.arena.append(contentsOf: text.utf8)
        if let kind = broken(node, payload.arena.span.extracting(start..<payload.arena.count)) {
            throw SchemaError(kind, value: "\"\(text)\"", at: index, of: type)
        }
        payload.setPart(from: start, at: index)
    }

    /// Sets a field to the id that an earlier event of the batch makes, counted from 1.
    package mutating func setReference(_ number: Int, at index: Int) throws(SchemaError) {
        guard node(index, .string).isReference else {
            throw SchemaError(.invalidReference, value: "#\(number)", at: index, of: type)
        }
        payload.setBytes([0x23].span, at: index)
        payload.references.append(BatchReference(fieldIndex: index, number: number))
    }

    /// Sets a uuid: its first eight bytes and its last eight.
    package mutating func setUUID(_ high: UInt64, _ low: UInt64, at index: Int) {
        _ = node(index, .uuid)
        let start = payload.arena.count
        for word in [high, low] {
            for byte in 0..<8 {
                payload.arena.append(UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * byte)))
            }
        }
        payload.setPart(from: start, at: index)
    }

    package mutating func setBytes(_ bytes: [UInt8], at index: Int) throws(SchemaError) {
        let node = node(index, .bytes)
        // Its bounds are those of the text in JSON.
        let textCount = Int64((bytes.count + 2) / 3 * 4)
        guard node.minimum...node.maximum ~= textCount else {
            let kind: SchemaError.Kind = textCount < node.minimum ? .tooShort : .tooLong
            throw SchemaError(kind, value: "\(bytes.count) bytes", at: index, of: type)
        }
        payload.setBytes(bytes.span, at: index)
    }

    /// Sets a nested field to the JSON `text`, checked and in canonical form.
    package mutating func setJSON(_ text: String, at index: Int) throws(SchemaError) {
        precondition(
            type.rules.nodes[index].kind == .object || type.rules.nodes[index].kind == .array,
            "the field is nested"
        )
        let bytes = Array(text.utf8)
        try reader.readNestedField(bytes.span, of: type, at: index, into: &payload)
    }

    /// The rules of a field of this form.
    private func node(_ index: Int, _ kind: SchemaNode.Kind) -> SchemaNode {
        let node = type.rules.nodes[index]
        precondition(node.kind == kind, "a value is set as its field has it")
        return node
    }

    /// The rule that a text breaks; nil if it fits.
    private func broken(_ node: SchemaNode, _ text: Span<UInt8>) -> SchemaError.Kind? {
        var scalarCount: Int64 = 0
        for index in text.indices {
            guard text[index] != 0 else { return .zeroCharacter }
            if text[index] & 0xc0 != 0x80 { scalarCount += 1 }
        }
        if scalarCount < node.minimum { return .tooShort }
        if scalarCount > node.maximum { return .tooLong }
        if node.pattern >= 0, text.count > Limits.eventSizeMax { return .beyondEvent }
        if node.pattern >= 0, !type.rules.patterns[Int(node.pattern)].matches(text) {
            return .patternMismatch
        }
        if node.isSubject, !(1...Limits.subjectSizeMax ~= text.count) { return .invalidSubject }
        return nil
    }
}
