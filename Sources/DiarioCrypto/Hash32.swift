import COpenSSL

/// A SHA-256 hash: 32 bytes in four words, without memory of its own.
///
/// `==` may take less time the earlier two hashes differ; secrets are compared by
/// `isEqualInConstantTime`.
package struct Hash32: Hashable, Sendable {
    package static let size = 32

    /// 32 zero bytes; no message is known to have this hash.
    package static let zero = Hash32()

    // Eight bytes each, as they lie in memory, whatever the byte order of the machine.
    private var word0: UInt64 = 0
    private var word1: UInt64 = 0
    private var word2: UInt64 = 0
    private var word3: UInt64 = 0

    private init() {}

    /// The hash whose bytes are those of four little-endian words, in order.
    package init(words: (UInt64, UInt64, UInt64, UInt64)) {
        word0 = words.0.littleEndian
        word1 = words.1.littleEndian
        word2 = words.2.littleEndian
        word3 = words.3.littleEndian
    }

    /// The bytes as four little-endian words, in order.
    package var words: (UInt64, UInt64, UInt64, UInt64) {
        (word0.littleEndian, word1.littleEndian, word2.littleEndian, word3.littleEndian)
    }

    /// The hash that `fill` writes to the 32 bytes at the pointer it is given.
    init(fill: (UnsafeMutableRawPointer) -> Void) {
        self.init()
        // Safe: four words of 8 bytes without gaps are 32 bytes, any of which make a hash.
        unsafe withUnsafeMutablePointer(to: &self) { unsafe fill(UnsafeMutableRawPointer($0)) }
    }

    /// The hash that lies in `bytes`; nil unless there are 32.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        self.init()
        // Safe: both sides have 32 bytes.
        unsafe bytes.withUnsafeBytes { source in
            unsafe withUnsafeMutableBytes(of: &self) { unsafe $0.copyMemory(from: source) }
        }
    }

    /// The hash that lies in `bytes`; nil unless there are 32.
    package init?(_ bytes: RawSpan) {
        guard bytes.byteCount == Self.size else { return nil }
        self.init()
        // Safe: both sides have 32 bytes.
        unsafe bytes.withUnsafeBytes { source in
            unsafe withUnsafeMutableBytes(of: &self) { unsafe $0.copyMemory(from: source) }
        }
    }

    /// Reads the 64 characters that `text` shows; nil for anything else, upper case included.
    package init?(text: some StringProtocol) {
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text.utf8.prefix(2 * Self.size + 1) {
            guard let digit = Self.digits.firstIndex(of: character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | UInt8(digit))
                high = nil
            } else {
                high = UInt8(digit)
            }
        }
        guard high == nil else { return nil }
        self.init(bytes.span)
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// 64 hexadecimal digits in lower case.
    package var text: String {
        let (bytes, digits) = (bytes, Self.digits)
        return unsafe String(unsafeUninitializedCapacity: 2 * Self.size) { target in
            let (bytes, digits) = (bytes.span, digits.span)
            for index in bytes.indices {
                // Safe: there is room for two digits a byte, and one for each four bits.
                let byte = Int(unsafe bytes[unchecked: index])
                unsafe target[2 * index] = digits[unchecked: byte >> 4]
                unsafe target[2 * index + 1] = digits[unchecked: byte & 15]
            }
            return 2 * bytes.count
        }
    }

    package var bytes: [UInt8] {
        var result: [UInt8] = []
        append(to: &result)
        return result
    }

    /// Appends the 32 bytes to `target`.
    package func append(to target: inout [UInt8]) {
        // Safe: the bytes are read within the closure only.
        unsafe withUnsafeBytes(of: self) { unsafe target.append(contentsOf: $0) }
    }

    /// Compares in a time that does not depend on the bytes.
    package func isEqualInConstantTime(to other: Hash32) -> Bool {
        let low = (word0 ^ other.word0) | (word1 ^ other.word1)
        let high = (word2 ^ other.word2) | (word3 ^ other.word3)
        return low | high == 0
    }
}

/// Compares two secrets in a time that depends on their lengths only.
package func isEqualInConstantTime(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count, !left.isEmpty else { return left.count == right.count }
    // Safe: both sides have the length that the library is told.
    return unsafe left.withUnsafeBytes { leftBytes in
        unsafe right.withUnsafeBytes { rightBytes in
            unsafe CRYPTO_memcmp(leftBytes.baseAddress, rightBytes.baseAddress, leftBytes.count)
        }
    } == 0
}
