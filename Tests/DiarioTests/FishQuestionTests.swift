import Diario
import DiarioCore
import DiarioEngine
import DiarioFish
import DiarioHost
import DiarioSchema
import DiarioTestSupport
import Testing

/// What the queries of the pack fish take: named types with their bounds, and ids that there are.
@Suite struct FishQuestionTests {
    private static func models(_ folder: borrowing TemporaryFolder) throws -> ReadModels {
        let pack = try #require(try PackSource.builtIn().first { $0.name == "fish" })
        return try ReadModels(try Space.create(at: folder.path, packs: [pack]))
    }

    private static func call(
        _ name: String,
        _ input: String,
        _ models: ReadModels
    ) throws -> CallAnswer {
        var call = Call("fish.\(name)", Array(input.utf8))
        call.actor = "u1"
        return try models.call(call, of: [Fish.domain])
    }

    private static func ask(
        _ query: String,
        _ values: [String: String],
        _ models: ReadModels
    ) throws -> Int {
        let answer = try models.ask(.named(query, values)).answer()
        var count = 0
        while try answer.next() != nil { count += 1 }
        return count
    }

    @Test(arguments: [
        ("in-season", ["month": "13"], "month is no Month: 13 is above the maximum 12"),
        ("in-season", ["month": "4", "zone": "north"], "\"north\" is none; it has *"),
        ("reports", ["status": "count"], "did you mean counted?"),
        ("reports", ["review": "good"], "use confirmed, doubtful, rejected, none"),
        ("reports", ["most": "0"], "0 is below the minimum 1"),
        ("by-month", ["speciesId": "sardna"], "did you mean sardina?"),
        ("map", ["speciesId": "shark"], "speciesId is one of the query species"),
        ("by-species", ["placeId": "rome"], "it has monte_argentario, porto_ercole"),
        ("species", ["speciesId": "shark"], "\"shark\" is none"),
        ("public-map", ["year": "26"], "26 is below the minimum 1970"),
    ])
    func aValueThatThereIsNotIsRefused(
        query: String,
        values: [String: String],
        words: String
    ) throws {
        let folder = try TemporaryFolder()
        let models = try Self.models(folder)
        let error = try #require(throws: DiarioError.self) {
            _ = try models.ask(.named(query, values))
        }
        #expect(error.rule == "parameter")
        #expect(error.message.contains(words), "\(error.message)")
    }

    /// What was retired is not offered, and reports of it are still found.
    @Test func aSpeciesThatWasRetiredCanBeAskedFor() throws {
        let folder = try TemporaryFolder()
        let models = try Self.models(folder)
        let all = try Self.ask("species", [:], models)
        _ = try Self.call("species.retire", #"{"speciesId":"sardina"}"#, models)
        #expect(try Self.ask("species", [:], models) == all - 1)
        #expect(try Self.ask("species", ["speciesId": "sardina"], models) == 1)
        #expect(try Self.ask("by-month", ["speciesId": "sardina"], models) == 0)
    }

    @Test(arguments: [
        ("assessment.start", #"{"speciesId":"sardna"}"#, "speciesId", "acciuga, "),
        (
            "judge", #"{"speciesId":"sardina","lengthUm":113000,"on":"2026-04-18","zone":"n"}"#,
            "zone", "There are: *."
        ),
        ("measure", Self.lira, "reference", "eur2"),
        ("place.retire", #"{"placeId":"rome"}"#, "placeId", "talamone"),
        (
            "season.set", #"{"speciesId":"sardina","months":"mars","validFrom":"2026-01-01"}"#,
            "months", "jan, feb, mar"
        ),
    ])
    func aMessageNamesTheValuesThatThereAre(
        command: String,
        input: String,
        field: String,
        words: String
    ) throws {
        let folder = try TemporaryFolder()
        let models = try Self.models(folder)
        let error = try #require(throws: DiarioError.self) {
            _ = try Self.call(command, input, models)
        }
        #expect(error.field == field)
        #expect([error.message, error.remedy ?? ""].contains { $0.contains(words) }, "\(error)")
    }

    private static let lira =
        #"{"method":"pins2","fish":[{"xMpx":0,"yMpx":0},{"xMpx":9,"yMpx":9}],"#
        + #""rim":[{"xMpx":0,"yMpx":0},{"xMpx":9,"yMpx":9}],"reference":"lira"}"#

    // MARK: Lengths

    @Test func aLengthThatIsSentAgainIsRecordedOnce() throws {
        let folder = try TemporaryFolder()
        let models = try Self.models(folder)
        let start = #"{"speciesId":"sardina","assessmentId":"a1"}"#
        _ = try Self.call("assessment.start", start, models)
        let first = #"{"assessmentId":"a1","lengthId":"l1","lengthUm":113000}"#
        let answer = try Self.call("length.enter", first, models)
        let again = try Self.call("length.enter", first, models)
        #expect(again.events.map(\.origin) == answer.events.map(\.origin))
        #expect(try Self.ask("attempts", ["assessmentId": "a1"], models) == 1)
        // Without an id it is a fish that was measured twice.
        for _ in 0..<2 {
            _ = try Self.call("length.enter", #"{"assessmentId":"a1","lengthUm":113000}"#, models)
        }
        #expect(try Self.ask("attempts", ["assessmentId": "a1"], models) == 3)
        let error = try #require(throws: DiarioError.self) {
            let other = #"{"assessmentId":"a1","lengthId":"l1","lengthUm":114000}"#
            _ = try Self.call("length.enter", other, models)
        }
        #expect(error.rule == "id-taken")
    }

    @Test func aMeasurementThatIsSentAgainIsRecordedOnce() throws {
        let folder = try TemporaryFolder()
        let models = try Self.models(folder)
        let calls = [
            ("assessment.start", #"{"speciesId":"sardina","assessmentId":"a1"}"#),
            ("photo.capture", #"{"assessmentId":"a1","widthPx":4000,"heightPx":3000}"#),
            ("reference.select", #"{"assessmentId":"a1","referenceId":"eur2"}"#),
            (
                "marks.place",
                #"{"assessmentId":"a1","target":"fish","method":"pins2","#
                    + #""points":[{"xMpx":100000,"yMpx":900000},{"xMpx":1300000,"yMpx":900000}]}"#
            ),
            (
                "marks.place",
                #"{"assessmentId":"a1","target":"reference","method":"pins2","#
                    + #""points":[{"xMpx":100000,"yMpx":300000},{"xMpx":350000,"yMpx":300000}]}"#
            ),
        ]
        for (command, input) in calls { _ = try Self.call(command, input, models) }
        let measure = #"{"assessmentId":"a1","lengthId":"l1"}"#
        let answer = try Self.call("length.measure", measure, models)
        let again = try Self.call("length.measure", measure, models)
        #expect(again.events.map(\.origin) == answer.events.map(\.origin))
        #expect(again.result == answer.result)
        #expect(try Self.ask("attempts", ["assessmentId": "a1"], models) == 1)
    }

    // MARK: A rule to be

    /// Sardines of 105, 113 and 120 mm, which count from 110 mm on and reproduce from May to
    /// September, bought in April, and one of 113 mm that was too short for another rule.
    @Test func aCuratorSeesWhichReportsARuleWouldJudgeOtherwise() throws {
        let folder = try TemporaryFolder()
        let models = try Self.models(folder)
        for (number, millimetres) in [105, 113, 120].enumerated() {
            let id = "a\(number)"
            let calls = [
                (
                    "assessment.start",
                    #"{"speciesId":"sardina","assessmentId":"\#(id)","startedOn":"2026-04-18"}"#
                ),
                ("length.enter", #"{"assessmentId":"\#(id)","lengthUm":\#(millimetres)000}"#),
                ("verdict.issue", #"{"assessmentId":"\#(id)"}"#),
                (
                    "report.file",
                    #"{"assessmentId":"\#(id)","reportId":"r\#(number)","origin":"#
                        + #""mediterranean","production":"wild_fresh","placeId":"talamone"}"#
                ),
            ]
            for (command, input) in calls { _ = try Self.call(command, input, models) }
        }
        for (change, reports, text) in Self.changes {
            let input = #"{"speciesId":"sardina",\#(change)}"#
            let answer = try Self.call("would-change", input, models)
            let result = try Fish.WouldChange.Result(
                from: CommandValues(try JSON.parse(answer.result).value)
            )
            #expect(result.judged == (change.contains("validFrom") ? 0 : 3), "\(change)")
            #expect(result.reports.map(\.reportId) == reports, "\(change)")
            #expect(result.changed == Int64(reports.count), "\(change)")
            #expect(result.text?.last == text, "\(change)")
        }
    }

    private static let changes: [(change: String, reports: [String], text: String)] = [
        (
            #""minSizeUm":115000"#, ["r1"],
            "r1, 2026-04-18, 113 mm: long enough -> too short"
        ),
        (
            #""minSizeKind":"recommended","minSizeUm":110000"#, ["r0"],
            "r0, 2026-04-18, 105 mm: too short -> shorter than recommended"
        ),
        (
            #""minSizeUm":105000,"months":"mar-apr""#, ["r0", "r1", "r2"],
            "r2, 2026-04-18, 120 mm: in season -> reproducing"
        ),
        (#""months":"5,6""#, [], "No counted report would be judged otherwise, of 3."),
        (
            #""minSizeUm":115000,"validFrom":"2026-05-01""#, [],
            "No counted report would be judged otherwise, of 0."
        ),
    ]
}
