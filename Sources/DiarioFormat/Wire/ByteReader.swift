/// Reads the fields of the format from unchecked bytes; throws on wrong input and never traps.
///
/// Offsets, in results and in errors, count from the start of the bytes it was made with.
package struct ByteReader: ~Escapable {
    let bytes: RawSpan
    /// The end of what may be read; at most the number of bytes.
    package let end: Int
    /// The offset of the next field.
    package private(set) var offset: Int

    @_lifetime(copy bytes)
    package init(_ bytes: RawSpan) {
        self.bytes = bytes
        offset = 0
        end = bytes.byteCount
    }

    /// Reads `range` alone, which must lie in the bytes.
    @_lifetime(copy bytes)
    package init(_ bytes: RawSpan, range: Range<Int>) {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= bytes.byteCount,
            "a reader's range lies in its bytes"
        )
        self.bytes = bytes
        offset = range.lowerBound
        end = range.upperBound
    }

    package var remaining: Int { end - offset }
    package var isAtEnd: Bool { offset == end }

    /// An integer of fixed width.
    @_lifetime(self: copy self)
    package mutating func next<Value: WireInteger>(
        _ type: Value.Type
    ) throws(FormatError) -> Value {
        guard end - offset >= MemoryLayout<Value>.size else { throw .truncated(at: offset) }
        defer { offset += MemoryLayout<Value>.size }
        // Safe: the guard keeps the load inside the bytes; an integer has no invalid bit pattern.
        return unsafe Value(
            littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: type)
        )
    }

    /// An unsigned LEB128 number in its shortest form.
    @_lifetime(self: copy self)
    package mutating func nextVarint() throws(FormatError) -> UInt64 {
        guard offset < end else { throw .truncated(at: offset) }
        // Safe: the guard says that there is a byte at `offset`.
        let first = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
        if first < 0x80 {
            offset += 1
            return UInt64(first)
        }
        return try nextLongVarint()
    }

    /// A signed number: the varint of `(n << 1) ^ (n >> 63)`.
    @_lifetime(self: copy self)
    package mutating func nextZigzag() throws(FormatError) -> Int64 {
        let value = try nextVarint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// The place of the next `count` bytes.
    @_lifetime(self: copy self)
    package mutating func nextRange(count: Int) throws(FormatError) -> Range<Int> {
        guard count >= 0, end - offset >= count else { throw .truncated(at: offset) }
        defer { offset += count }
        return offset..<offset + count
    }

    /// The place of the bytes that follow their length.
    @_lifetime(self: copy self)
    package mutating func nextBytes() throws(FormatError) -> Range<Int> {
        let start = offset
        let size = try nextVarint()
        guard size <= UInt64(end - offset) else { throw .truncated(at: start) }
        return try nextRange(count: Int(size))
    }

    /// The place of a text that follows its length: valid UTF-8 without U+0000.
    @_lifetime(self: copy self)
    package mutating func nextText() throws(FormatError) -> Range<Int> {
        let start = offset
        let range = try nextBytes()
        guard Text.isValid(bytes, range) else { throw .malformed(.text, at: start) }
        return range
    }

    /// The lower seven bits of each of eight bytes, side by side.
    @inline(__always)
    static func gather(_ word: UInt64) -> UInt64 {
        let pairs = word & 0x007f_007f_007f_007f | word >> 1 & 0x3f80_3f80_3f80_3f80
        let quads = pairs & 0x0000_3fff_0000_3fff | pairs >> 2 & 0x0fff_c000_0fff_c000
        return quads & 0x0000_0000_0fff_ffff | quads >> 4 & 0x00ff_ffff_f000_0000
    }

    /// A number of two bytes or more.
    @_lifetime(self: copy self)
    private mutating func nextLongVarint() throws(FormatError) -> UInt64 {
        if end - offset >= 8 {
            // Safe: there are eight bytes at `offset`.
            let word = UInt64(
                littleEndian: unsafe bytes.unsafeLoadUnaligned(
                    fromUncheckedByteOffset: offset,
                    as: UInt64.self
                )
            )
            let size = (~word & 0x8080_8080_8080_8080).trailingZeroBitCount / 8 + 1
            // A last byte of zero, which says nothing, is left to the slow way to complain about.
            if size <= 8, word >> UInt64(8 * size - 8) & 0xff != 0 {
                offset += size
                return Self.gather(word & UInt64.max >> UInt64(64 - 8 * size))
            }
        }
        let start = offset
        var value: UInt64 = 0
        var shift: UInt64 = 0
        var place = start
        while place < end {
            // Safe: the loop's condition says that there is a byte.
            let byte = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: place, as: UInt8.self)
            place += 1
            // The tenth byte has room for one bit.
            guard shift < 63 || byte <= 1 else { throw .malformed(.varint, at: start) }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 {
                // A last byte of zero says nothing: the number had a shorter form.
                guard byte != 0 else { throw .malformed(.varint, at: start) }
                offset = place
                return value
            }
            shift += 7
        }
        throw .truncated(at: end)
    }
}

/// The integers of fixed width that the format knows; not `Int`, whose width is the machine's.
@usableFromInline
package protocol WireInteger: FixedWidthInteger & BitwiseCopyable {}
extension UInt8: WireInteger {}
extension UInt16: WireInteger {}
extension UInt32: WireInteger {}
extension UInt64: WireInteger {}
extension Int64: WireInteger {}

extension ByteReader {
    /// A copy of bytes that were read.
    package func copy(_ range: Range<Int>) -> [UInt8] {
        var copy: [UInt8] = []
        copy.append(contentsOf: bytes.extracting(range))
        return copy
    }
}
