import DiarioCore
import DiarioCrypto

// Fast writing of fields, into room reserved once for many of them. Each append checks that there
// is room; only copies and whole words go through a pointer.

extension OutputSpan<UInt8> {
    /// An integer of fixed width.
    @_lifetime(self: copy self)
    mutating func append<Value: WireInteger>(littleEndian value: Value) {
        precondition(freeCapacity >= MemoryLayout<Value>.size, "room was made for the field")
        // Safe: there is room for the integer after the initialized bytes.
        unsafe withUnsafeMutableBufferPointer { buffer, count in
            guard let base = buffer.baseAddress else { return }
            unsafe UnsafeMutableRawPointer(base + count).storeBytes(
                of: value.littleEndian,
                as: Value.self
            )
            count += MemoryLayout<Value>.size
        }
    }

    /// An unsigned LEB128 number in its shortest form.
    @_lifetime(self: copy self)
    mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    /// A signed number: the varint of `(n << 1) ^ (n >> 63)`.
    @_lifetime(self: copy self)
    mutating func append(zigzag value: Int64) { append(varint: Varint.zigzag(value)) }

    /// The bytes as they are.
    @_lifetime(self: copy self)
    mutating func append(contentsOf bytes: RawSpan) {
        precondition(freeCapacity >= bytes.byteCount, "room was made for the bytes")
        // Safe: there is room after the initialized bytes; the source is other memory.
        unsafe withUnsafeMutableBufferPointer { buffer, count in
            unsafe bytes.withUnsafeBytes { source in
                guard let base = buffer.baseAddress, let start = source.baseAddress else { return }
                unsafe UnsafeMutableRawPointer(base + count).copyMemory(
                    from: start,
                    byteCount: source.count
                )
                count += source.count
            }
        }
    }

    /// The length, then the bytes: text or plain bytes.
    @_lifetime(self: copy self)
    mutating func append(counted bytes: RawSpan) {
        append(varint: UInt64(bytes.byteCount))
        append(contentsOf: bytes)
    }

    /// The 32 bytes of a hash.
    @_lifetime(self: copy self)
    mutating func append(_ hash: Hash32) {
        // Safe: the closure reads the bytes of a local value and keeps nothing.
        unsafe withUnsafeBytes(of: hash) { unsafe append(contentsOf: RawSpan(_unsafeBytes: $0)) }
    }

    /// The text of an origin, without its length.
    @_lifetime(self: copy self)
    mutating func append(textOf origin: Origin) {
        let start = count
        append(repeating: 0, count: OriginText.size(origin.sequence))
        var bytes = mutableSpan
        OriginText.write(origin) { bytes[start + $0] = $1 }
    }
}
