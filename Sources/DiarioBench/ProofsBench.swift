import Diario
import DiarioCore
import DiarioFormat
import DiarioLog

/// `diario-bench proofs`: what it takes to show something about a long log.
enum ProofsBench {
    static let help = """
        diario-bench proofs [OPTIONS]
          Proofs that an event stands at a position, and that the log of one size begins with that
          of another, in a sealed space of the standard workload: the time to make and check one,
          and the bytes of its text. Positions and sizes are drawn; one proof in four is about all
          events. The first ones open the files and read what is kept from then on.

          --events N      events (10000000)
          --proofs N      proofs of each kind (1000)
          --seed S, --ids given|derived, --mix main|second   of the workload
          --json          one JSON object instead of a table

        """

    /// Something to be shown: of the first `part`, or the event there, among the first `size`.
    private struct Question {
        let part: UInt64
        let size: UInt64?
    }

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let count = try arguments.count("--proofs", 1...1_000_000) ?? 1000
        let options = try WorkloadCommand.options(&arguments, defaultCount: 10_000_000)
        try arguments.finish()
        let scratch = try Scratch()
        let library = try PreloadedLibrary.none.make(in: scratch)
        try await MadeSpace.with(options, library: library, in: scratch) {
            (made) throws(BenchError) in
            let space = try BenchSpace.diario { () throws(DiarioError) in
                try Space.open(at: made.path, access: .readOnly)
            }
            let questions = questions(count, options.seed, head: UInt64(made.head))
            let inclusion = try measure("inclusion", questions) { (question) throws(DiarioError) in
                try space.proveInclusion(of: question.part, size: question.size)
            }
            let consistency = try measure("consistency", questions) {
                (question) throws(DiarioError) in
                try space.proveConsistency(from: question.part, to: question.size)
            }
            try BenchSpace.diario { () throws(DiarioError) in try space.close() }
            Report(
                benchmark: "proofs",
                settings: [
                    ("events", "\(options.eventCount)"), ("head", "\(made.head)"),
                    ("proofs", "\(count)"), ("seed", "\(options.seed)"),
                ],
                measurements: inclusion + consistency
            ).show(asJSON: asJSON)
        }
    }

    private static func questions(_ count: Int, _ seed: UInt64, head: UInt64) -> [Question] {
        var random = SeededRandom(seed: seed)
        return (0..<count).map { index in
            let size = index % 4 == 0 ? head : 1 + UInt64(random.below(Int(head)))
            let part = 1 + UInt64(random.below(Int(size)))
            return Question(part: part, size: index % 4 == 0 ? nil : size)
        }
    }

    private static func measure(
        _ name: String,
        _ questions: [Question],
        _ prove: (Question) throws(DiarioError) -> ProofText
    ) throws(BenchError) -> [Measurement] {
        var milliseconds: [Double] = []
        var sizes: [Double] = []
        for question in questions {
            let start = ContinuousClock.now
            let proof = try BenchSpace.diario { () throws(DiarioError) in try prove(question) }
            do throws(ProofFault) { try proof.check() } catch {
                throw .failed("a proof does not hold: \(error)")
            }
            milliseconds.append(1000 * seconds(since: start))
            var text: [UInt8] = []
            proof.append(to: &text, isIndented: false)
            sizes.append(Double(text.count))
        }
        milliseconds.sort()
        let slow = milliseconds[milliseconds.count * 99 / 100]
        return [
            Measurement(name, unit: "ms", value: Spread(milliseconds), goal: .atMost(5)),
            Measurement(
                "\(name), 99 of 100",
                unit: "ms",
                value: Spread([slow]),
                goal: .atMost(5)
            ),
            Measurement(
                "\(name), longest text",
                unit: "B",
                value: Spread([sizes.max() ?? 0]),
                goal: .atMost(2000)
            ),
        ]
    }
}
