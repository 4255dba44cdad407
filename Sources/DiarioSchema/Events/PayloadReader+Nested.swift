import DiarioCore

/// A member of a nested object, as written to the output: its key, a colon and its value.
struct MemberPiece {
    let node: Int32
    let start: Int32
    let end: Int32
}

// Nested values become canonical JSON (RFC 8785) while they are checked. Their strings stay as
// they are, also those with a format; integers keep all their digits.
extension PayloadReader {
    /// Reads all of `text` as the value of the nested field `index`, into its slot.
    mutating func readNestedField(
        _ text: Span<UInt8>,
        of type: EventType,
        at index: Int,
        into payload: inout Payload
    ) throws(SchemaError) {
        do throws(Fault) {
            guard text.count <= Limits.lineSizeMax else { throw Fault(.tooLarge, at: 0) }
            let stored = type.rules
            let rules = RulesView(stored)
            var cursor = JSONCursor(text)
            cursor.skipSpace()
            let start = payload.arena.count
            pieces.removeAll(keepingCapacity: true)
            matchedSize = 0
            try readNested(&cursor, rules, node: index, into: &payload.arena)
            try cursor.expectEnd()
            payload.setPart(from: start, at: index)
        } catch {
            throw SchemaError(explaining: error, in: text, at: index, of: type)
        }
    }

    /// Appends the canonical form of the value at the cursor.
    ///
    /// Recursion is bounded by the depth of the schema, which is itself nested JSON.
    @_lifetime(cursor: copy cursor)
    mutating func readNested(
        _ cursor: inout JSONCursor,
        _ rules: RulesView,
        node: Int,
        into output: inout [UInt8]
    ) throws(Fault) {
        let token: StringToken
        switch rules.nodes[node].kind {
        case .object: return try readObject(&cursor, rules, node: node, into: &output)
        case .array: return try readArray(&cursor, rules, node: node, into: &output)
        case .integer:
            let value = try readInteger(&cursor, rules, node: node)
            return JSONWriter.appendInteger(value, to: &output)
        case .number:
            let value = try readNumber(&cursor, rules, node: node)
            return JSONWriter.appendNumber(value, to: &output)
        case .boolean:
            let value = try readBoolean(&cursor, node: node)
            output.append(contentsOf: (value ? "true" : "false").utf8)
            return
        case .enumeration: token = try readEnumeration(&cursor, rules, node: node).token
        case .date: token = try readDate(&cursor, node: node).token
        case .dateTime: token = try readDateTime(&cursor, node: node).token
        case .uuid, .bytes, .string:
            return try readNestedText(&cursor, rules, node: node, into: &output)
        }
        appendString(token, from: cursor, to: &output)
    }

    /// Reads a string that is checked by its decoded bytes, which do not stay in the output.
    @_lifetime(cursor: copy cursor)
    private mutating func readNestedText(
        _ cursor: inout JSONCursor,
        _ rules: RulesView,
        node: Int,
        into output: inout [UInt8]
    ) throws(Fault) {
        let start = output.count
        let token: StringToken
        switch rules.nodes[node].kind {
        case .uuid: token = try readUUID(&cursor, node: node, into: &output)
        case .bytes: token = try readBytes(&cursor, rules, node: node, into: &output)
        default:
            token = try readStringToken(&cursor, node: node)
            cursor.appendContent(of: token, to: &output)
            try checkText(output, from: start, token: token, rules, node: node)
        }
        output.removeLast(output.count - start)
        appendString(token, from: cursor, to: &output)
    }

    /// Appends a string in canonical form.
    private mutating func appendString(
        _ token: StringToken,
        from cursor: JSONCursor,
        to output: inout [UInt8]
    ) {
        guard token.isEscaped else {
            // Characters that need an escape were refused unescaped, so the text is canonical.
            cursor.append(token.start - 1..<token.end + 1, to: &output)
            return
        }
        decode(token, from: cursor)
        JSONWriter.appendString(scratch.span, to: &output)
    }

