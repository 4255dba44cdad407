/// A pattern as a deterministic automaton, where that stays small.
///
/// A state is a set of states of the program; state 0 is before the first scalar, where `^` holds.
/// A pattern whose automaton would be large is matched by the program itself.
struct PatternAutomaton {
    // Properties of a state, as bits.
    static let hasMatched: UInt8 = 1
    static let matchesAtEnd: UInt8 = 2
    static let cannotMatch: UInt8 = 4

    /// For each state and each class the next state.
    private(set) var transitions: [UInt16] = []
    private(set) var flags: [UInt8] = []

    private static let stateCountMax = 1024

    /// Takes its steps from `budget`; nil if the automaton would be too large for it.
    init?(_ simulation: PatternSimulation, budget: inout PatternBudget) {
        var scratch = PatternSimulation.Scratch(simulation.program)
        var known: [[Int32]: UInt16] = [:]
        var states = [simulation.first]
        flags.append(
            Self.flags(of: simulation.first, isFirst: true, in: simulation, using: &scratch)
        )
        var index = 0
        while index < states.count {
            for scalarClass in 0..<simulation.classes.count {
                guard budget.takeSteps(simulation.program.states.count) else { return nil }
                simulation.step(states[index], scalarClass: scalarClass, using: &scratch)
                let next = scratch.found.sorted()
                if let number = known[next] {
                    transitions.append(number)
                    continue
                }
                guard states.count < Self.stateCountMax else { return nil }
                let number = UInt16(states.count)
                known[next] = number
                states.append(next)
                flags.append(Self.flags(of: next, isFirst: false, in: simulation, using: &scratch))
                transitions.append(number)
            }
            index += 1
        }
    }

    private static func flags(
        of states: [Int32],
        isFirst: Bool,
        in simulation: PatternSimulation,
        using scratch: inout PatternSimulation.Scratch
    ) -> UInt8 {
        // A match is state 0.
        if states.contains(0) { return hasMatched | matchesAtEnd }
        if states.isEmpty { return cannotMatch }
        return simulation.matchesAtEnd(states, isFirst: isFirst, using: &scratch) ? matchesAtEnd : 0
    }
}

/// A bound on all patterns of a pack together, so that no pack takes minutes or gigabytes.
package struct PatternBudget {
    /// States of all programs together.
    ///
    /// Above: the pattern is refused.
    private var stateCount = 64 * 4096
    /// Steps of building automata.
    ///
    /// Above: the program is run instead.
    private var stepCount = 4_000_000

    /// Sets times intervals of telling characters apart.
    ///
    /// Above: the pattern is refused.
    private var classCount = 16_000_000

    package init() {}

    mutating func takeClasses(of sets: [ScalarSet]) -> Bool {
        let count = sets.count * (1 + 2 * sets.reduce(0) { $0 + $1.ranges.count })
        guard classCount >= count else { return false }
        classCount -= count
        return true
    }

    mutating func takeStates(_ count: Int) -> Bool {
        guard stateCount >= count else { return false }
        stateCount -= count
        return true
    }

    mutating func takeSteps(_ count: Int) -> Bool {
        guard stepCount >= count else { return false }
        stepCount -= count
        return true
    }
}
