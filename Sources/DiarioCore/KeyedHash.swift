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
        var word: UInt64 = 0
        var shift: UInt64 = 0
        func take(_ byte: UInt8, _ word: inout UInt64, _ shift: inout UInt64, _ state: inout State)
        {
            word |= UInt64(byte) << shift
            shift += 8
            guard shift == 64 else { return }
            state.compress(word)
            (word, shift) = (0, 0)
        }
        take(domain, &word, &shift, &state)
        for index in bytes.indices { take(bytes[index], &word, &shift, &state) }
        state.compress(word | UInt64(truncatingIfNeeded: bytes.count + 1) << 56)
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
