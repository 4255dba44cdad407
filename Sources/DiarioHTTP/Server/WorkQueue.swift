import DiarioCore
import DiarioStorage
import Synchronization

/// Something that a worker does, and that may wait for the disk meanwhile.
protocol WorkItem: AnyObject, Sendable {
    func work()
}

/// Something that takes a moment, and of which much comes at once.
protocol BriefItem: AnyObject, Sendable {
    /// True if there is something to hand over.
    func prepare() -> Bool

    /// Called when all that came along are prepared: the library looks at every connection each
    /// time that it is handed some.
    func handOver()
}

/// Threads that do what is put before them, in its order; what is brief comes first.
final class WorkQueue: Sendable {
    private enum Work {
        case item(any WorkItem)
        case brief([any BriefItem])
    }

    private struct Entry {
        let item: any WorkItem
        let isNew: Bool
        let since = ContinuousClock.now

        var isLate: Bool {
            ContinuousClock.now - since > .seconds(Limits.slowWaitSecondsMax)
        }
    }

    private struct State {
        /// Those before `first` were taken.
        var items: [Entry?] = []
        var first = 0
        /// The number of new requests among the waiting ones.
        var newCount = 0
        /// The number that had waited for too long when they were taken.
        var lateCount = 0
        var brief: [any BriefItem] = []
        /// The number of threads for brief work.
        var briefWorkerCount = 0
        /// Sleeping threads, the latest at the end: it is woken first, since its memory is still in
        /// caches.
        var sleepers: [Signal] = []
        var isClosed = false
        var runningCount: Int

        var count: Int { items.count - first + brief.count }

        mutating func take() -> Work? {
            guard !brief.isEmpty, briefWorkerCount < WorkQueue.briefWorkerCountMax else {
                return takeItem().map { .item($0) }
            }
            briefWorkerCount += 1
            let taken = Array(brief.prefix(WorkQueue.briefCountMax))
            brief.removeFirst(taken.count)
            return .brief(taken)
        }

        private mutating func takeItem() -> (any WorkItem)? {
            guard first < items.count, let entry = items[first] else { return nil }
            if entry.isNew { newCount -= 1 }
            if entry.isLate { lateCount += 1 }
            items[first] = nil
            first += 1
            if first == items.count {
                items.removeAll(keepingCapacity: items.capacity <= 1024)
                first = 0
            } else if first >= 1024, first * 2 > items.count {
                items.removeFirst(first)
                first = 0
            }
            return entry.item
        }
    }

    /// The number of brief items that a thread takes at a time.
    private static let briefCountMax = 512
    /// Not all: they would block each other.
    private static let briefWorkerCountMax = 2

    private let state: Mutex<State>
    private let newCountMax: Int
    private let ended = Signal()

    /// Starts the threads.
    init(
        name: StaticString = "diario-http",
        urgency: WorkerThread.Urgency = .usual,
        workerCount: Int,
        newCountMax: Int
    ) {
        self.newCountMax = newCountMax
        state = Mutex(State(runningCount: workerCount))
        for _ in 0..<workerCount {
            _ = WorkerThread(name: name, urgency: urgency) { self.run() }
        }
    }

    /// Puts something new at the end; false if too much that is new waits already.
    func add(_ item: any WorkItem) -> Bool {
        let (isTaken, sleeper) = state.withLock { state -> (Bool, Signal?) in
            guard state.newCount < newCountMax else { return (false, nil) }
            state.newCount += 1
            state.items.append(Entry(item: item, isNew: true))
            return (true, state.sleepers.popLast())
        }
        sleeper?.raise()
        return isTaken
    }

    /// Puts something at the end that goes on: there are never more of these than connections.
    func addAgain(_ item: any WorkItem) {
        let sleeper = state.withLock { state in
            state.items.append(Entry(item: item, isNew: false))
            return state.sleepers.popLast()
        }
        sleeper?.raise()
    }

    /// Puts something brief at the end.
    func addBrief(_ item: any BriefItem) {
        let sleeper = state.withLock { state -> Signal? in
            state.brief.append(item)
            // One thread for each load; those that are at it look for more themselves.
            let isFirst = state.brief.count % Self.briefCountMax == 1
            return isFirst ? state.sleepers.popLast() : nil
        }
        sleeper?.raise()
    }

    var count: Int { state.withLock { $0.count } }

    /// The number that waited longer than `Limits.slowWaitSecondsMax` for a thread.
    var lateCount: Int { state.withLock { $0.lateCount } }

    /// True if one waits for that long now.
    var isLate: Bool {
        state.withLock { state in
            state.first < state.items.count && state.items[state.first]?.isLate ?? false
        }
    }

    /// Lets the threads do what is there, and waits for their end.
    ///
    /// Nothing is added any more.
    func close() {
        let sleepers = state.withLock { state in
            state.isClosed = true
            defer { state.sleepers = [] }
            return state.sleepers
        }
        for sleeper in sleepers { sleeper.raise() }
        ended.wait()
    }

    private func run() {
        let signal = Signal()
        while true {
            let (work, isClosed) = state.withLock { state -> (Work?, Bool) in
                let work = state.take()
                if work == nil, !state.isClosed { state.sleepers.append(signal) }
                return (work, state.isClosed)
            }
            switch work {
            case .item(let item): item.work()
            case .brief(let items):
                for item in items.filter({ $0.prepare() }) { item.handOver() }
                state.withLock { $0.briefWorkerCount -= 1 }
            case nil where isClosed: return end()
            case nil: signal.wait()
            }
        }
    }

    private func end() {
        let isLast = state.withLock { state in
            state.runningCount -= 1
            return state.runningCount == 0
        }
        if isLast { ended.raise() }
    }
}
