extension Fish.Applicability {
    /// How much the two answers say about a fish, whose origin is asked for only after them.
    ///
    /// The seasons are those of the Mediterranean; a fish of another sea grows, but reproduces at
    /// other times. A farmed fish is taken from no stock, so neither its size nor the month spares
    /// one. Unknown production counts as caught: the answers then apply at least as far as they
    /// may.
    package init(origin: Fish.Origin, production: Fish.Production) {
        switch (production, origin) {
        case (.farmed, _): self = .informative
        case (.wildFresh, .mediterranean), (.unknown, .mediterranean): self = .full
        case (.wildFresh, .other), (.unknown, .other): self = .sizeOnly
        }
    }
}
