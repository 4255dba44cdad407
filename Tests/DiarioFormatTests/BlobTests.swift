import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioTestSupport
import Testing

@Suite struct BlobTests {
    struct Vectors: Decodable {
        struct Sizes: Decodable {
            var plain: Int64
            var stored: Int64
        }
        struct Blob: Decodable {
            var shows: String
            var plain: String?
            var size: Int?
            var key: String?
            var id: String
            var storedSize: Int64
            var stored: String?
        }
        struct Step: Decodable {
            var cut: Int?
            var append: String?
            var flip: Int?
            var swap: [Int]?
        }
        struct Fault: Decodable {
            var shows: String
            var size: Int
            var writtenWith: String
            var key: String?
            var expectedSize: Int64?
            var steps: [Step]
            var fault: String?
        }
        var sizes: [Sizes]
        var noSizes: [Int64]
        var blobs: [Blob]
        var faults: [Fault]
    }

    /// The plain bytes of the vectors that do not write theirs out.
    private func sample(_ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: 7 * $0 + $0 / 256) }
    }

    private func key(_ text: String?) throws -> BlobKey? {
        try text.flatMap { BlobKey(try Hex.bytes($0)) }
    }

    /// The stored bytes of a blob whose plain bytes come in parts of `partSize`.
    private func written(
        _ plain: [UInt8],
        _ key: BlobKey?,
        partSize: Int = 10_000
    ) throws -> (blob: WrittenBlob, stored: [UInt8]) {
        let writer = try BlobWriter(key: key)
        var stored: [UInt8] = []
        for start in stride(from: 0, to: plain.count, by: partSize) {
            let end = min(plain.count, start + partSize)
            try writer.write(plain.span.extracting(start..<end), into: &stored)
        }
        let blob = try writer.finish(into: &stored)
        return (blob, stored)
    }

    private func reader(
        _ stored: [UInt8],
        _ key: BlobKey?,
        _ plainSize: Int64? = nil
    ) throws(BlobError) -> BlobReader {
        try BlobReader(
            key: key,
            header: stored.span.extracting(first: 8),
            storedSize: Int64(stored.count),
            plainSize: plainSize
        )
    }

    private func read(
        _ stored: [UInt8],
        _ key: BlobKey?,
        _ plainSize: Int64? = nil
    ) throws(BlobError) -> [UInt8] {
        let reader = try reader(stored, key, plainSize)
        var plain: [UInt8] = []
        for chunk in 0..<reader.layout.chunkCount {
            let range = reader.layout.storedRange(of: chunk)
            let bytes = stored.span.extracting(Int(range.lowerBound)..<Int(range.upperBound))
            try reader.open(chunk: chunk, bytes, into: &plain)
        }
        return plain
    }

    /// The fault of reading, in the words of the vectors.
    private func fault(_ stored: [UInt8], _ key: BlobKey?, _ plainSize: Int64?) -> String? {
        do throws(BlobError) {
            _ = try read(stored, key, plainSize)
            return nil
        } catch {
            switch error {
            case .erased: return "erased"
            case .cut: return "cut"
            case .tooLarge: return "too large"
            case .notBlob: return "no blob"
            case .unknownVersion: return "newer"
            case .damaged, .damagedHeader: return "damaged"
            case .damagedChunk(let index): return "chunk \(index)"
            case .crypto: return "crypto"
            }
        }
    }

    @Test func sizesFollowFromOneAnother() throws {
        let vectors: Vectors = try VectorFile.read("blobs-1.json")
        for sizes in vectors.sizes {
            let layout = BlobLayout(plainSize: sizes.plain)
            #expect(layout.storedSize == sizes.stored)
            #expect(try BlobLayout(storedSize: sizes.stored) == layout)
            #expect(layout.storedRange(of: layout.chunkCount - 1).upperBound == sizes.stored)
            #expect(layout.plainRange(of: layout.chunkCount - 1).upperBound == sizes.plain)
        }
        for size in vectors.noSizes + [-1, .min, .max] {
            #expect(throws: BlobError.self) { try BlobLayout(storedSize: size) }
        }
    }

    @Test func blobsMatchTheVectors() throws {
        let vectors: Vectors = try VectorFile.read("blobs-1.json")
        for vector in vectors.blobs {
            let plain = try vector.plain.map { try Hex.bytes($0) } ?? sample(vector.size ?? 0)
            let key = try key(vector.key)
            let (blob, stored) = try written(plain, key)
            #expect(blob.id.text == vector.id, "\(vector.shows)")
            #expect(blob.storedSize == vector.storedSize && Int64(stored.count) == blob.storedSize)
            #expect(blob.plainSize == Int64(plain.count))
            if let expected = vector.stored { #expect(Hex.text(stored) == expected) }
            if key != nil { #expect(try read(stored, key, blob.plainSize) == plain) }
        }
    }

    @Test func faultsAreThoseOfTheVectors() throws {
        let vectors: Vectors = try VectorFile.read("blobs-1.json")
        for vector in vectors.faults {
            var stored = try written(sample(vector.size), key(vector.writtenWith)).stored
            for step in vector.steps {
                if let size = step.cut { stored.removeSubrange(size...) }
                if let text = step.append { stored += try Hex.bytes(text) }
                if let offset = step.flip { stored[offset] ^= 1 }
                if let chunks = step.swap {
                    let layout = BlobLayout(plainSize: Int64(vector.size))
                    let ranges = chunks.map { chunk in
                        let range = layout.storedRange(of: Int64(chunk))
                        return Int(range.lowerBound)..<Int(range.upperBound)
                    }
                    let first = Array(stored[ranges[0]])
                    stored.replaceSubrange(ranges[0], with: Array(stored[ranges[1]]))
                    stored.replaceSubrange(ranges[1], with: first)
                }
            }
            let found = fault(stored, try key(vector.key), vector.expectedSize)
            #expect(found == vector.fault, "\(vector.shows)")
        }
    }

    @Test(arguments: UInt64(0)..<6) func partsDoNotShow(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let plain = makeBytes([0, 65_536, 131_072, 140_001][random.below(4)], using: &random)
        let key = BlobKey(drawnFrom: SeededEntropy(seed: seed))
        let whole = try written(plain, key, partSize: 1 << 20)
        let parts = try written(plain, key, partSize: 1 + random.below(70_000))
        #expect(whole.blob == parts.blob && whole.stored == parts.stored)
        let hash = SHA256.hash(whole.stored.span)
        #expect(whole.blob.id == hash)
    }

    /// Every cut and every flipped bit of a small blob, and every cut around the chunks of another.
    @Test func noCutAndNoBitGoesUnnoticed() throws {
        let key = BlobKey(drawnFrom: SeededEntropy(seed: 1))
        let small = try written(sample(9), key).stored
        for size in small.indices {
            #expect(fault(Array(small[..<size]), key, nil) != nil)
            for bit in 0..<8 {
                var changed = small
                changed[size] ^= 1 << UInt8(bit)
                #expect(fault(changed, key, nil) != nil)
            }
        }
        let large = try written(sample(131_073), key).stored
        for boundary in [8, 8 + 65_552, 8 + 2 * 65_552, large.count] {
            for size in max(0, boundary - 20)..<min(large.count, boundary + 20) {
                #expect(fault(Array(large[..<size]), key, nil) != nil)
            }
        }
    }

    @Test func aRangeNeedsOnlyItsChunks() throws {
        let key = BlobKey(drawnFrom: SeededEntropy(seed: 2))
        let plain = sample(200_000)
        var stored = try written(plain, key).stored
        // Another chunk may be damaged meanwhile.
        stored[20] ^= 1
        let reader = try reader(stored, key)
        #expect(reader.layout.chunks(holding: 70_000..<131_072) == 1..<2)
        #expect(reader.layout.chunks(holding: 65_535..<65_537) == 0..<2)
        #expect(reader.layout.chunks(holding: 200_000..<200_000).isEmpty)
        var chunk: [UInt8] = []
        let range = reader.layout.storedRange(of: 1)
        let bytes = stored.span.extracting(Int(range.lowerBound)..<Int(range.upperBound))
        try reader.open(chunk: 1, bytes, into: &chunk)
        #expect(chunk == Array(plain[65_536..<131_072]))
    }

    @Test func moreThanIsAllowedIsRefused() throws {
        let writer = try BlobWriter(key: nil, sizeMax: 10)
        var output: [UInt8] = []
        let (six, five) = ([UInt8](repeating: 1, count: 6), [UInt8](repeating: 1, count: 5))
        try writer.write(six.span, into: &output)
        #expect(throws: BlobError.tooLarge(sizeMax: 10)) {
            try writer.write(five.span, into: &output)
        }
        #expect(BlobKey(five) == nil)
    }

    @Test func keysAreDrawnOfAllTheirBytes() {
        let entropy = SeededEntropy(seed: 3)
        let keys = (0..<4).map { _ in BlobKey(drawnFrom: entropy) }
        #expect(Set(keys).count == 4)
        #expect(Set(keys.flatMap { $0.bytes }).count > 64)
    }

    @Test func eachFaultSaysWhatToDo() {
        let faults: [BlobError] = [
            .erased, .cut(storedSize: 7), .tooLarge(sizeMax: 9), .notBlob, .unknownVersion(2),
            .damaged, .damagedHeader, .damagedChunk(3), .crypto(.noCipher), .crypto(.noMemory),
        ]
        #expect(Set(faults.map { $0.message }).count == faults.count)
    }
}
