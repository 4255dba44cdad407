/// SipHash-2-4: 64 bits of a text that nobody can foresee who does not know the key.
///
/// For files, where `Hasher` does not help: its key is another one in each process.
package struct KeyedHash: Hashable, Sendable {
    /// The two halves of the key.
    package let key: (low: UInt64, high: UInt64)

    package init(key: (low: UInt64, high: UInt64)) { self.key = key }

    package static func == (left: KeyedHash, right: KeyedHash) -> Bool { left.key == right.key }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(key.low)
        hasher.combine(key.high)
    }

    /// The hash of `bytes` in the domain of a number: equal bytes differ in two domains.
    package func hash(_ bytes: Span<UInt8>, domain: UInt8 = 0) -> UInt64 {
        var state = State(key)
        // The first word has the domain and seven bytes.
        var last = UInt64(domain)
        var shift: UInt64 = 8
        var index = 0
        func take(to end: Int) {
            while index < end {
                last |= UInt64(bytes[index]) << shift
                shift += 8
                index += 1
            }
        }
        if bytes.count >= 7 {
            take(to: 7)
            state.compress(last)
            (last, shift) = (0, 0)
            while bytes.count - index >= 8 {
                state.compress(bytes.littleEndian(UInt64.self, at: index))
                index += 8
            }
        }
        take(to: bytes.count)
        state.compress(last | UInt64(truncatingIfNeeded: bytes.count + 1) << 56)
        return state.finish()
    }

    private struct State {
        private var v0: UInt64
        private var v1: UInt64
        private var v2: UInt64
        private var v3: UInt64

        init(_ key: (low: UInt64, high: UInt64)) {
            v0 = key.low ^ 0x736f_6d65_7073_6575
            v1 = key.high ^ 0x646f_7261_6e64_6f6d
            v2 = key.low ^ 0x6c79_6765_6e65_7261
            v3 = key.high ^ 0x7465_6462_7974_6573
        }

        mutating func compress(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        mutating func finish() -> UInt64 {
            v2 ^= 0xff
            for _ in 0..<4 { round() }
            return v0 ^ v1 ^ v2 ^ v3
        }

        private mutating func round() {
            v0 &+= v1
            v1 = v1 << 13 | v1 >> 51
            v1 ^= v0
            v0 = v0 << 32 | v0 >> 32
            v2 &+= v3
            v3 = v3 << 16 | v3 >> 48
            v3 ^= v2
            v0 &+= v3
            v3 = v3 << 21 | v3 >> 43
            v3 ^= v0
            v2 &+= v1
            v1 = v1 << 17 | v1 >> 47
            v1 ^= v2
            v2 = v2 << 32 | v2 >> 32
        }
    }
}
