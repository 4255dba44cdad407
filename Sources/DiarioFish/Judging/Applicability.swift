/// Where a fish comes from.
package enum Origin: String, Sendable {
    case mediterranean, other
}

/// How it got there.
package enum Production: String, Sendable {
    case farmed
    case wildFresh = "wild_fresh"
    case unknown
}

/// How much the two answers say about a fish, whose origin is asked for only after them.
package enum Applicability: String, Sendable {
    /// Both answers are about such fish.
    case full
    /// The seasons are those of the Mediterranean; a fish of another sea grows, but reproduces at
    /// other times.
    case sizeOnly = "size_only"
    /// A farmed fish is taken from no stock, so neither its size nor the month spares one.
    case informative

    /// Unknown production counts as caught: the answers then apply at least as far as they may.
    package init(origin: Origin, production: Production) {
        switch (production, origin) {
        case (.farmed, _): self = .informative
        case (.wildFresh, .mediterranean), (.unknown, .mediterranean): self = .full
        case (.wildFresh, .other), (.unknown, .other): self = .sizeOnly
        }
    }
}
