import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioLog
import DiarioSimulation
import DiarioStorage
import DiarioTestSupport
import Testing

/// The log stays bounded while its files are released, copied forward and used again.
@Suite struct TurnoverTests {
    /// Bytes that the files of the log may have: as much as nothing is done about, and a file.
    private func bound(_ log: TestLog, _ store: LogStore, _ spaces: [SpaceID]) throws -> Int {
        let live = try spaces.reduce(0) { $0 + (try store[$1].status().liveBytes) }
        return max(log.sizes.quietMax, 2 * live) + 2 * log.sizes.fileMax
    }

    @Test(arguments: UInt64(0)..<4) func theLogTurnsOverAndStaysBounded(seed: UInt64) throws {
        let log = try TestLog(seed: seed)
        log.sizes = TestLog.small
        var store = try log.open()
        let busy = try store.makeSpace(isAuthority: true).space
        let quiet = try store.makeSpace(isAuthority: true).space
        let lane = try store.makeSpace(isAuthority: false).space
        let spaces = [busy, quiet, lane]
        _ = try store.append(log.append(5, secret: true, to: quiet))
        _ = try store.append(log.append(7, secret: true, to: lane))
        let quietView = try log.kinds.view(of: quiet, in: store)
        let laneView = try log.kinds.view(of: lane, in: store)
        let root = try store[quiet].root()
        for step in 0..<90 {
            _ = try store.append(log.append(1, textSize: 12_000, secret: true, to: busy))
            let head = try store[busy].status().head
            if log.random.oneIn(3) {
                try store[busy].release(upTo: head - UInt64(log.random.below(Int(head))))
            }
            if log.random.oneIn(10) { try store[busy].release(upTo: head) }
            #expect(store.validate() == [], "step \(step)")
            #expect(try store.logBytes() <= bound(log, store, spaces), "step \(step)")
            if log.random.oneIn(15) {
                try store.close()
                store = try log.open()
            }
        }
        // Four files are the quiet log; so each was used at least three times.
        let files = try RawLog(log.disk).files
        #expect(try #require(files.last).header.number >= 3 * UInt64(files.count))
        #expect(try log.kinds.view(of: quiet, in: store) == quietView)
        #expect(try log.kinds.view(of: lane, in: store) == laneView)
        #expect(try store[quiet].root() == root)
        let busyRoot = try store[busy].root()
        let reopened = try log.open(process: 2)
        #expect(try log.kinds.view(of: quiet, in: reopened) == quietView)
        #expect(try reopened[quiet].root() == root)
        #expect(try reopened[busy].root() == busyRoot)
        #expect(reopened.validate() == [])
    }

    @Test func releasedPositionsCannotBeReadAnyMore() throws {
        let log = try TestLog()
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        _ = try store.append(log.append(10, to: space))
        let root = try store[space].root()
        try store[space].release(upTo: 4)
        try store[space].release(upTo: 3)
        #expect(throws: LogError.self) { try store[space].release(upTo: 11) }
        #expect(throws: LogError.released(position: 4, released: 4)) {
            try store.cursor(space, positions: 4...6)
        }
        #expect(try log.numbers(space, in: store) == [5, 6, 7, 8, 9, 10])
        #expect(try store[space].root() == root)
        _ = try store.append(log.append(1, to: space))
        let reopened = try log.open(process: 2)
        #expect(try log.numbers(space, in: reopened) == [5, 6, 7, 8, 9, 10, 11])
        #expect(try reopened[space].root() == store[space].root())
        #expect(try reopened[space].status().events == 11)
    }

    /// What 64 files hold is read through fewer open ones.
    @Test func openFilesStayWithinTheirBound() throws {
        let log = try TestLog()
        log.sizes = TestLog.small
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        for _ in 0..<150 { _ = try store.append(log.append(1, textSize: 30_000, to: space)) }
        #expect(try RawLog(log.disk).files.count > Limits.openFileCountMax / 4)
        #expect(try log.numbers(space, in: store) == Array(1...150))
        #expect(store.openFileCount <= Limits.openFileCountMax / 4)
    }

    /// With the sizes of real logs, through batches as large as they may be.
    @Test func aFileOfSixteenMebibytesIsFollowedByAnother() throws {
        let folder = try TemporaryFolder()
        let directory = try folder.directory()
        try LogStore.create(in: directory)
        let log = TestLog(disk: CrashDisk(machineID: "unused"), seed: 1)
        func open() throws(LogError) -> LogStore {
            try LogStore(
                directory,
                access: .readWrite,
                time: log.clock,
                entropy: log.entropy,
                engine: log.kinds.engine
            )
        }
        let store = try open()
        let space = try store.makeSpace(isAuthority: true).space
        for _ in 0..<22 { _ = try store.append(log.append(16, textSize: 60_000, to: space)) }
        let files = try RawLog(directory).files
        #expect(files.count == 2)
        #expect(files[0].size == Limits.logFileSizeMax)
        let root = try store[space].root()
        try store.close()
        let reopened = try open()
        #expect(try log.numbers(space, in: reopened) == Array(1...(22 * 16)))
        #expect(try reopened[space].root() == root)
        try reopened.close()
    }
}
