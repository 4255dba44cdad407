import DiarioFormat
import DiarioTestSupport
import Testing

@Suite struct ChecksumVectorTests {
    struct Vectors: Decodable {
        struct Case: Decodable {
            var bytes: String
            var crc32c: String
        }
        var cases: [Case]
    }

    private func text(_ checksum: UInt32) -> String {
        Hex.text((0..<4).map { UInt8(truncatingIfNeeded: checksum >> UInt32(24 - 8 * $0)) })
    }

    @Test func checksumsMatchTheVectors() throws {
        let vectors: Vectors = try VectorFile.read("crc32c-1.json")
        let known = ["e3069283", "8a9136aa", "62a8ab43", "46dd794e", "113fdb5c"]
        #expect(vectors.cases.prefix(5).map(\.crc32c) == known)
        for example in vectors.cases {
            let bytes = try Hex.bytes(example.bytes)
            #expect(text(Checksum.crc32c(bytes.span.raw)) == example.crc32c)
        }
    }

    @Test func aChecksumGoesOnFromAnother() {
        let bytes = (0..<200).map { UInt8(truncatingIfNeeded: $0 * 31) }
        let whole = Checksum.crc32c(bytes.span.raw)
        for cut in 0...bytes.count {
            let first = Checksum.crc32c(bytes.span.raw.extracting(0..<cut))
            let rest = bytes.span.raw.extracting(cut..<bytes.count)
            #expect(Checksum.crc32c(rest, continuing: first) == whole)
        }
    }
}
