/// Runs worlds.
package struct Simulation: Sendable {
    /// Operations in the life of a world.
    package static let stepCount = 60
    /// Lines that are shown of a world in which something broke.
    private static let lineCountMax = 30

    private let kinds = EventKinds()

    package init() {}

    /// Lives through the world of a seed; with `keepsAll`, all of its trace is in the result.
    package func run(
        seed: UInt64,
        stepCount: Int = Simulation.stepCount,
        keepsAll: Bool = false
    ) -> WorldResult {
        let world = World(
            seed: seed,
            kinds: kinds,
            lineCountMax: keepsAll ? .max : Self.lineCountMax
        )
        return WorldResult(world.trace) { try world.run(stepCount: stepCount) }
    }
}
