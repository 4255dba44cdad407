/// The answer about the size.
package enum SizeResult: String, Sendable {
    case ok
    case undersize
    /// Shorter than is recommended, which is advice and no rule.
    case belowRecommended = "below_recommended"
    case notRequired = "not_required"
    /// Too close to tell, in events of others.
    ///
    /// We answer with one of the other four, and with `isBorderline` beside it.
    case borderline

    /// What the thesis's report says instead: true if the fish may be bought for its size.
    ///
    /// Nil for `borderline`, where the length must tell.
    package var isEligible: Bool? {
        switch self {
        case .ok, .notRequired: true
        case .undersize, .belowRecommended: false
        case .borderline: nil
        }
    }
}

/// The least length at which a fish may, or should, be bought.
package enum MinimumSize: Equatable, Sendable {
    case none
    case legal(lengthUm: Int64)
    case recommended(lengthUm: Int64)

    /// What a catalogue says; nil for an unknown kind, or if kind and length do not go together.
    package init?(kind: String, lengthUm: Int64?) {
        switch (kind, lengthUm) {
        case ("none", nil): self = .none
        case ("legal", let lengthUm?): self = .legal(lengthUm: lengthUm)
        case ("recommended", let lengthUm?): self = .recommended(lengthUm: lengthUm)
        default: return nil
        }
    }

    package var kind: String {
        switch self {
        case .none: "none"
        case .legal: "legal"
        case .recommended: "recommended"
        }
    }

    package var lengthUm: Int64? {
        switch self {
        case .none: nil
        case .legal(let lengthUm), .recommended(let lengthUm): lengthUm
        }
    }

    /// The answer for a length, which is the thesis's: exactly the minimum is enough.
    package func result(lengthUm: Int64) -> SizeResult {
        switch self {
        case .none: .notRequired
        case .legal(let least): lengthUm >= least ? .ok : .undersize
        case .recommended(let least): lengthUm >= least ? .ok : .belowRecommended
        }
    }

    /// True if a second measurement might well give the other answer.
    ///
    /// That is within twice the standard error of the minimum: outside of it, one measurement in 44
    /// is on the wrong side. A length without a standard error, as of a ruler, is never borderline.
    package func isBorderline(lengthUm: Int64, sigmaUm: Int64?) -> Bool {
        guard let least = self.lengthUm, let sigmaUm, sigmaUm > 0 else { return false }
        let (apart, isFar) = lengthUm.subtractingReportingOverflow(least)
        return !isFar && (apart.magnitude + 1) / 2 <= sigmaUm.magnitude
    }
}
