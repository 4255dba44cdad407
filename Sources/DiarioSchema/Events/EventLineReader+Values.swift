import DiarioCore

// The values of the keys beside the payload.
extension EventLineReader {
    /// Reads a text of at least one byte into the line's arena.
    @_lifetime(cursor: copy cursor)
    mutating func readText(
        _ cursor: inout JSONCursor,
        sizes: ClosedRange<Int>,
        key: EnvelopeKey,
        into line: inout EventLine
    ) throws(Fault) -> Range<Int> {
        let token = try payloadReader.readStringToken(&cursor, node: -1)
        let start = line.arena.count
        cursor.appendContent(of: token, to: &line.arena)
        guard sizes ~= line.arena.count - start else {
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
            time = payloadReader.withContent(of: token, from: cursor) {
                CivilTime.parseDateTime($0)
            }
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
        let origin = payloadReader.withContent(of: token, from: cursor) { Self.origin($0) }
        guard let origin else {
            throw Fault(
                .invalidKey,
                at: token.start - 1,
                node: Int(EnvelopeKey.origin.rawValue)
            )
        }
        return origin
    }

    /// An origin: 13 characters, a dash, a sequence.
    private static func origin(_ text: Span<UInt8>) -> Origin? {
        guard text.count > replicaSize, text[replicaSize] == 0x2d,
            let sequence = number(text.extracting(replicaSize + 1..<text.count)), sequence > 0,
            let replica = ReplicaID(text: text.extracting(0..<replicaSize))
        else { return nil }
        return Origin(replica: replica, sequence: sequence)
    }

    /// Reads `1763635440123-0`: milliseconds, a dash, the counter.
    @_lifetime(cursor: copy cursor)
    mutating func readClock(_ cursor: inout JSONCursor) throws(Fault) -> HybridTime {
        let token = try payloadReader.readStringToken(&cursor, node: -1)
        let clock = payloadReader.withContent(of: token, from: cursor) { Self.clock($0) }
        guard let clock else {
            throw Fault(
                .invalidKey,
                at: token.start - 1,
                node: Int(EnvelopeKey.clock.rawValue)
            )
        }
        return clock
    }

    private static func clock(_ text: Span<UInt8>) -> HybridTime? {
        var dash = 0
        while dash < text.count, text[dash] != 0x2d { dash += 1 }
        guard dash < text.count, let milliseconds = number(text.extracting(0..<dash)),
            let counter = number(text.extracting(dash + 1..<text.count)),
            milliseconds <= UInt64(HybridTime.millisecondsMax), counter <= UInt64(UInt16.max)
        else { return nil }
        return HybridTime(milliseconds: Int64(milliseconds), counter: UInt16(counter))
    }

    /// The number that decimal digits spell, without a zero in front.
    private static func number(_ digits: Span<UInt8>) -> UInt64? {
        guard 1...20 ~= digits.count, digits.count == 1 || digits[0] != 0x30 else { return nil }
        var number: UInt64 = 0
        for index in digits.indices {
            let digit = digits[index] &- 0x30
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = product.addingReportingOverflow(UInt64(digit))
            guard digit < 10, !isTooLarge, !overflows else { return nil }
            number = sum
        }
        return number
    }
}
