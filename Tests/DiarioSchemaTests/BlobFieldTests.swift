import DiarioCore
import DiarioSchema
import Testing

@Suite struct BlobFieldTests {
    private let photo = #""maxSize":20000000,"types":["image/jpeg","image/png"]"#

    private func schema(_ properties: String, required: String = "[]") -> String {
        """
        {"title":"test.photo.taken","x-diario-version":1,"type":"object",
        "additionalProperties":false,"required":\(required),
        "properties":{\(properties)}}
        """
    }

    private func blob(_ name: String, _ form: String) -> String {
        #""\#(name)":{"type":"object","x-diario-blob":{\#(form)}}"#
    }

    /// So many zero bytes.
    private func base64(_ count: Int) -> String {
        let digits = String(repeating: "A", count: (count * 8 + 5) / 6)
        return digits + String(repeating: "=", count: (4 - digits.count % 4) % 4)
    }

    @Test func aBlobIsFourFields() throws {
        let other = #""at":{"type":"integer"},"#
        let form = blob("photo", photo)
        let type = try makeType(schema(other + form, required: #"["photo","at"]"#))
        let names = ["at", "photoId", "photoKey", "photoSize", "photoType"]
        #expect(type.fields.map { $0.name } == names)
        let kinds: [Field.Kind] = [.integer, .bytes, .bytes, .integer, .enumeration]
        #expect(type.fields.map { $0.kind } == kinds)
        #expect(type.fields.map { $0.isRequired } == [true, true, false, true, true])
        #expect(type.fields.map { $0.isPersonal } == [false, false, true, false, false])
        #expect(type.fields[3].bounds.maximum == 20_000_000)
        #expect(type.fields[4].bounds.values == ["image/jpeg", "image/png"])
        #expect(type.fieldIndicesAsWritten == [0, 1, 3, 4, 2])
        let found = try #require(type.blobs.first)
        #expect(type.blobs.count == 1 && found.name == "photo" && !found.isPublic)
        #expect(found.sizeMax == 20_000_000 && found.types == ["image/jpeg", "image/png"])
        #expect([found.idIndex, found.sizeIndex, found.typeIndex] == [1, 3, 4])
        #expect(found.keyIndex == 2)
    }

    @Test func aPublicBlobHasNoKey() throws {
        let type = try makeType(schema(blob("photo", photo + #","public":true"#)))
        #expect(type.fields.map { $0.name } == ["photoId", "photoSize", "photoType"])
        #expect(type.blobs.map { $0.isPublic } == [true])
        #expect(type.fields.allSatisfy { !$0.isRequired && !$0.isPersonal })
    }

    @Test func theCanonicalSchemaKeepsTheForm() throws {
        let type = try makeType(schema(blob("photo", photo), required: #"["photo"]"#))
        let canonical = String(decoding: type.canonicalSchema, as: UTF8.self)
        #expect(canonical.contains(#""x-diario-blob":{"maxSize":20000000,"types":["image/"#))
        #expect(canonical.contains(#""required":["photo"]"#) && !canonical.contains("photoId"))
        let again = try EventType(name: type.name, canonicalSchema: type.canonicalSchema)
        #expect(again.blobs == type.blobs)
        #expect(again.fields.map { $0.name } == type.fields.map { $0.name })
    }

    @Test(arguments: [
        (#""type":"object","x-diario-blob":1"#, ["blob-size", "blob-types"]),
        (#""type":"string","x-diario-blob":{"maxSize":1,"types":["a/b"]}"#, ["blob-type"]),
        (
            #""type":"object","properties":{},"x-diario-blob":{"maxSize":1,"types":["a/b"]}"#,
            ["unknown-keyword"]
        ),
        (
            #""type":"array","items":{"type":"boolean","x-diario-blob":{}}"#,
            ["nested-annotation"]
        ),
    ])
    func otherFieldsAreRefused(members: String, rules: [String]) {
        #expect(problems(ofSchema: schema(#""photo":{\#(members)}"#)).map(\.rule) == rules)
    }

    @Test(arguments: [
        (#""maxSize":0,"types":["a/b"]"#, "blob-size"),
        (#""maxSize":1073741825,"types":["a/b"]"#, "blob-size"),
        (#""types":["a/b"]"#, "blob-size"), (#""maxSize":1"#, "blob-types"),
        (#""maxSize":1,"types":[]"#, "blob-types"), (#""maxSize":1,"types":["A/b"]"#, "blob-types"),
        (#""maxSize":1,"types":["ab"]"#, "blob-types"),
        (#""maxSize":1,"types":["a/b",1]"#, "blob-types"),
        (#""maxSize":1,"types":["a/b","a/b"]"#, "enum-twice"),
        (#""maxSize":1,"types":["a/b"],"public":false"#, "blob-public"),
        (#""maxSize":1,"types":["a/b"],"size":1"#, "unknown-keyword"),
    ])
    func otherFormsAreRefused(form: String, rule: String) {
        #expect(problems(ofSchema: schema(blob("photo", form))).map(\.rule) == [rule])
    }

    @Test(arguments: ["photoId", "photoSize", "photoType", "photoKey"])
    func namesThatClashAreRefused(name: String) {
        let properties = blob("photo", photo) + #","\#(name)":{"type":"boolean"}"#
        let problems = problems(ofSchema: schema(properties))
        #expect(problems.first?.rule == "blob-clash")
        #expect(problems.first?.message.contains("a field \(name) too") == true)
    }

    @Test func partsAreNotRequiredByThemselves() {
        let properties = blob("photo", photo)
        let problems = problems(ofSchema: schema(properties, required: #"["photoId"]"#))
        #expect(problems.map(\.rule) == ["blob-required"])
        #expect(problems.first?.message.contains("write photo") == true)
    }

    @Test func theSubjectIsNoBlob() {
        let properties = blob("photo", photo)
        let text = schema(properties, required: #"["photo"]"#).replacing(
            #""type":"object","#,
            with: #""type":"object","x-diario-subject":"photoId","#,
            maxReplacements: 1
        )
        #expect(problems(ofSchema: text).map(\.rule) == ["subject-kind"])
    }

    /// The payload as JSON, or the rule that it breaks.
    private func read(_ json: String, _ type: EventType) -> String {
        var reader = PayloadReader()
        var payload = Payload()
        let text = Array(json.utf8)
        do throws(SchemaError) {
            try reader.read(text.span, as: type, into: &payload)
            return "fine"
        } catch {
            return error.kind.rawValue
        }
    }

    @Test func partsComeTogetherAndTheKeyMayBeGone() throws {
        let type = try makeType(schema(blob("photo", photo)))
        let id = #""photoId":"\#(base64(32))""#
        let (size, kind) = (#""photoSize":5"#, #""photoType":"image/png""#)
        let key = #""photoKey":"\#(base64(32))""#
        #expect(read("{}", type) == "fine")
        #expect(read("{\(id),\(size),\(kind),\(key)}", type) == "fine")
        #expect(read("{\(id),\(size),\(kind)}", type) == "fine")
        for parts in [id, size, kind, key, "\(id),\(size)", "\(size),\(kind),\(key)"] {
            #expect(read("{\(parts)}", type) == "required")
        }
        for count in [31, 33] {
            let other = #""photoId":"\#(base64(count))""#
            #expect(read("{\(other),\(size),\(kind)}", type) == "blob-bytes")
        }
        #expect(read(#"{"photoId":"\#(base64(30))",\#(size),\#(kind)}"#, type) == "min-length")
        #expect(read(#"{\#(id),"photoSize":20000001,\#(kind)}"#, type) == "maximum")
        #expect(read(#"{\#(id),\#(size),"photoType":"image/gif"}"#, type) == "enum")
    }
}
