import DiarioCore

/// A pattern as a nondeterministic automaton (Thompson's construction).
struct PatternProgram {
    enum State {
        /// Takes a scalar of the set with this index.
        case set(Int, next: Int)
        case split(Int, Int)
        /// Continues only before the first scalar.
        case start(next: Int)
        /// Continues only after the last scalar.
        case end(next: Int)
        case match
    }

    private(set) var states: [State] = [.match]
    private(set) var sets: [ScalarSet] = []
    private(set) var entry = 0
    private var setIndices: [ScalarSet: Int] = [:]

    init(_ node: PatternNode) throws(PatternError) {
        guard Self.weight(of: node) < Limits.patternStateCountMax else {
            throw PatternError(
                position: 1,
                message: "this needs more than \(Limits.patternStateCountMax) states; "
                    + "use smaller counts, or maxLength"
            )
        }
        entry = emit(node, next: 0)
    }

    /// At least the states that `node` needs and the steps of building them.
    private static func weight(of node: PatternNode) -> Int {
        // Cut here, so that nested counts cannot overflow.
        let ceiling = Limits.patternStateCountMax + 1
        let weight: Int
        switch node {
        case .empty, .set, .start, .end: weight = 1
        case .sequence(let parts):
            weight = parts.reduce(0) { min(ceiling, $0 + Self.weight(of: $1)) }
        case .choice(let branches):
            weight = branches.reduce(0) { min(ceiling, $0 + 1 + Self.weight(of: $1)) }
        case .repeated(let body, let countMin, let countMax):
            let body = Self.weight(of: body)
            weight =
                min(ceiling, countMin) * body
                + min(ceiling, countMax.map { $0 - countMin } ?? 1) * (body + 1)
        }
        return min(ceiling, weight)
    }

    /// Adds the states of `node` before the state `next`; returns the first of them.
    private mutating func emit(_ node: PatternNode, next: Int) -> Int {
        switch node {
        case .empty: return next
        case .set(let set): return add(.set(index(of: set), next: next))
        case .start: return add(.start(next: next))
        case .end: return add(.end(next: next))
        case .sequence(let parts):
            var first = next
            for part in parts.reversed() { first = emit(part, next: first) }
            return first
        case .choice(let branches):
            var first = emit(branches[branches.count - 1], next: next)
            for branch in branches.dropLast().reversed() {
                first = add(.split(emit(branch, next: next), first))
            }
            return first
        case .repeated(let body, let countMin, let countMax):
            var first = next
            if let countMax {
                for _ in countMin..<countMax {
                    first = add(.split(emit(body, next: first), next))
                }
            } else {
                let loop = add(.split(next, next))
                states[loop] = .split(emit(body, next: loop), next)
                first = loop
            }
            for _ in 0..<countMin { first = emit(body, next: first) }
            return first
        }
    }

    private mutating func add(_ state: State) -> Int {
        states.append(state)
        return states.count - 1
    }

    private mutating func index(of set: ScalarSet) -> Int {
        if let index = setIndices[set] { return index }
        sets.append(set)
        setIndices[set] = sets.count - 1
        return sets.count - 1
    }
}
