import DiarioCore
import DiarioCrypto

/// A message that is put together piece by piece, in memory that is kept, and hashed in one call.
struct HashedMessage: ~Copyable {
    /// All of it may be written; only the first `size` bytes count.
    private var bytes = [UInt8](repeating: 0, count: 512)
    private var size = 0

    /// Begins a message of at most `sizeMax` bytes.
    @inline(__always)
    mutating func start(_ sizeMax: Int) {
        size = 0
        if sizeMax + SHA256.paddingSize > bytes.count { grow(sizeMax) }
    }

    @inline(never)
    private mutating func grow(_ sizeMax: Int) {
        bytes = [UInt8](repeating: 0, count: 2 * (sizeMax + SHA256.paddingSize))
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        bytes[size] = byte
        size += 1
    }

    @inline(__always)
    mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    @inline(__always)
    mutating func append(littleEndian value: UInt64) {
        store(value.littleEndian)
    }

    @inline(__always)
    mutating func append(_ salt: Salt) {
        append(littleEndian: salt.first)
        append(littleEndian: salt.second)
    }

    @inline(__always)
    mutating func append(_ hash: Hash32) {
        let words = hash.words
        append(littleEndian: words.0)
        append(littleEndian: words.1)
        append(littleEndian: words.2)
        append(littleEndian: words.3)
    }

    @inline(__always)
    mutating func append(_ part: RawSpan) {
        let count = part.byteCount
        guard count > 0 else { return }
        precondition(count <= bytes.count - size, "the message is no larger than was said")
        let place = size
        // Safe: the source has `count` bytes, and so many are free, as was just checked.
        unsafe part.withUnsafeBytes { source in
            unsafe bytes.withUnsafeMutableBytes { target in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                unsafe (to + place).copyMemory(from: from, byteCount: count)
            }
        }
        size += count
    }

    /// The hash of the appended bytes.
    @inline(__always)
    mutating func finish() -> Hash32 { SHA256.hash(padding: &bytes, size: size) }

    @inline(__always)
    private mutating func store(_ word: UInt64) {
        precondition(bytes.count - size >= 8, "the message is no larger than was said")
        let place = size
        // Safe: eight bytes are free, as was just checked.
        unsafe bytes.withUnsafeMutableBytes { target in
            unsafe target.storeBytes(of: word, toByteOffset: place, as: UInt64.self)
        }
        size += 8
    }
}
