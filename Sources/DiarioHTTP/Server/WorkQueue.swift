import DiarioStorage
import Synchronization

/// Something that a worker does, and that may wait for the disk meanwhile.
protocol WorkItem: AnyObject, Sendable {
    func work()
}

/// Threads that do what is put before them, in its order.
final class WorkQueue: Sendable {
    private struct Entry {
        let item: any WorkItem
        let isNew: Bool
    }

    private struct State {
        /// Those before `first` were taken.
        var items: [Entry?] = []
        var first = 0
        /// How many of those that wait are new.
        var newCount = 0
        /// Who sleeps, the last to fall asleep at the end: it is woken first, since its memory is
        /// still at hand.
        var sleepers: [Signal] = []
        var isClosed = false
        var runningCount: Int

        var count: Int { items.count - first }

        mutating func take() -> (any WorkItem)? {
            guard first < items.count, let entry = items[first] else { return nil }
            if entry.isNew { newCount -= 1 }
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

    private let state: Mutex<State>
    private let newCountMax: Int
    private let ended = Signal()

    /// Starts the threads.
    init(workerCount: Int, newCountMax: Int) {
        self.newCountMax = newCountMax
        state = Mutex(State(runningCount: workerCount))
        for _ in 0..<workerCount {
            _ = WorkerThread(name: "diario-http") { self.run() }
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

    var count: Int { state.withLock { $0.count } }

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
            let (item, isClosed) = state.withLock { state -> ((any WorkItem)?, Bool) in
                let item = state.take()
                if item == nil, !state.isClosed { state.sleepers.append(signal) }
                return (item, state.isClosed)
            }
            if let item {
                item.work()
            } else if isClosed {
                break
            } else {
                signal.wait()
            }
        }
        let isLast = state.withLock { state in
            state.runningCount -= 1
            return state.runningCount == 0
        }
        if isLast { ended.raise() }
    }
}
