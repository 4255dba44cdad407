import DiarioCore
import DiarioFish
import DiarioSchema
import Testing

/// What a person is told of a fish, sentence by sentence, against a table that was written by hand.
@Suite struct VerdictTextTests {
    /// A fish as it is judged, and what is said of it.
    struct Case: CustomTestStringConvertible {
        let name: String
        var kind = "legal"
        var leastUm: Int64? = 110_000
        var mask: Int64 = 16
        var measure = "total_length"
        var on = "2026-04-30"
        var input: String
        var others = ["nasello", "costardella"]
        let english: [String]
        let italian: [String]
        var testDescription: String { name }
    }

    static let source = [
        "By the table of the thesis of 2016; this is not legal advice.",
        "Secondo la tabella della tesi del 2016; non \u{e8} un parere legale.",
    ]

    static let cases = [
        Case(
            name: "long enough, in season",
            input: #""lengthUm":110000"#,
            english: [
                "A good choice.", "The fish is 110 mm long.",
                "It reaches the legal minimum of 110 mm.",
                "It is in season until the end of April.",
            ],
            italian: [
                "Una buona scelta.", "Il pesce misura 110 mm.",
                "Raggiunge il minimo di legge di 110 mm.",
                "\u{c8} di stagione fino alla fine di aprile.",
            ]
        ),
        Case(
            name: "too short, too close",
            input: #""lengthUm":109999,"sigmaUm":2010"#,
            english: [
                "Better choose another one.", "The fish is 109.999 mm long, give or take 4.1 mm.",
                "It is 0.001 mm short of the legal minimum of 110 mm.",
                "Too close to be sure: measure it with a ruler, or beside a bank card.",
                "It is in season until the end of April.",
                "In season in April instead: hake from 200 mm, Costardella.",
            ],
            italian: [
                "Meglio sceglierne un altro.",
                "Il pesce misura 109,999 mm, 4,1 mm in pi\u{f9} o in meno.",
                "Gli mancano 0,001 mm al minimo di legge di 110 mm.",
                "Troppo vicino per esserne sicuri: usa un righello o una tessera accanto.",
                "\u{c8} di stagione fino alla fine di aprile.",
                "Di stagione in aprile invece: Nasello da 200 mm, Costardella.",
            ]
        ),
        Case(
            name: "recommended, reached, of the carapace",
            kind: "recommended",
            leastUm: 20_000,
            mask: 0,
            measure: "carapace",
            input: #""lengthUm":20500"#,
            english: [
                "A good choice.", "The carapace is 20.5 mm long.",
                "It reaches the recommended minimum of 20 mm.", "It is in season all year.",
            ],
            italian: [
                "Una buona scelta.", "Il carapace misura 20,5 mm.",
                "Raggiunge il minimo consigliato di 20 mm.",
                "\u{c8} di stagione tutto l'anno.",
            ]
        ),
        Case(
            name: "shorter than recommended, always closed, nothing else",
            kind: "recommended",
            leastUm: 150_000,
            mask: 4095,
            measure: "mantle",
            input: #""lengthUm":149900,"origin":"other""#,
            others: [],
            english: [
                "Better choose another one.", "The mantle is 149.9 mm long.",
                "It is 0.1 mm short of the recommended 150 mm: advice, and no rule.",
                "It reproduces all year.",
                "It is from another sea, whose seasons this table does not have.",
                "No other species of the table is in season in April.",
            ],
            italian: [
                "Meglio sceglierne un altro.", "Il mantello misura 149,9 mm.",
                "Gli mancano 0,1 mm ai 150 mm consigliati: un consiglio, non una regola.",
                "Si riproduce tutto l'anno.",
                "Viene da un altro mare, di cui questa tabella non ha le stagioni.",
                "Nessun'altra specie della tabella \u{e8} di stagione in aprile.",
            ]
        ),
        Case(
            name: "no minimum, reproducing past the end of the year, farmed",
            kind: "none",
            leastUm: nil,
            mask: 2111,
            on: "2026-12-31",
            input: #""lengthUm":1000,"production":"farmed""#,
            others: ["costardella"],
            english: [
                "Better choose another one.", "The fish is 1 mm long.",
                "No minimum length is asked of this species.",
                "It reproduces now, until the end of June.",
                "It was farmed, and these answers are about wild fish.",
                "In season in December instead: Costardella.",
            ],
            italian: [
                "Meglio sceglierne un altro.", "Il pesce misura 1 mm.",
                "Per questa specie non \u{e8} richiesta una lunghezza minima.",
                "Ora si riproduce, fino alla fine di giugno.",
                "\u{c8} allevato, e queste risposte riguardano il pesce selvatico.",
                "Di stagione in dicembre invece: Costardella.",
            ]
        ),
    ]

