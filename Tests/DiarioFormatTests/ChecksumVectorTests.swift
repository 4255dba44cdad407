import DiarioFormat
import DiarioTestSupport
import Testing

@Suite struct ChecksumVectorTests {
    struct Vectors: Codable {
        struct Case: Codable {
            var bytes: String
            var crc32c: String
        }
        var comment: String
        var cases: [Case]
    }

    static let comment = """
        schema/format/rows.md, section 5. The CRC32C of bytes, as 8 hexadecimal digits of the \
        number, most significant first. The first five cases are known from RFC 3720.
        """

    private func makeVectors() -> Vectors {
        var inputs: [[UInt8]] = [
            Array("123456789".utf8), .init(repeating: 0, count: 32),
            .init(repeating: 0xff, count: 32), Array(0..<32), Array((0..<32).reversed()), [],
        ]
        inputs += [1, 7, 8, 9, 63, 64, 65, 300].map { count in
            (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + count) }
        }
        return Vectors(
            comment: Self.comment,
            cases: inputs.map {
                .init(bytes: Hex.text($0), crc32c: text(Checksum.crc32c($0.span.raw)))
            }
        )
    }

    private func text(_ checksum: UInt32) -> String {
        Hex.text((0..<4).map { UInt8(truncatingIfNeeded: checksum >> UInt32(24 - 8 * $0)) })
    }

    @Test func checksumsMatchTheVectors() throws {
        let vectors = try VectorFile.load("crc32c-1.json", make: makeVectors)
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
