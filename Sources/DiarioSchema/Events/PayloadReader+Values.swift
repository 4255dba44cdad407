import DiarioCore

// One function for each form of value, for the fields of a payload and for nested values.
extension PayloadReader {
    @inline(__always)
    @_lifetime(cursor: copy cursor)
    mutating func readInteger(
        _ cursor: inout JSONCursor,
        _ rules: RulesView,
        node: Int
    ) throws(Fault) -> Int64 {
        guard isNumber(cursor.current) else { throw mismatch(cursor, node: node) }
        let start = cursor.offset
        let value: Int64
        switch try cursor.readDecimal().integer {
        case .value(let integer): value = integer
        case .fraction: throw Fault(.wrongType, at: start, node: node)
        case .beyond: throw Fault(.beyondInteger, at: start, node: node)
        }
        guard value >= rules.nodes[node].minimum else {
            throw Fault(.belowMinimum, at: start, node: node)
        }
        guard value <= rules.nodes[node].maximum else {
            throw Fault(.aboveMaximum, at: start, node: node)
        }
        return value
    }

    @inline(__always)
    @_lifetime(cursor: copy cursor)
    mutating func readNumber(
        _ cursor: inout JSONCursor,
        _ rules: RulesView,
        node: Int
    ) throws(Fault) -> Double {
        guard isNumber(cursor.current) else { throw mismatch(cursor, node: node) }
        let start = cursor.offset
        let decimal = try cursor.readDecimal()
        guard let value = cursor.double(decimal) else {
            throw Fault(.beyondNumber, at: start, node: node)
        }
        guard value >= rules.nodes[node].numberMinimum else {
            throw Fault(.belowMinimum, at: start, node: node)
        }
        guard value <= rules.nodes[node].numberMaximum else {
            throw Fault(.aboveMaximum, at: start, node: node)
        }
        return value
    }

    @_lifetime(cursor: copy cursor)
    mutating func readBoolean(_ cursor: inout JSONCursor, node: Int) throws(Fault) -> Bool {
        switch cursor.current {
        case 0x74:
            try cursor.expect(literal: "true")
            return true
        case 0x66:
            try cursor.expect(literal: "false")
            return false
        default: throw mismatch(cursor, node: node)
        }
    }

    @inline(__always)
    @_lifetime(cursor: copy cursor)
    mutating func readStringToken(
        _ cursor: inout JSONCursor,
        node: Int
    ) throws(Fault) -> StringToken {
        guard cursor.current == 0x22 else { throw mismatch(cursor, node: node) }
        return try cursor.readString()
    }

    @inline(__always)
    @_lifetime(cursor: copy cursor)
    mutating func readEnumeration(
        _ cursor: inout JSONCursor,
        _ rules: RulesView,
        node: Int
    ) throws(Fault) -> (index: Int64, token: StringToken) {
        let token = try readStringToken(&cursor, node: node)
        let index = withContent(of: token, from: cursor) { rules.value($0, of: node) }
        guard let index else { throw Fault(.notInEnumeration, at: token.start - 1, node: node) }
        return (index, token)
    }

    @_lifetime(cursor: copy cursor)
    mutating func readDate(
        _ cursor: inout JSONCursor,
        node: Int
    ) throws(Fault) -> (days: Int64, token: StringToken) {
        let token = try readStringToken(&cursor, node: node)
        let days = withContent(of: token, from: cursor) { CivilTime.parseDate($0) }
        guard let days else { throw Fault(.invalidDate, at: token.start - 1, node: node) }
        return (days, token)
    }

    @_lifetime(cursor: copy cursor)
    mutating func readDateTime(
        _ cursor: inout JSONCursor,
        node: Int
    ) throws(Fault) -> (milliseconds: Int64, token: StringToken) {
        let token = try readStringToken(&cursor, node: node)
        let time = withContent(of: token, from: cursor) { CivilTime.parseDateTime($0) }
        guard let time else { throw Fault(.invalidDateTime, at: token.start - 1, node: node) }
        return (time.milliseconds, token)
    }

    /// Appends the 16 bytes of a uuid.
    @_lifetime(cursor: copy cursor)
    mutating func readUUID(
        _ cursor: inout JSONCursor,
        node: Int,
        into output: inout [UInt8]
    ) throws(Fault) -> StringToken {
        let token = try readStringToken(&cursor, node: node)
        let isValid = withContent(of: token, from: cursor) {
            TextEncodings.appendUUID($0, to: &output)
        }
        guard isValid else { throw Fault(.invalidUUID, at: token.start - 1, node: node) }
        return token
    }

    /// Appends the bytes of a base64 text.
    @_lifetime(cursor: copy cursor)
    mutating func readBytes(
        _ cursor: inout JSONCursor,
        _ rules: RulesView,
        node: Int,
        into output: inout [UInt8]
    ) throws(Fault) -> StringToken {
        let token = try readStringToken(&cursor, node: node)
        try checkLength(token, rules, node: node)
        let start = output.count
        let isValid = withContent(of: token, from: cursor) {
            TextEncodings.appendBase64Decoded($0, to: &output)
        }
        guard isValid else { throw Fault(.invalidBase64, at: token.start - 1, node: node) }
        guard !rules.nodes[node].isHash || output.count - start == 32 else {
            throw Fault(.notHash, at: token.start - 1, node: node)
        }
        return token
    }

    /// Checks a string whose decoded bytes are the end of `arena`, from `start` on.
    @inline(__always)
    mutating func checkText(
        _ arena: [UInt8],
        from start: Int,
        token: StringToken,
        _ rules: RulesView,
        node: Int
    ) throws(Fault) {
        try checkLength(token, rules, node: node)
        let pattern = rules.nodes[node].pattern
        if pattern >= 0 {
            // A pattern may take thousands of steps a byte, so only a text that fits is matched.
            matchedSize += arena.count - start
            guard matchedSize <= Limits.eventSizeMax else {
                throw Fault(.beyondEvent, at: token.start - 1, node: node)
            }
            let content = arena.span.extracting(start..<arena.count)
            guard rules.patterns[Int(pattern)].matches(content) else {
                throw Fault(.patternMismatch, at: token.start - 1, node: node)
            }
        }
        if rules.nodes[node].isSubject {
            guard 1...Limits.subjectSizeMax ~= arena.count - start else {
                throw Fault(.invalidSubject, at: token.start - 1, node: node)
            }
        }
    }

    @inline(__always)
    private func checkLength(
        _ token: StringToken,
        _ rules: RulesView,
        node: Int
    ) throws(Fault) {
        guard token.scalarCount >= rules.nodes[node].minimum else {
            throw Fault(.tooShort, at: token.start - 1, node: node)
        }
        guard token.scalarCount <= rules.nodes[node].maximum else {
            throw Fault(.tooLong, at: token.start - 1, node: node)
        }
    }

    @inline(__always)
    private func isNumber(_ byte: UInt8) -> Bool { byte == 0x2d || byte &- 0x30 < 10 }
}
