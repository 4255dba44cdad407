import Diario
import Testing

@Suite struct DiaryExecutorTests {
    private actor Kept {
        private nonisolated let executor = DiaryExecutor()
        private var count = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            // Safe: the executor lives as long as the actor, which holds it.
            unsafe executor.asUnownedSerialExecutor()
        }

        func use() -> Int {
            count += 1
            return count
        }

        deinit { executor.end() }
    }

    /// A call may be the last use of a diary, which is gone before whoever called has passed the
    /// call on to its thread.
    @Test func anActorMayBeGoneAfterItsOnlyCall() async {
        let sum = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var sum = 0
                    for _ in 0..<500 { sum += await Kept().use() }
                    return sum
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 4000)
    }
}
