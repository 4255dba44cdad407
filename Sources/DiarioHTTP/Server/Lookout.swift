import DiarioStorage
import Synchronization

/// Something that waits without a thread.
protocol Sleeper: AnyObject, Sendable {
    /// Called by any thread, at any time; it must be quick.
    func wake(_ reason: WakeReason)
}

enum WakeReason: Sendable {
    case bell
    case deadline
    /// The client has closed its side of the connection.
    case gone
    case stopping
}

/// One thread that wakes sleepers: when their time has come, and when their clients go.
final class Lookout: Sendable {
    private struct Watched: Sendable {
        let sleeper: any Sleeper
        /// When it wants to be woken; nil if it is awake.
        var until: ContinuousClock.Instant?
        /// The earliest time that the heap has for it: one entry is enough, however often a
        /// sleeper changes its mind.
        var entered: ContinuousClock.Instant?
    }

    private struct State {
        var watched: [UInt64: Watched] = [:]
        var deadlines = DeadlineHeap()
        var isStopping = false
        var isClosed = false
    }

    private let state = Mutex(State())
    private let daemon: Daemon
    private let ended = Signal()

    init(_ daemon: Daemon) {
        self.daemon = daemon
        _ = WorkerThread(name: "diario-lookout") { self.run() }
    }

    /// Has a sleeper woken when its client goes, which is watched from the call of `watch` on.
    func add(_ number: UInt64, _ sleeper: any Sleeper) {
        state.withLock { state in
            if state.watched[number] == nil { state.watched[number] = Watched(sleeper: sleeper) }
        }
    }

    /// Has a sleeper woken at `until`, unless that time is changed before.
    ///
    /// False if nothing sleeps any more, because the server stops.
    func schedule(
        _ number: UInt64,
        _ sleeper: any Sleeper,
        until: ContinuousClock.Instant
    ) -> Bool {
        let (isTaken, isEarliest) = state.withLock { state -> (Bool, Bool) in
            guard !state.isStopping else { return (false, false) }
            var watched = state.watched[number] ?? Watched(sleeper: sleeper)
            watched.until = until
            let isLater = watched.entered.map { $0 <= until } ?? false
            if !isLater {
                watched.entered = until
                state.deadlines.add(DeadlineHeap.Entry(time: until, number: number))
            }
            state.watched[number] = watched
            return (true, !isLater && state.deadlines.first?.number == number)
        }
        if isEarliest { daemon.wake() }
        return isTaken
    }

    /// Lets go of a sleeper; what the heap has for it is passed over when its time comes.
    func forget(_ number: UInt64) {
        state.withLock { _ = $0.watched.removeValue(forKey: number) }
    }

    /// Wakes all sleepers, and lets none sleep from now on.
    func wakeAll() {
        let sleepers = state.withLock { state in
            state.isStopping = true
            return state.watched.values.map(\.sleeper)
        }
        for sleeper in sleepers { sleeper.wake(.stopping) }
    }

    /// Ends the thread.
    func close() {
        state.withLock { $0.isClosed = true }
        daemon.wake()
        ended.wait()
    }

    private func run() {
        let clock = ContinuousClock()
        var nextLook = clock.now
        while !state.withLock({ $0.isClosed }) {
            let now = clock.now
            if now >= nextLook {
                daemon.breakOffOverdue()
                nextLook = now + .seconds(1)
            }
            let (due, next) = takeDue(now)
            for sleeper in due { sleeper.wake(.deadline) }
            let time = min(nextLook, next ?? nextLook) - now
            for number in daemon.waitForGone(atMost: time) {
                let sleeper = state.withLock { $0.watched[number]?.sleeper }
                sleeper?.wake(.gone)
            }
        }
        ended.raise()
    }

    /// Those whose time has come, and the time of the next one.
    private func takeDue(
        _ now: ContinuousClock.Instant
    ) -> (due: [any Sleeper], next: ContinuousClock.Instant?) {
        state.withLock { state in
            var due: [any Sleeper] = []
            while let first = state.deadlines.first, first.time <= now {
                _ = state.deadlines.removeFirst()
                guard var watched = state.watched[first.number], watched.entered == first.time
                else { continue }
                watched.entered = nil
                if let until = watched.until, until > now {
                    watched.entered = until
                    state.deadlines.add(DeadlineHeap.Entry(time: until, number: first.number))
                } else if watched.until != nil {
                    watched.until = nil
                    due.append(watched.sleeper)
                }
                state.watched[first.number] = watched
            }
            return (due, state.deadlines.first?.time)
        }
    }
}
