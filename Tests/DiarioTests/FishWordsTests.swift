import DiarioCore
import DiarioEngine
import DiarioFish
import DiarioHost
import DiarioSchema
import DiarioTestSupport
import Testing

/// The language that a user prefers, and what there is to read in it.
@Suite struct FishWordsTests {
    private static func make(_ folder: borrowing TemporaryFolder) throws -> ReadModels {
        let packs = try PackSource.builtIn().filter { $0.name == "fish" }
        return try ReadModels(try Space.create(at: folder.path, packs: packs))
    }

    private static func call(
        _ name: String,
        _ input: String,
        actor: String? = "u1",
        in language: Language? = nil,
        usual: Language = .english
    ) -> Call {
        var call = Call("fish." + name, Array(input.utf8))
        call.actor = actor
        call.language = language ?? usual
        call.isLanguageUsual = language == nil
        return call
    }

    private static func rows(
        _ query: String,
        _ models: ReadModels,
        _ values: [String: String] = [:],
        in language: Language? = nil
    ) throws -> [[String?]] {
        let answer = try models.ask(.named(query, values), in: language).answer()
        var rows: [[String?]] = []
        while let row = try answer.next() { rows.append(row.texts) }
        return rows
    }

    /// Asked for, preferred, usual: the first that there is.
    @Test func theLanguageIsTheOneAskedForElsePreferredElseUsual() throws {
        let folder = try TemporaryFolder()
        let models = try Self.make(folder)
        let judge = #"{"speciesId":"sardina","lengthUm":120000,"on":"2026-03-04"}"#
        func told(_ call: Call) throws -> Bool {
            let answer = try models.call(call, of: [Fish.domain])
            return String(decoding: answer.result, as: UTF8.self).contains("Una buona scelta.")
        }
        #expect(try !told(Self.call("judge", judge)))
        #expect(try told(Self.call("judge", judge, usual: .italian)))
        let set = Self.call("preference.set", #"{"key":"language","value":"it"}"#)
        _ = try models.call(set, of: [Fish.domain])
        #expect(try told(Self.call("judge", judge)))
        #expect(try !told(Self.call("judge", judge, in: .english)))
        #expect(try !told(Self.call("judge", judge, actor: "u2")))
        #expect(try !told(Self.call("judge", judge, actor: nil)))
        let forget = Self.call("preference.set", #"{"key":"language"}"#)
        _ = try models.call(forget, of: [Fish.domain])
        #expect(try !told(Self.call("judge", judge)))
    }

    /// What is refused before any rule of the domain, and by one, is told in that language too.
    @Test func refusalsAreInTheLanguageOfTheUser() throws {
        let folder = try TemporaryFolder()
        let models = try Self.make(folder)
        let set = Self.call("preference.set", #"{"key":"language","value":"it"}"#)
        _ = try models.call(set, of: [Fish.domain])
        for (input, message) in [
            (#"{"key":"gate","value":"strict"}"#, "La preferenza non ha questo valore."),
            (#"{"key":"colour","value":"blue"}"#, "key non pu\u{f2} essere \"colour\"."),
        ] {
            let error = #expect(throws: DiarioError.self) {
                try models.call(Self.call("preference.set", input), of: [Fish.domain])
            }
            #expect(error?.message == message)
        }
    }

    private static let titles: [(id: String, english: String, italian: String)] = [
        ("first_run", "How it works", "Come funziona"),
        ("photo", "Taking the photo", "Scattare la foto"),
        ("coin", "The coin beside the fish", "La moneta accanto al pesce"),
        ("level", "Holding the phone level", "Tenere il telefono in piano"),
        ("marks", "Where the marks go", "Dove vanno i segni"),
        ("methods", "Which method to choose", "Quale metodo scegliere"),
        ("calendar", "Sizes and seasons", "Misure e stagioni"),
        ("report", "What a report is", "Che cos'\u{e8} una segnalazione"),
    ]

    @Test func theGuideIsInBothLanguages() throws {
        let folder = try TemporaryFolder()
        let models = try Self.make(folder)
        let english = try Self.rows("guide", models)
        let italian = try Self.rows("guide", models, ["language": "it-IT"])
        #expect(english.map { $0[0] } == Self.titles.map(\.id))
        #expect(english.map { $0[1] } == Self.titles.map(\.english))
        #expect(italian.map { $0[1] } == Self.titles.map(\.italian))
        #expect(italian.map { $0[2] } == english.map { $0[2] })
        for (one, other) in zip(english, italian) { #expect(one[4] != other[4]) }
        // What the caller asks for by other means counts where no parameter says more.
        #expect(try Self.rows("guide", models, in: .italian) == italian)
        #expect(try Self.rows("guide", models, ["language": "en"], in: .italian) == english)
        #expect(try Self.rows("guide", models, ["language": "fr"]) == english)
        #expect(try Self.rows("guide", models, ["language": "ita"]) == english)
    }

    /// A page is put away up to a version; a user's language is that of the query, too.
    @Test func aPageIsPutAwayByItsVersion() throws {
        let folder = try TemporaryFolder()
        let models = try Self.make(folder)
        func state(_ user: String) throws -> [String?] {
            try Self.rows("guide", models, ["user": user]).prefix(2).map { $0[3] }
        }
        #expect(try state("u1") == ["0", "0"])
        for (id, version) in [("first_run", 1), ("photo", 1)] {
            let input = #"{"guideId":"\#(id)","version":\#(version)}"#
            _ = try models.call(Self.call("guide.dismiss", input), of: [Fish.domain])
        }
        #expect(try state("u1") == ["0", "1"])
        #expect(try state("u2") == ["0", "0"])
        let set = Self.call("preference.set", #"{"key":"language","value":"it"}"#)
        _ = try models.call(set, of: [Fish.domain])
        let mine = try Self.rows("guide", models, ["user": "u1"])
        #expect(mine.map { $0[1] } == Self.titles.map(\.italian))
        let fact = try Self.rows("facts", models, ["user": "u1"])[12]
        #expect(fact[1] == "tesi FISHMETER, figura 1.2")
    }

    /// The numbers of each fact are those of the thesis, in both languages.
    @Test func eachFactHasASourceAndItsNumbers() throws {
        let folder = try TemporaryFolder()
        let models = try Self.make(folder)
        let facts: [(id: String, year: String, numbers: [String])] = [
            ("imports", "2016", ["74"]), ("trade_balance", "2016", ["-75"]),
            ("processed", "2016", ["2010"]), ("fresh", "2016", ["45"]),
            ("stocks", "2010", ["53", "28", "3", "1", "12", "3"]), ("tuna", "2016", ["35"]),
            ("law", "2006", ["28", "2007"]), ("in_season", "2016", []),
            ("less_known", "2016", []), ("farming", "2016", []), ("other_threats", "2016", []),
            ("consumption", "2016", []), ("diet", "2016", []),
        ]
        for language in ["en", "it"] {
            let rows = try Self.rows("facts", models, ["language": language])
            #expect(rows.map { $0[0] } == facts.map(\.id))
            #expect(rows.map { $0[2] } == facts.map(\.year))
            #expect(rows.allSatisfy { $0[1]?.isEmpty == false })
            let numbers = rows.map { row in
                (row[3] ?? "").split { !"-0123456789".contains($0) }.map(String.init)
                    .filter { $0.contains(where: \.isNumber) }
            }
            #expect(numbers == facts.map(\.numbers))
        }
    }

    @Test func reportsNameTheSpeciesInTheLanguage() throws {
        let folder = try TemporaryFolder()
        let models = try Self.make(folder)
        for (name, input) in [
            ("assessment.start", #"{"assessmentId":"a","speciesId":"sardina"}"#),
            ("length.enter", #"{"assessmentId":"a","lengthUm":120000}"#),
            ("verdict.issue", #"{"assessmentId":"a"}"#),
            (
                "report.file",
                #"{"assessmentId":"a","placeId":"talamone","origin":"other","production":"farmed"}"#
            ),
        ] {
            _ = try models.call(Self.call(name, input), of: [Fish.domain])
        }
        func name(_ values: [String: String] = [:]) throws -> String? {
            try Self.rows("my-reports", models, ["user": "u1"].merging(values) { $1 })[0][2]
        }
        #expect(try name() == "sardine")
        #expect(try name(["language": "it"]) == "Sardina")
    }
}
