import DiarioCore
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// A log on a disk with a pool of prepared files, as a page in a browser has one: it needs a fixed
/// number of them however long it runs, and where there are none left, nothing is lost.
@Suite struct SlotTests {
    /// Files of a log with small runs, retired segments included.
    private static let slotCount = 40

    private static let minutes: Int64 = 60_000

    private func isOutOfSlots(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch LogError.storage(.noSlots) {
            return true
        } catch {
            Issue.record(error)
            return false
        }
    }

    /// What is in the log is read, verifies, and is the same after it is opened again.
    private func check(_ sealed: SealedLog, _ store: LogStore, count: Int) throws {
        #expect(store.validate().isEmpty)
        #expect(try sealed.log.numbers(sealed.space, in: store) == (0..<Int64(count)).map { $0 })
        let found = try store.verify(sealed.space) { _ in nil }
        #expect(found.faults.isEmpty)
        #expect(try found.root == store[sealed.space].root())
    }

    @Test func handlesOfReplacedFilesAreUsedAgain() throws {
        let sealed = try SealedLog(sizes: TestLog.small)
        sealed.log.disk.prepareSlots(Self.slotCount)
        for round in 0..<Int64(20) {
            try sealed.fill(round * 11..<round * 11 + 11)
            _ = try sealed.store.seal(sealed.space, all: round.isMultiple(of: 3))
            sealed.log.clock.advance(milliseconds: 11 * Self.minutes)
        }
        // 6 windows of 32 events, runs and a short rest, merged from many more.
        #expect(try sealed.store[sealed.space].segments().count < 12)
        try check(sealed, sealed.store, count: 220)
    }

    @Test func aLogIsOpenedAgainFromItsPool() throws {
        let sealed = try SealedLog()
        sealed.log.disk.prepareSlots(Self.slotCount)
        try sealed.fill(0..<45)
        _ = try sealed.store.seal(sealed.space, all: true)
        try sealed.fill(45..<50)
        try sealed.store.close()
        let reopened = try sealed.log.open()
        try check(sealed, reopened, count: 50)
        sealed.log.disk.crash(using: &sealed.log.random)
        try check(sealed, try sealed.log.open(), count: 50)
    }

    /// Wherever the power goes, what was acknowledged is there, and the pool does for the rest.
    @Test(arguments: 1...40) func aCrashNeedsNoMoreHandles(operation: Int) throws {
        let sealed = try SealedLog(seed: UInt64(operation))
        sealed.log.disk.prepareSlots(Self.slotCount)
        try sealed.fill(0..<20)
        sealed.log.disk.cutAfter(operations: operation, .torn)
        var count = 20
        do {
            _ = try sealed.store.seal(sealed.space, all: false)
            try sealed.append(.note, 20..<21)
            count = 21
            _ = try sealed.store.seal(sealed.space, all: true)
        } catch {
            #expect(error as? LogError == .storage(.cut))
        }
        sealed.log.disk.crash(using: &sealed.log.random)
        let store = try sealed.log.open()
        // The event may be on disk though nobody was told.
        let found = try sealed.log.numbers(sealed.space, in: store).count
        #expect(found == count || found == 21)
        try check(sealed, store, count: found)
        _ = try store.seal(sealed.space, all: true)
        try check(sealed, store, count: found)
    }

    // MARK: Out of slots

    @Test func theFirstEventNeedsAFile() throws {
        let log = try TestLog()
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        log.disk.prepareSlots(1)
        #expect(isOutOfSlots { _ = try store.append(log.append(1, to: space)) })
        #expect(store[space].head() == 0)
        #expect(isOutOfSlots { _ = try store.makeSpace(isAuthority: true) })
        log.disk.prepareSlots(Self.slotCount)
        _ = try store.append(log.append(1, to: space))
        #expect(try log.open(process: 1, access: .readOnly)[space].status().head == 1)
    }

    /// Events are taken until the newest file is full, and again once there are more handles.
    @Test func anAppendWithoutAHandleRecordsNothing() throws {
        let log = try TestLog()
        log.sizes = TestLog.small
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        _ = try store.append(log.append(1, to: space))
        log.disk.prepareSlots(1)
        var count: UInt64 = 1
        while !isOutOfSlots({ _ = try store.append(log.append(4, textSize: 2000, to: space)) }) {
            count += 4
            try #require(count < 100)
        }
        #expect(count > 4)
        #expect(store[space].head() == count)
        #expect(store.fault == nil)
        // A small one has room still.
        _ = try store.append(log.append(1, to: space))
        log.disk.prepareSlots(Self.slotCount)
        _ = try store.append(log.append(4, textSize: 2000, to: space))
        try store.close()
        #expect(try log.open()[space].head() == count + 5)
    }

    @Test func sealingWithoutHandlesLeavesTheEventsInTheLog() throws {
        let sealed = try SealedLog()
        try sealed.fill(0..<20)
        sealed.log.disk.prepareSlots(1)
        #expect(isOutOfSlots { _ = try sealed.store.seal(sealed.space, all: true) })
        #expect(try sealed.store[sealed.space].status().sealedEnd == 0)
        #expect(try sealed.positions() == Array(1...20))
        sealed.log.disk.prepareSlots(Self.slotCount)
        #expect(try sealed.store.seal(sealed.space, all: true).sealedEnd == 20)
        try check(sealed, sealed.store, count: 20)
    }
}
