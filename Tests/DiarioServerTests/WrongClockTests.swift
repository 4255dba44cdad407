import Diario
import DiarioCore
import DiarioLog
import DiarioSchema
import DiarioStorage
import Testing

/// A clock that ran far ahead makes no other one wrong: schema/format/log.md, W12.
struct WrongClockTests {
    private static let dayMilliseconds: Int64 = 86_400_000

    /// The clock of a space after its manifest was lost and made again.
    private func clockAfterRepair(
        of space: SpaceID,
        on disk: CrashDisk,
        _ pair: Pair
    ) throws -> Int64 {
        try disk.flipBit(3, at: 20, of: LogPaths.manifest(space))
        let engine = try PackSource.engine()
        var repair = LogRepair(
            disk,
            time: pair.clock,
            entropy: SeededEntropy(seed: 3),
            engine: try #require(EngineReader(engine.types)),
            types: engine.types
        )
        let report = try repair.run()
        #expect(report.isMended, "\(report.findings) \(report.remaining)")
        let store = try TestReplica.open(disk, pair.clock, SeededEntropy(seed: 4))
        defer { try? store.close() }
        return try store.status(of: space).clock.milliseconds
    }

    @Test func repairTakesOverAClockThatRanAheadOnlyWhereItRan() throws {
        var pair = try Pair()
        try pair.sync()
        let space = pair.replica.space
        pair.clock.advance(milliseconds: Self.dayMilliseconds)
        try pair.replica.record("tomorrow")
        pair.clock.advance(milliseconds: -Self.dayMilliseconds)
        try pair.sync()
        let bound = pair.now.milliseconds + Limits.clockLeadMillisecondsMax
        #expect(try pair.authorityStore.status(of: space).clock.milliseconds <= bound)
        #expect(try pair.replica.store.status(of: space).clock.milliseconds > bound)
        try pair.authorityStore.close()
        try pair.replica.store.close()
        let there = try clockAfterRepair(of: space, on: pair.authorityDisk, pair)
        #expect(there <= bound)
        // The next event of the replica must not have an earlier clock than this one.
        let here = try clockAfterRepair(of: space, on: pair.replica.disk, pair)
        #expect(here > bound)
    }
}
