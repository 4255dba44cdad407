import DiarioCore

/// Reads payloads from JSON and checks them against their types in the same pass.
///
/// Keep one and use it again: its scratch memory then stops growing. Field names are first looked
/// for where the schema's own order and the byte order of names expect them.
package struct PayloadReader: Sendable {
    /// The decoded content of a string with escapes, valid until the next one.
    var scratch: [UInt8] = []
    /// The members of the nested objects that are open, the innermost last.
    var pieces: [MemberPiece] = []
    /// Bytes of the texts of a payload that patterns were matched against.
    var matchedSize = 0

    package init() {}

    /// Reads all of `text` as a payload of `type`.
    ///
    /// With `.batchReferences` a reference may be `#3`; see `Payload.references`. After an error
    /// `payload` is undefined.
    package mutating func read(
        _ text: Span<UInt8>,
        as type: EventType,
        options: EventLineReader.Options = [],
        into payload: inout Payload
    ) throws(SchemaError) {
        do throws(Fault) {
            guard text.count <= Limits.lineSizeMax else { throw Fault(.tooLarge, at: 0) }
            var cursor = JSONCursor(text)
            cursor.skipSpace()
            try readFields(&cursor, of: type, options: options, into: &payload)
            try cursor.expectEnd()
        } catch {
            throw SchemaError(explaining: error, in: text, type: type)
        }
    }

    /// Reads the payload that starts at the cursor.
    @_lifetime(cursor: copy cursor)
    mutating func readFields(
        _ cursor: inout JSONCursor,
        of type: EventType,
        options: EventLineReader.Options,
        into payload: inout Payload
    ) throws(Fault) {
        let stored = type.rules
        let rules = RulesView(stored)
        let fieldCount = type.fields.count
        payload.reset(fieldCount: fieldCount)
        matchedSize = 0
        let start = cursor.offset
        guard cursor.take(0x7b) else { throw mismatch(cursor, node: -1) }
        cursor.skipSpace()
        if !cursor.take(0x7d) {
            var expected = Int(type.firstField)
            var previous = -1
            while true {
                let keyStart = cursor.offset
                let index = try readKey(
                    &cursor,
                    rules,
                    members: 0..<fieldCount,
                    expected: expected,
                    alternative: previous + 1
                )
                guard case .absent = payload.slots[index] else {
                    throw Fault(.duplicateKey, at: keyStart)
                }
                cursor.skipSpace()
                try readValue(&cursor, rules, node: index, options: options, into: &payload)
                cursor.skipSpace()
                if cursor.take(0x2c) {
                    cursor.skipSpace()
                    expected = Int(rules.nodes[index].successor)
                    previous = index
                    continue
                }
                guard cursor.take(0x7d) else { throw cursor.unexpected }
                break
            }
        }
        for index in 0..<fieldCount where rules.nodes[index].isRequired {
            guard case .absent = payload.slots[index] else { continue }
            throw Fault(.missingField, at: start, node: index)
        }
        for blob in type.blobs {
            guard let index = blob.missingPart(in: payload) else { continue }
            throw Fault(.missingField, at: start, node: index)
        }
    }

    /// Reads a key with its colon; returns the node of the member that it names.
    @inline(__always)
    @_lifetime(cursor: copy cursor)
    mutating func readKey(
        _ cursor: inout JSONCursor,
        _ rules: RulesView,
        members: Range<Int>,
        expected: Int,
        alternative: Int
    ) throws(Fault) -> Int {
        if expected >= 0, cursor.take(rules.nodes[expected].token, of: rules.names) {
            return expected
        }
        if alternative < members.upperBound,
            cursor.take(rules.nodes[alternative].token, of: rules.names)
        {
            return alternative
        }
        return try searchKey(&cursor, rules, members: members)
    }

    @inline(never)
    @_lifetime(cursor: copy cursor)
    private mutating func searchKey(
        _ cursor: inout JSONCursor,
        _ rules: RulesView,
        members: Range<Int>
    ) throws(Fault) -> Int {
        let start = cursor.offset
        let token = try cursor.readString()
        cursor.skipSpace()
        try cursor.expect(0x3a)
        let index = withContent(of: token, from: cursor) { rules.member($0, among: members) }
        guard let index else { throw Fault(.unknownField, at: start) }
        return index
    }

    /// Reads the value of the field `node` into its slot.
    @inline(__always)
    @_lifetime(cursor: copy cursor)
    mutating func readValue(
        _ cursor: inout JSONCursor,
        _ rules: RulesView,
        node index: Int,
        options: EventLineReader.Options,
        into payload: inout Payload
    ) throws(Fault) {
        switch rules.nodes[index].kind {
        case .integer:
            payload.slots[index] = .integer(try readInteger(&cursor, rules, node: index))
        case .number:
            payload.slots[index] = .number(try readNumber(&cursor, rules, node: index))
        case .boolean:
            payload.slots[index] = .integer(try readBoolean(&cursor, node: index) ? 1 : 0)
        case .enumeration:
            payload.slots[index] = .integer(try readEnumeration(&cursor, rules, node: index).index)
        case .date:
            payload.slots[index] = .integer(try readDate(&cursor, node: index).days)
        case .dateTime:
            payload.slots[index] = .integer(try readDateTime(&cursor, node: index).milliseconds)
        case .string:
            try readText(&cursor, rules, node: index, options: options, into: &payload)
        case .uuid:
            let start = payload.arena.count
            _ = try readUUID(&cursor, node: index, into: &payload.arena)
            payload.setPart(from: start, at: index)
        case .bytes:
            let start = payload.arena.count
            _ = try readBytes(&cursor, rules, node: index, into: &payload.arena)
            payload.setPart(from: start, at: index)
        case .object, .array:
            let start = payload.arena.count
            pieces.removeAll(keepingCapacity: true)
            try readNested(&cursor, rules, node: index, into: &payload.arena)
            payload.setPart(from: start, at: index)
        }
    }

    @inline(__always)
    @_lifetime(cursor: copy cursor)
    private mutating func readText(
        _ cursor: inout JSONCursor,
        _ rules: RulesView,
        node index: Int,
        options: EventLineReader.Options,
        into payload: inout Payload
    ) throws(Fault) {
        let token = try readStringToken(&cursor, node: index)
        let start = payload.arena.count
        cursor.appendContent(of: token, to: &payload.arena)
        if rules.nodes[index].isReference, options.contains(.batchReferences),
            let number = try batchReference(in: payload.arena, from: start, token: token, index)
        {
            payload.references.append(BatchReference(fieldIndex: index, number: number))
        } else {
            try checkText(payload.arena, from: start, token: token, rules, node: index)
        }
        payload.setPart(from: start, at: index)
    }

    /// The number in a text like `#3`; nil for a text that is not `#` and digits.
    private func batchReference(
        in arena: [UInt8],
        from start: Int,
        token: StringToken,
        _ node: Int
    ) throws(Fault) -> Int? {
        let digits = arena[start...].dropFirst()
        guard arena.count - start > 1, arena[start] == 0x23,
            digits.allSatisfy({ 0x30...0x39 ~= $0 })
        else { return nil }
        let number = digits.prefix(5).reduce(0) { $0 * 10 + Int($1) - 0x30 }
        guard digits.first != 0x30, digits.count < 5, number <= Limits.batchCountMax else {
            throw Fault(.invalidReference, at: token.start - 1, node: node)
        }
        return number
    }

    /// The fault of a value of the wrong type.
    func mismatch(_ cursor: JSONCursor, node: Int) -> Fault {
        switch cursor.current {
        case 0x6e where cursor.byte(at: cursor.offset + 1) == 0x75:
            Fault(.explicitNull, at: cursor.offset, node: node)
        case 0x22, 0x2d, 0x30...0x39, 0x5b, 0x66, 0x74, 0x7b:
            Fault(.wrongType, at: cursor.offset, node: node)
        default: cursor.unexpected
        }
    }

    /// Passes the content of `token` to `body`: in place, unless it must be decoded.
    @inline(__always)
    mutating func withContent<Value>(
        of token: StringToken,
        from cursor: JSONCursor,
        _ body: (Span<UInt8>) -> Value
    ) -> Value {
        guard token.isEscaped else { return body(cursor.text.extracting(token.range)) }
        decode(token, from: cursor)
        return body(scratch.span)
    }

    mutating func decode(_ token: StringToken, from cursor: JSONCursor) {
        scratch.removeAll(keepingCapacity: true)
        cursor.appendContent(of: token, to: &scratch)
    }
}