    private static let others: [String: [String: SQLValue]] = [
        "nasello": [
            "speciesId": .text("nasello"), "nameIt": .text("Nasello"), "nameEn": .text("hake"),
            "minSizeKind": .text("legal"), "minSizeUm": .integer(200_000),
        ],
        "costardella": [
            "speciesId": .text("costardella"), "nameIt": .text("Costardella"),
            "minSizeKind": .text("none"),
        ],
    ]

    private static func species(_ one: Case) -> [String: SQLValue] {
        TableSpace.species.merging([
            "minSizeKind": .text(one.kind),
            "minSizeUm": one.leastUm.map { .integer($0) } ?? .null,
            "seasonMask": .integer(one.mask), "measure": .text(one.measure),
        ]) { $1 }
    }

    private static func text(
        _ name: String,
        _ input: String,
        in space: TableSpace
    ) throws -> [String] {
        let entry = try #require(
            Fish.domain.entries.first { $0.declaration.name == "fish." + name }
        )
        let values = CommandValues(try JSON.parse(Array(input.utf8)).value)
        return try #require(try entry.run(values, space).result.texts("text"))
    }

    @Test(arguments: cases, [Language.english, .italian])
    func eachAnswerIsToldInWords(one: Case, language: Language) throws {
        let space = TableSpace(
            language: language,
            [
                "species": [Self.species(one)], "zones": TableSpace.zones,
                "alternatives": one.others.compactMap { Self.others[$0] },
            ]
        )
        let input = #"{"speciesId":"sardina","on":"\#(one.on)",\#(one.input)}"#
        let told = try Self.text("judge", input, in: space)
        let isItalian = language == .italian
        let wanted = isItalian ? one.italian : one.english
        #expect(told == wanted + [Self.source[isItalian ? 1 : 0]])
    }

    /// Who measured beside a card is not told to do so.
    @Test(arguments: [("card", "with a ruler."), ("views", "with a ruler, or beside a bank card.")])
    func whatMakesItSurerDependsOnTheMethod(method: String, end: String) throws {
        let row = TableSpace.assessment().merging([
            "lengthUm": .integer(111_000), "sigmaUm": .integer(900), "method": .text(method),
        ]) { $1 }
        let space = TableSpace([
            "species": [TableSpace.species], "zones": TableSpace.zones, "assessment": [row],
        ])
        let told = try Self.text("verdict.issue", #"{"assessmentId":"a"}"#, in: space)
        #expect(told.contains("Too close to be sure: measure it " + end))
        #expect(told.contains("The fish is 111 mm long, give or take 1.8 mm."))
    }

    /// Every month has its name, in both languages.
    @Test func monthsHaveNames() throws {
        let names = [
            "January", "February", "March", "April", "May", "June", "July", "August", "September",
            "October", "November", "December",
        ]
        for (index, name) in names.enumerated() {
            let day = "2026-\(index < 9 ? "0" : "")\(index + 1)-01"
            var one = Self.cases[0]
            one.mask = 4095 ^ (1 << index)
            let told = try [Language.english, .italian].map { language in
                let space = TableSpace(
                    language: language,
                    ["species": [Self.species(one)], "zones": TableSpace.zones]
                )
                let input = #"{"speciesId":"sardina","on":"\#(day)","lengthUm":110000}"#
                return try Self.text("judge", input, in: space)
            }
            #expect(told[0].contains("It is in season until the end of \(name)."))
            #expect(told[1].contains { $0.hasSuffix("fine di \(Month.all[index].italianName).") })
        }
    }
}
