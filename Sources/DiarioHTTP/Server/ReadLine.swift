import DiarioStorage
import Synchronization

/// Somebody who has a question or a scan to be run.
protocol Reader: WorkItem {
    var number: UInt64 { get }

    /// Called when its turn has come, before its `work` on a thread of those; it must be quick.
    func comesNext()
}

/// Questions and scans: those that run have threads of their own, and those that wait have none.
final class ReadLine: Sendable {
    private struct State {
        var gate: ReadGate
        var readers: [UInt64: any Reader] = [:]
    }

    private let state: Mutex<State>
    private let queue: WorkQueue

    init(_ bounds: ReadGate.Bounds) {
        state = Mutex(State(gate: ReadGate(bounds)))
        queue = WorkQueue(
            name: "diario-read",
            // Pushes, pulls and waits for news go first.
            urgency: .low,
            workerCount: bounds.total,
            newCountMax: 0
        )
    }

    var waitingCount: Int { state.withLock { $0.gate.waitingCount } }
    var runningCount: Int { state.withLock { $0.gate.runningCount } }

    /// Has a reader's `work` run when its turn has come, unless it leaves before; its end is told
    /// to `finish`.
    func enter(_ reader: any Reader, of owner: ReadOwner) {
        runNext { state in
            state.readers[reader.number] = reader
            state.gate.enter(reader.number, of: owner)
        }
    }

    /// False if the reader's turn has come, or it did not wait.
    func leave(_ number: UInt64, of owner: ReadOwner) -> Bool {
        state.withLock { state in
            guard state.gate.leave(number, of: owner) else { return false }
            state.readers[number] = nil
            return true
        }
    }

    func finish(of owner: ReadOwner) { runNext { $0.gate.finish(of: owner) } }

    private func runNext(after change: (inout State) -> Void) {
        let readers = state.withLock { state in
            change(&state)
            var readers: [any Reader] = []
            while let number = state.gate.next() {
                if let reader = state.readers.removeValue(forKey: number) { readers.append(reader) }
            }
            return readers
        }
        for reader in readers {
            reader.comesNext()
            queue.addAgain(reader)
        }
    }

    /// Ends the threads; nothing may enter any more.
    func close() { queue.close() }
}