extension Payload {
    /// Gives the field `index` the bytes that were appended to the arena since `start`.
    @inline(__always)
    mutating func setPart(from start: Int, at index: Int) {
        slots[index] = .bytes(start: UInt32(start), count: UInt32(arena.count - start))
    }
}

/// The rules of a type, borrowed for the time of one payload.
struct RulesView: ~Escapable {
    let nodes: Span<SchemaNode>
    let names: Span<UInt8>
    let values: Span<EnumerationValue>
    let patterns: Span<Pattern>

    @_lifetime(borrow rules)
    init(_ rules: borrowing SchemaRules) {
        nodes = rules.nodes.span
        names = rules.names.span
        values = rules.values.span
        patterns = rules.patterns.span
    }

    /// The node of the member named `name`; members are in byte order of their names.
    func member(_ name: Span<UInt8>, among members: Range<Int>) -> Int? {
        var (low, high) = (members.lowerBound, members.upperBound)
        while low < high {
            let middle = (low + high) / 2
            let token = nodes[middle].token.indices
            let order = compare(name, token.lowerBound + 1..<token.upperBound - 2)
            if order == 0 { return middle }
            if order < 0 { high = middle } else { low = middle + 1 }
        }
        return nil
    }

    /// The index of `text` in the enumeration of `node`; its values are sorted by length first.
    func value(_ text: Span<UInt8>, of node: Int) -> Int64? {
        let range = nodes[node].children.indices
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            let known = values[middle].text.indices
            let order = text.count == known.count ? compare(text, known) : text.count - known.count
            if order == 0 { return Int64(values[middle].index) }
            if order < 0 { high = middle } else { low = middle + 1 }
        }
        return nil
    }

    /// Negative, zero or positive as `text` comes before, is or comes after the bytes of `names`.
    private func compare(_ text: Span<UInt8>, _ range: Range<Int>) -> Int {
        let count = min(text.count, range.count)
        for index in 0..<count {
            let difference = Int(text[index]) - Int(names[range.lowerBound + index])
            if difference != 0 { return difference }
        }
        return text.count - range.count
    }
}

extension JSONCursor {
    /// Moves past the bytes of `token` if they are next.
    ///
    /// Words are compared as a whole where both sides have eight bytes; `names` ends with padding.
    @inline(__always)
    @_lifetime(self: copy self)
    mutating func take(_ token: SchemaRange, of names: Span<UInt8>) -> Bool {
        let start = Int(token.start)
        let size = Int(token.count)
        guard size > 0, text.count - offset >= size + 7 else {
            return takeSlowly(token, of: names)
        }
        var done = 0
        while size - done >= 8 {
            guard text.word(at: offset + done) == names.word(at: start + done) else { return false }
            done += 8
        }
        if size > done {
            let difference = text.word(at: offset + done) ^ names.word(at: start + done)
            guard difference << UInt64(64 - 8 * (size - done)) == 0 else { return false }
        }
        offset += size
        return true
    }

    @inline(never)
    @_lifetime(self: copy self)
    private mutating func takeSlowly(_ token: SchemaRange, of names: Span<UInt8>) -> Bool {
        let range = token.indices
        guard !range.isEmpty, count - offset >= range.count else { return false }
        for index in 0..<range.count where text[offset + index] != names[range.lowerBound + index] {
            return false
        }
        offset += range.count
        return true
    }
}
