import DiarioCore
import DiarioHTTP
import DiarioTestSupport
import Testing

@Suite(.waits) struct ServerDeadlineTests {
    /// However times are added and taken, the earliest comes first.
    @Test(arguments: UInt64(0)..<32) func theEarliestComesFirst(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let start = ContinuousClock.now
        var heap = DeadlineHeap()
        var model: [ContinuousClock.Instant] = []
        for number in 0..<500 {
            if random.below(3) > 0 {
                let time = start + .milliseconds(random.below(100))
                heap.add(DeadlineHeap.Entry(time: time, number: UInt64(number)))
                model.append(time)
                model.sort()
            } else {
                #expect(heap.removeFirst()?.time == (model.isEmpty ? nil : model.removeFirst()))
            }
            #expect(heap.first?.time == model.first)
        }
        #expect(heap.count == model.count)
    }
}
