/// A `pattern` of a schema, matched in time linear in the text for every pattern it accepts.
///
/// The language is a subset of ECMA-262 with the `u` flag, without what needs backtracking:
/// literals, `.`, classes, `\d \D \w \W \s \S`, escapes, groups, `|`, `* + ? {n} {n,} {n,m}`, `^`
/// at the very start and `$` at the very end. As in JSON Schema, a match anywhere counts.
package final class Pattern: Sendable {
    /// The pattern as written.
    package let text: String

    private let simulation: PatternSimulation
    private let automaton: PatternAutomaton?
    private let asciiClasses: [UInt16]

    /// Throws `PatternError` with position and remedy for what is not in the subset.
    package convenience init(_ text: String) throws(PatternError) {
        var budget = PatternBudget()
        try self.init(text, budget: &budget)
    }

    package init(_ text: String, budget: inout PatternBudget) throws(PatternError) {
        self.text = text
        var parser = PatternParser(text)
        let program = try PatternProgram(parser.parse())
        guard budget.takeStates(program.states.count) else {
            throw PatternError(
                position: 1,
                message: "the patterns of this pack need too many states together; "
                    + "use smaller counts, or maxLength"
            )
        }
        guard budget.takeClasses(of: program.sets) else {
            throw PatternError(
                position: 1,
                message: "the patterns of this pack tell too many characters apart; "
                    + "use fewer sets of them, or ranges"
            )
        }
        simulation = PatternSimulation(program)
        automaton = PatternAutomaton(simulation, budget: &budget)
        asciiClasses = simulation.classes.asciiClasses
    }

    /// True if `text`, which is valid UTF-8, holds a match.
    package func matches(_ text: Span<UInt8>) -> Bool {
        guard let automaton else { return simulate(text) }
        let transitions = automaton.transitions.span
        let flags = automaton.flags.span
        let asciiClasses = asciiClasses
        let ascii = asciiClasses.span
        let classCount = simulation.classes.count
        var state = 0
        var index = 0
        while index < text.count {
            let known = flags[state]
            guard known & (PatternAutomaton.hasMatched | PatternAutomaton.cannotMatch) == 0 else {
                return known & PatternAutomaton.hasMatched != 0
            }
            let byte = text[index]
            let scalarClass: Int
            if byte < 0x80 {
                scalarClass = Int(ascii[Int(byte)])
                index += 1
            } else {
                scalarClass = simulation.classes.index(of: scalar(in: text, at: &index))
            }
            state = Int(transitions[state * classCount + scalarClass])
        }
        return flags[state] & PatternAutomaton.matchesAtEnd != 0
    }

    /// Matches by running the program; for patterns whose automaton would be large.
    package func simulate(_ text: Span<UInt8>) -> Bool {
        var scratch = PatternSimulation.Scratch(simulation.program)
        var states = simulation.first
        if states.contains(0) { return true }
        var index = 0
        while index < text.count, !states.isEmpty {
            let scalarClass = simulation.classes.index(of: scalar(in: text, at: &index))
            simulation.step(states, scalarClass: scalarClass, using: &scratch)
            if scratch.hasMatched { return true }
            swap(&states, &scratch.found)
        }
        return simulation.matchesAtEnd(states, isFirst: text.isEmpty, using: &scratch)
    }

    /// Decodes the scalar at `index` of valid UTF-8 and moves past it.
    private func scalar(in text: Span<UInt8>, at index: inout Int) -> UInt32 {
        let lead = UInt32(text[index])
        index += 1
        guard lead >= 0x80 else { return lead }
        let continuationCount = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3
        var value = lead & (0x3f >> UInt32(continuationCount))
        for _ in 0..<continuationCount where index < text.count {
            value = value << 6 | UInt32(text[index] & 0x3f)
            index += 1
        }
        return min(value, 0x10ffff)
    }
}
