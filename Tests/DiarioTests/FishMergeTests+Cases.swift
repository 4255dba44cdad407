extension FishMergeTests {
    private static let started = Step(
        0,
        "assessment.started",
        #"{"assessmentId":"a","speciesId":"sardina","startedOn":"2026-04-18"}"#
    )

    private static func detail(_ device: Int, _ field: String, _ value: String) -> Step {
        Step(
            device,
            "report.detail.set",
            #"{"assessmentId":"a","field":"\#(field)","value":"\#(value)"}"#
        )
    }

    private static func photo(_ device: Int, _ id: String) -> Step {
        Step(
            device,
            "photo.captured",
            #"{"assessmentId":"a","photoId":"\#(id)","widthPx":4000,"heightPx":3000,"#
                + #""takenOn":"2026-04-18","gateResult":"ok"}"#
        )
    }

    private static func discarded(_ device: Int, _ id: String) -> Step {
        Step(device, "photo.discarded", #"{"assessmentId":"a","photoId":"\#(id)"}"#)
    }

    private static func mark(_ device: Int, _ photo: String, width: Int) -> Step {
        Step(
            device,
            "marks.placed",
            #"{"assessmentId":"a","photoId":"\#(photo)","method":"views","target":"fish","#
                + #""frame":{"xMpx":0,"yMpx":0,"widthMpx":\#(width),"heightMpx":9},"via":"drag"}"#
        )
    }

    private static func nudge(_ device: Int, _ photo: String) -> Step {
        Step(
            device,
            "marks.nudged",
            #"{"assessmentId":"a","photoId":"\#(photo)","target":"fish","side":"left","#
                + #""deltaMpx":500}"#
        )
    }

    private static func verdict(_ device: Int) -> Step {
        Step(
            device,
            "verdict.issued",
            #"{"assessmentId":"a","speciesId":"sardina","lengthUm":110000,"minSizeUm":110000,"#
                + #""minSizeKind":"legal","seasonMask":496,"zoneId":"*","sizeResult":"ok","#
                + #""isBorderline":false,"dateResult":"in_season","applicability":"full","#
                + #""month":4}"#
        )
    }

    static func filed(
        _ device: Int,
        _ id: String,
        lengthUm: Int = 110_000,
        of assessment: String = "a",
        species: String = "sardina",
        place: String = "talamone",
        on day: String = "2026-04-18",
        more: String = ""
    ) -> Step {
        Step(
            device,
            "report.filed",
            #"{"reportId":"\#(id)","assessmentId":"\#(assessment)","#
                + #""speciesId":"\#(species)","placeId":"\#(place)","observedOn":"\#(day)","#
                + #""lengthUm":\#(lengthUm)\#(more),"#
                + #""method":"ruler","minSizeUm":110000,"minSizeKind":"legal","seasonMask":496,"#
                + #""zoneId":"*","sizeResult":"ok","isBorderline":false,"#
                + #""dateResult":"in_season","applicability":"full","origin":"mediterranean","#
                + #""production":"wild_fresh","source":"app"}"#
        )
    }

    static func amended(_ device: Int, _ fields: String) -> Step {
        Step(device, "report.amended", #"{"reportId":"r",\#(fields)}"#)
    }

    private static func reviewed(_ device: Int, _ fields: String) -> Step {
        Step(device, "report.reviewed", #"{"reportId":"r",\#(fields)}"#)
    }

    static func withdrawn(_ device: Int, _ id: String) -> Step {
        Step(device, "report.withdrawn", #"{"reportId":"\#(id)"}"#)
    }

    /// What there is of the catalogue before each case.
    static let catalogue =
        [("sardina", 110_000, 496), ("acciuga", 90_000, 2040), ("sogliola", 200_000, 15)].map {
            Step(
                0,
                "species.defined",
                #"{"speciesId":"\#($0.0)","nameIt":"\#($0.0)","family":"finfish","#
                    + #""measure":"total_length","minSizeKind":"legal","minSizeUm":\#($0.1),"#
                    + #""seasonMask":\#($0.2)}"#
            )
        }
        + ["talamone", "albinia", "giannella", "orbetello"].map {
            Step(0, "place.defined", #"{"placeId":"\#($0)","name":"\#($0)"}"#)
        } + [
            Step(
                0,
                "reference.defined",
                #"{"referenceId":"eur2","nameIt":"2 euro","shape":"disc","diameterUm":25750,"#
                    + #""thicknessUm":2200}"#
            )
        ]

    // MARK: Assessments

    private static let markInUse =
        "SELECT photoId, frame ->> 'widthMpx', leftMpx FROM mark_in_use ORDER BY target"
    private static let outdated = "SELECT what FROM verdict_outdated ORDER BY what"

    static let drafts = [
        Case(
            testDescription: "Of details set apart, the later one of each field holds",
            shared: [started],
            apart: [
                detail(0, "origin", "mediterranean"), detail(1, "origin", "other"),
                detail(1, "production", "farmed"), detail(0, "place", "talamone"),
                detail(1, "place", "albinia"), detail(0, "production", "unknown"),
            ],
            question: "SELECT field, value FROM answer ORDER BY field",
            rows: ["origin other", "place albinia", "production unknown"]
        ),
        Case(
            testDescription: "Of two photos, the later one is in use, with the marks on it",
            shared: [started],
            apart: [
                photo(0, "p"), photo(1, "q"), mark(0, "p", width: 100), mark(1, "q", width: 200),
                mark(0, "p", width: 300),
            ],
            question: markInUse,
            rows: ["q 200 0"]
        ),
        Case(
            testDescription: "A photo is discarded without the one of the other device",
            shared: [started, photo(0, "o"), mark(0, "o", width: 50)],
            apart: [
                discarded(0, "o"), photo(0, "p"), mark(0, "p", width: 100), photo(1, "q"),
                mark(1, "q", width: 200), discarded(1, "q"),
            ],
            question: markInUse,
            rows: ["p 100 0"]
        ),
        Case(
            testDescription: "A nudge moves no mark that its author did not see",
            shared: [started, photo(0, "p"), mark(0, "p", width: 100)],
            apart: [mark(0, "p", width: 200), nudge(1, "p"), nudge(0, "p"), nudge(0, "p")],
            question: markInUse,
            rows: ["p 200 1000"]
        ),
        Case(
            testDescription: "Nudges of one mark add up",
            shared: [started, photo(0, "p"), mark(0, "p", width: 100)],
            apart: [nudge(0, "p"), nudge(1, "p"), nudge(1, "p")],
            question: markInUse,
            rows: ["p 100 1500"]
        ),
        Case(
            testDescription: "A verdict is out of date if its author did not know of a change",
            shared: [started, photo(0, "p"), mark(0, "p", width: 100)],
            apart: [
                nudge(0, "p"),
                Step(0, "reference.selected", #"{"assessmentId":"a","referenceId":"eur2"}"#),
                Step(
                    0,
                    "assessment.species.changed",
                    #"{"assessmentId":"a","speciesId":"acciuga"}"#
                ),
                verdict(1),
            ],
            question: outdated,
            rows: ["marks", "reference", "species"]
        ),
        Case(
            testDescription: "A verdict holds if nothing has changed that it rests on",
            shared: [started, photo(0, "o"), photo(0, "p"), mark(0, "p", width: 100)],
            apart: [
                discarded(0, "o"), mark(0, "o", width: 7), nudge(1, "p"),
                Step(1, "length.entered", #"{"assessmentId":"a","lengthUm":110000}"#), verdict(1),
                detail(0, "origin", "other"),
            ],
            question: outdated,
            rows: []
        ),
        Case(
            testDescription: "A length from marks that have moved is out of date, a ruler's not",
            shared: [started, photo(0, "p"), mark(0, "p", width: 100)],
            apart: [
                Step(
                    0,
                    "length.measured",
                    #"{"assessmentId":"a","method":"views","algorithmVersion":1,"#
                        + #""lengthUm":110000,"referenceId":"eur2"}"#
                ),
                nudge(1, "p"),
                Step(1, "length.entered", #"{"assessmentId":"a","lengthUm":111000}"#),
            ],
            question: """
                SELECT m.lengthUm, o.what FROM measurement AS m
                LEFT JOIN measurement_outdated AS o USING (assessmentId, origin) ORDER BY 1
                """,
            rows: ["110000 marks", "111000 -"]
        ),
    ]

    // MARK: Reports

    static let standing =
        "SELECT reportId, status, lengthUm, placeId FROM report ORDER BY reportId"

    static let reports = [
        Case(
            testDescription: "Of two reports of one fish, the one filed first counts",
            apart: [filed(0, "r"), filed(1, "s")],
            question: standing,
            rows: ["r counted 110000 talamone", "s duplicate 110000 talamone"]
        ),
        Case(
            testDescription: "A stranger's report of another's fish does not count, however early",
            shared: [started.by("u1")],
            apart: [filed(1, "s").by("u2"), filed(0, "r").by("u1"), filed(0, "t").by("u1")],
            question: standing,
            rows: [
                "r counted 110000 talamone", "s foreign 110000 talamone",
                "t duplicate 110000 talamone",
            ]
        ),
        Case(
            testDescription: "A stranger's report that comes before the assessment is as foreign",
            apart: [
                filed(1, "s").by("u2"), withdrawn(1, "s").by("u2"), filed(1, "q"),
                started.by("u1"), filed(0, "r").by("u1"),
            ],
            question: standing,
            rows: [
                "q foreign 110000 talamone", "r counted 110000 talamone",
                "s foreign 110000 talamone",
            ]
        ),
        Case(
            testDescription: "An assessment that nobody owns is everybody's to report",
            shared: [started],
            apart: [filed(1, "s").by("u2"), filed(0, "r").by("u1")],
            question: standing,
            rows: ["r duplicate 110000 talamone", "s counted 110000 talamone"]
        ),
        Case(
            testDescription: "If the first report is withdrawn, the next one counts",
            apart: [filed(0, "r"), filed(1, "s"), filed(1, "t"), withdrawn(0, "r")],
            question: standing,
            rows: [
                "r withdrawn 110000 talamone", "s counted 110000 talamone",
                "t duplicate 110000 talamone",
            ]
        ),
        Case(
            testDescription: "A rejected report counts no more, and no other one instead",
            shared: [filed(0, "r")],
            apart: [filed(0, "s"), reviewed(1, #""outcome":"rejected""#)],
            question: standing,
            rows: ["r rejected 110000 talamone", "s duplicate 110000 talamone"]
        ),
        Case(
            testDescription: "A report that was amended and withdrawn stays withdrawn",
            shared: [filed(0, "r")],
            apart: [withdrawn(0, "r"), amended(1, #""placeId":"albinia""#)],
            question: standing,
            rows: ["r withdrawn 110000 albinia"]
        ),
        Case(
            testDescription: "Of amendments, the later one of each field holds",
            shared: [filed(0, "r")],
            apart: [
                amended(0, #""placeId":"albinia","lengthUm":111000,"sizeResult":"ok""#).version(2),
                amended(1, #""lengthUm":112000,"sizeResult":"ok""#).version(2),
                amended(0, #""placeId":"giannella""#),
            ],
            question: standing,
            rows: ["r counted 112000 giannella"]
        ),
        Case(
            testDescription: "Answers of version 2 that fit only apart leave it inconsistent",
            shared: [filed(0, "r")],
            apart: [
                amended(
                    0,
                    #""speciesId":"sogliola","minSizeUm":200000,"minSizeKind":"legal","#
                        + #""seasonMask":15,"sizeResult":"undersize","dateResult":"reproducing""#
                ).version(2),
                amended(1, #""lengthUm":112000,"sizeResult":"ok","isBorderline":false"#).version(2),
            ],
            question: "SELECT status, sizeResult, sizeFollowing, dateFollowing FROM report",
            rows: ["inconsistent ok undersize reproducing"]
        ),
        Case(
            testDescription: "The last review holds, and the last length that a review gave",
            shared: [filed(0, "r")],
            apart: [
                reviewed(0, #""outcome":"rejected","remeasuredUm":109000"#),
                reviewed(1, #""outcome":"doubtful","remeasuredUm":98000"#),
                reviewed(0, #""outcome":"confirmed""#),
            ],
            question: "SELECT status, review, lengthUm, remeasuredUm FROM report",
            rows: ["counted confirmed 110000 98000"]
        ),
        Case(
            testDescription: "An answer that does not follow is in no sum",
            apart: [
                filed(0, "r", lengthUm: 109_999), filed(1, "s", of: "b"),
                filed(1, "t", lengthUm: 1000, of: "c"),
            ],
            question: "SELECT status, count(*) FROM report GROUP BY status",
            rows: ["counted 1", "inconsistent 2"]
        ),
    ]

    // MARK: Catalogue and settings

    static func sardina(_ device: Int, minimum: Int, validFrom: String = "") -> Step {
        Step(
            device,
            "species.defined",
            #"{"speciesId":"sardina","nameIt":"Sardina","family":"finfish","#
                + #""measure":"total_length","minSizeKind":"legal","minSizeUm":\#(minimum),"#
                + #""seasonMask":496\#(validFrom)}"#
        )
    }

    static let others = [
        Case(
            testDescription: "A catalogue that changed meanwhile leaves reports as they are",
            shared: [sardina(0, minimum: 110_000)],
            apart: [
                sardina(0, minimum: 120_000), filed(1, "r"),
                sardina(0, minimum: 90_000, validFrom: #","validFrom":"2026-05-01""#),
            ],
            question: """
                SELECT r.status, r.minSizeUm, m.minSizeUm
                FROM report AS r JOIN minimum AS m USING (speciesId) ORDER BY m.validFrom
                """,
            rows: ["counted 110000 120000", "counted 110000 90000"]
        ),
        Case(
            testDescription: "A species that is defined after it was retired is back",
            shared: [sardina(0, minimum: 110_000)],
            apart: [
                Step(0, "species.retired", #"{"speciesId":"sardina"}"#),
                sardina(1, minimum: 110_000),
            ],
            question: """
                SELECT s.speciesId, s.stamp > r.stamp
                FROM species AS s JOIN retirement AS r ON r.id = s.speciesId
                """,
            rows: ["sardina 1"]
        ),
        Case(
            testDescription: "The later preference holds",
            apart: [
                Step(0, "preference.set", #"{"key":"language","value":"it"}"#),
                Step(1, "preference.set", #"{"key":"language","value":"en"}"#),
                Step(0, "preference.set", #"{"key":"gate","value":"off"}"#),
                Step(1, "guide.dismissed", #"{"guideId":"first_run","version":2}"#),
                Step(0, "guide.dismissed", #"{"guideId":"first_run","version":1}"#),
            ],
            question: """
                SELECT actor, key, value FROM preference
                UNION ALL SELECT actor, guideId, version FROM guide
                """,
            rows: ["- gate off", "- language en", "- first_run 2"]
        ),
    ]
}
