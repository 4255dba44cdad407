import DiarioCore
import DiarioSchema

extension Fish {
    /// The two answers about a fish, and all that they follow from.
    struct Judgement {
        let rule: SpeciesRule
        let verdict: Verdict
        let month: Month
        let applicability: DiarioFish.Applicability
        /// Empty if both answers are positive.
        let alternatives: [Alternative]

        init(
            speciesID: String,
            lengthUm: Int64,
            sigmaUm: Int64?,
            on day: CivilDay,
            zone: String,
            origin: String?,
            production: String?,
            in space: any CommandSpace
        ) throws(BrokenRule) {
            rule = try Fish.species(speciesID, on: day, zone: zone, in: space).rule
            guard let month = Month(day.month) else {
                preconditionFailure("a day has a month")
            }
            self.month = month
            verdict = Verdict(lengthUm: lengthUm, sigmaUm: sigmaUm, rule: rule, month: month)
            applicability = DiarioFish.Applicability(
                origin: origin.flatMap { DiarioFish.Origin(rawValue: $0) } ?? .mediterranean,
                production: production.flatMap { DiarioFish.Production(rawValue: $0) } ?? .unknown
            )
            guard !verdict.isPositive else {
                alternatives = []
                return
            }
            let rows = space.rows(
                "alternatives",
                ["day": .text(day.text), "speciesId": .text(speciesID), "zone": .text(zone)]
            )
            alternatives = rows.compactMap { row in
                row.text("speciesId").map {
                    Alternative(speciesId: $0, minSizeUm: row.integer("minSizeUm"))
                }
            }
        }

        var sizeResult: SizeResult { SizeResult(rawValue: verdict.size.rawValue) ?? .notRequired }
        var dateResult: DateResult { DateResult(rawValue: verdict.date.rawValue) ?? .inSeason }
        var minSizeKind: MinSizeKind { MinSizeKind(rawValue: rule.minimum.kind) ?? .none }
        var applies: Applicability { Applicability(rawValue: applicability.rawValue) ?? .full }
    }

    /// Judges a fish without an assessment.
    static func judge(
        _ input: Judge,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Judge.Result {
        let zone = input.zone ?? everywhere
        try checkZone(zone, field: "zone", in: space)
        let judged = try Judgement(
            speciesID: input.speciesId,
            lengthUm: input.lengthUm,
            sigmaUm: input.sigmaUm,
            on: input.on,
            zone: zone,
            origin: input.origin?.rawValue,
            production: input.production?.rawValue,
            in: space
        )
        return Judge.Result(
            sizeResult: judged.sizeResult,
            dateResult: judged.dateResult,
            month: Int64(judged.month.number),
            minSizeUm: judged.rule.minimum.lengthUm,
            minSizeKind: judged.minSizeKind,
            isBorderline: judged.verdict.isBorderline,
            applicability: judged.applies,
            alternatives: judged.alternatives
        )
    }

    static func issue(
        _ input: VerdictIssue,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<VerdictIssue.Result> {
        let assessment = try OpenAssessment(input.assessmentId, in: space)
        let row = assessment.row
        guard let length = row.integer("lengthUm"), let day = assessment.day else {
            throw FishRule.noLength.broken("assessmentId", input.assessmentId)
        }
        if let what = row.text("lengthOutdatedBy") {
            throw FishRule.lengthOutdated.broken("assessmentId", what)
        }
        let zone = input.zone ?? everywhere
        try checkZone(zone, field: "zone", in: space)
        let judged = try Judgement(
            speciesID: assessment.speciesID,
            lengthUm: length,
            sigmaUm: row.integer("sigmaUm"),
            on: day,
            zone: zone,
            origin: input.origin?.rawValue ?? row.text("origin"),
            production: input.production?.rawValue ?? row.text("production"),
            in: space
        )
        let result = VerdictIssue.Result(
            sizeResult: judged.sizeResult,
            dateResult: judged.dateResult,
            month: Int64(judged.month.number),
            minSizeUm: judged.rule.minimum.lengthUm,
            minSizeKind: judged.minSizeKind,
            isBorderline: judged.verdict.isBorderline,
            applicability: judged.applies,
            alternatives: judged.alternatives
        )
        let others = judged.alternatives.prefix(alternativeCountMax).map { $0.speciesId }
        return Outcome(result).recording(
            Recorded.VerdictIssued(
                assessmentId: input.assessmentId,
                speciesId: assessment.speciesID,
                lengthUm: length,
                sigmaUm: row.integer("sigmaUm"),
                minSizeUm: judged.rule.minimum.lengthUm,
                minSizeKind: same(judged.minSizeKind),
                seasonMask: Int64(judged.rule.season.mask),
                zoneId: zone,
                sizeResult: same(judged.sizeResult),
                isBorderline: judged.verdict.isBorderline,
                dateResult: judged.dateResult,
                applicability: judged.applies,
                month: Int64(judged.month.number),
                alternatives: others.isEmpty ? nil : Array(others)
            )
        )
    }

    /// The most that an event keeps.
    private static let alternativeCountMax = 20

    /// The value of the same name in a list that has more of them.
    static func same<Value: RawRepresentable, Other: RawRepresentable>(_ value: Value) -> Other
    where Value.RawValue == String, Other.RawValue == String {
        guard let other = Other(rawValue: value.rawValue) else {
            preconditionFailure("a list of an event has the values of the commands that record it")
        }
        return other
    }
}
