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
    /// Why the event was ended; nil if it was not.
    private(set) var reached: Bound?

    /// What one event may not exceed.
    enum Bound {
        case steps, images
    }

    /// When the event was looked at first.
    private var start: ContinuousClock.Instant?
    /// What was kept of rows as they were when the event was looked at first.
    private var imageStart: Int?
    /// What events may still cost together; nil if as much as they need.
    private var rest: Int?
    private var stepsPerEvent = 0
    /// What they could cost when the transaction began, and what ended events have cost since.
    private var restBefore: Int?
    private var endedCost = 0

    /// Whether events have cost together what they may since `allow`.
    private(set) var isSpent = false

    func allow(_ allowance: StepAllowance?) {
        rest = allowance?.steps
        stepsPerEvent = allowance?.stepsPerEvent ?? 0
        isSpent = false
    }

    func beginTransaction() { (restBefore, endedCost) = (rest, 0) }

    /// What is done again costs once; events that were ended are not tried again.
    func rollBack() {
        rest = restBefore.map { $0 - endedCost }
        isSpent = rest.map { $0 < 0 } ?? false
    }

    func begin() {
        count = 0
        reached = nil
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
        let isLarge = imageSize - sizeBefore > Limits.sqlImageSizeMax
        guard isLate || isLarge || known + Self.interval > Limits.sqlEventStepCountMax else {
            return false
        }
        // Steps that take so long are worth many: two such events are all that anyone waits for.
        let lateCost = isLate ? Limits.sqlUpdateStepCountMax / 2 : 0
        spend(lateCost)
        endedCost += known + Self.interval + lateCost
        reached = isLarge ? .images : .steps
        return true
    }

    private func spend(_ steps: Int) {
        guard let known = rest else { return }
        rest = known - steps
        if known < steps { isSpent = true }
    }
}
