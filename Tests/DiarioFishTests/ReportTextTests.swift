import DiarioCore
import DiarioFish
import DiarioSchema
import Testing

/// What a person is told of a report that is filed or amended, against a table written by hand.
@Suite struct ReportTextTests {
    /// An amendment of a sardine of 111 mm of the last of April, and what is said of it.
    struct Case: CustomTestStringConvertible {
        let name: String
        var row: [String: SQLValue] = [:]
        let input: String
        let english: [String]
        let italian: [String]
        var testDescription: String { name }
    }

    static let cases = [
        Case(
            name: "shorter",
            input: #""lengthUm":109900"#,
            english: [
                "Corrected: sardine, 109.9 mm, Talamone, 2026-04-30.",
                "It is 0.1 mm short of the legal minimum of 110 mm.",
                "It was in season on that day.",
            ],
            italian: [
                "Corretta: Sardina, 109,9 mm, Talamone, 2026-04-30.",
                "Gli mancano 0,1 mm al minimo di legge di 110 mm.",
                "Quel giorno era di stagione.",
            ]
        ),
        Case(
            name: "another day",
            input: #""observedOn":"2026-05-01""#,
            english: [
                "Corrected: sardine, 111 mm, Talamone, 2026-05-01.",
                "It reaches the legal minimum of 110 mm.", "It was reproducing on that day.",
            ],
            italian: [
                "Corretta: Sardina, 111 mm, Talamone, 2026-05-01.",
                "Raggiunge il minimo di legge di 110 mm.", "Quel giorno era in riproduzione.",
            ]
        ),
        Case(
            name: "another town, farmed, with a consent, close to the minimum",
            row: [
                "isBorderline": .integer(1), "method": .text("views"), "photoId": .text("p"),
                "assessmentId": .text("a"),
            ],
            input: #""placeId":"talamone","production":"farmed","consentPhoto":true"#,
            english: [
                "Corrected: sardine, 111 mm, Talamone, 2026-04-30.",
                "It reaches the legal minimum of 110 mm.",
                "Too close to be sure: measure it with a ruler, or beside a bank card.",
                "It was in season on that day.",
                "It was farmed, and these answers are about wild fish.",
                "Researchers may look at the photo, which the next sync sends.",
            ],
            italian: [
                "Corretta: Sardina, 111 mm, Talamone, 2026-04-30.",
                "Raggiunge il minimo di legge di 110 mm.",
                "Troppo vicino per esserne sicuri: usa un righello o una tessera accanto.",
                "Quel giorno era di stagione.",
                "\u{c8} allevato, e queste risposte riguardano il pesce selvatico.",
                "I ricercatori possono vedere la foto: la invia la prossima sync.",
            ]
        ),
        Case(
            name: "from another sea, without a consent, of a recommended minimum, by a card",
            row: [
                "minSizeKind": .text("recommended"), "isBorderline": .integer(1),
                "method": .text("card"), "photoId": .text("p"), "dateResult": .text("reproducing"),
            ],
            input: #""origin":"other","consentPhoto":false"#,
            english: [
                "Corrected: sardine, 111 mm, Talamone, 2026-04-30.",
                "It reaches the recommended minimum of 110 mm.",
                "Too close to be sure: measure it with a ruler.",
                "It was reproducing on that day.",
                "It is from another sea, whose seasons this table does not have.",
                "The photo stays on this device.",
            ],
            italian: [
                "Corretta: Sardina, 111 mm, Talamone, 2026-04-30.",
                "Raggiunge il minimo consigliato di 110 mm.",
                "Troppo vicino per esserne sicuri: usa un righello.",
                "Quel giorno era in riproduzione.",
                "Viene da un altro mare, di cui questa tabella non ha le stagioni.",
                "La foto resta su questo dispositivo.",
            ]
        ),
        Case(
            name: "shorter than recommended",
            row: ["minSizeKind": .text("recommended")],
            input: #""lengthUm":100000"#,
            english: [
                "Corrected: sardine, 100 mm, Talamone, 2026-04-30.",
                "It is 10 mm short of the recommended 110 mm: advice, and no rule.",
                "It was in season on that day.",
            ],
            italian: [
                "Corretta: Sardina, 100 mm, Talamone, 2026-04-30.",
                "Gli mancano 10 mm ai 110 mm consigliati: un consiglio, non una regola.",
                "Quel giorno era di stagione.",
            ]
        ),
        Case(
            name: "without a minimum",
            row: ["minSizeKind": .text("none"), "minSizeUm": .null],
            input: #""lengthUm":9000"#,
            english: [
                "Corrected: sardine, 9 mm, Talamone, 2026-04-30.",
                "No minimum length is asked of this species.", "It was in season on that day.",
            ],
            italian: [
                "Corretta: Sardina, 9 mm, Talamone, 2026-04-30.",
                "Per questa specie non \u{e8} richiesta una lunghezza minima.",
                "Quel giorno era di stagione.",
            ]
        ),
        Case(
            name: "of version 1, which does not say the minimum",
            row: ["minSizeKind": .text("unknown"), "minSizeUm": .null],
            input: #""lengthUm":9000"#,
            english: [
                "Corrected: sardine, 9 mm, Talamone, 2026-04-30.",
                "Its size cannot be judged: the report does not say by which minimum.",
                "It was in season on that day.",
            ],
            italian: [
                "Corretta: Sardina, 9 mm, Talamone, 2026-04-30.",
                "La misura non si pu\u{f2} giudicare: la segnalazione non dice con quale minimo.",
                "Quel giorno era di stagione.",
            ]
        ),
        Case(
            name: "of version 1, with the answer that it had",
            row: [
                "minSizeKind": .text("unknown"), "minSizeUm": .null,
                "sizeResult": .text("undersize"),
            ],
            input: #""placeId":"talamone""#,
            english: [
                "Corrected: sardine, 111 mm, Talamone, 2026-04-30.",
                "By its size it was judged: too short.", "It was in season on that day.",
            ],
            italian: [
                "Corretta: Sardina, 111 mm, Talamone, 2026-04-30.",
                "Per la misura fu giudicato: troppo corto.", "Quel giorno era di stagione.",
            ]
        ),
    ]

