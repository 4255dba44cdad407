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
          check one, and the bytes of its text. Beside it, what decompressing the same streams
          takes alone, since each is one frame of zstd. Positions are drawn. The log that is spoken
          of is the whole one, or that of a size that is drawn too. The first proofs open the files
          and read what is kept from then on.

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
                let floor = try floor(of: questions, at: made.path)
                let kind = isWhole ? "in all" : "in a part"
                measurements += try measure("inclusion \(kind)", questions, floor) {
                    (question) throws(DiarioError) in
                    try space.proveInclusion(of: question.part, size: question.size)
                }
                measurements += try measure("consistency \(kind)", questions, floor) {
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

    /// Milliseconds for the streams of the tiles that each question needs, decompressed alone.
    private static func floor(
        of questions: [Question],
        at path: String
    ) throws(BenchError) -> Spread {
        let floor = try StreamFloor(at: path)
        var milliseconds: [Double] = []
        // Each reads whole segments to find its streams; a few dozen are enough.
        for question in questions.prefix(50) {
            let ends = [question.part] + (question.size.map { [$0] } ?? [])
            let tiles = Set(ends.map { ($0 - 1) / UInt64(Tile.widthMax) })
            var time = 0.0
            for tile in tiles.sorted() {
                let first = tile * UInt64(Tile.widthMax) + 1
                time += try floor.milliseconds(for: first..<first + UInt64(Tile.widthMax))
            }
            milliseconds.append(time)
        }
        return Spread(milliseconds)
    }

    private static func measure(
        _ name: String,
        _ questions: [Question],
        _ floor: Spread,
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
        var median = Measurement(
            name,
            unit: "ms",
            value: Spread(milliseconds),
            goal: .atMost(5)
        )
        median.figures = [("the streams that it needs, by zstd alone", floor)]
        return [
            median,
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
