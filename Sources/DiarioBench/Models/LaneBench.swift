import CBaseline
import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioProjection
import DiarioSchema
import DiarioStorage

/// `diario-bench lane`: what events of others cost who has many pending ones.
enum LaneBench {
    static let help = """
        diario-bench lane [OPTIONS]
          Applies pending events to the read models of all packs; then an event of another replica
          comes for each pack, so that the effects of all are taken back and applied again. The
          ratio is that of the two times: processor time of the whole process.

          --events N      pending events (20000)
          --runs N        runs, each in a space of its own (3)
          --seed S, --ids given|derived, --mix main|second|making   of the workload
          --json          one JSON object instead of a table

        """

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let runs = try arguments.count("--runs", 1...1000) ?? 3
        let options = try WorkloadCommand.options(&arguments, defaultCount: 20_000)
        try arguments.finish()
        let scratch = try Scratch()
        let events = try PreparedEvents(options)
        let packs = try BenchSpace.packs(of: nil)
        var pairs: [(ours: Sample, baseline: Sample)] = []
        for _ in 0..<runs {
            pairs.append(
                try await scratch.withFolder("lane") { (path) throws(BenchError) in
                    try measure(path, events, packs)
                }
            )
        }
        let report = Report(
            benchmark: "lane",
            settings: [
                ("events", "\(events.count)"), ("runs", "\(runs)"),
                ("ids", options.identifiers.rawValue), ("mix", options.mix.rawValue),
                ("seed", "\(options.seed)"),
            ],
            measurements: [
                Measurement("again, against once", pairs, goal: .atMost(3), isTime: true)
            ]
        )
        report.show(asJSON: asJSON)
    }

    private static func measure(
        _ path: String,
        _ events: PreparedEvents,
        _ packs: [Pack]
    ) throws(BenchError) -> (ours: Sample, baseline: Sample) {
        let space = try LaneReplica.make(path, packs)
        let models = try BenchSpace.diario { () throws(DiarioError) in try ReadModels(space) }
        try BenchSpace.diario { () throws(DiarioError) in try models.update() }
        var index = 0
        while index < events.count {
            var draft = DraftBatch()
            let end = min(events.count, index + 500)
            while index < end {
                events.add(index, to: &draft)
                index += 1
            }
            try LaneReplica.append(.singles([draft]), to: space)
        }
        let once = try update(models, events.count)
        for (number, pack) in packs.enumerated() {
            let index = events.lines.firstIndex { $0.type.pack == pack.name } ?? 0
            var draft = DraftBatch()
            events.add(index, to: &draft)
            try LaneReplica.append(
                .accepted([LaneReplica.rows(draft, sequence: UInt64(number) + 1)]),
                to: space
            )
        }
        let again = try update(models, events.count)
        try BenchSpace.diario { () throws(DiarioError) in try space.close() }
        return (again, once)
    }

    private static func update(
        _ models: ReadModels,
        _ count: Int
    ) throws(BenchError) -> Sample {
        let start = baseline_process_nanoseconds()
        try BenchSpace.diario { () throws(DiarioError) in try models.update() }
        let time = baseline_process_nanoseconds() - start
        return Sample(seconds: Double(time) / 1e9, events: count)
    }
}

/// A space whose authority is elsewhere.
enum LaneReplica {
    /// Makes one that uses these packs, as it would be after its first pull.
    static func make(_ path: String, _ packs: [Pack]) throws(BenchError) -> Space {
        let directory: POSIXDirectory
        do throws(StorageError) {
            directory = try POSIXDirectory(path: path + "/.diario", access: .create)
        } catch {
            throw .failed(error.message)
        }
        try BenchSpace.log { () throws(LogError) in try LogStore.create(in: directory) }
        let store = try BenchSpace.diario { () throws(DiarioError) in
            try Space.openStore(directory, access: .readWrite)
        }
        let id = try BenchSpace.log { () throws(LogError) in
            try store.makeSpace(isAuthority: false).space
        }
        let bare = try BenchSpace.diario { () throws(DiarioError) in
            try Space(store: store, id: id, directory: directory)
        }
        for (number, pack) in packs.enumerated() {
            let fingerprint = PackPlan(pack).fingerprint
            try BenchSpace.log { () throws(LogError) in
                try store.keep(pack.fingerprintFiles, fingerprint: fingerprint)
            }
            let draft = try BenchSpace.diario { () throws(DiarioError) in
                try bare.adoption(of: pack, fingerprint)
            }
            let adoption = rows(draft, sequence: UInt64(number) + 1, isAuthority: true)
            try append(.accepted([adoption]), to: bare)
        }
        return try BenchSpace.diario { () throws(DiarioError) in
            try Space(store: store, id: id, directory: directory)
        }
    }

    static func append(_ content: Append.Content, to space: Space) throws(BenchError) {
        let append = Append(space: space.id, content: content)
        try BenchSpace.log { () throws(LogError) in _ = try space.store.append(append) }
    }

    /// An event of another replica, or of the authority.
    static func rows(
        _ draft: DraftBatch,
        sequence: UInt64,
        isAuthority: Bool = false
    ) -> PreservedRows {
        guard let replica = ReplicaID(rawValue: isAuthority ? 9 : 3) else {
            preconditionFailure("small numbers are ids")
        }
        let time = Timestamp(milliseconds: 1_760_000_000_000 + Int64(sequence))
        return PreservedRows(
            batch: draft,
            envelopes: [
                RowEnvelope(
                    replica: replica,
                    sequence: sequence,
                    batchFirst: sequence,
                    batchCount: 1,
                    clock: HybridTime(milliseconds: time.milliseconds, counter: 0),
                    at: time,
                    base: 0
                )
            ],
            acceptedAt: [nil],
            isAuthority: isAuthority
        )
    }
}
