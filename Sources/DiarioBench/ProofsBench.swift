import CBaseline
import Diario
import DiarioCore
import DiarioFormat
import DiarioLog

/// `diario-bench proofs`: what it takes to show something about a long log.
enum ProofsBench {
    static let help = """
        diario-bench proofs [OPTIONS]
          Proofs that an event stands at a position, and that the log of one size begins with that
          of another, in a sealed space of the standard workload: the processor time to make and
          check one, and the bytes of its text. Positions are drawn. The log that is spoken of is
          the whole one, or that of a size that is drawn too. The first proofs open the files and
          read what is kept from then on.

          --events N      events (10000000)
          --proofs N      proofs of each kind (1000)
          --seed S, --ids given|derived, --mix main|second   of the workload
          --json          one JSON object instead of a table

        """

    /// Something to be shown: of the first `part`, or the event there, among the first `size`.
    private struct Question {
        let part: UInt64
        /// Nil for all.
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
            var measurements: [Measurement] = []
            for isWhole in [true, false] {
                let questions = questions(count, options.seed, made.head, isWhole: isWhole)
                let kind = isWhole ? "in all" : "in a part"
                measurements += try measure("inclusion \(kind)", questions) {
                    (question) throws(DiarioError) in
                    try space.proveInclusion(of: question.part, size: question.size)
                }
                measurements += try measure("consistency \(kind)", questions) {
                    (question) throws(DiarioError) in
                    try space.proveConsistency(from: question.part, to: question.size)
                }
            }
            try BenchSpace.diario { () throws(DiarioError) in try space.close() }
            Report(
                benchmark: "proofs",
                settings: [
                    ("events", "\(options.eventCount)"), ("head", "\(made.head)"),
                    ("proofs", "\(count)"), ("seed", "\(options.seed)"),
                ],
                measurements: measurements
            ).show(asJSON: asJSON)
        }
    }

    private static func questions(
        _ count: Int,
        _ seed: UInt64,
        _ head: Int,
        isWhole: Bool
    ) -> [Question] {
        var random = SeededRandom(seed: seed)
        return (0..<count).map { _ in
            let size = isWhole ? head : 1 + random.below(head)
            let part = 1 + random.below(size)
            return Question(part: UInt64(part), size: isWhole ? nil : UInt64(size))
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
            let before = baseline_process_nanoseconds()
            let proof = try BenchSpace.diario { () throws(DiarioError) in try prove(question) }
            do throws(ProofFault) { try proof.check() } catch {
                throw .failed("a proof does not hold: \(error)")
            }
            milliseconds.append(Double(baseline_process_nanoseconds() - before) / 1e6)
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
