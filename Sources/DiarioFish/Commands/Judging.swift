import DiarioCore
import DiarioSchema

extension Fish {
    /// The two answers about a fish, and all that they follow from.
    struct Judgement {
        let species: CatalogueEntry
        let verdict: Verdict
        let month: Month
        let applicability: Fish.Applicability
        /// The zone of the sea whose seasons count, where it has any.
        let zoneID: String
        /// What to buy instead; empty if both answers are positive.
        let others: [Rows.Alternatives]

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
            zoneID = zone
            species = try Fish.species(speciesID, on: day, zone: zone, in: space)
            guard let month = Month(day.month) else {
                preconditionFailure("a day has a month")
            }
            self.month = month
            verdict = Verdict(
                lengthUm: lengthUm,
                sigmaUm: sigmaUm,
                rule: species.rule,
                month: month
            )
            applicability = Fish.Applicability(
                origin: origin.flatMap { Fish.Origin(rawValue: $0) } ?? .mediterranean,
                production: production.flatMap { Fish.Production(rawValue: $0) } ?? .unknown
            )
            others =
                verdict.isPositive
                ? [] : space.alternatives(day: day, speciesId: speciesID, zone: zone)
        }

        var rule: SpeciesRule { species.rule }
        var alternatives: [Alternative] {
            others.map { Alternative(speciesId: $0.speciesId, minSizeUm: $0.minSizeUm) }
        }
        var sizeResult: SizeResult { SizeResult(rawValue: verdict.size.rawValue) ?? .notRequired }
        var dateResult: DateResult { verdict.date }
        var minSizeKind: MinSizeKind { MinSizeKind(rawValue: rule.minimum.kind) ?? .none }
    }

    /// Judges a fish without an assessment.
    static func judge(
        _ input: Judge,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Judge.Result {
        let zone = try zone(input.zone, in: space)
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
            zoneId: judged.zoneID,
            isBorderline: judged.verdict.isBorderline,
            applicability: judged.applicability,
            alternatives: judged.alternatives,
            text: judged.text(
                lengthUm: input.lengthUm,
                sigmaUm: input.sigmaUm,
                nil,
                in: space
            )
        )
    }

    static func issue(
        _ input: VerdictIssue,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<VerdictIssue.Result> {
        let assessment = try OpenAssessment(input.assessmentId, in: space)
        let row = assessment.row
        guard let length = row.lengthUm else {
            throw Fish.Rule.noLength("assessmentId", input.assessmentId)
        }
        if let what = row.lengthOutdatedBy {
            throw Fish.Rule.lengthOutdated("assessmentId", what)
        }
        let zone = try zone(input.zone, in: space)
        let judged = try Judgement(
            speciesID: assessment.speciesID,
            lengthUm: length,
            sigmaUm: row.sigmaUm,
            on: assessment.day,
            zone: zone,
            origin: input.origin?.rawValue ?? row.origin,
            production: input.production?.rawValue ?? row.production,
            in: space
        )
        let result = VerdictIssue.Result(
            sizeResult: judged.sizeResult,
            dateResult: judged.dateResult,
            month: Int64(judged.month.number),
            minSizeUm: judged.rule.minimum.lengthUm,
            minSizeKind: judged.minSizeKind,
            zoneId: judged.zoneID,
            isBorderline: judged.verdict.isBorderline,
            applicability: judged.applicability,
            alternatives: judged.alternatives,
            text: judged.text(
                lengthUm: length,
                sigmaUm: row.sigmaUm,
                row.method,
                in: space
            )
        )
        let others = judged.alternatives.prefix(alternativeCountMax).map { $0.speciesId }
        return Outcome(result).recording(
            Recorded.VerdictIssued(
                assessmentId: input.assessmentId,
                speciesId: assessment.speciesID,
                lengthUm: length,
                sigmaUm: row.sigmaUm,
                minSizeUm: judged.rule.minimum.lengthUm,
                minSizeKind: .init(judged.minSizeKind),
                seasonMask: Int64(judged.rule.season.mask),
                zoneId: judged.zoneID,
                sizeResult: .init(judged.sizeResult),
                isBorderline: judged.verdict.isBorderline,
                dateResult: judged.dateResult,
                applicability: judged.applicability,
                month: Int64(judged.month.number),
                alternatives: others.isEmpty ? nil : Array(others)
            )
        )
    }

    /// The most that an event keeps.
    private static let alternativeCountMax = 20
}

// What is recorded may also be unknown, as in old reports.

extension Fish.RecordedSizeResult {
    init(_ result: Fish.SizeResult) { self = Self(rawValue: result.rawValue) ?? .unknown }
}

extension Fish.RecordedMinSizeKind {
    init(_ kind: Fish.MinSizeKind) { self = Self(rawValue: kind.rawValue) ?? .unknown }
}

extension Fish.RecordedOrigin {
    init(_ origin: Fish.Origin) { self = Self(rawValue: origin.rawValue) ?? .unknown }
}
