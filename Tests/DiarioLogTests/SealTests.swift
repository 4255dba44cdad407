import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// Sealing puts events into segments; nothing that a reader sees changes by that.
@Suite struct SealTests {
    /// A log with small runs, so that few events make many segments.
    private static func makeLog(seed: UInt64 = 1) throws -> TestLog {
        let log = try TestLog(seed: seed)
        log.sizes.segmentCount = 8
        log.sizes.mergedCount = 32
        return log
    }

    /// Random events, appended in random batches.
    private static func fill(
        _ space: SpaceID,
        in store: LogStore,
        _ log: TestLog,
        count: Int,
        number: inout Int64
    ) throws {
        var rest = count
        while rest > 0 {
            let size = min(rest, 1 + log.random.below(12))
            let events = (0..<size).map { _ -> SimulatedEvent in
                number += 1
                return SimulatedEvent.draw(
                    number: number,
                    isAuthority: false,
                    textSizeMax: 100,
                    now: log.clock.now.milliseconds,
                    using: &log.random
                )
            }
            let content = Append.Content.batches([log.kinds.batch(events)])
            _ = try store.append(Append(space: space, content: content, durability: .synced))
            log.clock.advance(milliseconds: Int64(log.random.below(5000)))
            rest -= size
        }
    }

    /// However it is cut and merged, a reader sees the same events, and the root is the same.
    @Test(arguments: UInt64(0)..<8) func sealedEqualsUnsealed(seed: UInt64) throws {
        let log = try Self.makeLog(seed: seed)
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        var number: Int64 = 0
        for _ in 0..<8 {
            let count = 1 + log.random.below(30)
            try Self.fill(space, in: store, log, count: count, number: &number)
            let before = try log.kinds.view(of: space, in: store)
            let root = try store.root(of: space)
            let all = log.random.oneIn(2)
            let report = try store.seal(space, all: all)
            let status = try store.status(of: space)
            #expect(status.released == 0)
            #expect(status.sealedEnd == report.sealedEnd)
            #expect(status.tailCount < (all ? 1 : 8))
            #expect(try log.kinds.view(of: space, in: store) == before)
            #expect(try store.root(of: space) == root)
            #expect(try log.plainRoot(space, in: store) == root)
            #expect(store.validate() == [])
            let verification = try store.verify(space) { _ in nil }
            #expect(verification.faults == [])
            #expect(verification.root == root)
            #expect(verification.rowCount == Int(status.head))
        }
        let reader = try log.open(process: 1, access: .readOnly)
        #expect(
            try log.kinds.view(of: space, in: reader) == log.kinds.view(of: space, in: store)
        )
    }
}
