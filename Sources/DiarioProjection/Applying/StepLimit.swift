import DiarioCore

/// What events may cost together before whoever waits for them is told so.
package struct StepAllowance: Sendable {
    /// Steps of SQLite's machine, whatever there is to do.
    package var steps: Int
    /// As many more for each event that a read model takes.
    package var stepsPerEvent: Int

    package init(steps: Int, stepsPerEvent: Int) {
        self.steps = steps
        self.stepsPerEvent = stepsPerEvent
    }

    /// That of a query, which waits for the events that its read models have not had yet.
    package static let query = StepAllowance(
        steps: Limits.sqlUpdateStepCountMax,
        stepsPerEvent: Limits.sqlUpdateEventStepCountMax
    )
}

/// Counts what events cost, so that none can take for ever, and many not without a word.
///
/// Between `begin` and `end` it counts; what the engine does for itself is not looked at.
final class StepLimit {
    /// Instructions of SQLite between two looks.
    static let interval = 1000
    /// Nil while no event is applied.
    private var count: Int?
    /// What all events have cost together.
    private(set) var total = 0
    private(set) var wasReached = false
    /// When the event was looked at first.
    private var start: ContinuousClock.Instant?
    /// What was kept of rows as they were when the event was looked at first.
    private var imageStart: Int?
    /// What events may still cost together; nil if as much as they need.
    private var rest: Int?
    private var stepsPerEvent = 0

    /// Whether events have cost together what they may since `allow`.
    private(set) var isSpent = false

    func allow(_ allowance: StepAllowance?) {
        rest = allowance?.steps
        stepsPerEvent = allowance?.stepsPerEvent ?? 0
        isSpent = false
    }

    func begin() {
        count = 0
        wasReached = false
        (start, imageStart) = (nil, nil)
        if let known = rest { rest = known + stepsPerEvent }
    }

    func end() { count = nil }

    /// `imageSize` is what is kept of rows as they were.
    func isOver(imageSize: Int) -> Bool {
        guard let known = count else { return false }
        count = known + Self.interval
        total += Self.interval
        spend(Self.interval)
        let (now, sizeBefore) = (ContinuousClock.now, imageStart ?? imageSize)
        let start = start ?? now
        (self.start, imageStart) = (start, sizeBefore)
        let isLate = now - start > .seconds(Limits.sqlEventSecondsMax)
        guard
            isLate || known + Self.interval > Limits.sqlEventStepCountMax
                || imageSize - sizeBefore > Limits.sqlImageSizeMax
        else { return false }
        // Steps that take so long are worth many: two such events are all that anyone waits for.
        if isLate { spend(Limits.sqlUpdateStepCountMax / 2) }
        wasReached = true
        return true
    }

    private func spend(_ steps: Int) {
        guard let known = rest else { return }
        rest = known - steps
        if known < steps { isSpent = true }
    }
}
