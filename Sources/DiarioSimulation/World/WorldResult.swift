/// The result of living through a world.
package struct WorldResult: Sendable {
    /// The promise that did not hold; nil if all did.
    package let broken: Broken?
    /// The last lines of the trace, or all.
    package let lines: [String]
    /// Of all lines.
    package let lineCount: Int
    /// Two runs of one world have the same.
    package let traceHash: UInt64
    package let counts: WorldCounts

    init(_ trace: Trace, of life: () throws -> Void) {
        var broken: Broken?
        do { try life() } catch { broken = error as? Broken ?? Broken(.works, "\(error)") }
        self.broken = broken
        lines = trace.lines
        lineCount = trace.count
        traceHash = trace.hash
        counts = trace.counts
    }
}

/// Counts of what happened in a world, so that tests can tell that worlds are useful.
package struct WorldCounts: Equatable, Sendable {
    /// Promotions that took events out of private segments.
    package var sealedPromotions = 0
    package var refusals = 0
    package var cuts = 0
    package var requestsLost = 0
    package var answersLost = 0
    package var copies = 0
    package var damages = 0
    package var clones = 0
    package var restores = 0
    /// Spaces of devices that were rebuilt.
    package var renewals = 0
}
