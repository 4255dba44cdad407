import DiarioCore
import DiarioFish
import DiarioSchema
import Testing

@Suite struct CommandRuleTests {
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

    @Test(arguments: [
        (109_999, "undersize"), (110_000, "ok"), (110_001, "ok"),
    ])
    func aFishIsJudgedByTheCatalogue(lengthUm: Int, size: String) throws {
        let space = TableSpace([
            "species": [TableSpace.species], "zones": TableSpace.zones,
            "alternatives": [
                [
                    "speciesId": .text("nasello"), "nameIt": .text("Nasello"),
                    "minSizeKind": .text("legal"), "minSizeUm": .integer(200_000),
                ]
            ],
        ])
        let input = #"{"speciesId":"sardina","lengthUm":\#(lengthUm),"on":"2026-05-31"}"#
        let result = try Self.run("judge", input, in: space).result
        #expect(result.text("sizeResult") == size)
        #expect(result.text("dateResult") == "reproducing" && result.integer("month") == 5)
        let others: [Fish.Alternative]? = try result.list("alternatives")
        #expect(others == [Fish.Alternative(speciesId: "nasello", minSizeUm: 200_000)])
    }

    /// Half of a frame; a circle in its square (785 of 1000); an ellipse across itself, which has
    /// 4 atan(1/2) / (2 pi - 4 atan(1/2)) in common; one inside another; apart; points.
    @Test(arguments: [
        (frame(0, 0, 4000, 2000), frame(0, 1000, 4000, 1000), 500),
        (frame(0, 0, 2000, 2000), frame(1000, 1000, 2000, 2000), 143),
        (frame(0, 0, 2000, 2000), ellipse(1000, 1000, 2000, 2000, 33_000), 785),
        (ellipse(0, 0, 4000, 2000, 30_000), ellipse(0, 0, 4000, 2000, 30_000), 1000),
        (ellipse(0, 0, 4000, 2000, 30_000), ellipse(0, 0, 4000, 2000, 120_000), 419),
        (ellipse(0, 0, 4000, 2000, 71_000), ellipse(0, 0, 2000, 1000, 71_000), 250),
        (ellipse(0, 0, 4000, 2000, 0), frame(2001, -1000, 5000, 2000), 0),
        (ellipse(0, 0, 1, 1, 0), ellipse(0, 0, 21_000_000, 21_000_000, 0), 0),
        (#"{"points":[{"xMpx":0,"yMpx":0},{"xMpx":9,"yMpx":9}]}"#, frame(0, 0, 9, 9), nil),
    ])
    func aCorrectionTellsTheOverlap(proposed: String, final: String, overlap: Int?) throws {
        let space = TableSpace(["assessment": [TableSpace.assessment(photoId: "p")]])
        for (first, second) in [(proposed, final), (final, proposed)] {
            let input =
                #"{"assessmentId":"a","target":"reference","#
                + #""proposed":\#(first),"final":\#(second)}"#
            let result = try Self.run("detection.correct", input, in: space).result
            #expect(result.integer("overlapMilli") == overlap.map { Int64($0) })
        }
    }

    private static func frame(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> String {
        #"{"frame":{"xMpx":\#(x),"yMpx":\#(y),"widthMpx":\#(width),"heightMpx":\#(height)}}"#
    }

    private static func ellipse(
        _ x: Int,
        _ y: Int,
        _ width: Int,
        _ height: Int,
        _ angle: Int
    ) -> String {
        let place = #""xMpx":\#(x),"yMpx":\#(y),"widthMpx":\#(width),"heightMpx":\#(height)"#
        return #"{"ellipse":{\#(place),"angleMdeg":\#(angle)}}"#
    }

    @Test func otherFishAreOnlyToldOfPartly() throws {
        let space = TableSpace(["species": [TableSpace.species], "zones": TableSpace.zones])
        let input = #"{"speciesId":"sardina","lengthUm":120000,"on":"2026-06-01""#
        func applicability(_ more: String) throws -> String? {
            try Self.run("judge", input + more + "}", in: space).result.text("applicability")
        }
        #expect(try applicability("") == "full")
        #expect(try applicability(#","origin":"other""#) == "size_only")
        #expect(try applicability(#","production":"farmed""#) == "informative")
    }

    /// The assessment of somebody else, at each of its states.
    @Test(arguments: [
        ("u2", "open", "other-person"), ("u1", "abandoned", "abandoned"),
        ("u1", "reported", "reported"),
    ])
    func onlyOnesOwnOpenAssessmentGoesOn(owner: String, state: String, rule: String) throws {
        let assessment = TableSpace.assessment(actor: owner, state: state)
        let space = TableSpace(["assessment": [assessment]])
        let error = #expect(throws: BrokenRule.self) {
            try Self.run("length.enter", #"{"assessmentId":"a","lengthUm":1000}"#, in: space)
        }
        #expect(error?.rule == rule && error?.field == "assessmentId" && error?.value == "a")
        #expect(error?.message.english != error?.message[.italian])
    }

    /// What nobody owns, anybody may go on with.
    @Test func anAssessmentWithoutAnActorIsEverybodys() throws {
        let space = TableSpace(["assessment": [TableSpace.assessment(actor: "-")]])
        let outcome = try Self.run(
            "length.enter",
            #"{"assessmentId":"a","lengthUm":113000}"#,
            in: space
        )
        #expect(outcome.events.map(\.name) == ["fish.length.entered"])
    }

    /// The day that a fish is judged by is that of Italy.
    @Test(arguments: [
        ("2026-03-29T00:59:59Z", "2026-03-29"), ("2026-02-28T22:59:59Z", "2026-02-28"),
        ("2026-02-28T23:00:00Z", "2026-03-01"), ("2024-02-28T23:00:00Z", "2024-02-29"),
        ("2026-06-30T21:59:59Z", "2026-06-30"), ("2026-06-30T22:00:00Z", "2026-07-01"),
        ("2026-10-25T00:59:59Z", "2026-10-25"), ("2026-10-25T23:00:00Z", "2026-10-26"),
        ("1969-12-31T22:59:59Z", "1969-12-31"), ("2026-12-31T23:00:00Z", "2027-01-01"),
    ])
    func daysAreThoseOfItaly(time: String, day: String) throws {
        let parsed = CivilTime.parseDateTime(Array(time.utf8).span)
        let now = try #require(parsed)
        let space = TableSpace(at: now, ["species": [TableSpace.species]])
        let outcome = try Self.run("assessment.start", #"{"speciesId":"sardina"}"#, in: space)
        #expect(outcome.events.first?.payload.text("startedOn") == day)
    }

    @Test func aPhotoFromTheFutureIsRefused() throws {
        let space = TableSpace(["species": [TableSpace.species]])
        let error = #expect(throws: BrokenRule.self) {
            try Self.run(
                "assessment.start",
                #"{"speciesId":"sardina","startedOn":"2026-05-31"}"#,
                in: space
            )
        }
        #expect(error?.rule == "future" && error?.value == "2026-05-31")
    }

    /// Every command that the pack declares has rules here, and the other way round.
    @Test func everyDeclarationHasItsRules() {
        #expect(Fish.domain.entries.count == Set(Fish.domain.entries.map(\.declaration.name)).count)
        #expect(Fish.domain.entries.allSatisfy { $0.declaration.version == 1 })
    }
}
