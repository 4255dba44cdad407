/// Runs a pattern's program on all its paths at once: linear in the input for every pattern.
struct PatternSimulation {
    let program: PatternProgram
    let classes: ScalarClasses
    /// The states before the first scalar.
    let first: [Int32]
    /// The states in which a match may begin at any later scalar.
    private let later: [Int32]

    init(_ program: PatternProgram) {
        self.program = program
        classes = ScalarClasses(program.sets)
        first = Self.closure([program.entry], in: program, atStart: true, atEnd: false)
        later = Self.closure([program.entry], in: program, atStart: false, atEnd: false)
    }

    /// The states after a scalar of `scalarClass`, sorted; a match may also begin behind it.
    func step(_ states: [Int32], scalarClass: Int) -> [Int32] {
        var next = later.map(Int.init)
        for index in states {
            guard case .set(let set, let target) = program.states[Int(index)] else { continue }
            if classes.contains(set: set, class: scalarClass) { next.append(target) }
        }
        return Self.closure(next, in: program, atStart: false, atEnd: false)
    }

    /// True if a match has ended in `states`; it is state 0, so it comes first.
    func hasMatched(_ states: [Int32]) -> Bool { states.first == 0 }

    /// True if `states`, reached after the last scalar, complete a match.
    ///
    /// With `isFirst` there was no scalar at all, so that `^` holds as well.
    func matchesAtEnd(_ states: [Int32], isFirst: Bool) -> Bool {
        let states = states.map(Int.init)
        return hasMatched(Self.closure(states, in: program, atStart: isFirst, atEnd: true))
    }

    /// Everything that can be reached from `states` without a scalar, sorted.
    ///
    /// Only what can take a scalar, match or wait for the end is kept: the rest has been followed.
    private static func closure(
        _ states: [Int],
        in program: PatternProgram,
        atStart: Bool,
        atEnd: Bool
    ) -> [Int32] {
        var isSeen = [Bool](repeating: false, count: program.states.count)
        var pending = states
        var result: [Int32] = []
        while let index = pending.popLast() {
            guard !isSeen[index] else { continue }
            isSeen[index] = true
            switch program.states[index] {
            case .set, .match: result.append(Int32(index))
            case .split(let one, let other):
                pending.append(one)
                pending.append(other)
            case .start(let next):
                if atStart { pending.append(next) }
            case .end(let next):
                if atEnd { pending.append(next) } else { result.append(Int32(index)) }
            }
        }
        return result.sorted()
    }
}
