import DiarioCore
import DiarioFormat
import DiarioHost
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Synchronization
import Testing

/// A log that is closed or let go of while its sealing thread is at work.
@Suite struct ClosingTests {
    /// The thread that makes a segment, held up in the middle for as long as nobody calls it.
    private final class HeldUp: Sendable {
        let begun = Signal()
        private let busy = Mutex(false)
        private let goOn = Signal()

        var isBusy: Bool { busy.withLock { $0 } }

        func act() {
            busy.withLock { $0 = true }
            begun.raise()
            goOn.wait(nanosecondsMax: 200_000_000)
            busy.withLock { $0 = false }
        }

        func release() { goOn.raise() }
    }

    private let log: TestLog
    private let heldUp = HeldUp()

    init() throws {
        log = try TestLog()
        log.sizes.segmentCount = 8
        log.sizes.sealDelayMilliseconds = 0
    }

    /// A log whose sealing thread is making the first segment, and its space.
    private func sealing() throws -> (LogStore, SpaceID) {
        let meddling = MeddlingDirectory.Meddling(at: .segment, 1, heldUp.act)
        let store = try log.open(
            MeddlingDirectory(log.disk.process(0), meddling),
            helper: LogThreads()
        )
        let space = try store.makeSpace(isAuthority: true).space
        for _ in 0..<12 { _ = try store.append(log.append(1, to: space)) }
        heldUp.begun.wait()
        return (store, space)
    }

    /// Whoever closed a log may take its folder away: nothing of it is written any more.
    @Test func whoClosesWaitsForTheThreadThatSeals() throws {
        let (store, space) = try sealing()
        try store.close()
        #expect(!heldUp.isBusy)
        let names = try log.disk.list(LogPaths.segments(space))
        let again = try log.open(process: 1)
        // What the thread had begun is not thrown away.
        #expect(try again[space].status().sealedEnd == 8)
        #expect(try again[space].status().head == 12)
        #expect(try log.disk.list(LogPaths.segments(space)) == names)
        #expect(again.validate() == [])
    }

    @Test func closingTwiceWaitsTwice() throws {
        let (store, _) = try sealing()
        let other = Signal()
        _ = WorkerThread(name: "test-close") {
            try? store.close()
            other.raise()
        }
        try store.close()
        other.wait()
        #expect(!heldUp.isBusy)
    }

    /// Then the thread that seals is the last to know the log, and closes it: not by waiting for
    /// itself.
    @Test func aLogThatIsLetGoOfIsClosedByTheThreadThatSeals() throws {
        weak var known: LogStore?
        let space: SpaceID
        do {
            let (store, made) = try sealing()
            known = store
            space = made
        }
        heldUp.release()
        var rounds = 0
        let moment = Signal()
        while known != nil, rounds < 2000 {
            moment.wait(nanosecondsMax: 5_000_000)
            rounds += 1
        }
        #expect(known == nil)
        let again = try log.open(process: 1)
        #expect(try again[space].status().head == 12)
        #expect(again.validate() == [])
    }
}
