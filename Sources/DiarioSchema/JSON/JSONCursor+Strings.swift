/// A string in the text, checked but not yet decoded.
struct StringToken {
    /// The first byte after the opening quote.
    let start: Int
    /// The closing quote.
    let end: Int
    /// Unicode scalars of the decoded string.
    let scalarCount: Int
    /// True if decoding changes the bytes.
    let isEscaped: Bool

    var range: Range<Int> { start..<end }
}

extension JSONCursor {
    /// Reads the string whose opening quote is next, and checks its UTF-8 and its escapes.
    @inline(__always)
    @_lifetime(self: copy self)
    mutating func readString() throws(Fault) -> StringToken {
        guard take(0x22) else { throw unexpected }
        let start = offset
        skipPlainCharacters()
        guard current == 0x22 else { return try readRestOfString(from: start) }
        let token = StringToken(
            start: start,
            end: offset,
            scalarCount: offset - start,
            isEscaped: false
        )
        offset += 1
        return token
    }

    /// Moves past ASCII that needs no decoding, eight bytes at a time while there are eight.
    @inline(__always)
    @_lifetime(self: copy self)
    mutating func skipPlainCharacters() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highBits: UInt64 = 0x8080_8080_8080_8080
        while let word = word(at: offset) {
            // A byte's high bit is set below if it is a quote, a backslash, a control character
            // or not ASCII. Borrows make false hits only above a true one, so the lowest is true.
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5c)
            let hits =
                ((quote &- ones) & ~quote | (backslash &- ones) & ~backslash
                    | (word &- ones &* 0x20) & ~word | word) & highBits
            guard hits == 0 else {
                offset += hits.trailingZeroBitCount / 8
                return
            }
            offset += 8
        }
        while case let byte = current, 0x20..<0x80 ~= byte, byte != 0x22, byte != 0x5c {
            offset += 1
        }
    }

    /// Continues a string with more than plain ASCII.
    @inline(never)
    @_lifetime(self: copy self)
    private mutating func readRestOfString(from start: Int) throws(Fault) -> StringToken {
        // The bytes that are more than one for each scalar.
        var surplus = 0
        var isEscaped = false
        while true {
            skipPlainCharacters()
            let byte = current
            if byte == 0x22 { break }
            if byte == 0x5c {
                isEscaped = true
                surplus += try skipEscape() - 1
            } else if byte >= 0x80 {
                surplus += try skipMultibyteScalar() - 1
            } else {
                guard offset < count else { throw Fault(.unexpectedEnd, at: offset) }
                throw Fault(.controlCharacter, at: offset)
            }
        }
        let end = offset
        offset += 1
        return StringToken(
            start: start,
            end: end,
            scalarCount: end - start - surplus,
            isEscaped: isEscaped
        )
    }

    /// Moves past one well-formed UTF-8 sequence of two to four bytes; returns its length.
    @_lifetime(self: copy self)
    private mutating func skipMultibyteScalar() throws(Fault) -> Int {
        // The ranges of Unicode's table 3-7: no overlong forms, no surrogates, none too high.
        let lead = current
        let second = byte(at: offset + 1)
        let length: Int
        switch (lead, second) {
        case (0xc2...0xdf, 0x80...0xbf): length = 2
        case (0xe0, 0xa0...0xbf), (0xe1...0xec, 0x80...0xbf): length = 3
        case (0xed, 0x80...0x9f), (0xee...0xef, 0x80...0xbf): length = 3
        case (0xf0, 0x90...0xbf), (0xf1...0xf3, 0x80...0xbf), (0xf4, 0x80...0x8f): length = 4
        default: throw Fault(.invalidUTF8, at: offset)
        }
        for index in 2..<max(length, 2) {
            guard byte(at: offset + index) & 0xc0 == 0x80 else {
                throw Fault(.invalidUTF8, at: offset)
            }
        }
        offset += length
        return length
    }

    /// Moves past one escape; returns its length.
    @_lifetime(self: copy self)
    private mutating func skipEscape() throws(Fault) -> Int {
        let start = offset
        switch byte(at: offset + 1) {
        case 0x22, 0x2f, 0x5c, 0x62, 0x66, 0x6e, 0x72, 0x74:
            offset += 2
        case 0x75:
            let unit = try codeUnit(at: start)
            offset += 6
            switch unit {
            case 0: throw Fault(.zeroCharacter, at: start)
            case 0xd800...0xdbff:
                guard current == 0x5c, byte(at: offset + 1) == 0x75,
                    0xdc00...0xdfff ~= (try codeUnit(at: offset))
                else { throw Fault(.loneSurrogate, at: start) }
                offset += 6
            case 0xdc00...0xdfff: throw Fault(.loneSurrogate, at: start)
            default: break
            }
        default:
            guard offset + 1 < count else { throw Fault(.unexpectedEnd, at: count) }
            throw Fault(.invalidEscape, at: start)
        }
        return offset - start
    }

    /// The number that `\uXXXX` at `start` spells.
    private func codeUnit(at start: Int) throws(Fault) -> UInt32 {
        var unit: UInt32 = 0
        for index in 2..<6 {
            let byte = byte(at: start + index)
            guard let digit = hexDigit(byte) else {
                guard start + index < count else { throw Fault(.unexpectedEnd, at: count) }
                throw Fault(.invalidEscape, at: start)
            }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Appends the decoded bytes of `token`, which this cursor has read.
    @inline(__always)
    func appendContent(of token: StringToken, to output: inout [UInt8]) {
        guard token.isEscaped else {
            append(token.start..<token.end, to: &output)
            return
        }
        appendDecoded(token, to: &output)
    }

    /// Appends bytes without decoding them.
    func append(_ range: Range<Int>, to output: inout [UInt8]) {
        JSONWriter.append(text.extracting(range), to: &output)
    }

    @inline(never)
    private func appendDecoded(_ token: StringToken, to output: inout [UInt8]) {
        var index = token.start
        while index < token.end {
            let byte = byte(at: index)
            guard byte == 0x5c else {
                output.append(byte)
                index += 1
                continue
            }
            let escape = self.byte(at: index + 1)
            guard escape == 0x75 else {
                output.append(Self.character(of: escape))
                index += 2
                continue
            }
            var scalar = decodedUnit(at: index)
            index += 6
            if 0xd800...0xdbff ~= scalar {
                let low = decodedUnit(at: index)
                index += 6
                scalar = 0x10000 + (scalar - 0xd800) << 10 + (low - 0xdc00)
            }
            appendUTF8(scalar, to: &output)
        }
    }

    private func decodedUnit(at start: Int) -> UInt32 {
        (2..<6).reduce(0) { $0 << 4 | UInt32(hexDigit(byte(at: start + $1)) ?? 0) }
    }

    private static func character(of escape: UInt8) -> UInt8 {
        switch escape {
        case 0x62: 0x08
        case 0x66: 0x0c
        case 0x6e: 0x0a
        case 0x72: 0x0d
        case 0x74: 0x09
        default: escape
        }
    }
}

/// The value of a hexadecimal digit of either case.
func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
}

/// Appends the UTF-8 of a scalar, which is no surrogate.
func appendUTF8(_ scalar: UInt32, to output: inout [UInt8]) {
    if scalar < 0x80 {
        output.append(UInt8(scalar))
        return
    }
    if scalar < 0x800 {
        output.append(UInt8(0xc0 | scalar >> 6))
    } else if scalar < 0x10000 {
        output.append(UInt8(0xe0 | scalar >> 12))
        output.append(UInt8(0x80 | scalar >> 6 & 0x3f))
    } else {
        output.append(UInt8(0xf0 | scalar >> 18))
        output.append(UInt8(0x80 | scalar >> 12 & 0x3f))
        output.append(UInt8(0x80 | scalar >> 6 & 0x3f))
    }
    output.append(UInt8(0x80 | scalar & 0x3f))
}
