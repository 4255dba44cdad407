import DiarioSimulation
import Testing

/// Short lives of replicas and their server; `diario-sim` lives through more.
@Suite struct SyncWorldTests {
    private static let simulation = SyncSimulation()

    @Test(arguments: UInt64(0)..<24) func allPromisesHold(seed: UInt64) {
        let result = Self.simulation.run(SyncPlan(seed: seed, stepCount: 25))
        guard let broken = result.broken else { return }
        let lines = result.lines.joined(separator: "\n")
        Issue.record(
            """
            \(broken.promise): \(broken.what)
            \(lines)
            replay: diario-sim --seed \(seed) --worlds sync --trace
            """
        )
    }

    /// Chance comes from the plan alone, or a failure could not be replayed.
    @Test(arguments: UInt64(0)..<4) func aPlanRepeatsItsWorld(seed: UInt64) {
        let plan = SyncPlan(seed: seed, stepCount: 20)
        let first = Self.simulation.run(plan, keepsAll: true)
        let second = SyncSimulation().run(plan, keepsAll: true)
        #expect(first.lines == second.lines)
        #expect(first.traceHash == second.traceHash)
        #expect(first.counts == second.counts)
    }

    @Test func plansDiffer() {
        let hashes = Set(
            (0..<10).map { Self.simulation.run(SyncPlan(seed: $0, stepCount: 5)).traceHash }
        )
        #expect(hashes.count == 10)
    }

    /// Steps that stay do what they did, whichever are left out.
    @Test func stepsKeepTheirChance() {
        let plan = SyncPlan(seed: 3)
        let kept = plan.keeping([2, 5, 9])
        #expect(kept.steps == [plan.steps[2], plan.steps[5], plan.steps[9]])
    }

    /// Worlds are of use only if in many of them something happens that is rare elsewhere.
    @Test func muchHappens() {
        let counts = (0..<30).map { Self.simulation.run(SyncPlan(seed: $0, stepCount: 25)).counts }
        #expect(counts.count { $0.refusals > 0 } >= 3)
        #expect(counts.count { $0.cuts > 0 } >= 3)
        #expect(counts.count { $0.requestsLost + $0.answersLost > 0 } >= 3)
        #expect(counts.count { $0.copies > 0 } >= 1)
        #expect(counts.count { $0.damages > 0 } >= 1)
        #expect(counts.count { $0.clones > 0 } >= 3)
        #expect(counts.count { $0.renewals > 0 } >= 1)
        #expect(counts.count { $0.restores > 0 } >= 1)
    }
}
