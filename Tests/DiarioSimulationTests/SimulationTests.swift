import DiarioSimulation
import Testing

/// Short lives of simulated directories; `diario-sim` lives through more.
@Suite struct SimulationTests {
    private static let simulation = Simulation()

    @Test(arguments: UInt64(0)..<100) func allPromisesHold(seed: UInt64) {
        let result = Self.simulation.run(seed: seed, stepCount: 30)
        if let broken = result.broken {
            let lines = result.lines.joined(separator: "\n")
            Issue.record("\(broken.what)\n\(lines)\nreplay: diario-sim --seed \(seed) --trace")
        }
    }

    /// Worlds are of use to private segments only if lanes grow long, and are accepted in parts.
    @Test func promotionsCutThroughPrivateSegments() {
        let counts = (0..<40).map { Self.simulation.run(seed: $0).counts.sealedPromotions }
        #expect(counts.reduce(0, +) >= 20)
        #expect(counts.count { $0 > 0 } >= 8)
    }

    /// Chance comes from the seed alone, or a failure could not be replayed.
    @Test(arguments: UInt64(0)..<10) func aSeedRepeatsItsWorld(seed: UInt64) {
        let first = Self.simulation.run(seed: seed, keepsAll: true)
        let second = Simulation().run(seed: seed, keepsAll: true)
        #expect(first.lines == second.lines)
        #expect(first.traceHash == second.traceHash)
        #expect(first.lineCount > 0)
    }

    @Test func seedsDiffer() {
        let hashes = Set((0..<20).map { Self.simulation.run(seed: $0, stepCount: 10).traceHash })
        #expect(hashes.count == 20)
    }
}
