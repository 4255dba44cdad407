import Diario
import DiarioCore
import DiarioEngine
import DiarioFish
import DiarioHost
import DiarioSchema
import DiarioTestSupport
import Testing

/// The old interface and files of reports, by the commands and views of the pack.
@Suite struct FishOldAppTests {
    private static func make(_ folder: borrowing TemporaryFolder) throws -> Space {
        let pack = try #require(try PackSource.builtIn().first { $0.name == "fish" })
        return try Space.create(at: folder.path, packs: [pack])
    }

    private static func call(
        _ name: String,
        _ input: CommandValues,
        at: String? = nil,
        _ models: ReadModels
    ) throws -> (values: CommandValues, answer: CallAnswer) {
        var call = Call("fish." + name, input.json)
        call.at = at.flatMap { CivilTime.parseDateTime(Array($0.utf8).span) }
        let answer = try models.call(call, of: [Fish.domain])
        return (CommandValues(try JSON.parse(answer.result).value), answer)
    }

    private static func values(_ texts: [(String, String)]) -> CommandValues {
        var values = CommandValues()
        for (name, text) in texts { values.set(name, text) }
        return values
    }

    private static let good = [
        ("idFish", "2"), ("fishName", "Acciuga"), ("detectedSize", "113"),
        ("eligibilitySize", "1"), ("eligibilityDate", "1"), ("origin", "Mar Mediterraneo"),
        ("production", "pescato fresco"), ("townReport", "Porto D'Ercole (Monte Argentario)"),
    ]

    private static func report(_ changes: [String: String] = [:]) -> CommandValues {
        values(good.map { ($0.0, changes[$0.0] ?? $0.1) })
    }

    // MARK: Species

    /// 71 of 120 are open, each month by its number and both of its names.
    @Test func theSpeciesOfAMonthAreThoseOfTheTable() throws {
        let folder = try TemporaryFolder()
        let models = try ReadModels(try Self.make(folder))
        let english = [
            "January", "february", "MARCH", "april", "may", "june", "july", "august", "september",
            "october", "november", "december",
        ]
        let closed = [
            "34", "34", "3468", "23456789", "124579", "124579", "12579", "1259", "125",
            "2510", "2510", "4510",
        ]
        var open = 0
        for number in 1...12 {
            let names = ["\(number)", Month(number)?.italianName ?? "", english[number - 1]]
            let ids = try names.map { name in
                let answer = try Self.call("old.species", Self.values([("month", name)]), models)
                let list: [Fish.OldSpeciesRow] = try answer.values.list("species") ?? []
                return list.map(\.id)
            }
            #expect(ids[0] == ids[1] && ids[0] == ids[2])
            open += ids[0].count
            let digits = closed[number - 1]
            let shut =
                digits.hasSuffix("10")
                ? digits.dropLast(2).map(String.init) + ["10"] : digits.map(String.init)
            #expect(ids[0] == (1...10).map(String.init).filter { !shut.contains($0) }, "\(number)")
        }
        #expect(open == 71)
    }

