/// What is asked of a species.
package struct SpeciesRule: Equatable, Sendable {
    package let speciesID: String
    package let minimum: MinimumSize
    package let season: Season

    package init(speciesID: String, minimum: MinimumSize, season: Season) {
        self.speciesID = speciesID
        self.minimum = minimum
        self.season = season
    }
}

/// The two answers about a fish, neither of which depends on the other.
package struct Verdict: Equatable, Sendable {
    package let size: SizeResult
    /// True if the length is too close to the minimum to be sure of `size`.
    package let isBorderline: Bool
    package let date: DateResult

    package init(lengthUm: Int64, sigmaUm: Int64?, rule: SpeciesRule, month: Month) {
        size = rule.minimum.result(lengthUm: lengthUm)
        isBorderline = rule.minimum.isBorderline(lengthUm: lengthUm, sigmaUm: sigmaUm)
        date = rule.season.result(in: month)
    }

    /// The two truth values of the thesis's report, from the point estimate alone.
    package var eligibilitySize: Bool { size.isEligible == true }
    package var eligibilityDate: Bool { date == .inSeason }
    package var isPositive: Bool { eligibilitySize && eligibilityDate }
}

/// The answers that a report stores, which may come from a program that computes otherwise.
package struct StoredAnswers: Equatable, Sendable {
    package enum Part: String, Sendable {
        case sizeResult, dateResult, eligibilitySize, eligibilityDate
    }

    package let sizeResult: SizeResult
    package let dateResult: DateResult
    package let eligibilitySize: Bool
    package let eligibilityDate: Bool

    package init(
        sizeResult: SizeResult,
        dateResult: DateResult,
        eligibilitySize: Bool,
        eligibilityDate: Bool
    ) {
        self.sizeResult = sizeResult
        self.dateResult = dateResult
        self.eligibilitySize = eligibilitySize
        self.eligibilityDate = eligibilityDate
    }

    /// The answers that do not follow from the length, the species and the month: none if all do.
    ///
    /// `borderline` follows wherever there is a minimum, since a report does not store how close is
    /// close; the truth value beside it is that of the length.
    package func contradictions(
        lengthUm: Int64,
        rule: SpeciesRule,
        month: Month
    ) -> [Part] {
        let verdict = Verdict(lengthUm: lengthUm, sigmaUm: nil, rule: rule, month: month)
        let isClose = sizeResult == .borderline && rule.minimum != .none
        var wrong: [Part] = []
        if sizeResult != verdict.size && !isClose { wrong.append(.sizeResult) }
        if dateResult != verdict.date { wrong.append(.dateResult) }
        if eligibilitySize != verdict.eligibilitySize { wrong.append(.eligibilitySize) }
        if eligibilityDate != verdict.eligibilityDate { wrong.append(.eligibilityDate) }
        return wrong
    }
}
