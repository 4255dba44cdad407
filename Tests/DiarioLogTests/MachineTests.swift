import DiarioCore
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// What takes long goes on step by step, and may be given up between two steps.
@Suite struct MachineTests {
    /// A log with positions and one with pending events, which have much to seal and to merge.
    private static func logs() throws -> (SealedLog, LaneLog) {
        let sealed = try SealedLog(seed: 3)
        try sealed.fill(0..<50)
        _ = try sealed.store.seal(sealed.space, all: true)
        try sealed.fill(50..<110)
        let lane = try LaneLog(seed: 3)
        try lane.fill(45)
        _ = try lane.seal(all: true)
        try lane.fill(30)
        return (sealed, lane)
    }

    private static func entries(_ store: LogStore, _ space: SpaceID) throws -> [[UInt64]] {
        try (store[space].segments() + store[space].laneSegments()).map {
            [$0.first, UInt64($0.count), UInt64($0.segmentSize), UInt64($0.sidecarSize)]
        }
    }

    @Test func theSmallestStepsSealTheSame() throws {
        let (once, steps) = (try Self.logs(), try Self.logs())
        for (one, other) in [
            ((once.0.store, once.0.space), (steps.0.store, steps.0.space)),
            ((once.1.store, once.1.space), (steps.1.store, steps.1.space)),
        ] {
            let report = try one.0.seal(one.1, all: true)
            var seal = try LogSeal(other.0, other.1, all: true)
            var count = 0
            while try seal.step(1) { count += 1 }
            #expect(count > 5)
            #expect(seal.report == report)
            #expect(try Self.entries(other.0, other.1) == Self.entries(one.0, one.1))
            #expect(try other.0[other.1].root() == one.0[one.1].root())
        }
    }

    /// Whatever was begun, a log that is opened anew has all events, and sealing goes on.
    @Test(arguments: [false, true]) func aSealMayBeGivenUpAfterEachStep(isLane: Bool) throws {
        var isDone = false
        var count = 0
        while !isDone {
            count += 1
            let (sealed, lane) = try Self.logs()
            let log = isLane ? lane.log : sealed.log
            let store = isLane ? lane.store : sealed.store
            let space = isLane ? lane.space : sealed.space
            let rows = try EventRow.all(space, in: store)
            isDone = try Self.step(count, store, space)
            #expect(store.validate() == [], "step \(count)")
            #expect(try store.verify(space) { _ in nil }.faults == [], "step \(count)")
            let again = try log.open(process: 1)
            #expect(try EventRow.all(space, in: again) == rows, "step \(count)")
            #expect(try again.verify(space) { _ in nil }.faults == [], "step \(count)")
            _ = try again.seal(space, all: true)
            #expect(try EventRow.all(space, in: again) == rows, "step \(count)")
            #expect(try again.verify(space) { _ in nil }.faults == [], "step \(count)")
        }
        #expect(count > 5)
    }

    /// True if the machine came to its end.
    private static func step(_ count: Int, _ store: LogStore, _ space: SpaceID) throws -> Bool {
        var seal = try LogSeal(store, space, all: true)
        for _ in 0..<count where try !seal.step(1) {
            return true
        }
        // Nobody else seals as long as it is there.
        #expect(throws: LogError.sealing(space)) { try store.seal(space, all: true) }
        return false
    }

    @Test func theSmallestStepsVerifyTheSame() throws {
        let (sealed, lane) = try Self.logs()
        try sealed.flip(sealed.store[sealed.space].segments()[1].path(in: sealed.space), at: 200)
        for (store, space) in [(sealed.store, sealed.space), (lane.store, lane.space)] {
            let whole = try store.verify(space) { _ in nil }
            var verify = try LogVerify(store, space)
            var count = 0
            while try verify.step(1, { _ in nil }) { count += 1 }
            #expect(count > 5)
            #expect(verify.result.faults == whole.faults)
            #expect(verify.result.root == whole.root)
            #expect(verify.result.rowCount == whole.rowCount)
        }
    }

    /// What is recorded, sealed and merged meanwhile is no fault.
    @Test func eventsMayComeWhileALogIsVerified() throws {
        let (sealed, _) = try Self.logs()
        let (store, space) = (sealed.store, sealed.space)
        let root = try store[space].root()
        var verify = try LogVerify(store, space)
        var number: Int64 = 200
        while try verify.step(1, { _ in nil }) {
            guard number < 220 else { continue }
            try sealed.fill(number..<number + 1)
            number += 1
            if number.isMultiple(of: 5) { _ = try store.seal(space, all: true) }
        }
        #expect(verify.result.faults == [])
        #expect(verify.result.root == root)
    }
}

extension SegmentEntry {
    fileprivate func path(in space: SpaceID) -> String { LogPaths.segment(name, of: space) }
}
