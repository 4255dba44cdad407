import DiarioCore
import DiarioFish
import DiarioSchema
import Testing

/// What a user prefers, where they do not say otherwise.
@Suite struct PreferenceTests {
    private static func run(
        _ name: String,
        _ input: String,
        in space: TableSpace
    ) throws -> RawOutcome {
        let entry = try #require(
            Fish.domain.entries.first { $0.declaration.name == "fish." + name }
        )
        return try entry.run(CommandValues(try JSON.parse(Array(input.utf8)).value), space)
    }

    private static func reference(_ id: String) -> [String: SQLValue] {
        [
            "referenceId": .text(id), "nameIt": .text(id), "shape": .text("disc"),
            "diameterUm": .integer(25_750), "thicknessUm": .integer(2200),
        ]
    }

    private static func place(_ id: String, in parent: String?) -> [String: SQLValue] {
        [
            "placeId": .text(id), "parentId": parent.map { .text($0) } ?? .null, "name": .text(id),
            "oldName": .text(id), "isLeaf": .integer(parent == nil ? 0 : 1),
            "isRetired": .integer(0),
        ]
    }

    private static let guide: [String: SQLValue] = [
        "guideId": .text("photo"), "title": .text("Photos"), "version": .integer(3),
        "isDismissed": .integer(0), "text": .text("From above."),
    ]

    /// A fish that may be reported, in a catalogue with two of each thing.
    private static func space(
        _ preferences: [String: String] = [:],
        actor: String? = "u1",
        language: Language = .english
    ) -> TableSpace {
        let verdict: [String: SQLValue] = [
            "verdictLengthUm": .integer(111_000), "sizeResult": .text("ok"),
            "dateResult": .text("in_season"), "minSizeKind": .text("legal"),
            "lengthUm": .integer(111_000), "method": .text("ruler"),
        ]
        return TableSpace(
            actor: actor,
            language: language,
            [
                "assessment": [TableSpace.assessment().merging(verdict) { $1 }],
                "species": [TableSpace.species], "guide": [guide],
                "references": [reference("eur2"), reference("eur1")],
                "places": [place("albinia", in: "orbetello"), place("orbetello", in: nil)],
                "zones": TableSpace.zones + [
                    [
                        "zoneId": .text("ligure"), "nameIt": .text("Mar Ligure"),
                        "nameEn": .text("Ligurian Sea"),
                    ]
                ],
                "preferences": preferences.map { ["key": .text($0), "value": .text($1)] },
            ]
        )
    }

    @Test(arguments: [
        ("language", "it", "fr", "en, it"), ("gate", "off", "strict", "standard, legacy, off"),
        ("reference", "eur1", "eur9", "eur2, eur1"), ("zone", "*", "nord", "*, ligure"),
        ("zone", "ligure", "Mar Ligure", "*, ligure"), ("place", "albinia", "orbetello", "albinia"),
    ])
    func aPreferenceHasOneOfTheValuesThatThereAre(
        key: String,
        good: String,
        bad: String,
        values: String
    ) throws {
        func set(_ value: String) throws -> RawOutcome {
            let input = #"{"key":"\#(key)","value":"\#(value)"}"#
            return try Self.run("preference.set", input, in: Self.space())
        }
        #expect(try set(good).events.first?.payload.text("value") == good)
        let broken = #expect(throws: BrokenRule.self) { try set(bad) }
        #expect(broken?.rule == "preference" && broken?.field == "value" && broken?.value == bad)
        #expect(broken?.remedy[.english] == "Give one of these: \(values).")
        #expect(broken?.remedy[.italian] == "Indica uno di questi: \(values).")
    }

    /// A choice of each kind, where it is used, with the value that is recorded, that which is
    /// given instead, and the one without either; nil if there is none.
    struct Use: CustomTestStringConvertible {
        let key: String
        let preferred: String
        let command: String
        let input: String
        let field: String
        let given: (field: String, value: String)?
        let otherwise: String?
        var testDescription: String { "\(key) in \(command)" }
    }

    static let uses = [
        Use(
            key: "gate",
            preferred: "legacy",
            command: "photo.capture",
            input: #""assessmentId":"a","widthPx":9,"heightPx":9"#,
            field: "gate",
            given: ("gate", "off"),
            otherwise: "standard"
        ),
        Use(
            key: "reference",
            preferred: "eur1",
            command: "reference.select",
            input: #""assessmentId":"a""#,
            field: "referenceId",
            given: ("referenceId", "eur2"),
            otherwise: nil
        ),
        Use(
            key: "reference",
            preferred: "eur1",
            command: "assessment.start",
            input: #""speciesId":"sardina","assessmentId":"a""#,
            field: "referenceId",
            given: nil,
            otherwise: nil
        ),
        Use(
            key: "zone",
            preferred: "ligure",
            command: "verdict.issue",
            input: #""assessmentId":"a""#,
            field: "zoneId",
            given: ("zone", "*"),
            otherwise: "*"
        ),
        Use(
            key: "place",
            preferred: "albinia",
            command: "report.file",
            input: #""assessmentId":"a","origin":"other","production":"farmed""#,
            field: "placeId",
            given: ("placeId", "albinia"),
            otherwise: nil
        ),
    ]

    private static func recorded(
        _ use: Use,
        _ input: String? = nil,
        in space: TableSpace
    ) -> String? {
        let outcome = try? run(use.command, "{\(input ?? use.input)}", in: space)
        return outcome?.events.lazy.compactMap { $0.payload.text(use.field) }.first
    }

    @Test(arguments: uses)
    func whatIsNotGivenIsAsTheUserPrefers(use: Use) {
        #expect(Self.recorded(use, in: Self.space([use.key: use.preferred])) == use.preferred)
        #expect(Self.recorded(use, in: Self.space()) == use.otherwise)
        // What was preferred once and is no more, and what others recorded without the command.
        #expect(Self.recorded(use, in: Self.space([use.key: "gone"])) == use.otherwise)
        guard let given = use.given else { return }
        let input = use.input + #","\#(given.field)":"\#(given.value)""#
        let found = Self.recorded(use, input, in: Self.space([use.key: use.preferred]))
        #expect(found == given.value)
    }

    /// The coin of a fish whose id is still to be made is that of the first event.
    @Test func aFishWithoutAnIDGetsThePreferredCoin() throws {
        let space = Self.space(["reference": "eur1"])
        let events = try Self.run("assessment.start", #"{"speciesId":"sardina"}"#, in: space).events
        #expect(events.map(\.name) == ["fish.assessment.started", "fish.reference.selected"])
        #expect(events.last?.payload.text("assessmentId") == "#1")
    }

    @Test func withoutACoinThoseThatThereAreAreTold() {
        let broken = #expect(throws: BrokenRule.self) {
            try Self.run("reference.select", #"{"assessmentId":"a"}"#, in: Self.space())
        }
        #expect(broken?.rule == "which-reference" && broken?.field == "referenceId")
        #expect(
            broken?.remedy.english
                == "Give one of these: eur2, eur1; or set the preference `reference`."
        )
    }

    /// The seasons of a zone are told to be those, in both languages.
    @Test(arguments: [
        (Language.english, "That is for the zone Ligurian Sea."),
        (.italian, "Vale per la zona Mar Ligure."),
    ])
    func aJudgementNamesItsZone(language: Language, words: String) throws {
        let space = Self.space(["zone": "ligure"], language: language)
        let input = #"{"speciesId":"sardina","lengthUm":111000,"on":"2026-04-30""#
        let result = try Self.run("judge", input + "}", in: space).result
        #expect(result.text("zoneId") == "ligure")
        #expect(try #require(try result.texts("text")).contains(words))
        let everywhere = try Self.run("judge", input + #","zone":"*"}"#, in: space).result
        #expect(everywhere.text("zoneId") == "*")
        #expect(try #require(try everywhere.texts("text")).contains(words) == false)
    }

    @Test(arguments: [("it", Language.italian), ("en", Language.english), ("fr", nil)])
    func theLanguageIsOneOfTheTexts(value: String, language: Language?) {
        #expect(Fish.domain.language(Self.space(["language": value])) == language)
    }

    @Test func nobodyPrefersNothing() {
        #expect(Fish.domain.language(Self.space(["language": "it"], actor: nil)) == nil)
    }

    @Test func aGuideThatThereIsNotIsRefused() throws {
        let input = #"{"guideId":"photo","version":3}"#
        let events = try Self.run("guide.dismiss", input, in: Self.space()).events
        #expect(events.first?.payload.text("guideId") == "photo")
        let broken = #expect(throws: BrokenRule.self) {
            try Self.run("guide.dismiss", #"{"guideId":"photos","version":3}"#, in: Self.space())
        }
        #expect(broken?.rule == "unknown-guide" && broken?.value == "photos")
        #expect(broken?.remedy[.english] == "Give one of these: photo.")
        #expect(broken?.remedy[.italian] == "Indica una di queste: photo.")
    }
}
