package import DiarioCrypto

extension ByteReader {
    /// The next 32 bytes as a hash.
    @_lifetime(self: copy self)
    package mutating func nextHash() throws(FormatError) -> Hash32 {
        let start = offset
        guard let hash = Hash32(bytes.extracting(try nextRange(count: Hash32.size))) else {
            throw .truncated(at: start)
        }
        return hash
    }
}

extension [UInt8] {
    /// The 32 bytes of a hash.
    package mutating func append(_ hash: Hash32) { hash.append(to: &self) }
}

extension Salt {
    /// The first 16 bytes of a hash.
    init(startOf hash: Hash32) {
        // Safe: a hash has 32 bytes, and an integer has no invalid bit pattern.
        unsafe (first, second) = withUnsafeBytes(of: hash) { bytes in
            unsafe (
                UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }
}
