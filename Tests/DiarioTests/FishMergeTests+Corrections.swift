// Reports that are corrected, and those that cannot be true.
extension FishMergeTests {
    private static let answers = """
        SELECT status, speciesId, lengthUm, method, minSizeUm, sizeResult, dateResult FROM report
        """

    static let corrections = [
        Case(
            testDescription: "Answers that are computed again follow whatever version 2 says",
            shared: [filed(0, "r")],
            apart: [
                amended(0, #""lengthUm":109000"#),
                amended(
                    1,
                    #""placeId":"albinia","minSizeUm":110000,"minSizeKind":"legal","#
                        + #""seasonMask":496,"sizeResult":"ok","dateResult":"in_season""#
                ).version(2),
            ],
            question: answers,
            rows: ["counted sardina 109000 ruler 110000 undersize in_season"]
        ),
        Case(
            testDescription: "The rule is that of the species, whatever version 2 says of another",
            shared: [filed(0, "r")],
            apart: [
                amended(0, #""speciesId":"sogliola""#),
                amended(
                    1,
                    #""observedOn":"2026-05-20","minSizeUm":110000,"minSizeKind":"legal","#
                        + #""seasonMask":496,"sizeResult":"ok","dateResult":"reproducing""#
                ).version(2),
            ],
            question: answers,
            rows: ["counted sogliola 110000 ruler 200000 undersize in_season"]
        ),
        Case(
            testDescription: "A rule that the catalogue had before stays with other amendments",
            shared: [filed(0, "r"), sardina(0, minimum: 120_000)],
            apart: [amended(0, #""lengthUm":111000"#), amended(1, #""placeId":"albinia""#)],
            question: answers,
            rows: ["counted sardina 111000 ruler 110000 ok in_season"]
        ),
        Case(
            testDescription: "Another day has the rule that the catalogue has by then",
            shared: [filed(0, "r"), sardina(0, minimum: 120_000)],
            apart: [amended(0, #""lengthUm":111000"#), amended(1, #""observedOn":"2026-05-01""#)],
            question: answers,
            rows: ["counted sardina 111000 ruler 120000 undersize reproducing"]
        ),
        Case(
            testDescription: "Length, method, coin and error are one field",
            shared: [filed(0, "r")],
            apart: [
                amended(
                    0,
                    #""lengthUm":110500,"sigmaUm":300,"method":"views","referenceId":"eur2""#
                ), amended(1, #""lengthUm":110600"#), amended(0, #""placeId":"albinia""#),
            ],
            question: "SELECT lengthUm, sigmaUm, method, referenceId, isBorderline FROM report",
            rows: ["110600 - ruler - 0"]
        ),
        Case(
            testDescription: "A report that was restored after it was withdrawn counts again",
            shared: [filed(0, "r"), withdrawn(0, "r")],
            apart: [
                Step(0, "report.restored", #"{"reportId":"r"}"#),
                amended(1, #""placeId":"albinia""#),
            ],
            question: standing,
            rows: ["r counted 110000 albinia"]
        ),
        Case(
            testDescription: "Of a withdrawal and a restoration, the later one holds",
            shared: [filed(0, "r"), withdrawn(0, "r")],
            apart: [Step(0, "report.restored", #"{"reportId":"r"}"#), withdrawn(1, "r")],
            question: standing,
            rows: ["r withdrawn 110000 talamone"]
        ),
        Case(
            testDescription: "Of two reports with one id, the older one counts, amended or not",
            apart: [
                filed(0, "r", lengthUm: 111_000), filed(1, "r", lengthUm: 112_000, of: "b"),
                amended(1, #""placeId":"albinia""#), filed(1, "s"),
            ],
            question: standing,
            rows: ["r counted 111000 albinia", "s duplicate 110000 talamone"]
        ),
        Case(
            testDescription: "The fish of a report that an older one took the id of is free",
            apart: [
                filed(0, "r", of: "b"), filed(1, "r"), filed(1, "s"),
            ],
            question: standing,
            rows: ["r counted 110000 talamone", "s counted 110000 talamone"]
        ),
        Case(
            testDescription: "What is not in the catalogue, and days that cannot be, do not count",
            apart: [
                filed(0, "a", of: "a", species: "squalo"), filed(1, "b", of: "b", place: "roma"),
                filed(0, "c", of: "c", on: "2026-05-31"), filed(1, "d", of: "d", on: "1969-12-31"),
                filed(0, "e", of: "e", more: #","referenceId":"lira""#),
                filed(1, "f", of: "f", more: #","boughtPlaceId":"roma""#),
                filed(0, "g", of: "g", more: #","boughtOn":"2999-01-01""#),
                filed(1, "h", of: "h", on: "2026-05-29"),
            ],
            question: """
                SELECT reportId, status, what FROM report JOIN contradiction USING (reportId)
                ORDER BY reportId
                """,
            rows: [
                "a inconsistent species", "b inconsistent place", "c inconsistent day",
                "d inconsistent day", "e inconsistent reference", "f inconsistent place",
                "g inconsistent day", "h inconsistent answers",
            ]
        ),
        Case(
            testDescription: "A report of what is defined later counts from then on",
            apart: [
                filed(0, "r", of: "a", species: "squalo"), filed(0, "s", of: "b", place: "roma"),
                filed(0, "t", of: "c", more: #","referenceId":"lira""#),
                Step(
                    1,
                    "species.defined",
                    #"{"speciesId":"squalo","nameIt":"Squalo","family":"finfish","#
                        + #""measure":"total_length","minSizeKind":"none","seasonMask":0}"#
                ), Step(1, "place.defined", #"{"placeId":"roma","name":"Roma"}"#),
                Step(
                    1,
                    "reference.defined",
                    #"{"referenceId":"lira","nameIt":"Lira","shape":"disc","diameterUm":20000,"#
                        + #""thicknessUm":2000}"#
                ),
            ],
            question: "SELECT reportId, status FROM report ORDER BY reportId",
            rows: ["r counted", "s counted", "t counted"]
        ),
    ]
}
