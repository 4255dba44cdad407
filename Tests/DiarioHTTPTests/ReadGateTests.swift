import DiarioHTTP
import Testing

/// Whose question or scan comes next.
struct ReadGateTests {
    private func owner(_ space: String, _ token: String = "t") -> ReadOwner {
        ReadOwner(space: space, token: token)
    }

    private func gate(_ total: Int, ofSpace: Int = 2, ofToken: Int = 2) -> ReadGate {
        var bounds = ReadGate.Bounds(total: total)
        bounds.ofSpace = ofSpace
        bounds.ofToken = ofToken
        return ReadGate(bounds)
    }

    /// All that may run now, in their order.
    private func run(_ gate: inout ReadGate) -> [UInt64] {
        var numbers: [UInt64] = []
        while let number = gate.next() { numbers.append(number) }
        return numbers
    }

    @Test func noMoreRunAtOnceThanMay() {
        var gate = gate(3)
        for number in 1...4 { gate.enter(UInt64(number), of: owner("a")) }
        for number in 5...8 { gate.enter(UInt64(number), of: owner("b")) }
        #expect(run(&gate) == [1, 5, 2])
        #expect(gate.runningCount == 3 && gate.waitingCount == 5)
        gate.finish(of: owner("b"))
        #expect(run(&gate) == [6])
        // Two of one space run, and another space waits.
        gate.finish(of: owner("b"))
        #expect(run(&gate) == [7])
    }

    @Test func aSpaceWithManyDoesNotMakeAnotherWaitForThem() {
        var gate = gate(1)
        for number in 1...40 { gate.enter(UInt64(number), of: owner("busy")) }
        #expect(run(&gate) == [1])
        gate.enter(100, of: owner("quiet"))
        gate.finish(of: owner("busy"))
        // It was behind one of the others, not behind all of them.
        #expect(run(&gate) == [2])
        gate.finish(of: owner("busy"))
        #expect(run(&gate) == [100])
        gate.finish(of: owner("quiet"))
        #expect(run(&gate) == [3])
    }

    @Test func tokensOfASpaceTakeTurns() {
        var gate = gate(1)
        for number in 1...3 { gate.enter(UInt64(number), of: owner("a", "many")) }
        gate.enter(10, of: owner("a", "one"))
        var order: [UInt64] = []
        while let number = gate.next() {
            order.append(number)
            gate.finish(of: owner("a", number == 10 ? "one" : "many"))
        }
        #expect(order == [1, 10, 2, 3])
        #expect(gate.runningCount == 0 && gate.waitingCount == 0)
    }

    /// On two processors a question without an end would else keep all other spaces out.
    @Test(arguments: [(1, 3), (2, 3), (4, 3), (5, 4), (16, 15)])
    func aSpaceNeverTakesTheLastPlace(processors: Int, total: Int) {
        let bounds = ReadGate.Bounds(processorCount: processors)
        #expect(bounds.total == total)
        #expect(bounds.ofSpace < total)
    }

    @Test func aTokenHasABoundOfItsOwn() {
        var gate = gate(8, ofSpace: 3, ofToken: 1)
        for number in 1...3 { gate.enter(UInt64(number), of: owner("a", "many")) }
        #expect(run(&gate) == [1])
        gate.enter(10, of: owner("a", "one"))
        #expect(run(&gate) == [10])
        gate.finish(of: owner("a", "many"))
        #expect(run(&gate) == [2])
    }

    @Test func whoLeavesIsNotRun() {
        var gate = gate(1)
        for number in 1...3 { gate.enter(UInt64(number), of: owner("a")) }
        #expect(run(&gate) == [1])
        let isForgotten = gate.leave(2, of: owner("a"))
        // One that runs, one that left, and one that never came.
        let areKnown = [1, 2, 9].map { gate.leave($0, of: owner("a")) }
        #expect(isForgotten && areKnown == [false, false, false])
        gate.finish(of: owner("a"))
        #expect(run(&gate) == [3])
        gate.finish(of: owner("a"))
        #expect(run(&gate).isEmpty && gate.waitingCount == 0)
    }
}