    @Test func everyValueOfASpeciesIsAText() throws {
        let folder = try TemporaryFolder()
        let models = try ReadModels(try Self.make(folder))
        let answer = try Self.call("old.species", Self.values([("unit", "cm")]), models)
        let list: [Fish.OldSpeciesRow] = try #require(try answer.values.list("species"))
        #expect(list.count == 10 && list.map(\.id) == (1...10).map(String.init))
        #expect(
            list[3]
                == Fish.OldSpeciesRow(
                    id: "4",
                    commName: "Merluzzo o Nasello",
                    sciName: "Merluccius merluccius",
                    minSize: "20",
                    reproduction: "gennaio, febbraio, marzo, aprile, maggio, giugno, dicembre"
                )
        )
        #expect(list[9].minSize == "0" && list[9].reproduction == "ottobre, novembre, dicembre")
        let plain = try Self.call("old.species", Self.values([]), models)
        let mm: [Fish.OldSpeciesRow] = try #require(try plain.values.list("species"))
        #expect(mm[4].minSize == "20" && mm[0].minSize == "110")
    }

    // MARK: Reports

    @Test func theSameReportWithinTenMinutesIsOne() throws {
        let folder = try TemporaryFolder()
        let models = try ReadModels(try Self.make(folder))
        func send(_ at: String, _ changes: [String: String] = [:]) throws -> (String?, Bool) {
            let sent = try Self.call("old.receive", Self.report(changes), at: at, models)
            return (sent.values.text("reportId"), sent.answer.isNew)
        }
        let (first, isNew) = try send("2026-02-10T10:00:00Z")
        #expect(first != nil && isNew)
        for at in ["2026-02-10T10:00:00Z", "2026-02-10T10:09:59.999Z", "2026-02-10T10:10:00Z"] {
            let (again, isNew) = try send(at)
            #expect(again == first && !isNew, "\(at)")
        }
        // Written otherwise it is the same, and another length is another fish.
        #expect(try send("2026-02-10T10:05:00Z", ["detectedSize": "11,3 cm"]).0 == first)
        let (other, isOther) = try send("2026-02-10T10:05:00Z", ["detectedSize": "113.5"])
        #expect(isOther && other != first)
        let (later, isLater) = try send("2026-02-10T10:10:00.001Z")
        #expect(isLater && later != first)
    }

    /// The day is that of Italy: the month of an answer may be another one than that of UTC.
    @Test(arguments: [
        ("2026-03-31T21:59:00Z", "1", true), ("2026-03-31T22:01:00Z", "1", false),
        ("2026-03-31T22:01:00Z", "0", true), ("2024-02-28T23:30:00Z", "1", true),
    ])
    func theSeasonIsThatOfTheDayInItaly(at: String, answer: String, follows: Bool) throws {
        let folder = try TemporaryFolder()
        let models = try ReadModels(try Self.make(folder))
        let input = Self.report(["eligibilityDate": answer])
        guard !follows else {
            let sent = try Self.call("old.receive", input, at: at, models)
            let recorded = try #require(sent.answer.events.first?.payload)
            let payload = try JSON.parse(recorded).value
            guard case .string(let source)? = payload.member("source")?.item.value else { return }
            #expect(source == "legacy_http")
            return
        }
        let error = #expect(throws: DiarioError.self) {
            try Self.call("old.receive", input, at: at, models)
        }
        #expect(error?.rule == "answers" && error?.field == "eligibilityDate")
    }

    @Test(arguments: [
        ("idFish", "11", "unknown-species"), ("idFish", "1", "species-name"),
        ("fishName", "Sardina", "species-name"), ("detectedSize", "0", "length-text"),
        ("detectedSize", "5001", "length-text"), ("detectedSize", "long", "length-text"),
        ("detectedSize", "89", "answers"), ("eligibilitySize", "0", "answers"),
        ("eligibilitySize", "yes", "truth"), ("eligibilityDate", "", "truth"),
        ("origin", "Mare", "detail-value"), ("production", "fresco", "detail-value"),
        ("townReport", "- Seleziona comune - ", "unknown-place"),
        ("townReport", "Orbetello", "municipality"),
        // What the picker of the thesis saved for the first hamlet of each list.
        ("townReport", "Orbetello (Monte Argentario)", "unknown-place"),
        ("townReport", "Porto D'Ercole (Orbetello)", "unknown-place"),
    ])
    func aWrongValueNamesItsRule(field: String, value: String, rule: String) throws {
        let folder = try TemporaryFolder()
        let models = try ReadModels(try Self.make(folder))
        let head = models.space.head
        let error = #expect(throws: DiarioError.self) {
            let input = Self.report([field: value])
            return try Self.call("old.receive", input, at: "2026-02-10T10:00:00Z", models)
        }
        #expect(error?.kind == .rule && error?.rule == rule)
        #expect(models.space.head == head)
    }

    /// SQL is a text as any other: refused where a list is known, and never run.
    @Test(arguments: good.map(\.0))
    func sqlInAFieldIsAText(field: String) throws {
        let folder = try TemporaryFolder()
        let models = try ReadModels(try Self.make(folder))
        _ = try Self.call("old.receive", Self.report(), at: "2026-02-10T10:00:00Z", models)
        let head = models.space.head
        for text in ["1'; DROP TABLE report; --", "1\" OR 1=1", "1) OR (1=1", "' OR ''='"] {
            let error = #expect(throws: DiarioError.self) {
                let at = "2026-02-10T11:00:00Z"
                return try Self.call("old.receive", Self.report([field: text]), at: at, models)
            }
            #expect(error?.kind == .rule)
        }
        #expect(models.space.head == head)
        let asked = try models.ask(.sql("SELECT count(*) AS n FROM report", [:]))
        #expect(try asked.answer().next()?.values == [.integer(1)])
    }

    @Test(arguments: [
        ("Talamone (Orbetello)", "talamone"), ("Porto D'Ercole (Monte Argentario)", "porto_ercole"),
        ("porto ercole (monte argentario)", "porto_ercole"), ("Fonte Blanda", "fonteblanda"),
        ("Quattro Strade (Orbetello)", "quattro_strade"),
    ])
    func aTownIsKnownByAllOfItsNames(town: String, id: String) throws {
        let folder = try TemporaryFolder()
        let models = try ReadModels(try Self.make(folder))
        let input = Self.report(["townReport": town])
        let sent = try Self.call("old.receive", input, at: "2026-02-10T10:00:00Z", models)
        let recorded = try #require(sent.answer.events.first?.payload)
        let payload = try JSON.parse(recorded).value
        guard case .string(let place)? = payload.member("placeId")?.item.value else {
            Issue.record("no place")
            return
        }
        #expect(place == id)
    }
}
