import DiarioStorage
import Synchronization

/// What is done for each of several packs, on a few threads, and how far it is.
final class PacksTogether<Made: Sendable>: Sendable {
    private struct State {
        var next = 0
        /// By pack: events behind us.
        var done: [UInt64]
        var made: [Result<Made, DiarioError>?]
    }

    /// The packs, by their numbers, as they are to be taken.
    private let order: [Int]
    private let head: UInt64
    private let state: Mutex<State>
    private let isChanged = Signal()

    /// For packs that take about as long as these sizes say, each through the position `head`.
    ///
    /// Those that take longest come first: at the end no thread then waits long for another.
    init(_ sizes: [Int], through head: UInt64) {
        order = sizes.indices.sorted { sizes[$0] > sizes[$1] }
        self.head = head
        state = Mutex(State(done: sizes.map { _ in 0 }, made: sizes.map { _ in nil }))
    }

    /// Calls `make` for each pack by its number, and gives what it made.
    ///
    /// `progress` is told how many events each pack has behind it, of how many. All packs are done
    /// before an error is thrown.
    func run(
        _ make: @escaping @Sendable (Int, (UInt64) -> Void) throws(DiarioError) -> Made,
        progress: ([UInt64], UInt64) -> Void
    ) throws(DiarioError) -> [Made] {
        for _ in 0..<min(PackThreads.countMax, order.count) {
            _ = WorkerThread(name: "diario-models") { [self] in
                while let number = take() {
                    let made = Result { () throws(DiarioError) in
                        try make(number) { note($0, of: number) }
                    }
                    finish(number, made)
                }
            }
        }
        return try wait(progress).map { (made) throws(DiarioError) in try made.get() }
    }

    /// The next pack that nobody has taken.
    private func take() -> Int? {
        state.withLock { state in
            guard state.next < order.count else { return nil }
            defer { state.next += 1 }
            return order[state.next]
        }
    }

    private func note(_ done: UInt64, of number: Int) {
        state.withLock { $0.done[number] = min(done, head) }
        isChanged.raise()
    }

    private func finish(_ number: Int, _ made: Result<Made, DiarioError>) {
        state.withLock { $0.made[number] = made }
        isChanged.raise()
    }

    private func wait(_ progress: ([UInt64], UInt64) -> Void) -> [Result<Made, DiarioError>] {
        while true {
            let (done, made) = state.withLock { ($0.done, $0.made.compactMap { $0 }) }
            progress(done, head)
            if made.count == order.count { return made }
            isChanged.wait()
        }
    }
}

private enum PackThreads {
    /// Each takes up to 150 MB.
    static let countMax = 2
}
