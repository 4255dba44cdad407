import DiarioCore
import DiarioCrypto
import DiarioTestSupport
import Testing

@Suite struct CryptoTests {
    private func hash(_ text: String) -> Hash32 { SHA256.hash(Array(text.utf8).span) }

    // Spans cannot be arguments within `#expect`.

    private func hash(_ bytes: [UInt8]) -> Hash32 { SHA256.hash(bytes.span) }

    private func stored(_ bytes: [UInt8]) -> Hash32? { Hash32(bytes.span) }

    private func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        isEqualInConstantTime(left.span, right.span)
    }

    @Test func theLibraryIsRecentAndRight() throws {
        try CryptoLibrary.check()
        #expect(CryptoError.tooOld(found: "OpenSSL 1.1.1").message.contains("OpenSSL 1.1.1"))
        #expect(CryptoError.wrongResult.message.contains("libcrypto"))
    }

    /// FIPS 180-4, the examples of NIST.
    @Test func knownVectorsMatch() {
        let vectors = [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
            ),
        ]
        for (message, text) in vectors { #expect(hash(message).text == text) }
    }

    /// The expected hash comes from another implementation (Python's hashlib).
    @Test func everyLengthAroundTheBlocksIsRight() {
        let message = (0..<300).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) }
        var hashes: [UInt8] = []
        for count in 0...300 {
            let part = Array(message.prefix(count))
            SHA256.hash(part.span).append(to: &hashes)
        }
        #expect(
            hash(hashes).text
                == "7d917fbd2cf49ddff9ad0a8706bba32d204e92e71d2e369c5a03d6af29278c9f"
        )
    }

    @Test func anInnerNodeIsHashedAsItsBytes() {
        let node = SHA256.hash(prefix: 1, hash("left"), hash("right"))
        #expect(
            node.text == "09bda0c49344a4274d2202b56814924b5a20542fa05d321b5476b1cff86e4f1e"
        )
    }

    @Test(arguments: UInt64(0)..<20) func partsHashAsTheWhole(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let first = makeBytes(random.below(200), using: &random)
        let second = makeBytes(random.below(200), using: &random)
        let whole = hash(first + second)
        let prefixed = hash([9] + first + second)
        let joined = first + second
        let hashes = [
            SHA256.hash(first.span, second.span),
            SHA256.hash(prefix: 9, first.span, second.span),
            SHA256.hash(prefix: 9, joined.span),
        ]
        #expect(hashes == [whole, prefixed, prefixed])
        var hasher = SHA256Hasher()
        // Twice, since the hasher starts afresh after each message.
        for _ in 0..<2 {
            hasher.update(9)
            hasher.update(first.span)
            hasher.update(second.span)
            let result = hasher.finalize()
            #expect(result == prefixed)
        }
        hasher.update(whole)
        let result = hasher.finalize()
        #expect(result == hash(whole.bytes))
    }

    /// Sizes around all that padding does to one, two and three blocks, and to more.
    @Test func aMessagePaddedInItsPlaceHashesTheSame() {
        var random = SeededRandom(seed: 11)
        for size in Array(0...200) + [255, 256, 447, 448, 4096, 70_000] {
            let bytes = makeBytes(size, using: &random)
            var message = bytes + makeBytes(SHA256.paddingSize, using: &random)
            #expect(SHA256.hash(padding: &message, size: size) == hash(bytes))
            #expect(Array(message[..<size]) == bytes)
        }
    }

    @Test func aHashComesBackFromItsTextAndBytes() throws {
        let value = hash("abc")
        #expect(Hash32(text: value.text) == value)
        #expect(stored(value.bytes) == value)
        #expect(value.bytes.count == Hash32.size)
        #expect(value.bytes.prefix(3) == [0xba, 0x78, 0x16])
        var bytes: [UInt8] = [1]
        value.append(to: &bytes)
        #expect(bytes == [1] + value.bytes)
        #expect(Hash32.zero.bytes == [UInt8](repeating: 0, count: 32))
    }

    @Test func otherTextsAndLengthsAreNoHash() {
        let text = hash("abc").text
        #expect(Hash32(text: "") == nil)
        #expect(Hash32(text: text.dropLast()) == nil)
        #expect(Hash32(text: text.dropLast(2)) == nil)
        #expect(Hash32(text: text + "0") == nil)
        #expect(Hash32(text: text + "00") == nil)
        #expect(Hash32(text: text.uppercased()) == nil)
        #expect(Hash32(text: text.dropLast() + "g") == nil)
        for count in [0, 31, 33] {
            let bytes = [UInt8](repeating: 0, count: count)
            #expect(stored(bytes) == nil)
        }
    }

    @Test func everyBitCountsInAComparison() {
        let value = hash("abc")
        #expect(value.isEqualInConstantTime(to: hash("abc")))
        let bytes = value.bytes
        for bit in 0..<256 {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            let other = stored(changed)
            #expect(other != value)
            #expect(other.map { value.isEqualInConstantTime(to: $0) } == false)
            #expect(!isEqual(bytes, changed))
        }
        let shorter = Array(bytes.dropLast())
        let empty: [UInt8] = []
        #expect(isEqual(bytes, bytes))
        #expect(!isEqual(bytes, shorter))
        #expect(isEqual(empty, empty))
    }
}
