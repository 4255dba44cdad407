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
        var scratch = Scratch(program)
        scratch.follow(program.entry, in: program, atStart: true, atEnd: false)
        first = scratch.found
        scratch.clear()
        scratch.follow(program.entry, in: program, atStart: false, atEnd: false)
        later = scratch.found
    }

    /// Finds the states after a scalar of `scalarClass`; a match may also begin after it.
    func step(_ states: [Int32], scalarClass: Int, using scratch: inout Scratch) {
        scratch.clear()
        for state in later { scratch.add(state) }
        for index in states {
            guard case .set(let set, let target) = program.states[Int(index)],
                classes.contains(set: set, class: scalarClass)
            else { continue }
            scratch.follow(target, in: program, atStart: false, atEnd: false)
        }
    }

    /// True if `states`, reached after the last scalar, complete a match.
    ///
    /// With `isFirst` there was no scalar at all, so that `^` holds as well.
    func matchesAtEnd(
        _ states: [Int32],
        isFirst: Bool,
        using scratch: inout Scratch
    ) -> Bool {
        scratch.clear()
        for state in states {
            scratch.follow(Int(state), in: program, atStart: isFirst, atEnd: true)
        }
        return scratch.hasMatched
    }

    /// Memory for finding states, made once for a whole run.
    struct Scratch {
        /// Each state once, in the order of finding.
        ///
        /// Only states that take a scalar, match, or wait for the end: others were followed.
        var found: [Int32] = []
        private(set) var hasMatched = false
        /// The round in which a state was last seen.
        private var marks: [UInt32]
        private var round: UInt32 = 1
        private var pending: [Int32] = []

        init(_ program: PatternProgram) {
            marks = Array(repeating: 0, count: program.states.count)
        }

        mutating func clear() {
            found.removeAll(keepingCapacity: true)
            hasMatched = false
            round += 1
        }

        /// Adds a state from which nothing more can be reached without a scalar.
        mutating func add(_ state: Int32) {
            guard marks[Int(state)] != round else { return }
            marks[Int(state)] = round
            found.append(state)
            if state == 0 { hasMatched = true }
        }

        /// Adds everything that can be reached from `state` without a scalar.
        mutating func follow(
            _ state: Int,
            in program: PatternProgram,
            atStart: Bool,
            atEnd: Bool
        ) {
            // Most often a scalar comes next, and there is nothing to follow.
            if case .set = program.states[state] { return add(Int32(state)) }
            pending.append(Int32(state))
            while let index = pending.popLast() {
                guard marks[Int(index)] != round else { continue }
                switch program.states[Int(index)] {
                case .set, .match:
                    add(index)
                    continue
                case .split(let one, let other):
                    pending.append(Int32(one))
                    pending.append(Int32(other))
                case .start(let next):
                    if atStart { pending.append(Int32(next)) }
                case .end(let next):
                    guard atEnd else {
                        add(index)
                        continue
                    }
                    pending.append(Int32(next))
                }
                marks[Int(index)] = round
            }
        }
    }
}
