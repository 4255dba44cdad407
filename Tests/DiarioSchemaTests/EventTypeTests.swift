import DiarioCore
import DiarioSchema
import Testing

@Suite struct EventTypeTests {
    @Test func aSchemaBecomesAType() throws {
        let type = try makeType()
        #expect(type.name == "test.thing.made")
        #expect(type.pack == "test")
        #expect(type.version == 1)
        #expect(type.description == "Something with a field of every form was made.")
        let names = [
            "any", "big", "blob", "code", "colour", "count", "day", "isNew", "key", "list",
            "moment", "name", "note", "parentId", "place", "share", "thingId",
        ]
        #expect(type.fields.map(\.name) == names)
        #expect(type.subjectFieldIndex == 16)
        #expect(type.newIDFieldIndex == 16)
        #expect(type.personalFieldIndices == [12])
        #expect(type.publicFieldIndices == Array(0..<12) + Array(13..<17))
        #expect(type.fieldIndex("share") == 15)
        #expect(type.fieldIndex("Share") == nil)
    }

    @Test func fieldsSayWhatTheyHold() throws {
        let type = try makeType()
        func field(_ name: String) throws -> Field {
            type.fields[try #require(type.fieldIndex(name))]
        }
        let kinds: [Field.Kind] = [
            .number, .integer, .bytes, .string, .enumeration, .integer, .date, .boolean, .uuid,
            .nested, .dateTime, .string, .string, .string, .nested, .number, .string,
        ]
        #expect(type.fields.map(\.kind) == kinds)
        #expect(type.fields.filter(\.isRequired).map(\.name) == ["count", "name"])
        let count = try field("count")
        #expect(count.bounds.minimum == -5)
        #expect(count.bounds.maximum == 5000)
        #expect(count.unit == "mm")
        #expect(try field("share").bounds.numberMaximum == 1.5)
        #expect(try field("any").bounds.numberMaximum == nil)
        #expect(try field("name").bounds.lengthMin == 1)
        #expect(try field("blob").bounds.lengthMax == 8)
        #expect(try field("code").bounds.pattern?.text == "^[a-z]{2}[0-9]*$")
        #expect(try field("colour").bounds.values == ["red", "green", "\u{e8}\"x", ""])
        #expect(try field("parentId").referenceKind == "thing")
        #expect(try field("thingId").isNewID)
        #expect(try field("thingId").referenceKind == nil)
        #expect(try field("note").isPersonal)
    }

    /// Annotations go where they annotate; a property named like one stays.
    @Test func theCanonicalSchemaLeavesAnnotationsOut() throws {
        let schema = #"""
            { "title": "test.a.b", "$schema": "https://json-schema.org/draft/2020-12/schema",
              "x-diario-version": 3, "type": "object", "additionalProperties": false,
              "description": "d", "required": ["title"],
              "properties": {
                "title": { "type": "string", "title": "T", "description": "d", "maxLength": 9.0 },
                "description": { "enum": ["title", "b"], "x-diario-unit": "u" },
                "z": { "type": "array", "title": "t", "items": {
                    "type": "object", "additionalProperties": false, "description": "d",
                    "properties": { "title": { "type": "boolean", "title": "t" } } } }
              } }
            """#
        let canonical = #"""
            {"additionalProperties":false,"properties":{"description":{"enum":["title","b"]},\#
            "title":{"maxLength":9,"type":"string"},"z":{"items":{"additionalProperties":false,\#
            "properties":{"title":{"type":"boolean"}},"type":"object"},"type":"array"}},\#
            "required":["title"],"type":"object","x-diario-version":3}
            """#
        #expect(text(try makeType(schema).canonicalSchema) == canonical)
    }

    @Test func theCanonicalSchemaMakesAnEqualType() throws {
        let type = try makeType()
        let again = try EventType(name: type.name, canonicalSchema: type.canonicalSchema)
        #expect(again.canonicalSchema == type.canonicalSchema)
        #expect(again.fields.map(\.name) == type.fields.map(\.name))
        #expect(again.fields.map(\.kind) == type.fields.map(\.kind))
        #expect(again.subjectFieldIndex == type.subjectFieldIndex)
        #expect(again.newIDFieldIndex == type.newIDFieldIndex)
        #expect(again.version == 1)
    }

    @Test func aTypeMayHaveNoFields() throws {
        let type = try makeType(
            #"{"title":"a.b","x-diario-version":1,"type":"object","additionalProperties":false}"#
        )
        #expect(type.fields.isEmpty)
        #expect(rewritten("{ }", as: type) == "{}")
        #expect(fault(in: #"{"a":1}"#, as: type)?.kind == .unknownField)
    }

    @Test(arguments: [
        (#"{"type":"integer","minimum":5,"maximum":4}"#, "bounds-crossed"),
        (#"{"type":"integer","minimum":1.5}"#, "bound"),
        (#"{"type":"integer","maximum":9007199254740993}"#, "bound"),
        (#"{"type":"integer","minimum":"1"}"#, "bound"),
        (#"{"type":"integer","maxLength":1}"#, "unknown-keyword"),
        (#"{"type":"integer","minimun":1}"#, "unknown-keyword"),
        (#"{"type":"number","minimum":2,"maximum":1.5}"#, "bounds-crossed"),
        (#"{"type":"number","maximum":true}"#, "bound"),
        (#"{"type":"string","minLength":-1}"#, "bound"),
        (#"{"type":"string","minLength":3,"maxLength":2}"#, "bounds-crossed"),
        (#"{"type":"string","pattern":"a**"}"#, "pattern"),
        (#"{"type":"string","pattern":1}"#, "keyword-value"),
        (#"{"type":"string","format":"email"}"#, "format"),
        (#"{"type":"string","format":"date","maxLength":3}"#, "unknown-keyword"),
        (#"{"type":"string","contentEncoding":"base32"}"#, "content-encoding"),
        (#"{"type":"string","contentEncoding":"base64","pattern":"a"}"#, "unknown-keyword"),
        (#"{"type":"boolean","default":true}"#, "unknown-keyword"),
        (#"{"type":["string","null"]}"#, "form"), (#"{"type":"null"}"#, "form"),
        (#"{}"#, "form"), (##"{"$ref":"#/x"}"##, "reference"), ("1", "property-object"),
        ("true", "property-object"), (#"{"enum":[]}"#, "enum"), (#"{"enum":"a"}"#, "enum"),
        (#"{"enum":["a",1]}"#, "enum"), (#"{"enum":["a","a"]}"#, "enum-twice"),
        (#"{"enum":["a"],"type":"integer"}"#, "enum"),
        (#"{"type":"array"}"#, "items-missing"),
        (#"{"type":"array","items":{"type":"null"}}"#, "form"),
        (
            #"{"type":"array","items":{"type":"string"},"minItems":2,"maxItems":1}"#,
            "bounds-crossed"
        ),
        (#"{"type":"array","items":{"type":"string"},"uniqueItems":true}"#, "unknown-keyword"),
        (#"{"type":"array","items":{"type":"string","x-diario-unit":"m"}}"#, "nested-annotation"),
        (#"{"type":"object","properties":{}}"#, "additional-properties"),
        (#"{"type":"object","additionalProperties":true}"#, "additional-properties"),
        (#"{"type":"object","additionalProperties":false,"required":["a"]}"#, "required-unknown"),
        (
            #"{"type":"object","additionalProperties":false,"#
                + #""properties":{"a":{"type":"string","x-diario-personal":true}}}"#,
            "nested-annotation"
        ),
        (
            #"{"type":"object","additionalProperties":false,"#
                + #""properties":{"a-b":{"type":"boolean"}}}"#,
            "field-name"
        ),
        (#"{"type":"string","x-diario-personal":false}"#, "personal"),
        (#"{"type":"string","x-diario-id":"a b"}"#, "reference-kind"),
        (#"{"type":"string","x-diario-id":1}"#, "keyword-value"),
        (#"{"type":"boolean","x-diario-id":"thing"}"#, "reference-form"),
        (#"{"type":"integer","x-diario-id":"new"}"#, "new-id-kind"),
        (#"{"type":"string","x-diario-id":"new","maxLength":39}"#, "new-id-narrow"),
        (#"{"type":"string","x-diario-id":"new","minLength":16}"#, "new-id-narrow"),
        (#"{"type":"string","x-diario-id":"new","pattern":"^[0-9]+$"}"#, "new-id-narrow"),
        (#"{"type":"string","x-diario-id":"new","x-diario-personal":true}"#, "new-id-personal"),
        (#"{"type":"string","title":1}"#, "keyword-value"),
        (#"{"type":"string","type":"string"}"#, "duplicate-key"),
    ])
    func otherFieldsAreRefused(field: String, rule: String) {
        let problems = problems(ofSchema: schema(withField: field))
        #expect(problems.map(\.rule) == [rule])
        #expect(problems.allSatisfy { $0.line == 2 && $0.file == "events/x.1.json" })
    }

    private static let frame = [
        "title": #""a.b""#, "x-diario-version": "1", "type": #""object""#,
        "additionalProperties": "false",
    ]

    @Test(arguments: [
        ("title", nil, "title-missing"), ("title", "1", "keyword-value"),
        ("title", #""ab""#, "type-name"), ("title", #""A.b""#, "type-name"),
        ("title", #""a..b""#, "type-name"), ("title", #""a.1b""#, "type-name"),
        ("x-diario-version", nil, "version-missing"), ("x-diario-version", "0", "version"),
        ("x-diario-version", "65536", "version"), ("x-diario-version", #""1""#, "version"),
        ("type", nil, "object-type"), ("type", #""array""#, "object-type"),
        ("additionalProperties", nil, "additional-properties"),
        ("$schema", ##""http://json-schema.org/draft-07/schema#""##, "dialect"),
        ("properties", "[]", "properties"), ("required", #""a""#, "required"),
        ("required", "[1]", "required"), ("required", #"["a"]"#, "required-unknown"),
        ("properties", #"{"_a":{"type":"boolean"}}"#, "field-name"),
        ("properties", #"{"1a":{"type":"boolean"}}"#, "field-name"),
        ("x-diario-subject", #""a""#, "subject-unknown"), ("x-diario-unit", "1", "unknown-keyword"),
        ("oneOf", "[]", "unknown-keyword"), ("description", "1", "keyword-value"),
    ])
    func otherSchemasAreRefused(key: String, value: String?, rule: String) {
        var members = Self.frame
        members[key] = value
        let text = members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",\n")
        #expect(problems(ofSchema: "{\(text)}").map(\.rule) == [rule])
    }

    @Test(arguments: [
        (#"{"type":"string"}"#, "[]", "subject-optional"),
        (#"{"type":"boolean"}"#, #"["f"]"#, "subject-kind"),
        (#"{"type":"string","x-diario-personal":true}"#, #"["f"]"#, "subject-personal"),
        (#"{"type":"string"}"#, #"["f"]"#, nil), (#"{"type":"integer"}"#, #"["f"]"#, nil),
        (#"{"type":"string","format":"uuid"}"#, #"["f"]"#, nil),
        (#"{"type":"string","x-diario-id":"new"}"#, "[]", nil),
        (#"{"type":"string","x-diario-id":"new"}"#, #"["f"]"#, "new-id-required"),
    ])
    func subjectsMustBeThereForEver(field: String, required: String, rule: String?) {
        let schema = schema(withField: field, required: required)
            .replacing(
                "\"type\":\"object\"",
                with: "\"type\":\"object\",\"x-diario-subject\":\"f\""
            )
        #expect(problems(ofSchema: schema).map(\.rule) == (rule.map { [$0] } ?? []))
    }

    @Test func twoNewIDsAreRefused() {
        let id = #"{"type":"string","x-diario-id":"new"}"#
        let schema = schema(withField: "\(id),\n\"g\":\(id)")
        let problems = problems(ofSchema: schema)
        #expect(problems.map(\.rule) == ["new-id-twice"])
        #expect(problems.map(\.line) == [3])
    }

    @Test(arguments: [("[]", "schema-object"), ("", "unexpected-end"), ("{}}", "trailing-bytes")])
    func whatIsNoObjectIsRefused(schema: String, rule: String) {
        #expect(problems(ofSchema: schema).map(\.rule) == [rule])
    }

    @Test func requiredTwiceIsRefused() {
        let schema = schema(withField: #"{"type":"boolean"}"#, required: #"["f","f"]"#)
        #expect(problems(ofSchema: schema).map(\.rule) == ["required-twice"])
    }

    /// The paths of what is in it carried the whole name: a file of 350 KB took half a minute.
    @Test func aNameThatIsNoNameIsToldShortly() {
        let name = String(repeating: "a", count: 200_000)
        let members = (0..<200).map { #""m\#($0)":{"type":"stringy"}"# }.joined(separator: ",")
        let object = #"{"type":"object","additionalProperties":false,"properties":{\#(members)}}"#
        let schema = schema(withField: #"{"type":"boolean"},"\#(name)":\#(object)"#)
        let problems = problems(ofSchema: schema)
        #expect(problems.count == 100)
        #expect(problems.first?.rule == "field-name")
        #expect(problems.first?.message.contains("aaa... (200000 bytes)") == true)
        #expect(problems.allSatisfy { $0.message.utf8.count < 300 })
    }

    @Test func allProblemsAreToldAtOnceWithTheirLines() {
        let problems = problems(
            ofSchema: """
                {
                "title": "Test",
                "typo": 1,
                "type": "object",
                "properties": {
                  "a": { "type": "strin" },
                  "b": { "type": "string", "minLenght": 1 }
                } }
                """
        )
        let found = problems.map { "\($0.line ?? 0) \($0.rule)" }
        #expect(
            Set(found) == [
                "3 unknown-keyword", "2 type-name", "1 version-missing", "1 additional-properties",
                "6 form", "7 unknown-keyword",
            ]
        )
        #expect(problems.contains { $0.message.contains("did you mean minLength?") })
    }

    @Test func fieldsAreLimited() {
        func schema(_ count: Int) -> String {
            let fields = (0..<count).map { "\"f\($0)\":{\"type\":\"boolean\"}" }
            return #"{"title":"a.b","x-diario-version":1,"type":"object","#
                + #""additionalProperties":false,"properties":{"#
                + fields.joined(separator: ",") + "}}"
        }
        #expect(problems(ofSchema: schema(Limits.fieldCountMax)).isEmpty)
        let rules = problems(ofSchema: schema(Limits.fieldCountMax + 1)).map(\.rule)
        #expect(rules == ["field-count"])
    }

    @Test(arguments: UInt64(0)..<48) func mutilatedSchemasAreReadOrRefused(seed: UInt64) {
        var generator = JSONGenerator(random: SeededRandom(seed: seed))
        var budget = PatternBudget()
        for _ in 0..<8 {
            let bytes = generator.mutilated(Array(everyFormSchema.utf8))
            do throws(PackError) {
                let type = try EventType(schema: bytes, file: "x", budget: &budget)
                _ = try EventType(name: type.name, canonicalSchema: type.canonicalSchema)
            } catch {
                #expect(!error.problems.isEmpty)
            }
        }
    }
}
