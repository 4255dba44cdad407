import DiarioSchema
import Testing

/// What packs say to people: schema/README.md, "Texts".
@Suite struct PackTextsTests {
    private static let files = [
        "pack.json": #"{"name":"test","version":1}"#,
        "types.json": #"{"Size":{"enum":["small","large"]}}"#,
        "events/thing.made.1.json": """
        {"title":"test.thing.made","x-diario-version":1,"type":"object",
        "additionalProperties":false,"required":["size"],
        "properties":{"size":{"$ref":"../types.json#/Size"}}}
        """,
        "commands/thing.make.1.json": """
        {"title":"test.thing.make","events":["test.thing.made"],
        "input":{"type":"object","additionalProperties":false,"required":["size"],
        "properties":{"size":{"$ref":"../types.json#/Size"},"note":{"type":"string"}}},
        "result":{"type":"object","additionalProperties":false,"properties":{}}}
        """,
        "texts/en.json": """
        {"commands":{"thing.make":"Makes a thing."},
        "fields":{"size":"Size","thing.make.note":{"title":"Note","help":"What comes to mind."}},
        "types":{"Size":{"small":"small","large":"large"}},
        "rules":{"too-many":{"message":"There are {limit} already.","remedy":"Take one away."}},
        "words":{"made":"made by {who}"},"units":{"mm":"millimetres"}}
        """,
        "texts/it.json": """
        {"commands":{"thing.make":"Fa una cosa."},
        "rules":{"too-many":{"message":"Ce ne sono gi\u{e0} {limit}.","remedy":"Togline una."}}}
        """,
    ]

    private static func pack(_ changes: [String: String?] = [:]) throws -> Pack {
        var files = files
        for (path, text) in changes { files[path] = text }
        return try Pack(
            files: files.map { PackFile(path: $0.key, bytes: Array($0.value.utf8)) }
        )
    }

    private static func problems(_ changes: [String: String?]) -> [PackProblem] {
        do { _ = try pack(changes) } catch let error as PackError { return error.problems } catch {}
        return []
    }

    @Test func declarationsSpeakTheTextsOfTheirPack() throws {
        let pack = try Self.pack()
        let declaration = try #require(pack.declarations.first)
        #expect(declaration.description.english == "Makes a thing.")
        #expect(declaration.description[.italian] == "Fa una cosa.")
        #expect(declaration.title(of: "size")?[.italian] == "Size")
        #expect(declaration.title(of: "note")?.english == "Note")
        #expect(declaration.description(of: "note")?.english == "What comes to mind.")
        let rule = try #require(pack.texts["rules/too-many/message"])
        #expect(rule.filling("limit", "9")[.italian] == "Ce ne sono gi\u{e0} 9.")
        #expect(pack.texts["types/Size/large"]?.english == "large")
        #expect(pack.format == 4)
        // What another language lacks is no problem, and is told.
        let gaps = pack.texts.gaps.map(\.message)
        #expect(gaps.count == 7 && gaps.allSatisfy { $0.contains("is missing") })
    }

    /// A language that has no text of its own falls back to what it is a part of, then to English.
    @Test func languagesFallBack() throws {
        let texts = Texts([("en", "one"), ("de", "eins"), ("de-CH", "eis")])
        for (tag, text) in [
            ("de-CH", "eis"), ("de-ch", "eis"), ("de_CH.UTF-8", "eis"), ("de-AT", "eins"),
            ("it", "one"), ("en-GB", "one"),
        ] {
            #expect(texts[try #require(Language(tag: tag))] == text, "\(tag)")
        }
        #expect(Texts([("it", "uno")])[.english] == "uno")
        for tag in ["", "C", "a b", "-", "de-", "C.UTF-8"] { #expect(Language(tag: tag) == nil) }
        #expect(texts[try #require(Language(accepted: "fr, en;q=0.1, de-CH;q=0.9"))] == "eis")
    }

    @Test(arguments: [
        ("texts/en.json", #"{"commands":{}}"#, "description-languages"),
        (
            "texts/en.json",
            #"{"commands":{"thing.make":"a"},"fields":{"size":"b"}}"#, "text-missing"
        ),
        (
            "texts/en.json",
            #"{"commands":{"thing.make":"a","thing.mak":"b"},"fields":{"size":"b","note":"c"}}"#,
            "text-unknown"
        ),
        (
            "texts/en.json",
            """
            {"commands":{"thing.make":"a"},"fields":{"size":"b","note":"c"},
            "types":{"Size":{"small":"a"}}}
            """, "text-missing"
        ),
        ("texts/it.json", #"{"command":{}}"#, "text-section"),
        ("texts/it.json", #"{"words":{"made":7}}"#, "text-form"),
        ("texts/it.json", #"{"rules":{"too-many":{"message":"a"}}}"#, "text-form"),
        ("texts/it.json", #"{"words":{"unmade":"a"}}"#, "text-unknown"),
        ("texts/it.json", #"{"words":{"made":"fatto da {chi}"}}"#, "text-placeholder"),
        ("texts/italian language.json", "{}", "text-language"),
        ("texts/it.json", "[]", "texts"),
    ])
    func otherTextsAreRefused(path: String, text: String, rule: String) {
        let problems = Self.problems([path: text])
        #expect(
            problems.contains {
                $0.rule == rule
                    && $0.file.hasPrefix(
                        rule.hasPrefix("description") ? "commands/" : path
                    )
            },
            "\(problems)"
        )
    }

    @Test func textsNeedEnglish() {
        #expect(Self.problems(["texts/en.json": nil]).contains { $0.rule == "text-english" })
    }

    /// Without a folder of texts one language is enough.
    @Test func oneLanguageIsEnough() throws {
        let command = Self.files["commands/thing.make.1.json"] ?? ""
        for description in [#""Makes a thing.""#, #"{"it":"Fa una cosa."}"#] {
            let pack = try Self.pack([
                "texts/en.json": nil, "texts/it.json": nil,
                "commands/thing.make.1.json": command.replacing(
                    #""events""#,
                    with: #""description":\#(description),"events""#
                ),
            ])
            #expect(!pack.declarations[0].description.english.isEmpty)
            #expect(pack.format == 3 && pack.texts.isEmpty)
        }
    }
}
