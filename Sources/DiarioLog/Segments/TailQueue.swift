import DiarioCore
import DiarioStorage
import Synchronization

/// Tails that several threads seal, each one after the other: each mostly waits for the disk, and
/// syncs at one time cost little more than one.
final class TailQueue: Sendable {
    private struct State: Sendable {
        var spaces: ArraySlice<SpaceID>
        var helperCount = 0
        var failure: LogError?
    }

    private static let helperCountMax = 3

    private let state: Mutex<State>
    private let isDone = Signal()
    private let seal: @Sendable (SpaceID) throws(LogError) -> Void

    init(
        _ spaces: [SpaceID],
        _ seal: @escaping @Sendable (SpaceID) throws(LogError) -> Void
    ) {
        state = Mutex(State(spaces: spaces[...]))
        self.seal = seal
    }

    /// Seals all; throws what one of them threw, after which no other is begun.
    func run() throws(LogError) {
        let count = state.withLock { state in
            state.helperCount = min(Self.helperCountMax, state.spaces.count - 1)
            return state.helperCount
        }
        for _ in 0..<max(0, count) {
            _ = WorkerThread(name: "diario-seal") { [self] in
                work()
                state.withLock { $0.helperCount -= 1 }
                isDone.raise()
            }
        }
        work()
        while state.withLock({ $0.helperCount > 0 }) { isDone.wait() }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func work() {
        while let space = state.withLock({ $0.failure == nil ? $0.spaces.popFirst() : nil }) {
            do throws(LogError) { try seal(space) } catch {
                state.withLock { $0.failure = error }
            }
        }
    }
}
