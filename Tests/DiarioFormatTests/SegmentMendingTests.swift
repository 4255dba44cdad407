import DiarioCore
import DiarioFormat
import Testing

/// One bit that changed is found by the checksum of its part.
@Suite struct SegmentMendingTests {
    private func files() throws -> [(SegmentFile, [UInt8])] {
        let sealed = try ColumnsSample(seed: 5, count: 40).seal()
        #expect(!sealed.sidecar.isEmpty)
        return [(.segment, sealed.segment), (.sidecar, sealed.sidecar)]
    }

    @Test func whatIsWholeStaysAsItIs() throws {
        for (file, bytes) in try files() {
            #expect(SegmentMending.mended(bytes, file) == bytes)
        }
    }

    /// Wherever it is: in the header, the index, their checksum, or a block.
    @Test func everyBitIsPutRight() throws {
        for (file, bytes) in try files() {
            for bit in stride(from: 0, to: bytes.count * 8, by: 3) {
                var flipped = bytes
                flipped[bit / 8] ^= 1 << UInt8(bit % 8)
                #expect(SegmentMending.mended(flipped, file) == bytes, "\(file) \(bit)")
            }
        }
    }

    /// Bits of several blocks do not hinder each other.
    @Test func aBitOfEachEndIsPutRight() throws {
        for (file, bytes) in try files() {
            var flipped = bytes
            flipped[20] ^= 4
            flipped[bytes.count - 1] ^= 128
            #expect(SegmentMending.mended(flipped, file) == bytes)
        }
    }

    /// More than a bit is not guessed at.
    @Test(arguments: 0..<64) func aSegmentIsNeverMadeAnotherOne(seed: Int) throws {
        let (file, bytes) = try files()[0]
        var random = SeededRandom(seed: UInt64(seed))
        var changed = bytes
        let start = random.below(bytes.count)
        for index in start..<min(bytes.count, start + 1 + random.below(600)) {
            changed[index] ^= UInt8(random.below(256))
        }
        let found = SegmentMending.mended(changed, file)
        #expect(found == nil || found == bytes)
    }

    @Test func piecesOfFilesAreRefused() throws {
        for (file, bytes) in try files() {
            for count in stride(from: 0, to: bytes.count, by: 7) {
                #expect(SegmentMending.mended(Array(bytes[..<count]), file) == nil)
            }
            #expect(SegmentMending.mended(bytes + [0], file) == nil)
        }
    }
}
