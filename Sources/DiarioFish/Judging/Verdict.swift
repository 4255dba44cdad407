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
    package let date: Fish.DateResult

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
