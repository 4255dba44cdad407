import DiarioCrypto
import DiarioFormat
import DiarioSchema
import DiarioTestSupport
import Testing

@Suite struct FingerprintTests {
    struct Vectors: Decodable {
        struct Schema: Decodable {
            var shows: String
            var schema: String
            var canonical: String
            var fingerprint: String
        }

        struct File: Decodable {
            var path: String
            var content: String
        }

        struct Pack: Decodable {
            var shows: String
            var files: [File]
            var fingerprint: String
        }
        var schemas: [Schema]
        var packs: [Pack]
    }

    private func fingerprint(_ files: [Vectors.File]) throws -> String {
        try Fingerprint.pack(
            files.map { PackFile(path: $0.path, bytes: try Hex.bytes($0.content)) }
        ).text
    }

    @Test func fingerprintsMatchTheVectors() throws {
        let vectors: Vectors = try VectorFile.read("fingerprints-1.json")
        #expect(vectors.schemas.count == 5)
        for example in vectors.schemas {
            let type = try Fixtures.type(example.schema)
            #expect(String(decoding: type.canonicalSchema, as: UTF8.self) == example.canonical)
            #expect(Fingerprint.schema(type).text == example.fingerprint)
            #expect(SHA256.hash(Array(example.canonical.utf8).span).text == example.fingerprint)
        }
        #expect(vectors.packs.count == 3)
        for example in vectors.packs {
            #expect(try fingerprint(example.files) == example.fingerprint)
            #expect(try fingerprint(example.files.reversed()) == example.fingerprint)
        }
    }

    @Test func examplesAndTheTextForReadersDoNotCount() throws {
        let files = [PackFile(path: "pack.json", bytes: [1])]
        for path in ["examples/a.jsonl", "README.md"] {
            let other = PackFile(path: path, bytes: [2])
            #expect(Fingerprint.pack(files + [other]) == Fingerprint.pack(files))
        }
        let other = PackFile(path: "events/a.jsonl", bytes: [2])
        #expect(Fingerprint.pack(files + [other]) != Fingerprint.pack(files))
    }
}
