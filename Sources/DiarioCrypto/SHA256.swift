import COpenSSL

/// SHA-256 of messages that are at hand, in one call; from any thread.
///
/// Several parts make the hash of the parts one after the other.
package enum SHA256 {
    package static func hash(_ bytes: Span<UInt8>) -> Hash32 {
        // Safe: the library reads `count` bytes, keeps no pointer and writes 32 bytes.
        unsafe bytes.withUnsafeBytes { source in
            unsafe Hash32 { digest in
                unsafe diario_sha256_message(
                    -1,
                    source.baseAddress,
                    source.count,
                    nil,
                    0,
                    digest
                )
            }
        }
    }

    package static func hash(prefix: UInt8, _ bytes: Span<UInt8>) -> Hash32 {
        // Safe: the library reads `count` bytes, keeps no pointer and writes 32 bytes.
        unsafe bytes.withUnsafeBytes { source in
            unsafe Hash32 { digest in
                unsafe diario_sha256_message(
                    Int32(prefix),
                    source.baseAddress,
                    source.count,
                    nil,
                    0,
                    digest
                )
            }
        }
    }

    package static func hash(_ first: Span<UInt8>, _ second: Span<UInt8>) -> Hash32 {
        hash(firstByte: -1, first, second)
    }

    package static func hash(
        prefix: UInt8,
        _ first: Span<UInt8>,
        _ second: Span<UInt8>
    ) -> Hash32 {
        hash(firstByte: Int32(prefix), first, second)
    }

    /// The hash without a first byte if that is negative.
    private static func hash(
        firstByte: Int32,
        _ first: Span<UInt8>,
        _ second: Span<UInt8>
    ) -> Hash32 {
        // Safe: the library reads `count` bytes each, keeps no pointer and writes 32 bytes.
        unsafe first.withUnsafeBytes { left in
            unsafe second.withUnsafeBytes { right in
                unsafe Hash32 { digest in
                    unsafe diario_sha256_message(
                        firstByte,
                        left.baseAddress,
                        left.count,
                        right.baseAddress,
                        right.count,
                        digest
                    )
                }
            }
        }
    }

    /// Bytes that `hash(padding:size:)` needs after a message.
    package static var paddingSize: Int { Int(DIARIO_SHA256_PADDING) }

    /// The hash of the first `size` bytes; the next `paddingSize` bytes are overwritten.
    ///
    /// The fastest way for messages that are put together in reused memory.
    package static func hash(padding message: inout [UInt8], size: Int) -> Hash32 {
        precondition(
            size >= 0 && size <= message.count - paddingSize,
            "the padding has room behind the message"
        )
        // Safe: the function touches only the message and the room after it, and writes 32 bytes.
        return unsafe message.withUnsafeMutableBufferPointer { message in
            unsafe Hash32 { digest in
                unsafe diario_sha256_padded(message.baseAddress, size, digest)
            }
        }
    }

    /// As an inner node of a Merkle tree is hashed.
    package static func hash(prefix: UInt8, _ left: Hash32, _ right: Hash32) -> Hash32 {
        // Safe: all three have 32 bytes, and the library keeps no pointer.
        unsafe Hash32 { digest in
            unsafe withUnsafeBytes(of: left) { leftBytes in
                unsafe withUnsafeBytes(of: right) { rightBytes in
                    unsafe diario_sha256_node(
                        prefix,
                        leftBytes.baseAddress,
                        rightBytes.baseAddress,
                        digest
                    )
                }
            }
        }
    }
}

/// SHA-256 of a message that comes in parts, with one owner and no memory elsewhere.
package struct SHA256Hasher: ~Copyable {
    private var context = SHA256_CTX()

    package init() { start() }

    /// Takes the next part of the message.
    package mutating func update(_ bytes: Span<UInt8>) {
        // Safe: the library reads `count` bytes and keeps no pointer.
        unsafe bytes.withUnsafeBytes { source in
            unsafe diario_sha256_update(&context, source.baseAddress, source.count)
        }
    }

    /// Takes the next part of the message.
    package mutating func update(_ bytes: RawSpan) {
        // Safe: the library reads `count` bytes and keeps no pointer.
        unsafe bytes.withUnsafeBytes { source in
            unsafe diario_sha256_update(&context, source.baseAddress, source.count)
        }
    }

    /// Takes one byte as the next part of the message.
    package mutating func update(_ byte: UInt8) {
        // Safe: the library reads this byte and keeps no pointer.
        unsafe withUnsafeBytes(of: byte) {
            unsafe diario_sha256_update(&context, $0.baseAddress, 1)
        }
    }

    /// Takes the 32 bytes of a hash as the next part of the message.
    package mutating func update(_ hash: Hash32) {
        // Safe: a hash has 32 bytes; the library keeps no pointer.
        unsafe withUnsafeBytes(of: hash) { source in
            unsafe diario_sha256_update(&context, source.baseAddress, Hash32.size)
        }
    }

    /// The hash of all parts since the last call; then it is ready for the next message.
    package mutating func finalize() -> Hash32 {
        // Safe: the library writes 32 bytes.
        let result = unsafe Hash32 { digest in unsafe diario_sha256_finish(&context, digest) }
        start()
        return result
    }

    private mutating func start() { unsafe diario_sha256_start(&context) }
}

/// SHA-256 of much that comes in parts, such as a file.
///
/// A class, since the compiler (6.3.1) crashes where another module's function that throws has an
/// `SHA256Hasher` as a local.
package final class SHA256Stream {
    private var hasher = SHA256Hasher()

    package init() {}

    /// Takes the next part of the message.
    package func update(_ bytes: Span<UInt8>) { hasher.update(bytes) }

    /// The hash of all parts; then it is ready for the next message.
    package func finalize() -> Hash32 { hasher.finalize() }
}
