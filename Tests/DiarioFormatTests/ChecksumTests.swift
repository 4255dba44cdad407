import CChecksum
import DiarioCore
import DiarioTestSupport
import Testing

@Suite struct ChecksumTests {
    /// CRC-32C by its definition: one bit at a time.
    private func definition(_ crc: UInt32, _ bytes: ArraySlice<UInt8>) -> UInt32 {
        var remainder = ~crc
        for byte in bytes {
            remainder ^= UInt32(byte)
            for _ in 0..<8 {
                remainder = remainder >> 1 ^ (remainder & 1 == 1 ? 0x82f6_3b78 : 0)
            }
        }
        return ~remainder
    }

    private func fast(_ crc: UInt32, _ bytes: ArraySlice<UInt8>) -> UInt32 {
        // Safe: a plain call into C, which reads `count` bytes of the buffer.
        unsafe bytes.withUnsafeBytes { unsafe diario_crc32c(crc, $0.baseAddress, $0.count) }
    }

    private func portable(_ crc: UInt32, _ bytes: ArraySlice<UInt8>) -> UInt32 {
        // Safe: a plain call into C, which reads `count` bytes of the buffer.
        unsafe bytes.withUnsafeBytes {
            unsafe diario_crc32c_portable(crc, $0.baseAddress, $0.count)
        }
    }

    /// RFC 3720, appendix B.4, and the check value of the catalogue of CRCs.
    @Test func knownVectorsMatch() {
        let readCommand: [UInt8] =
            [0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0]
            + [0, 0, 0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0]
        let vectors: [([UInt8], UInt32)] = [
            ([], 0),
            (Array("123456789".utf8), 0xe306_9283),
            ([UInt8](repeating: 0, count: 32), 0x8a91_36aa),
            ([UInt8](repeating: 0xff, count: 32), 0x62a8_ab43),
            (Array(0..<32), 0x46dd_794e),
            (Array((0..<32).reversed()), 0x113f_db5c),
            (readCommand, 0xd996_3a56),
        ]
        for (bytes, crc) in vectors {
            #expect(fast(0, bytes[...]) == crc)
            #expect(portable(0, bytes[...]) == crc)
        }
    }

    @Test func everyLengthAndAlignmentFollowsTheDefinition() {
        var random = SeededRandom(seed: 1)
        let bytes = makeBytes(310, using: &random)
        var wrongCount = 0
        for start in 0..<8 {
            for count in 0...300 {
                let crc = UInt32(truncatingIfNeeded: random.next())
                let slice = bytes[start..<start + count]
                let expected = definition(crc, slice)
                if fast(crc, slice) != expected { wrongCount += 1 }
                if portable(crc, slice) != expected { wrongCount += 1 }
            }
        }
        #expect(wrongCount == 0)
    }

    /// Around the lengths at which the three streams start, repeat and end.
    @Test(arguments: [383, 384, 385, 767, 768, 1200, 6143, 6144, 6145, 6528, 12_288, 20_001])
    func longInputsFollowTheDefinition(count: Int) {
        var random = SeededRandom(seed: UInt64(count))
        let bytes = makeBytes(count + 1, using: &random)
        let expected = definition(7, bytes[1...])
        #expect(fast(7, bytes[1...]) == expected)
        #expect(portable(7, bytes[1...]) == expected)
    }

    @Test(arguments: UInt64(0)..<20) func partsGiveTheCRCOfTheWhole(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let bytes = makeBytes(random.below(20_000), using: &random)
        let cut = random.below(bytes.count + 1)
        #expect(fast(fast(0, bytes[..<cut]), bytes[cut...]) == fast(0, bytes[...]))
    }
}
