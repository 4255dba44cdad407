import DiarioSchema
import Testing

/// Types with names: schema/README.md.
@Suite struct NamedTypesTests {
    private static let types = #"""
        { "Corner": { "description": "Where two sides meet.",
            "type": "object", "additionalProperties": false, "required": ["side", "place"],
            "properties": { "side": { "$ref": "#/Side" }, "place": { "$ref": "#/Point" } } },
          "Side": { "enum": ["left", "right"] },
          "Point": { "type": "object", "additionalProperties": false, "required": ["x"],
            "properties": { "x": { "type": "integer", "minimum": 0, "maximum": 9 } } },
          "Month": { "type": "integer", "minimum": 1, "maximum": 12 } }
        """#

    private static func pack(
        types: String? = types,
        _ properties: String,
        required: String = ""
    ) throws(PackError) -> Pack {
        let event = """
            {"title":"plants.leaf.drawn","x-diario-version":1,"type":"object",
            "additionalProperties":false,"required":[\(required)],
            "properties":{\(properties)}}
            """
        var files = [
            PackFile(path: "pack.json", bytes: Array(#"{"name":"plants","version":1}"#.utf8)),
            PackFile(path: "events/leaf.drawn.1.json", bytes: Array(event.utf8)),
        ]
        if let types { files.append(PackFile(path: "types.json", bytes: Array(types.utf8))) }
        return try Pack(files: files)
    }

    private static func problems(types: String? = types, _ properties: String) -> [String] {
        do throws(PackError) { _ = try pack(types: types, properties) } catch {
            return error.problems.map { "\($0.file):\($0.line ?? 0) \($0.rule)" }
        }
        return []
    }

    /// A schema with names is the one that is written out: its canonical form, so its fingerprint.
    @Test func aNameIsWhatItStandsFor() throws {
        let named = try Self.pack(
            #"""
            "corners": { "type": "array", "items": { "$ref": "../types.json#/Corner" } },
            "month": { "$ref": "../types.json#/Month", "title": "Of the year" }
            """#
        )
        let written = try Self.pack(
            types: nil,
            #"""
            "corners": { "type": "array", "items": { "type": "object",
              "additionalProperties": false, "required": ["side", "place"], "properties": {
                "side": { "enum": ["left", "right"] },
                "place": { "type": "object", "additionalProperties": false, "required": ["x"],
                  "properties": { "x": { "type": "integer", "minimum": 0, "maximum": 9 } } } } } },
            "month": { "type": "integer", "minimum": 1, "maximum": 12, "title": "Of the year" }
            """#
        )
        #expect(named.types[0].canonicalSchema == written.types[0].canonicalSchema)
        let month = try #require(named.types[0].fields.first { $0.name == "month" })
        #expect(month.title == "Of the year" && month.bounds.maximum == 12)
        #expect(named.format == 3 && written.format == 1)
    }

    /// What is made of a pack sees the names, those within other types too.
    @Test func namesAreKeptForWhatIsMadeOfThem() throws {
        let pack = try Self.pack(#""corner": { "$ref": "../types.json#/Corner" }"#)
        #expect(pack.named.types.map(\.name) == ["Corner", "Side", "Point", "Month"])
        #expect(pack.named.types[0].description == "Where two sides meet.")
        let schema = pack.writtenSchema(of: pack.types[0])
        let corner = try #require(schema.member("properties")?.item.value.member("corner")?.item)
        #expect(NamedTypes.name(in: corner.value) == "Corner")
        let fields = try #require(corner.value.member("properties")?.item.value)
        let side = try #require(fields.member("side")?.item.value)
        #expect(NamedTypes.name(in: side) == "Side" && side.member("enum") != nil)
    }

    @Test(
        arguments: [
            (##""a": { "$ref": "../types.json#/Cornre" }"##, "reference"),
            (##""a": { "$ref": "#/Corner" }"##, "reference"),
            (##""a": { "$ref": "../../types.json#/Corner" }"##, "reference"),
            (##""a": { "$ref": 7 }"##, "reference"),
            (##""a": { "$ref": "../types.json#/Month", "maximum": 3 }"##, "beside-reference"),
        ]
    ) func whatLeadsNowhereIsNamed(properties: String, rule: String) {
        #expect(Self.problems(properties) == ["events/leaf.drawn.1.json:3 \(rule)"])
    }

    @Test(
        arguments: [
            (#"[]"#, 1, "types"), (#"{ "side": { "enum": ["a"] } }"#, 1, "type-name"),
            (#"{ "String": { "enum": ["a"] } }"#, 1, "type-name"),
            (#"{ "LeafDrawn": { "enum": ["a"] } }"#, 1, "type-name"),
            (#"{ "Two Words": { "enum": ["a"] } }"#, 1, "type-name"),
            (#"{ "A": { "type": "object" } }"#, 1, "additional-properties"),
            (
                ##"""
                { "A": { "type": "array", "items": { "$ref": "#/B" } },
                  "B": { "type": "array", "items": { "$ref": "#/A" } } }
                """##, 1, "type-circle"
            ), (##"{ "A": { "$ref": "#/A" } }"##, 1, "type-circle"),
            (##"{ "A": { "$ref": "../types.json#/A" } }"##, 1, "type-circle"),
            (##"{ "A": { "$ref": "#/B" } }"##, 1, "reference"),
        ]
    ) func whatIsNoTypeIsNamed(types: String, line: Int, rule: String) {
        let problems = Self.problems(types: types, "")
        #expect(problems.first == "types.json:\(line) \(rule)", "\(problems)")
    }
}
