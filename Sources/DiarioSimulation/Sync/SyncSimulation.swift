/// The result of running a sync world.
package struct SyncResult: Sendable {
    package let plan: SyncPlan
    /// The promise that did not hold; nil if all did.
    package let broken: Broken?
    /// The last lines of the trace, or all.
    package let lines: [String]
    /// Two runs of one plan have the same.
    package let traceHash: UInt64
    package let counts: SyncCounts
}

/// Runs sync worlds, and makes those smaller in which something broke.
package struct SyncSimulation: Sendable {
    /// Lines that are shown of a world in which something broke.
    private static let lineCount = 40
    /// The most runs of a world while it is shrunk.
    private static let attemptCountMax = 400

    private let kinds = SyncKinds()

    package init() {}

    /// Lives through a plan; with `keepsAll`, all of its trace is in the result.
    package func run(_ plan: SyncPlan, keepsAll: Bool = false) -> SyncResult {
        let world = SyncWorld(
            plan,
            kinds: kinds,
            lineCountMax: keepsAll ? .max : Self.lineCount
        )
        var broken: Broken?
        do { try world.run() } catch {
            broken = error as? Broken ?? Broken(.works, "\(error)")
        }
        return SyncResult(
            plan: plan,
            broken: broken,
            lines: world.trace.lines,
            traceHash: world.trace.hash,
            counts: world.records.counts
        )
    }

    /// A world with fewer steps that breaks the same promise as the one of a result.
    ///
    /// Leaves out ever smaller parts of the plan as long as the promise breaks without them.
    package func shrink(_ result: SyncResult) -> SyncResult {
        guard let promise = result.broken?.promise else { return result }
        var smallest = result
        var attemptCount = 0
        var size = max(result.plan.steps.count / 2, 1)
        while attemptCount < Self.attemptCountMax {
            var hasShrunk = false
            var start = 0
            while start < smallest.plan.steps.count, attemptCount < Self.attemptCountMax {
                var plan = smallest.plan
                plan.steps.removeSubrange(start..<min(start + size, plan.steps.count))
                attemptCount += 1
                let next = run(plan)
                if next.broken?.promise == promise {
                    smallest = next
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
