package import DiarioCrypto

extension ByteReader {
    /// The next 32 bytes as a hash.
    @_lifetime(self: copy self)
    package mutating func nextHash() throws(FormatError) -> Hash32 {
        guard remaining >= 32 else { throw .truncated(at: offset) }
        return Hash32(
            words: (
                try next(UInt64.self), try next(UInt64.self), try next(UInt64.self),
                try next(UInt64.self)
            )
        )
    }
}

extension [UInt8] {
    /// The 32 bytes of a hash.
    package mutating func append(_ hash: Hash32) {
        append(littleEndian: hash.words.0)
        append(littleEndian: hash.words.1)
        append(littleEndian: hash.words.2)
        append(littleEndian: hash.words.3)
    }
}
