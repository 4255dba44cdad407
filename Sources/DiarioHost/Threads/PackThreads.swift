package import DiarioEngine
import DiarioStorage
import Synchronization

/// Works on the read models of several packs at a time, on a few threads.
package final class PackThreads: ModelCrew {
    /// Each takes up to 150 MB.
    private static let countMax = 2

    package init() {}

    package func work(
        _ count: Int,
        _ piece: @escaping @Sendable (Int, (UInt64) -> Void) -> ModelOutcome,
        progress: ([UInt64]) -> Void
    ) -> [ModelOutcome] {
        let board = Board(count)
        for _ in 0..<min(Self.countMax, count) {
            _ = WorkerThread(name: "diario-models") {
                while let number = board.take() {
                    let outcome = piece(number) { board.note($0, of: number) }
                    board.finish(number, outcome)
                }
            }
        }
        return board.wait(progress)
    }

    /// Which pieces are taken, and how far each is.
    private final class Board: Sendable {
        private struct State {
            var next = 0
            /// By piece: events that were applied.
            var done: [UInt64]
            var outcomes: [ModelOutcome?]
        }

        private let state: Mutex<State>
        private let isChanged = Signal()

        init(_ count: Int) {
            state = Mutex(
                State(
                    done: Array(repeating: 0, count: count),
                    outcomes: Array(repeating: nil, count: count)
                )
            )
        }

        /// The next piece that nobody has taken.
        func take() -> Int? {
            state.withLock { state in
                guard state.next < state.done.count else { return nil }
                defer { state.next += 1 }
                return state.next
            }
        }

        func note(_ done: UInt64, of number: Int) {
            state.withLock { $0.done[number] = done }
            isChanged.raise()
        }

        func finish(_ number: Int, _ outcome: ModelOutcome) {
            state.withLock { $0.outcomes[number] = outcome }
            isChanged.raise()
        }

        func wait(_ progress: ([UInt64]) -> Void) -> [ModelOutcome] {
            while true {
                let (done, outcomes) = state.withLock { ($0.done, $0.outcomes.compactMap { $0 }) }
                progress(done)
                if outcomes.count == done.count { return outcomes }
                isChanged.wait()
            }
        }
    }
}
