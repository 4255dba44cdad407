import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioLog
import DiarioSimulation
import DiarioStorage
import DiarioTestSupport
import Testing

/// Disks that refuse: failed syncs and writes, full disks, directories that may only be read.
@Suite struct FailureTests {
    private func make(isAuthority: Bool = true) throws -> (TestLog, LogStore, SpaceID) {
        let log = try TestLog()
        log.sizes = TestLog.small
        let store = try log.open()
        return (log, store, try store.makeSpace(isAuthority: isAuthority).space)
    }

    /// The bytes that all files of a disk have together.
    private func usedSize(_ disk: CrashDisk, _ path: String = "") throws -> Int {
        try disk.list(path).reduce(0) { sum, name in
            let child = path.isEmpty ? name : path + "/" + name
            do {
                return sum + Int(try disk.open(child, .read).size())
            } catch {
                return sum + (try usedSize(disk, child))
            }
        }
    }

    // MARK: Failed writes

    /// A clean stop left a mark of a file of which only the header could be written, and the next
    /// one to open the log took that for proof that frames were lost.
    @Test func aLogThatNeverGotItsFirstFrameIsOpenedAgain() throws {
        let (log, store, space) = try make()
        // The header is written; the bytes ahead of the first frame are not.
        log.disk.failWrites(every: 2)
        #expect(throws: LogError.self) { try store.append(log.append(1, to: space)) }
        log.disk.failWrites(every: nil)
        try store.close()
        let again = try log.open()
        #expect(again.fault == nil)
        _ = try again.append(log.append(1, to: space))
        try again.close()
        #expect(try log.numbers(space, in: log.open()).count == 1)
    }

    // MARK: Failed reads

    /// It said that it failed, though the events had their positions.
    @Test func aPromotionIsDoneThoughNothingCanBeReadBehindIt() throws {
        let (log, store, space) = try make(isAuthority: false)
        _ = try store.append(log.append(3, to: space))
        try store.close()
        let again = try log.open()
        _ = try again.append(log.append(1, to: space))
        let run = PromotedRun(
            replica: try again[space].status().replica,
            firstSequence: 1,
            count: 4,
            firstPosition: 1,
            acceptedAt: Timestamp(milliseconds: 1)
        )
        log.disk.failing = CrashDisk.Failing([.open, .read], every: 1)
        try again.promote([run], in: space)
        #expect(throws: LogError.self) { try again[space].root() }
        log.disk.failing = nil
        #expect(try again[space].root() == log.plainRoot(space, in: again))
    }

    // MARK: Failed syncs

    @Test(arguments: UInt64(0)..<20)
    func aFailedSyncMovesTheFrameToANewFile(seed: UInt64) throws {
        let (log, store, space) = try make()
        log.random = SeededRandom(seed: seed)
        _ = try store.append(log.append(2, to: space))
        log.disk.failNextSyncs(1)
        _ = try store.append(log.append(3, to: space))
        #expect(try RawLog(log.disk).files.count == 2)
        _ = try store.append(log.append(1, to: space))
        #expect(store.validate() == [])
        log.disk.crash(using: &log.random)
        let reopened = try log.open()
        #expect(reopened.fault == nil)
        #expect(try log.numbers(space, in: reopened) == [1, 2, 3, 4, 5, 6])
        #expect(try reopened[space].root() == log.plainRoot(space, in: reopened))
    }

