import DiarioCore

/// The steps that events may take together before a query that waits for them is ended.
package struct StepAllowance: Sendable {
    /// Steps of SQLite's machine, whatever there is to do.
    package var steps: Int64
    /// As many more for each event that a read model takes.
    package var stepsPerEvent: Int64

    package init(steps: Int64, stepsPerEvent: Int64) {
        self.steps = steps
        self.stepsPerEvent = stepsPerEvent
    }

    /// That of a query, which waits for the events that its read models have not had yet.
    package static let query = StepAllowance(
        steps: Limits.sqlUpdateStepCountMax,
        stepsPerEvent: Limits.sqlUpdateEventStepCountMax
    )
}

/// Counts the steps of events, so that none runs for ever, and many do not run unnoticed.
///
/// It counts between `begin` and `end`; steps of the engine itself do not count.
final class StepLimit {
    /// Instructions of SQLite between two looks.
    static let interval: Int64 = 1000
    /// Steps that one event may take.
    var countMax = Limits.sqlEventStepCountMax
    /// Nil while no event is applied.
    private var count: Int64?
    /// The steps of all events so far.
    private(set) var total: Int64 = 0
    /// Why the event was ended; nil if it was not.
    private(set) var reached: Bound?

    /// A bound for one event.
    enum Bound {
        case steps, images
    }

    /// The time of the first check of the event.
    private var start: ContinuousClock.Instant?
    /// The size of the before-images at the first check of the event.
    private var imageStart: Int?
    /// Steps that are left for all events together; nil if there is no bound.
    private var rest: Int64?
    private var stepsPerEvent: Int64 = 0
    /// The same when the transaction began, and the steps of ended events since.
    private var restBefore: Int64?
    private var endedCost: Int64 = 0

    /// True once the events since `allow` have taken all steps that they may.
    private(set) var isSpent = false

    func allow(_ allowance: StepAllowance?) {
        rest = allowance?.steps
        stepsPerEvent = allowance?.stepsPerEvent ?? 0
        isSpent = false
    }

    func beginTransaction() { (restBefore, endedCost) = (rest, 0) }

    /// Work that is repeated counts once; events that were ended are not tried again.
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

    /// `imageSize` is the size of all before-images.
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
        guard isLate || isLarge || known + Self.interval > countMax else {
            return false
        }
        // Steps that take so long are worth many: two such events are all that anyone waits for.
        let lateCost: Int64 = isLate ? Limits.sqlUpdateStepCountMax / 2 : 0
        spend(lateCost)
        endedCost += known + Self.interval + lateCost
        reached = isLarge ? .images : .steps
        return true
    }

    private func spend(_ steps: Int64) {
        guard let known = rest else { return }
        rest = known - steps
        if known < steps { isSpent = true }
    }
}
