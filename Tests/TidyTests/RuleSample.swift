import Testing

/// A text which a rule must let pass, and one which it must not.
struct RuleSample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let rule: @Sendable (SourceFile) -> [Finding]
    let path: String
    let good: String
    let bad: String
    /// Where the rule must find something in `bad`.
    let line: Int

    init(
        _ name: String,
        _ rule: @escaping @Sendable (SourceFile) -> [Finding],
        path: String = "Sources/DiarioCore/Sample.swift",
        good: String,
        bad: String,
        line: Int = 1
    ) {
        testDescription = name
        self.rule = rule
        self.path = path
        self.good = good
        self.bad = bad
        self.line = line
    }
}
