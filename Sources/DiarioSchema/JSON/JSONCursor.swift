import DiarioCore

/// Reads JSON (RFC 8259) from left to right, strictly, without building anything.
///
/// It also refuses invalid UTF-8, U+0000, lone surrogates and more than `Limits.jsonDepthMax`
/// levels. Callers refuse duplicate keys, since they know the keys.
struct JSONCursor: ~Escapable {
    let text: Span<UInt8>
    /// The next byte; never negative, since it starts at zero or above and only grows.
    var offset: Int

    @_lifetime(copy text)
    init(_ text: Span<UInt8>, at offset: Int = 0) {
        precondition(offset >= 0, "text starts at zero")
        self.text = text
        self.offset = offset
    }

    var count: Int { text.count }

    /// The next byte, or 0 at the end: JSON allows 0 nowhere, so both are refused alike.
    var current: UInt8 {
        @inline(__always) get { byte(at: offset) }
    }

    @inline(__always)
    func byte(at offset: Int) -> UInt8 {
        guard offset < text.count else { return 0 }
        // Safe: below the count as just checked, and no caller passes a negative offset.
        return unsafe text[unchecked: offset]
    }

    /// The eight bytes at `offset`, the first in the lowest bits; nil if there are fewer.
    @inline(__always)
    func word(at offset: Int) -> UInt64? {
        guard text.count - offset >= 8 else { return nil }
        return text.word(at: offset)
    }

    @inline(__always)
    @_lifetime(self: copy self)
    mutating func skipSpace() {
        while true {
            let byte = current
            guard byte <= 0x20, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
            else { return }
            offset += 1
        }
    }

    /// Moves past `byte` if it is next.
    @inline(__always)
    @_lifetime(self: copy self)
    mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        offset += 1
        return true
    }

    /// Moves past `byte`, which must be next after white space.
    @inline(__always)
    @_lifetime(self: copy self)
    mutating func expect(_ byte: UInt8) throws(Fault) {
        if take(byte) { return }
        skipSpace()
        guard take(byte) else { throw unexpected }
    }

    /// The fault here: the end of the text, or a byte that is not allowed.
    var unexpected: Fault {
        Fault(offset < count ? .unexpectedByte : .unexpectedEnd, at: offset)
    }

    /// Checks that nothing but white space is left.
    @_lifetime(self: copy self)
    mutating func expectEnd() throws(Fault) {
        skipSpace()
        guard offset == count else { throw Fault(.trailingBytes, at: offset) }
    }

    /// Moves past the literal `true`, `false` or `null`.
    @_lifetime(self: copy self)
    mutating func expect(literal: StaticString) throws(Fault) {
        let start = offset
        for index in 0..<literal.utf8CodeUnitCount {
            // Safe: the index is below the count of the literal's bytes.
            guard take(unsafe literal.utf8Start[index]) else {
                guard offset < count else { throw unexpected }
                throw Fault(.unexpectedByte, at: start)
            }
        }
    }

    /// Moves past the value that starts here, checking its syntax but not for duplicate keys.
    @_lifetime(self: copy self)
    mutating func skipValue() throws(Fault) {
        // One bit for each open level, the innermost lowest: 1 for an object, 0 for an array.
        var levels: UInt64 = 0
        var depth = 0
        while true {
            skipSpace()
            switch current {
            case 0x7b, 0x5b:
                let isObject = current == 0x7b
                guard depth < Limits.jsonDepthMax else { throw Fault(.tooDeep, at: offset) }
                offset += 1
                skipSpace()
                if take(isObject ? 0x7d : 0x5d) { break }
                depth += 1
                levels = levels << 1 | (isObject ? 1 : 0)
                if isObject { try skipKey() }
                continue
            case 0x22: _ = try readString()
            case 0x74: try expect(literal: "true")
            case 0x66: try expect(literal: "false")
            case 0x6e: try expect(literal: "null")
            case 0x2d, 0x30...0x39: _ = try readDecimal()
            default: throw unexpected
            }
            // A value has ended; so may the levels around it.
            while true {
                guard depth > 0 else { return }
                skipSpace()
                let isObject = levels & 1 == 1
                if take(0x2c) {
                    if isObject {
                        skipSpace()
                        try skipKey()
                    }
                    break
                }
                guard take(isObject ? 0x7d : 0x5d) else { throw unexpected }
                depth -= 1
                levels >>= 1
            }
        }
    }

    @_lifetime(self: copy self)
    private mutating func skipKey() throws(Fault) {
        guard current == 0x22 else { throw unexpected }
        _ = try readString()
        skipSpace()
        try expect(0x3a)
    }
}

extension Span<UInt8> {
    /// The eight bytes at `offset`, which must be there, the first in the lowest bits.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        // Safe: the load is checked against the bounds, and an integer has no invalid bit pattern.
        let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
        return UInt64(littleEndian: word)
    }
}
