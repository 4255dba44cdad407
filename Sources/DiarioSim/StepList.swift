/// Numbers of steps as a person writes them: `3,7-9`, or `none`.
enum StepList {
    /// The highest number that a plan could have.
    private static let numberMax = 100_000

    /// Nil if the text is not such a list.
    static func parse(_ text: String) -> Set<Int>? {
        guard text != none else { return [] }
        var numbers: Set<Int> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard let first = ends.first, let first, let last = ends.last, let last,
                ends.count <= 2, first <= last, (0...Self.numberMax).contains(last)
            else { return nil }
            numbers.formUnion(first...last)
        }
        return numbers
    }

    private static let none = "none"

    static func text(_ numbers: [Int]) -> String {
        guard !numbers.isEmpty else { return none }
        var runs: [ClosedRange<Int>] = []
        for number in numbers.sorted() {
            if let last = runs.last, last.upperBound + 1 == number {
                runs[runs.count - 1] = last.lowerBound...number
            } else {
                runs.append(number...number)
            }
        }
        return runs.map { run in
            run.count == 1 ? "\(run.lowerBound)" : "\(run.lowerBound)-\(run.upperBound)"
        }.joined(separator: ",")
    }
}
