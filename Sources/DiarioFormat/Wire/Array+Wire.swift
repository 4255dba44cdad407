// Writing of fields: appended to an array of bytes. `ByteReader` reads them again.

extension [UInt8] {
    /// An integer of fixed width.
    package mutating func append(littleEndian value: some WireInteger) {
        // Safe: the closure reads the bytes of a local integer and keeps nothing.
        unsafe Swift.withUnsafeBytes(of: value.littleEndian) { unsafe append(contentsOf: $0) }
    }

    /// An unsigned LEB128 number in its shortest form.
    package mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    /// A signed number: the varint of `(n << 1) ^ (n >> 63)`.
    package mutating func append(zigzag value: Int64) {
        append(varint: Varint.zigzag(value))
    }

    /// The bytes as they are.
    package mutating func append(contentsOf bytes: RawSpan) {
        // Safe: the closure copies the bytes and keeps nothing.
        unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
    }

    /// The length, then the UTF-8 of `text`, which must hold no U+0000.
    package mutating func append(text: String) {
        append(varint: UInt64(text.utf8.count))
        append(contentsOf: text.utf8)
    }

    /// The length, then the bytes: text or plain bytes.
    package mutating func append(counted bytes: RawSpan) {
        append(varint: UInt64(bytes.byteCount))
        append(contentsOf: bytes)
    }
}

/// The arithmetic of varints.
package enum Varint {
    /// Bytes of the longest varint.
    package static let sizeMax = 10

    /// Bytes that the varint of `value` takes.
    package static func size(_ value: UInt64) -> Int {
        // 7 bits a byte: the table of (bits + 6) / 7, and one byte for zero.
        (UInt64.bitWidth - (value | 1).leadingZeroBitCount + 6) / 7
    }

    /// The unsigned number whose varint represents `value`.
    package static func zigzag(_ value: Int64) -> UInt64 {
        UInt64(bitPattern: value << 1 ^ value >> 63)
    }
}

extension Span where Element == UInt8 {
    /// The same bytes for a reader.
    @inlinable package var raw: RawSpan {
        @_lifetime(copy self)
        get {
            // Safe: a byte has no padding, so each of the span's bytes is initialized.
            unsafe bytes
        }
    }
}

extension [UInt8] {
    /// The bytes of `span` in `range`, which must lie in it.
    package init(_ span: Span<UInt8>, _ range: Range<Int>) {
        self.init()
        append(contentsOf: span.raw.extracting(range))
    }
}
