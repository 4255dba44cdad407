import DiarioHTTP
import Synchronization
import Testing

struct BellTests {
    @Test func whoListensIsCalledUntilItIgnoresTheBell() {
        let bell = Bell()
        let counts = Mutex([0, 0])
        let first = bell.listen { counts.withLock { $0[0] += 1 } }
        let second = bell.listen { counts.withLock { $0[1] += 1 } }
        bell.ring()
        bell.ignore(first)
        bell.ring()
        #expect(counts.withLock { $0 } == [1, 2])
        bell.ignore(second)
        #expect(bell.listenerCount == 0)
    }
}
