import DiarioCore
import DiarioStorage
import Synchronization

/// The shared state of all exchanges of a server.
final class Exchanges: Sendable {
    let handler: any HTTPHandler
    let queue: WorkQueue
    /// For requests about how the server is.
    let healthQueue: WorkQueue
    let reads: ReadLine
    let readingWaitMax: Duration
    let counters: ServerCounters
    let log: RequestLog?
    let waitCountMax: Int
    private let bodiesSizeMax: Int

    private struct State {
        var lookout: Lookout?
        /// Exchanges that have begun and not ended.
        var openCount = 0
        var lastNumber: UInt64 = 0
        var isStopping = false
    }

    private let state = Mutex(State())
    /// Bytes of bodies that came or go.
    private let bodiesSize = Atomic(0)
    private let idle = Signal()

    init(_ configuration: HTTPServer.Configuration, _ handler: any HTTPHandler) {
        self.handler = handler
        counters = configuration.counters
        log = configuration.log
        waitCountMax = configuration.waitCountMax
        bodiesSizeMax = configuration.bodiesSizeMax
        queue = WorkQueue(
            workerCount: configuration.workerCount,
            newCountMax: configuration.queueCountMax
        )
        healthQueue = WorkQueue(
            name: "diario-health",
            workerCount: 1,
            newCountMax: configuration.queueCountMax
        )
        reads = ReadLine(configuration.readings)
        readingWaitMax = configuration.readingWaitMax
    }

    /// Sets who wakes those that wait, from the server's start to its end: it holds on to us.
    func use(_ lookout: Lookout?) { state.withLock { $0.lookout = lookout } }

    var lookout: Lookout? { state.withLock { $0.lookout } }

    var isStopping: Bool { state.withLock { $0.isStopping } }
    var openCount: Int { state.withLock { $0.openCount } }

    func begin(_ handle: ExchangeHandle) -> Exchange {
        let number = state.withLock { state in
            state.openCount += 1
            state.lastNumber += 1
            return state.lastNumber
        }
        return Exchange(self, handle, number: number)
    }

    func ended() {
        let isIdle = state.withLock { state in
            state.openCount -= 1
            return state.openCount == 0 && state.isStopping
        }
        if isIdle { idle.raise() }
    }

    /// Lets no exchange begin in earnest or wait from now on.
    func beginStopping() {
        let lookout = state.withLock { state in
            state.isStopping = true
            return state.lookout
        }
        lookout?.wakeAll()
    }

    /// Waits until no exchange is open, at most so long; false if some still are.
    func waitUntilIdle(atMost time: Duration) -> Bool {
        let end = ContinuousClock.now + time
        while openCount > 0 {
            let left = end - ContinuousClock.now
            guard left > .zero else { return false }
            let (seconds, attoseconds) = left.components
            idle.wait(nanosecondsMax: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        }
        return true
    }

    /// Ends the threads that answer; no exchange is open any more.
    func close() {
        reads.close()
        queue.close()
        healthQueue.close()
    }

    /// Counts a request that waits for news; false if there are too many.
    func beginWaiting() -> Bool { counters.begin(\.waiting, countMax: waitCountMax) }
    func endWaiting() { counters.end(\.waiting) }

    /// Counts a live stream, which waits for news as well.
    func beginLive() -> Bool { counters.begin(\.live, countMax: waitCountMax) }
    func endLive() { counters.end(\.live) }

    /// True if so many bytes more may be under way.
    func hasRoom(for size: Int) -> Bool { bodiesUnderWay + size <= bodiesSizeMax }

    /// Counts bytes that are under way now (or, negative, no more).
    func addBodies(_ size: Int) { bodiesSize.add(size, ordering: .relaxed) }

    var bodiesUnderWay: Int { bodiesSize.load(ordering: .relaxed) }
}
