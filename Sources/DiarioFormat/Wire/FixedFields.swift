package import DiarioCrypto

// Fields at fixed offsets, whose presence the caller has checked: out of bounds is our mistake.

extension Span where Element == UInt8 {
    /// The little-endian integer at `offset`.
    @inlinable @inline(__always)
    package func littleEndian<Value: WireInteger>(_ type: Value.Type, at offset: Int) -> Value {
        precondition(
            offset >= 0 && offset + MemoryLayout<Value>.size <= count,
            "a fixed field lies in its bytes"
        )
        // Safe: the check above keeps the load inside; an integer has no invalid bit pattern.
        return unsafe Value(littleEndian: raw.unsafeLoadUnaligned(fromByteOffset: offset, as: type))
    }

    /// The hash at `offset`.
    package func hash(at offset: Int) -> Hash32 {
        Hash32(
            words: (
                littleEndian(UInt64.self, at: offset), littleEndian(UInt64.self, at: offset + 8),
                littleEndian(UInt64.self, at: offset + 16),
                littleEndian(UInt64.self, at: offset + 24)
            )
        )
    }
}

extension [UInt8] {
    /// Overwrites the bytes from `offset` on.
    @inlinable @inline(__always)
    package mutating func store<Value: WireInteger>(littleEndian value: Value, at offset: Int) {
        precondition(
            offset >= 0 && offset + MemoryLayout<Value>.size <= count,
            "a fixed field lies in its bytes"
        )
        // Safe: the check above keeps the store inside, and any bytes are bytes.
        unsafe withUnsafeMutableBytes { bytes in
            unsafe bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
        }
    }
}
