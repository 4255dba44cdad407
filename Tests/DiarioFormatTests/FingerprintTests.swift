import DiarioCrypto
import DiarioFormat
import DiarioSchema
import DiarioTestSupport
import Testing

@Suite struct FingerprintTests {
    struct Vectors: Codable {
        struct Schema: Codable {
            var shows: String
            var schema: String
            var canonical: String
            var fingerprint: String
        }

        struct File: Codable {
            var path: String
            var content: String
        }

        struct Pack: Codable {
            var shows: String
            var files: [File]
            var fingerprint: String
        }
        var comment: String
        var schemas: [Schema]
        var packs: [Pack]
    }

    static let comment = """
        schema/format/rows.md, section 5. schemas: the text of an event type's file, the canonical \
        form without what does not count, and the fingerprint. packs: files with their content in \
        hexadecimal, in no particular order, and the fingerprint.
        """

    /// A schema in which each word that does not count comes also as a name, and numbers and texts
    /// in unusual forms.
    private static let odd = """
        {
          "x-diario-version": 1.0, "title": "odd.one.out", "type": "object",
          "required": ["title", "\\u007aed"], "additionalProperties": false,
          "description": "Not counted \\u20ac", \
        "$schema": "https://json-schema.org/draft/2020-12/schema",
          "properties": {
            "zed": { "type": "integer", "minimum": -1e3, "maximum": 9007199254740991, \
        "title": "Zed" },
            "title": { "type": "string", "description": "A field named title.", "maxLength": 10 },
            "description": { "type": "number", "minimum": 1.50, "maximum": 1E+21, \
        "x-diario-unit": "m" },
            "Nested": { "type": "object", "additionalProperties": false, "title": "Not counted",
              "required": ["title"],
              "properties": { "title": { "type": "array", "description": "no", "items":
                { "type": "string", "description": "neither" } } } },
            "e": { "enum": ["\\u00e9", "title", "\\ud83d\\ude00", "a\\"b\\\\c\\/"] }
          }
        }
        """

    private func makeVectors() throws -> Vectors {
        let packs: [(String, [Vectors.File])] = [
            ("no files", []),
            ("one empty file", [.init(path: "pack.json", content: "")]),
            (
                "an order of bytes, not of characters; examples left out",
                [
                    .init(path: "queries/a.sql", content: "00ff0a"),
                    .init(path: "pack.json", content: "7b7d"),
                    .init(path: "examples/one.jsonl", content: "01"),
                    .init(path: "examples.txt", content: "02"),
                    .init(path: "events/b.1.json", content: "7b7d0a"),
                    .init(path: "events/B.1.json", content: "7b7d0a0a"),
                    .init(
                        path: "readmodel/\u{e9}.sql",
                        content: String(repeating: "61", count: 200)
                    ),
                ]
            ),
        ]
        return Vectors(
            comment: Self.comment,
            schemas: try (Fixtures.schemas + [Self.odd]).map { text in
                let type = try Fixtures.type(text)
                return Vectors.Schema(
                    shows: type.name,
                    schema: text,
                    canonical: String(decoding: type.canonicalSchema, as: UTF8.self),
                    fingerprint: Fingerprint.schema(type).text
                )
            },
            packs: try packs.map { shows, files in
                Vectors.Pack(shows: shows, files: files, fingerprint: try fingerprint(files))
            }
        )
    }

    private func fingerprint(_ files: [Vectors.File]) throws -> String {
        try Fingerprint.pack(
            files.map { PackFile(path: $0.path, bytes: try Hex.bytes($0.content)) }
        ).text
    }

    @Test func fingerprintsMatchTheVectors() throws {
        let vectors = try VectorFile.load("fingerprints-1.json", make: makeVectors)
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

    @Test func examplesDoNotCount() throws {
        let files = [PackFile(path: "pack.json", bytes: [1])]
        let example = PackFile(path: "examples/a.jsonl", bytes: [2])
        #expect(Fingerprint.pack(files + [example]) == Fingerprint.pack(files))
        let other = PackFile(path: "events/a.jsonl", bytes: [2])
        #expect(Fingerprint.pack(files + [other]) != Fingerprint.pack(files))
    }
}
