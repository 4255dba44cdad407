/// The result of running a world.
package struct SimulationResult: Sendable {
    package let seed: UInt64
    /// The promise that did not hold; nil if all did.
    package let violation: String?
    /// The last lines of the trace, or all.
    package let lines: [String]
    package let operationCount: Int
    /// Promotions that took events out of private segments.
    package let sealedPromotionCount: Int
    /// Two runs of one seed have the same.
    package let traceHash: UInt64
}

/// Runs worlds.
package struct Simulation: Sendable {
    /// Operations in the life of a world.
    package static let stepCount = 60
    /// Lines that are shown of a world in which something broke.
    private static let lineCount = 30

    private let kinds = EventKinds()

    package init() {}

    /// Lives through the world of a seed; with `keepsAll`, all of its trace is in the result.
    package func run(
        seed: UInt64,
        stepCount: Int = Simulation.stepCount,
        keepsAll: Bool = false
    ) -> SimulationResult {
        let world = World(
            seed: seed,
            kinds: kinds,
            lineCountMax: keepsAll ? .max : Self.lineCount
        )
        var violation: String?
        do { try world.run(stepCount: stepCount) } catch {
            violation = (error as? Broken)?.what ?? "\(error)"
        }
        return SimulationResult(
            seed: seed,
            violation: violation,
            lines: world.trace.lines,
            operationCount: world.trace.count,
            sealedPromotionCount: world.sealedPromotionCount,
            traceHash: world.trace.hash
        )
    }
}
