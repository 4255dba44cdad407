import DiarioFish
import Testing

/// The ten species of the thesis's Table 1.2, in its order.
let catalogue: [SpeciesRule] = [
    ("sardina", "legal", 110_000, 496), ("acciuga", "legal", 90_000, 2040),
    ("sogliola", "legal", 200_000, 15), ("nasello", "legal", 200_000, 2111),
    ("gambero_rosa", "legal", 20_000, 4088), ("sgombro", "legal", 180_000, 12),
    ("seppia", "recommended", 150_000, 120), ("calamaro", "recommended", 120_000, 12),
    ("triglia_fango", "legal", 110_000, 248), ("costardella", "none", nil, 3584),
].compactMap { (id: String, kind: String, lengthUm: Int64?, mask: Int) in
    guard let minimum = MinimumSize(kind: kind, lengthUm: lengthUm),
        let season = Season(mask: mask)
    else { return nil }
    return SpeciesRule(speciesID: id, minimum: minimum, season: season)
}

@Suite struct JudgingTests {
    private func species(_ id: String) throws -> SpeciesRule {
        try #require(catalogue.first { $0.speciesID == id })
    }

    // MARK: Seasons

    /// The matrix as the thesis's table gives it: the species closed in each month.
    static let closed: [String] = [
        "sogliola nasello", "sogliola nasello", "sogliola nasello sgombro calamaro",
        "acciuga sogliola nasello gambero_rosa sgombro seppia calamaro triglia_fango",
        "sardina acciuga nasello gambero_rosa seppia triglia_fango",
        "sardina acciuga nasello gambero_rosa seppia triglia_fango",
        "sardina acciuga gambero_rosa seppia triglia_fango",
        "sardina acciuga gambero_rosa triglia_fango", "sardina acciuga gambero_rosa",
        "acciuga gambero_rosa costardella", "acciuga gambero_rosa costardella",
        "nasello gambero_rosa costardella",
    ]

    @Test func theSeasonMatrixIsThatOfTheTable() {
        var openCount = 0
        for month in Month.all {
            let closed = Self.closed[month.number - 1].split(separator: " ").map(String.init)
            let ours = catalogue.filter { $0.season.isClosed(in: month) }.map(\.speciesID)
            #expect(ours == closed, "month \(month.number)")
            openCount += 10 - ours.count
        }
        #expect(openCount == 71)
        let months = catalogue.map { species in
            Month.all.count { !species.season.isClosed(in: $0) }
        }
        #expect(months == [7, 4, 8, 5, 3, 10, 8, 10, 7, 9])
    }

    @Test(
        arguments: [
            ("2026-11-30", Fish.DateResult.inSeason), ("2026-12-01", .reproducing),
            ("2026-06-30", .reproducing), ("2026-07-01", .inSeason),
            ("2026-12-31", .reproducing), ("2027-01-01", .reproducing),
            ("2028-02-29", .reproducing),
        ]
    )
    func hakeReproducesFromDecemberToJune(day: String, result: Fish.DateResult) throws {
        let month = try #require(Month(ofDay: day))
        #expect(try species("nasello").season.result(in: month) == result)
    }

    @Test(
        arguments: [
            ("2026-01-31", 1), ("2026-02-28", 2), ("2028-02-29", 2), ("2028-03-01", 3),
            ("2026-04-30", 4), ("2026-12-31", 12), ("0001-01-01", 1), ("9999-12-31", 12),
        ]
    )
    func aDayBelongsToItsMonth(day: String, month: Int) {
        #expect(Month(ofDay: day)?.number == month)
    }

