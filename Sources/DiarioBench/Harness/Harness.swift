/// What one run of one side took, and what it says beside.
struct Sample: Sendable {
    var seconds: Double
    var events: Int
    /// Further figures of this run, by name.
    var figures: [(name: String, value: Double)] = []

    var eventsPerSecond: Double { Double(events) / seconds }
}

/// What a benchmark promises.
enum Goal: Sendable {
    case atLeast(Double)
    case atMost(Double)
    case none

    func isMet(by value: Double) -> Bool? {
        switch self {
        case .atLeast(let bound): value >= bound
        case .atMost(let bound): value <= bound
        case .none: nil
        }
    }

    var text: String {
        switch self {
        case .atLeast(let bound): ">= \(number(bound))"
        case .atMost(let bound): "<= \(number(bound))"
        case .none: "-"
        }
    }
}

/// Middle, smallest and largest of some values.
struct Spread: Sendable {
    let median: Double
    let min: Double
    let max: Double

    init(_ values: [Double]) {
        precondition(!values.isEmpty, "a spread is of something")
        let sorted = values.sorted()
        let middle = sorted.count / 2
        median =
            sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        min = sorted[0]
        max = sorted[sorted.count - 1]
    }
}

/// One line of a report: a value, or two sides and their ratio.
struct Measurement: Sendable {
    let name: String
    let unit: String
    let ours: Spread
    let baseline: Spread?
    /// What the goal is about: the ratio if there is a baseline, else the value.
    let judged: Spread
    let goal: Goal
    var figures: [(name: String, spread: Spread)] = []

    var isMet: Bool? { goal.isMet(by: judged.median) }

    init(_ name: String, unit: String, value: Spread, goal: Goal = .none) {
        self.name = name
        self.unit = unit
        ours = value
        baseline = nil
        judged = value
        self.goal = goal
    }

    /// Two sides of which each has one value; the goal is about their ratio.
    init(_ name: String, unit: String, _ ours: Double, against baseline: Double, goal: Goal) {
        self.name = name
        self.unit = unit
        self.ours = Spread([ours])
        self.baseline = Spread([baseline])
        judged = Spread([ours / baseline])
        self.goal = goal
    }

    /// Two sides that ran in turn; the ratio is of neighbours.
    ///
    /// `isTime` says that the ratio is of times (smaller is better), else of events per second.
    init(
        _ name: String,
        _ pairs: [(ours: Sample, baseline: Sample)],
        goal: Goal,
        isTime: Bool = false
    ) {
        self.name = name
        self.goal = goal
        if isTime {
            unit = "s"
            ours = Spread(pairs.map(\.ours.seconds))
            baseline = Spread(pairs.map(\.baseline.seconds))
            judged = Spread(pairs.map { $0.ours.seconds / $0.baseline.seconds })
        } else {
            unit = "events/s"
            ours = Spread(pairs.map(\.ours.eventsPerSecond))
            baseline = Spread(pairs.map(\.baseline.eventsPerSecond))
            judged = Spread(pairs.map { $0.ours.eventsPerSecond / $0.baseline.eventsPerSecond })
        }
        figures = Self.figures(pairs.map(\.ours))
        figures += Self.figures(pairs.map(\.baseline)).map { ("baseline: \($0.name)", $0.spread) }
    }

    /// The figures that the samples have in common.
    static func figures(_ samples: [Sample]) -> [(name: String, spread: Spread)] {
        guard let first = samples.first else { return [] }
        return first.figures.indices.map { index in
            (first.figures[index].name, Spread(samples.map { $0.figures[index].value }))
        }
    }
}

/// Runs two sides in turn: once each to warm up, then `runs` times each.
func compare(
    runs: Int,
    ours: () async throws -> Sample,
    baseline: () async throws -> Sample
) async throws -> [(ours: Sample, baseline: Sample)] {
    _ = try await ours()
    _ = try await baseline()
    var pairs: [(ours: Sample, baseline: Sample)] = []
    for run in 0..<runs {
        // Who goes first changes, so that what the first one leaves behind helps nobody.
        if run % 2 == 0 {
            let mine = try await ours()
            pairs.append((mine, try await baseline()))
        } else {
            let other = try await baseline()
            pairs.append((try await ours(), other))
        }
    }
    return pairs
}

/// Seconds since an earlier moment.
func seconds(since start: ContinuousClock.Instant) -> Double {
    (ContinuousClock.now - start) / .seconds(1)
}

/// A number as people read it: three digits that matter, thousands apart.
func number(_ value: Double) -> String {
    guard value.isFinite else { return "-" }
    if value.magnitude >= 1000 {
        let digits = String(Int(value.rounded()).magnitude)
        let grouped = digits.enumerated().map { index, digit in
            let rest = digits.count - index
            return rest % 3 == 0 && index > 0 ? ",\(digit)" : "\(digit)"
        }.joined()
        return value < 0 ? "-" + grouped : grouped
    }
    let scale: Double = value.magnitude >= 100 ? 10 : value.magnitude >= 1 ? 100 : 10_000
    let text = String((value * scale).rounded() / scale)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}