    @_lifetime(cursor: copy cursor)
    private mutating func readArray(
        _ cursor: inout JSONCursor,
        _ rules: RulesView,
        node: Int,
        into output: inout [UInt8]
    ) throws(Fault) {
        let start = cursor.offset
        guard cursor.take(0x5b) else { throw mismatch(cursor, node: node) }
        output.append(0x5b)
        var count: Int64 = 0
        cursor.skipSpace()
        if !cursor.take(0x5d) {
            while true {
                count += 1
                guard count <= rules.nodes[node].maximum else {
                    throw Fault(.tooManyItems, at: start, node: node)
                }
                if count > 1 { output.append(0x2c) }
                try readNested(
                    &cursor,
                    rules,
                    node: Int(rules.nodes[node].children.start),
                    into: &output
                )
                cursor.skipSpace()
                if cursor.take(0x5d) { break }
                try cursor.expect(0x2c)
                cursor.skipSpace()
            }
        }
        guard count >= rules.nodes[node].minimum else {
            throw Fault(.tooFewItems, at: start, node: node)
        }
        output.append(0x5d)
    }

    @_lifetime(cursor: copy cursor)
    private mutating func readObject(
        _ cursor: inout JSONCursor,
        _ rules: RulesView,
        node: Int,
        into output: inout [UInt8]
    ) throws(Fault) {
        let start = cursor.offset
        let outputStart = output.count
        let firstPiece = pieces.count
        let members = rules.nodes[node].children.indices
        guard cursor.take(0x7b) else { throw mismatch(cursor, node: node) }
        output.append(0x7b)
        var highest = members.lowerBound - 1
        var isSorted = true
        cursor.skipSpace()
        if !cursor.take(0x7d) {
            var expected = members.isEmpty ? -1 : members.lowerBound
            while true {
                let keyStart = cursor.offset
                let member = try readKey(
                    &cursor,
                    rules,
                    members: members,
                    expected: expected,
                    alternative: highest + 1
                )
                if member > highest {
                    highest = member
                } else {
                    // Only a member that comes late can be one that was there before.
                    guard !pieces[firstPiece...].contains(where: { Int($0.node) == member }) else {
                        throw Fault(.duplicateKey, at: keyStart)
                    }
                    isSorted = false
                }
                if pieces.count > firstPiece { output.append(0x2c) }
                let pieceStart = output.count
                JSONWriter.append(
                    rules.names.extracting(rules.nodes[member].token.indices),
                    to: &output
                )
                cursor.skipSpace()
                try readNested(&cursor, rules, node: member, into: &output)
                pieces.append(
                    MemberPiece(
                        node: Int32(member),
                        start: Int32(pieceStart),
                        end: Int32(output.count)
                    )
                )
                cursor.skipSpace()
                if cursor.take(0x7d) { break }
                try cursor.expect(0x2c)
                cursor.skipSpace()
                expected = Int(rules.nodes[member].successor)
            }
        }
        output.append(0x7d)
        for member in members where rules.nodes[member].isRequired {
            guard pieces[firstPiece...].contains(where: { Int($0.node) == member }) else {
                throw Fault(.missingField, at: start, node: member)
            }
        }
        if !isSorted { sortPieces(from: firstPiece, of: &output, from: outputStart) }
        pieces.removeLast(pieces.count - firstPiece)
    }

    /// Puts the members of the object that `output` ends with into the order of their names.
    private mutating func sortPieces(
        from firstPiece: Int,
        of output: inout [UInt8],
        from outputStart: Int
    ) {
        pieces[firstPiece...].sort { $0.node < $1.node }
        scratch.removeAll(keepingCapacity: true)
        scratch.append(0x7b)
        for piece in pieces[firstPiece...] {
            if scratch.count > 1 { scratch.append(0x2c) }
            scratch.append(contentsOf: output[Int(piece.start)..<Int(piece.end)])
        }
        scratch.append(0x7d)
        output.replaceSubrange(outputStart..., with: scratch)
    }
}