    @Test(
        arguments: [
            "2026-02-29", "2100-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "2026-4-1", "",
            "20260401", "2026-04-01T00:00", "10000-01-01",
        ]
    )
    func whatIsNoDayHasNoMonth(text: String) { #expect(Month(ofDay: text) == nil) }

    @Test func monthsAndMasksOutsideTheirRangeAreRefused() {
        for number in [Int.min, -1, 0, 13, Int.max] { #expect(Month(number) == nil) }
        for mask in [Int.min, -1, 4096, Int.max] { #expect(Season(mask: mask) == nil) }
    }

    @Test func anEmptySeasonIsAlwaysOpenAndAFullOneNever() throws {
        let never = try #require(Season(mask: 0))
        let always = try #require(Season(mask: 4095))
        for month in Month.all {
            #expect(!never.isClosed(in: month))
            #expect(always.isClosed(in: month))
        }
    }

    // MARK: Sizes

    @Test(arguments: catalogue) func exactlyTheMinimumIsEnough(rule: SpeciesRule) {
        guard let least = rule.minimum.lengthUm else {
            for lengthUm: Int64 in [1000, 5_000_000] {
                #expect(rule.minimum.result(lengthUm: lengthUm) == .notRequired)
            }
            return
        }
        let short: SizeResult = rule.minimum.kind == "legal" ? .undersize : .belowRecommended
        #expect(rule.minimum.result(lengthUm: least - 1) == short)
        #expect(rule.minimum.result(lengthUm: least) == .ok)
        #expect(rule.minimum.result(lengthUm: least + 1) == .ok)
    }

    @Test(
        arguments: [
            ("sardina", Int64(109_999), SizeResult.undersize), ("sardina", 110_000, .ok),
            ("costardella", 1000, .notRequired), ("seppia", 149_900, .belowRecommended),
            ("gambero_rosa", 20_000, .ok),
        ]
    )
    func sizesAreJudgedAsInTheExamples(id: String, lengthUm: Int64, result: SizeResult) throws {
        #expect(try species(id).minimum.result(lengthUm: lengthUm) == result)
    }

    @Test func aLengthIsBorderlineWithinTwoStandardErrors() {
        let minimum = MinimumSize.legal(lengthUm: 110_000)
        func isBorderline(_ lengthUm: Int64, _ sigmaUm: Int64?) -> Bool {
            minimum.isBorderline(lengthUm: lengthUm, sigmaUm: sigmaUm)
        }
        #expect(isBorderline(112_000, 1000))
        #expect(!isBorderline(112_001, 1000))
        #expect(isBorderline(108_000, 1000))
        #expect(!isBorderline(107_999, 1000))
        #expect(isBorderline(110_000, 1))
        #expect(!isBorderline(110_000, 0))
        #expect(!isBorderline(110_000, nil))
        #expect(!isBorderline(.min, .max))
        #expect(!MinimumSize.none.isBorderline(lengthUm: 110_000, sigmaUm: 1000))
    }

    @Test func theAnswerOfTheThesisIsThatOfTheLengthAlone() throws {
        let month = try #require(Month(1))
        let verdict = Verdict(
            lengthUm: 110_000,
            sigmaUm: 900,
            rule: try species("sardina"),
            month: month
        )
        #expect(verdict.size == .ok)
        #expect(verdict.isBorderline)
        #expect(verdict.isPositive)
        let short = Verdict(
            lengthUm: 149_900,
            sigmaUm: nil,
            rule: try species("seppia"),
            month: month
        )
        #expect(!short.eligibilitySize)
        #expect(short.eligibilityDate)
        #expect(!short.isPositive)
    }

    @Test func kindAndLengthGoTogether() {
        #expect(MinimumSize(kind: "none", lengthUm: nil) == MinimumSize.none)
        #expect(MinimumSize(kind: "none", lengthUm: 0) == nil)
        #expect(MinimumSize(kind: "legal", lengthUm: nil) == nil)
        #expect(MinimumSize(kind: "advice", lengthUm: 1) == nil)
        #expect(MinimumSize(kind: "recommended", lengthUm: 2) == .recommended(lengthUm: 2))
    }

    @Test func theAnswersApplyInFullToWildFishOfTheMediterranean() {
        let cases: [(Fish.Origin, Fish.Production, Fish.Applicability)] = [
            (.mediterranean, .wildFresh, .full), (.mediterranean, .unknown, .full),
            (.mediterranean, .farmed, .informative), (.other, .wildFresh, .sizeOnly),
            (.other, .unknown, .sizeOnly), (.other, .farmed, .informative),
        ]
        for (origin, production, expected) in cases {
            #expect(Fish.Applicability(origin: origin, production: production) == expected)
        }
    }

    // MARK: Tilt

    @Test(
        arguments: [
            (Int64(-1_000_000), Fish.GateResult.ok, Fish.GateResult.out), (-999_000, .ok, .ok),
            (-995_000, .ok, .ok), (-991_000, .ok, .ok), (-990_900, .out, .out),
            (991_000, .out, .out), (0, .out, .out), (.min, .ok, .out), (.max, .out, .out),
        ]
    )
    func theGateIsTheThesissBandOrOnlyItsLimit(
        zMicroG: Int64,
        standard: Fish.GateResult,
        legacy: Fish.GateResult
    ) {
        #expect(Fish.Gate.standard.result(zMicroG: zMicroG) == standard)
        #expect(Fish.Gate.legacy.result(zMicroG: zMicroG) == legacy)
        #expect(Fish.Gate.off.result(zMicroG: zMicroG) == .unknown)
    }

    @Test func aPhoneThatDoesNotTellIsUnknownAndForTheThesisOut() {
        #expect(Fish.Gate.standard.result(zMicroG: nil) == .unknown)
        #expect(Fish.Gate.legacy.result(zMicroG: nil) == .out)
        #expect(Fish.Gate.off.result(zMicroG: nil) == .unknown)
    }

    @Test func tiltIsTheAngleBetweenGravityAndTheLevel() {
        #expect(Gravity(x: 0, y: 0, z: -1_000_000).tiltMdeg == 0)
        #expect(Gravity(x: 0, y: -87_156, z: -996_195).tiltMdeg == 5000)
        #expect(Gravity(x: 133_862, y: 0, z: -991_000).tiltMdeg == 7693)
        #expect(Gravity(x: 0, y: 44_710, z: -999_000).tiltMdeg == 2563)
        #expect(Gravity(x: 0, y: 2_000_000, z: 0).tiltMdeg == 90_000)
        #expect(Gravity(x: 0, y: 0, z: 0).tiltMdeg == nil)
        #expect(Gravity(x: .max, y: .min, z: .max).tiltMdeg == nil)
    }

    @Test(
        arguments: [
            ("3,4", [3, 4]), ("mar-apr", [3, 4]), ("Marzo, Aprile", [3, 4]), ("4", [4]),
            ("nov-feb", [11, 12, 1, 2]), ("5 - 7,12", [5, 6, 7, 12]), ("none", []), ("Nessuno", []),
            ("1-12", Array(1...12)), ("giu-ago", [6, 7, 8]), ("sett", [9]), ("mag,MAG", [5]),
            ("mars", nil), ("avril", nil), ("ma", nil), ("0", nil), ("13", nil), ("", nil),
            ("3,", nil), ("3-", nil), ("-3", nil), ("3-4-5", nil), ("none,3", nil), ("3 4", nil),
        ] as [(String, [Int]?)]
    )
    func monthsAreReadAsPeopleWriteThem(text: String, months: [Int]?) {
        let mask = months?.reduce(0) { $0 | 1 << ($1 - 1) }
        #expect(Season(months: text)?.mask == mask)
    }
}
