import DiarioCore

// The values of the keys beside the payload.
extension EventLineReader {
    /// Reads a text of at least one byte into the line's arena.
    @_lifetime(cursor: copy cursor)
    mutating func readText(
        _ cursor: inout JSONCursor,
        sizeMax: Int,
        key: EnvelopeKey,
        into line: inout EventLine
    ) throws(Fault) -> Range<Int> {
        let token = try payloadReader.readStringToken(&cursor, node: -1)
        let start = line.arena.count
        cursor.appendContent(of: token, to: &line.arena)
        guard 1...sizeMax ~= line.arena.count - start else {
            throw Fault(.invalidKey, at: token.start - 1, node: Int(key.rawValue))
        }
        return start..<line.arena.count
    }

    @_lifetime(cursor: copy cursor)
    mutating func readCount(
        _ cursor: inout JSONCursor,
        _ range: ClosedRange<UInt64>,
        key: EnvelopeKey
    ) throws(Fault) -> UInt64 {
        guard cursor.current == 0x2d || cursor.current &- 0x30 < 10 else {
            throw payloadReader.mismatch(cursor, node: -1)
        }
        let start = cursor.offset
        guard case .value(let value) = try cursor.readDecimal().integer, value >= 0,
            range.contains(UInt64(value))
        else { throw Fault(.invalidKey, at: start, node: Int(key.rawValue)) }
        return UInt64(value)
    }

    /// Reads an RFC 3339 time or milliseconds since 1970.
    @_lifetime(cursor: copy cursor)
    mutating func readTime(
        _ cursor: inout JSONCursor,
        key: EnvelopeKey
    ) throws(Fault) -> Timestamp {
        let start = cursor.offset
        let time: Timestamp?
        if cursor.current == 0x22 {
            let token = try cursor.readString()
            payloadReader.decode(token, from: cursor)
            time = CivilTime.parseDateTime(payloadReader.scratch.span)
        } else if cursor.current == 0x2d || cursor.current &- 0x30 < 10 {
            if case .value(let value) = try cursor.readDecimal().integer {
                time = Timestamp(milliseconds: value)
            } else {
                time = nil
            }
        } else {
            throw payloadReader.mismatch(cursor, node: -1)
        }
        guard let time, CivilTime.contains(time) else {
            throw Fault(.invalidKey, at: start, node: Int(key.rawValue))
        }
        return time
    }

    /// Reads `7zk3m9q2c1f4a-17`.
    @_lifetime(cursor: copy cursor)
    mutating func readOrigin(_ cursor: inout JSONCursor) throws(Fault) -> Origin {
        let token = try payloadReader.readStringToken(&cursor, node: -1)
        payloadReader.decode(token, from: cursor)
        guard let origin = Origin(text: String(decoding: payloadReader.scratch, as: UTF8.self))
        else {
            throw Fault(
                .invalidKey,
                at: token.start - 1,
                node: Int(EnvelopeKey.origin.rawValue)
            )
        }
        return origin
    }

    /// Reads `1763635440123-0`: milliseconds, a dash, the counter.
    @_lifetime(cursor: copy cursor)
    mutating func readClock(_ cursor: inout JSONCursor) throws(Fault) -> HybridTime {
        let token = try payloadReader.readStringToken(&cursor, node: -1)
        payloadReader.decode(token, from: cursor)
        let parts = payloadReader.scratch.split(separator: 0x2d, omittingEmptySubsequences: false)
        guard parts.count == 2, let milliseconds = number(parts[0]), let counter = number(parts[1]),
            milliseconds <= HybridTime.millisecondsMax, let counter = UInt16(exactly: counter)
        else {
            throw Fault(
                .invalidKey,
                at: token.start - 1,
                node: Int(EnvelopeKey.clock.rawValue)
            )
        }
        return HybridTime(milliseconds: milliseconds, counter: counter)
    }

    /// At most 18 decimal digits without a zero in front.
    private func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard 1...18 ~= digits.count, digits.allSatisfy({ 0x30...0x39 ~= $0 }),
            digits.count == 1 || digits.first != 0x30
        else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1) - 0x30 }
    }
}