    @Test(arguments: UInt64(0)..<10)
    func aSecondFailureStopsTheLogAndReadsGoOn(seed: UInt64) throws {
        let (log, store, space) = try make()
        log.random = SeededRandom(seed: seed)
        _ = try store.append(log.append(2, to: space))
        log.disk.failNextSyncs(2)
        for _ in 0..<3 {
            let error = #expect(throws: LogError.self) {
                try store.append(log.append(3, to: space))
            }
            guard case .stopped = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(try log.numbers(space, in: store) == [1, 2])
        }
        try store.close()
        log.disk.crash(using: &log.random)
        let reopened = try log.open()
        #expect(Array(try log.numbers(space, in: reopened).prefix(2)) == [1, 2])
        let batches = try reopened.append(log.append(1, to: space))
        #expect(batches.first?.firstPosition == (try reopened[space].status().head))
    }

    /// The error of the frame hid why an append had not been in it.
    @Test func anAppendThatWasRefusedKeepsItsReasonWhenTheFrameFails() throws {
        let (log, store, space) = try make()
        _ = try store.append(log.append(1, to: space))
        let nowhere = try #require(SpaceID(rawValue: 77))
        log.disk.failNextSyncs(2)
        let outcomes = store.commit([log.append(1, to: nowhere), log.append(1, to: space)])
        #expect(throws: LogError.unknownSpace(nowhere)) { try outcomes[0].get() }
        let error = #expect(throws: LogError.self) { try outcomes[1].get() }
        guard case .stopped = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: 1...5) func appendsSurviveWritesThatFail(period: Int) throws {
        let (log, store, space) = try make()
        var expected: [Int64] = []
        log.disk.failWrites(every: period + 3)
        for _ in 0..<40 {
            let append = log.append(1, textSize: 4000, to: space)
            let number = Int64(expected.count + 1)
            do {
                _ = try store.append(append)
                expected.append(number)
            } catch {
                break
            }
        }
        log.disk.failWrites(every: nil)
        #expect(try log.numbers(space, in: store) == expected)
        log.disk.crash(using: &log.random)
        let numbers = try log.numbers(space, in: log.open())
        #expect(Array(numbers.prefix(expected.count)) == expected)
    }

    /// A header was written and not synced; a smaller frame still fitted in the file before, and
    /// lay beyond the length at which that header says it ends.
    @Test(arguments: UInt64(0)..<20)
    func afterAFileCouldNotBeBegunNoFrameGoesToTheOneBefore(seed: UInt64) throws {
        let (log, store, space) = try make()
        log.random = SeededRandom(seed: seed)
        for _ in 0..<2 { _ = try store.append(log.append(1, textSize: 25_000, to: space)) }
        log.disk.failNextSyncs(1)
        #expect(throws: LogError.self) {
            try store.append(log.append(1, textSize: 25_000, to: space))
        }
        _ = try store.append(log.append(1, to: space))
        log.disk.crash(using: &log.random)
        #expect(try log.numbers(space, in: log.open()) == [1, 2, 4])
    }

    /// The frame that another process wrote and did not sync was taken for synced after a sync that
    /// failed and one that did not; a power cut could then lose it below later frames.
    @Test(arguments: UInt64(0)..<30, [false, true])
    func aFrameOfOthersIsWrittenAgainBeforeItIsTrusted(seed: UInt64, isOpening: Bool) throws {
        let log = try TestLog(seed: seed)
        log.sizes = TestLog.small
        let first = try log.open(process: 1)
        let space = try first.makeSpace(isAuthority: true).space
        var second = isOpening ? nil : try log.open(process: 2)
        _ = try (second ?? first).append(log.append(1, to: space))
        try log.appendWithoutSync(2, to: space, in: first, process: 1)
        log.disk.failNextSyncs(1)
        if let second {
            #expect(throws: LogError.self) { try second.append(log.append(1, to: space)) }
        } else {
            #expect(throws: LogError.self) { try log.open(process: 2) }
        }
        second = try second ?? log.open(process: 2)
        let store = try #require(second)
        _ = try store.append(log.append(1, to: space))
        let numbers = try log.numbers(space, in: store)
        #expect(numbers.count == 4)
        log.disk.crash(using: &log.random)
        let reopened = try log.open()
        #expect(reopened.fault == nil)
        #expect(try log.numbers(space, in: reopened) == numbers)
    }

    /// A file that was to be used again holds the frame that was moved out of it.
    ///
    /// The file behind it begins with the same number. So it was taken for a damaged newest one,
    /// and the last frame was trusted as it was: a power cut could lose it below later ones.
    @Test(arguments: 2...7, UInt64(0)..<10)
    func aSpareWithAMovedFrameIsNoDamagedFile(operations: Int, seed: UInt64) throws {
        let (log, store, space) = try make()
        log.random = SeededRandom(seed: seed)
        _ = try store.append(log.append(1, to: space))
        log.disk.failNextSyncs(1)
        _ = try store.append(log.append(1, to: space))
        try store[space].release(upTo: 2)
        #expect(try log.disk.exists(FramePaths.file(1)))
        log.disk.failNextSyncs(1)
        log.disk.cutAfter(operations: operations, .before, process: 0)
        #expect(throws: LogError.self) {
            try store.append(log.append(2, textSize: 1000, to: space))
        }
        log.disk.failNextSyncs(0)
        let other = try log.open(process: 2)
        _ = try other.append(log.append(1, to: space))
        let numbers = try log.numbers(space, in: other)
        log.disk.crash(using: &log.random)
        let reopened = try log.open()
        #expect(reopened.fault == nil)
        #expect(try log.numbers(space, in: reopened) == numbers)
    }

    /// A refresh, which needs no lock and writes nothing, made others forget that it has to be
    /// written again.
    @Test(arguments: UInt64(0)..<30, [false, true])
    func aRefreshDoesNotMakeAFrameOfOthersTrusted(seed: UInt64, isAnother: Bool) throws {
        let log = try TestLog(seed: seed)
        log.sizes = TestLog.small
        let first = try log.open(process: 1)
        let space = try first.makeSpace(isAuthority: true).space
        let second = try log.open(process: 2)
        // Whose handle is older than the failure is told of it; this one has none yet.
        let third = try log.open(process: 3)
        _ = try second.append(log.append(1, to: space))
        try log.appendWithoutSync(2, to: space, in: first, process: 1)
        log.disk.failNextSyncs(1)
        #expect(throws: LogError.self) { try second.append(log.append(1, to: space)) }
        let store = isAnother ? third : second
        #expect(try store.refresh())
        _ = try store.append(log.append(1, to: space))
        let numbers = try log.numbers(space, in: store)
        #expect(numbers.count == 4)
        log.disk.crash(using: &log.random)
        #expect(try log.numbers(space, in: log.open()) == numbers)
    }

    /// A frame that moves is in one of the two files at any time.
    ///
    /// The header of the new file said that the old one ends before the frame. With nothing in the
    /// new one, a frame that was acknowledged was in neither.
    @Test(arguments: 1...4, UInt64(0)..<10)
    func aFrameIsThereUntilItHasMoved(failureCount: Int, seed: UInt64) throws {
        let (log, store, space) = try make()
        log.random = SeededRandom(seed: seed)
        _ = try store.append(log.append(3, to: space))
        log.disk.kill(0)
        log.disk.failNextSyncs(failureCount)
        var isOpen = false
        while !isOpen {
            do {
                let other = try log.open(process: 2)
                #expect(try log.numbers(space, in: other) == [1, 2, 3])
                isOpen = true
            } catch {
                log.disk.kill(2)
            }
        }
        log.disk.crash(using: &log.random)
        #expect(try log.numbers(space, in: log.open()) == [1, 2, 3])
    }

    // MARK: Full disks

    @Test func aFullDiskRefusesAppendsAndTakesThemAgainLater() throws {
        let (log, store, space) = try make()
        _ = try store.append(log.append(2, to: space))
        log.disk.setCapacity(try usedSize(log.disk))
        var refusals = 0
        for _ in 0..<8 {
            do {
                _ = try store.append(log.append(1, textSize: 5000, to: space))
            } catch {
                guard case .storage(.full) = error else { throw error }
                refusals += 1
            }
        }
        #expect(refusals > 4)
        let numbers = try log.numbers(space, in: store)
        #expect(numbers.count == 10 - refusals)
        #expect(try store[space].root() == log.plainRoot(space, in: store))
        log.disk.setCapacity(nil)
        _ = try store.append(log.append(1, textSize: 5000, to: space))
        #expect(try log.numbers(space, in: store) == numbers + [11])
        log.disk.crash(using: &log.random)
        #expect(try log.numbers(space, in: log.open()) == numbers + [11])
    }

    @Test func aLogIsClosedAndOpenedOnAFullDisk() throws {
        let (log, store, space) = try make()
        _ = try store.append(log.append(2, to: space))
        log.disk.setCapacity(try usedSize(log.disk))
        try store.close()
        let reopened = try log.open()
        #expect(try log.numbers(space, in: reopened) == [1, 2])
        #expect(throws: LogError.self) {
            try reopened.append(log.append(1, textSize: 30_000, to: space))
        }
        try reopened.close()
        log.disk.setCapacity(nil)
        let last = try log.open()
        _ = try last.append(log.append(1, textSize: 30_000, to: space))
        #expect(try log.numbers(space, in: last) == [1, 2, 4])
        #expect(try log.disk.open(FramePaths.reserve, .read).size() == log.sizes.reserve)
    }

    /// A failing file on a full disk: the frame moves to a new file with the reserve's room.
    @Test func theReserveLetsAFrameMoveOnAFullDisk() throws {
        let (log, store, space) = try make()
        _ = try store.append(log.append(2, to: space))
        log.disk.setCapacity(try usedSize(log.disk))
        log.disk.failNextSyncs(1)
        _ = try store.append(log.append(1, to: space))
        #expect(try log.numbers(space, in: store) == [1, 2, 3])
        log.disk.crash(using: &log.random)
        #expect(try log.numbers(space, in: log.open()) == [1, 2, 3])
    }

    // MARK: Reading only

    @Test func aDirectoryThatMayOnlyBeReadIsOpenedForReading() throws {
        let (log, store, space) = try make()
        _ = try store.append(log.append(2, to: space))
        try store.close()
        log.disk.setReadOnly(true)
        let reader = try log.open()
        #expect(reader.access == .readOnly)
        #expect(try log.numbers(space, in: reader) == [1, 2])
        #expect(throws: LogError.readOnly) { try reader.append(log.append(1, to: space)) }
        #expect(throws: LogError.readOnly) { try reader.makeSpace(isAuthority: true) }
        try reader.close()
    }

    @Test func aReaderChangesNothing() throws {
        let (log, store, space) = try make()
        _ = try store.append(log.append(2, to: space))
        let before = log.disk.counters
        let reader = try log.open(process: 2, access: .readOnly)
        #expect(try log.numbers(space, in: reader) == [1, 2])
        #expect(try reader[space].root() == store[space].root())
        try reader.close()
        #expect(log.disk.counters.writes == before.writes)
    }
}