    private static let report: [String: SQLValue] = [
        "reportId": .text("r"), "actor": .text("u1"), "status": .text("counted"),
        "speciesId": .text("sardina"), "nameIt": .text("Sardina"), "nameEn": .text("sardine"),
        "placeId": .text("talamone"), "place": .text("Talamone"),
        "observedOn": .text("2026-04-30"), "lengthUm": .integer(111_000),
        "method": .text("ruler"), "minSizeUm": .integer(110_000), "minSizeKind": .text("legal"),
        "sizeResult": .text("ok"), "isBorderline": .integer(0), "dateResult": .text("in_season"),
        "applicability": .text("full"), "follows": .integer(1), "origin": .text("mediterranean"),
        "production": .text("wild_fresh"), "source": .text("app"), "isWithdrawn": .integer(0),
        "reviews": .integer(0), "at": .integer(0),
    ]

    private static func answers(_ row: [String: SQLValue]) -> [String: [[String: SQLValue]]] {
        [
            "report": [report.merging(row) { $1 }],
            "species": [TableSpace.species.merging(["nameEn": .text("sardine")]) { $1 }],
            "places": [
                [
                    "placeId": .text("talamone"), "parentId": .text("orbetello"),
                    "name": .text("Talamone"), "oldName": .text("Talamone (Orbetello)"),
                    "isLeaf": .integer(1), "isRetired": .integer(0),
                ]
            ],
            "photos": [
                [
                    "photoId": .text("p"), "imageId": .blob([1]), "widthPx": .integer(9),
                    "heightPx": .integer(9), "takenOn": .text("2026-04-30"),
                    "isInUse": .integer(1), "gateResult": .text("ok"),
                ]
            ],
        ]
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
        let told = try #require(try entry.run(values, space).result.texts("text"))
        #expect(space.fault == nil)
        return told
    }

    @Test(arguments: cases, [Language.english, .italian])
    func eachAmendmentIsToldInWords(one: Case, language: Language) throws {
        let space = TableSpace(language: language, Self.answers(one.row))
        let told = try Self.text("report.amend", #"{"reportId":"r",\#(one.input)}"#, in: space)
        #expect(told == (language == .italian ? one.italian : one.english))
    }

    /// A report that is filed, without a picture, and with one that may or may not be looked at.
    @Test(arguments: [
        (
            false, false, ["Filed: sardine, 111.5 mm, Talamone, 2026-05-31."],
            ["Inviata: Sardina, 111,5 mm, Talamone, 2026-05-31."]
        ),
        (
            true, false,
            [
                "Filed: sardine, 111.5 mm, Talamone, 2026-05-31.",
                "The photo stays on this device.",
            ],
            [
                "Inviata: Sardina, 111,5 mm, Talamone, 2026-05-31.",
                "La foto resta su questo dispositivo.",
            ]
        ),
        (
            true, true,
            [
                "Filed: sardine, 111.5 mm, Talamone, 2026-05-31.",
                "Researchers may look at the photo, which the next sync sends.",
            ],
            [
                "Inviata: Sardina, 111,5 mm, Talamone, 2026-05-31.",
                "I ricercatori possono vedere la foto: la invia la prossima sync.",
            ]
        ),
    ])
    func whatIsFiledIsToldInWords(
        hasPicture: Bool,
        isShown: Bool,
        english: [String],
        italian: [String]
    ) throws {
        var answers = Self.answers([:])
        answers["assessment"] = [
            TableSpace.assessment(photoId: "p").merging([
                "verdictLengthUm": .integer(111_500), "sizeResult": .text("ok"),
                "dateResult": .text("in_season"), "minSizeKind": .text("legal"),
                "imageId": hasPicture ? .blob([1]) : .null,
            ]) { $1 }
        ]
        let input =
            #"{"assessmentId":"a","placeId":"talamone","origin":"other","production":"farmed","#
            + #""consentPhoto":\#(isShown)}"#
        for (language, wanted) in [(Language.english, english), (.italian, italian)] {
            let space = TableSpace(language: language, answers)
            #expect(try Self.text("report.file", input, in: space) == wanted)
        }
    }

    /// A species without an English name has no other one's.
    @Test func anotherSpeciesHasItsOwnName() throws {
        var answers = Self.answers([:])
        answers["species"] = [TableSpace.species.merging(["nameIt": .text("Alaccia")]) { $1 }]
        let space = TableSpace(answers)
        let input = #"{"reportId":"r","speciesId":"alaccia"}"#
        let told = try Self.text("report.amend", input, in: space)
        #expect(told.first == "Corrected: Alaccia, 111 mm, Talamone, 2026-04-30.")
    }
}
