import DiarioSimulation
import Synchronization

/// The worlds that a seed has.
enum WorldKind: String, CaseIterable, Sendable {
    case log
    case sync
    case blobs
}

/// Lives through worlds of all kinds, several at a time.
struct WorldRunner: Sendable {
    private let logs = Simulation()
    private let syncs = SyncSimulation()

    /// Worlds that are lived through at the same time; there are no more threads than processors.
    private static let workerCount = 8

    /// The result of a world of any kind.
    struct Outcome: Sendable {
        let title: String
        let violation: String?
        let lines: [String]
        let hash: String
        /// The command that repeats it.
        let replay: String
    }

    func run(
        _ kind: WorldKind,
        seed: UInt64,
        steps: Set<Int>? = nil,
        keepsAll: Bool = false,
        shrinks: Bool = true
    ) -> Outcome {
        switch kind {
        case .log:
            let result = logs.run(seed: seed, keepsAll: keepsAll)
            return Outcome(
                title: "seed \(seed), log world, \(result.lineCount) operations",
                violation: result.broken?.what,
                lines: result.lines,
                hash: Self.text(result.traceHash),
                replay: "diario-sim --seed \(seed) --worlds log --trace"
            )
        case .blobs:
            let result = BlobWorld.run(seed: seed, keepsAll: keepsAll)
            return Outcome(
                title: "seed \(seed), blob world, \(result.lineCount) happenings",
                violation: result.broken.map { "\($0.promise.rawValue): \($0.what)" },
                lines: result.lines,
                hash: Self.text(result.traceHash),
                replay: "diario-sim --seed \(seed) --worlds blobs --trace"
            )
        case .sync:
            var plan = SyncPlan(seed: seed)
            if let steps { plan = plan.keeping(steps) }
            var result = syncs.run(plan, keepsAll: keepsAll)
            let whole = plan.steps.count
            if result.broken != nil, !keepsAll, shrinks { result = syncs.shrink(&plan, result) }
            let numbers = plan.steps.map(\.number)
            let only = numbers.count == whole ? "" : " --steps " + StepList.text(numbers)
            return Outcome(
                title: "seed \(seed), sync world, \(numbers.count) of \(whole) steps",
                violation: result.broken.map { "\($0.promise.rawValue): \($0.what)" },
                lines: result.lines,
                hash: Self.text(result.traceHash),
                replay: "diario-sim --seed \(seed) --worlds sync\(only) --trace"
            )
        }
    }

    /// Lives through the worlds of many seeds and tells of those in which something broke; gives
    /// their count.
    ///
    /// With `untilBroken`, begins no further seed after the first of them, and makes none smaller.
    func run(
        _ seeds: Range<UInt64>,
        _ kinds: [WorldKind],
        untilBroken: Bool = false
    ) async -> Int {
        let progress = Progress(seeds)
        await withTaskGroup { group in
            for _ in 0..<Self.workerCount {
                group.addTask {
                    while let seed = progress.next() {
                        for kind in kinds {
                            let outcome = run(kind, seed: seed, shrinks: !untilBroken)
                            guard let violation = outcome.violation else { continue }
                            progress.fail(isEnd: untilBroken)
                            Self.show(outcome, violation)
                        }
                    }
                }
            }
        }
        return progress.end()
    }

    private static func show(_ outcome: Outcome, _ violation: String) {
        let lines = outcome.lines.map { "  \($0)\n" }.joined()
        print("\(outcome.title) BROKEN: \(violation)\n\(lines)replay: \(outcome.replay)")
    }

    private static func text(_ hash: UInt64) -> String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// Which seeds are still to be lived through.
private final class Progress: Sendable {
    private struct State: Sendable {
        var next: UInt64
        var failedCount = 0
    }

    private let state: Mutex<State>
    private let seedEnd: UInt64
    private let isShown = StandardError.isTerminal

    init(_ seeds: Range<UInt64>) {
        state = Mutex(State(next: seeds.lowerBound))
        seedEnd = seeds.upperBound
    }

    func next() -> UInt64? {
        let seed = state.withLock { state -> UInt64? in
            guard state.next < seedEnd else { return nil }
            defer { state.next += 1 }
            return state.next
        }
        if let seed, isShown, seed.isMultiple(of: 10) { StandardError.say("\rseed \(seed) ") }
        return seed
    }

    /// Counts a world that failed; with `isEnd`, there is no next seed.
    func fail(isEnd: Bool) {
        state.withLock { state in
            state.failedCount += 1
            if isEnd { state.next = seedEnd }
        }
    }

    /// Clears what was shown, and tells how many worlds failed.
    func end() -> Int {
        if isShown { StandardError.say("\r                         \r") }
        return state.withLock { $0.failedCount }
    }
}
