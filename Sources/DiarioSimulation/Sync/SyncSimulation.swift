/// Runs sync worlds, and makes those smaller in which something broke.
package struct SyncSimulation: Sendable {
    /// Lines that are shown of a world in which something broke.
    private static let lineCountMax = 40
    /// The most runs of a world while it is shrunk.
    private static let attemptCountMax = 400

    private let kinds = SyncKinds()

    package init() {}

    /// Lives through a plan; with `keepsAll`, all of its trace is in the result.
    package func run(_ plan: SyncPlan, keepsAll: Bool = false) -> WorldResult {
        let world = SyncWorld(
            plan,
            kinds: kinds,
            lineCountMax: keepsAll ? .max : Self.lineCountMax
        )
        return WorldResult(world.trace) { try world.run() }
    }

    /// A plan with fewer steps that breaks the same promise as the one of a result.
    ///
    /// Leaves out ever smaller parts of the plan as long as the promise breaks without them.
    package func shrink(_ plan: inout SyncPlan, _ result: WorldResult) -> WorldResult {
        guard let promise = result.broken?.promise else { return result }
        var smallest = result
        var attemptCount = 0
        var size = max(plan.steps.count / 2, 1)
        while attemptCount < Self.attemptCountMax {
            var hasShrunk = false
            var start = 0
            while start < plan.steps.count, attemptCount < Self.attemptCountMax {
                var smaller = plan
                smaller.steps.removeSubrange(start..<min(start + size, plan.steps.count))
                attemptCount += 1
                let next = run(smaller)
                if next.broken?.promise == promise {
                    (plan, smallest) = (smaller, next)
                    hasShrunk = true
                } else {
                    start += size
                }
            }
            if size == 1, !hasShrunk { break }
            size = max(size / 2, 1)
        }
        return smallest
    }
}
