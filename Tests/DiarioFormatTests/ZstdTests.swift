import DiarioCore
import DiarioTestSupport
import DiarioZstd
import Testing

@Suite struct ZstdTests {
    /// Bytes that compress well: some words over and over, in no order.
    private func makeText(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SeededRandom(seed: seed)
        let words = (0..<32).map { makeBytes(3 + $0, using: &random) }
        var text: [UInt8] = []
        while text.count < count { text += words[random.below(words.count)] }
        return Array(text.prefix(count))
    }

    private func compressed(_ bytes: [UInt8]) throws -> [UInt8] {
        var compressor = try Compressor(level: 1)
        var output: [UInt8] = []
        try compressor.compress(bytes.span, into: &output)
        return output
    }

    /// The error of decompressing to `size` bytes; nil if that gives so many.
    private func failure(_ bytes: [UInt8], size: Int) throws -> ZstdError? {
        var decompressor = try Decompressor()
        var output: [UInt8] = [7]
        do throws(ZstdError) {
            try decompressor.decompress(bytes.span, size: size, into: &output)
            #expect(output.count == 1 + size)
            return nil
        } catch {
            #expect(output == [7])
            return error
        }
    }

    @Test(arguments: [0, 1, 2, 100, 4096, 300_000]) func bytesComeBack(count: Int) throws {
        var compressor = try Compressor(level: 1)
        var decompressor = try Decompressor()
        // Twice, since the contexts are kept.
        for seed in UInt64(0)..<2 {
            let bytes = makeText(count, seed: seed)
            var output: [UInt8] = [1, 2]
            try compressor.compress(bytes.span, into: &output)
            #expect(output.starts(with: [1, 2]))
            let stored = Array(output.dropFirst(2))
            if count > 1000 { #expect(stored.count < count / 3) }
            var result: [UInt8] = [3]
            try decompressor.decompress(stored.span, size: count, into: &result)
            #expect(result == [3] + bytes)
        }
    }

    @Test func aHigherLevelMakesFewerBytes() throws {
        let bytes = makeText(100_000, seed: 1)
        var output: [UInt8] = []
        var compressor = try Compressor(level: 19)
        try compressor.compress(bytes.span, into: &output)
        #expect(try output.count < compressed(bytes).count)
        #expect(try failure(output, size: bytes.count) == nil)
    }

    @Test func anotherSizeThanTheCallersIsRefused() throws {
        let bytes = try compressed(makeText(1000, seed: 1))
        #expect(try failure(bytes, size: 1001) == .otherSize(expected: 1001, found: 1000))
        for size in [0, 1, 999] {
            guard case .damaged = try failure(bytes, size: size) else {
                Issue.record("a size of \(size) was taken")
                continue
            }
        }
        #expect(try failure([], size: 5) == .otherSize(expected: 5, found: 0))
    }

    @Test func aHugeClaimTakesNoMemory() throws {
        // A frame whose header says 2^62 bytes.
        let claim: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0x40, 1, 0, 0]
        guard case .damaged = try failure(claim, size: 100) else {
            Issue.record("the claim was believed")
            return
        }
    }

    @Test func everyCutIsRefused() throws {
        let bytes = try compressed(makeText(500, seed: 2))
        for count in 0..<bytes.count {
            #expect(try failure(Array(bytes.prefix(count)), size: 500) != nil)
        }
    }

    /// zstd keeps no checksum here, so a flip may go unnoticed; it must not trap or overrun.
    @Test func everyFlippedBitFailsOrGivesTheSize() throws {
        let bytes = try compressed(makeText(500, seed: 3))
        var failureCount = 0
        for bit in 0..<8 * bytes.count {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            if try failure(damaged, size: 500) != nil { failureCount += 1 }
        }
        #expect(failureCount > 0)
    }

    @Test func everyErrorSaysWhatToDo() {
        #expect(ZstdError.damaged(code: 20).message.contains("corrupt"))
        #expect(ZstdError.otherSize(expected: 1, found: 2).message.contains("2 bytes instead of 1"))
        #expect(ZstdError.tooOld(found: 10_305).message.contains("found 1.3. Update it."))
        #expect(ZstdError.noMemory.message.contains("memory"))
    }

    @Test(.waits) func aLevelThatIsNoneTraps() async {
        await #expect(processExitsWith: .failure) {
            do throws(ZstdError) { _ = try Compressor(level: 0) } catch {}
        }
    }
}
