import CChecksum

/// CRC32C: the Castagnoli polynomial, as `schema/format/rows.md`, section 5, states it.
package enum Checksum {
    /// The checksum of `bytes`, or of what `previous` is the checksum of followed by `bytes`.
    package static func crc32c(_ bytes: RawSpan, continuing previous: UInt32 = 0) -> UInt32 {
        // Safe: the C function reads the bytes it is told of and keeps nothing.
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe diario_crc32c(previous, buffer.baseAddress, buffer.count)
        }
    }
}
