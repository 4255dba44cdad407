import CBaseline
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioStorage

/// `diario-bench storage`: how many bytes sealed events take.
enum StorageBench {
    static let help = """
        diario-bench storage [OPTIONS]
          The standard workload in a space of its own, imported and sealed: bytes of all its files
          for each event, against `zstd -19 --long=27` over the same lines, which takes minutes.

          --events N      events (1000000)
          \(WorkloadOptions.help)
          --quick         leave zstd out
          --blocks        a line for each kind of block and each field as well

        """

    static func run(_ arguments: inout Arguments) async throws -> Report {
        let isQuick = arguments.flag("--quick")
        let showsBlocks = arguments.flag("--blocks")
        let options = try WorkloadOptions(&arguments, defaultCount: 1_000_000)
        try arguments.finish()
        return try await MadeSpace.with(options, in: try Scratch()) { made in
            if showsBlocks { try showBlocks(try made.segments(), Double(options.eventCount)) }
            return Report(
                benchmark: "storage",
                settings: options.settings,
                measurements: try measure(made, options, isQuick: isQuick)
            )
        }
    }

    private static func measure(
        _ made: MadeSpace,
        _ options: WorkloadOptions,
        isQuick: Bool
    ) throws -> [Measurement] {
        let count = Double(options.eventCount)
        let kinds = try sizes(made)
        let total = Double(kinds.reduce(0) { $0 + $1.bytes }) / count
        let goal = Goal.atMost(options.identifiers == .derived ? 10.5 : 16.5)
        var all = Measurement("all files", unit: "B/event", value: Spread([total]), goal: goal)
        all.figures = kinds.map { ($0.name, Spread([Double($0.bytes) / count])) }
        if isQuick { return [all] }
        var size: UInt64 = 0
        // Safe: a plain call into C, which keeps no pointer.
        let seconds = unsafe baseline_zstd(made.lines, 19, 27, &size)
        guard seconds >= 0 else { throw BenchError.failed("zstd fails: \(seconds)") }
        let name = "against zstd -19 --long=27"
        let zstd = Double(size) / count
        return [
            all, Measurement(name, unit: "B/event", total, against: zstd, goal: .atMost(0.66)),
        ]
    }

    /// What `diario stats` counts as the bytes of a space, by kind.
    private static func sizes(_ made: MadeSpace) throws -> [(name: String, bytes: Int)] {
        let (store, space) = try made.open()
        let live = try store[space].status().liveBytes
        let files = try store[space].fileBytes()
        try store.close()
        let directory = try BenchSpace.directory(made.path)
        func size(_ folder: String, _ suffix: String = "") throws -> Int {
            try directory.list(folder).filter { $0.hasSuffix(suffix) }.reduce(0) { total, name in
                try total + Int(directory.open(folder + "/" + name, .read).size())
            }
        }
        let segments = try size(LogPaths.segments(space), ".dseg")
        let sidecars = try size(LogPaths.segments(space), ".dper")
        let tiles = try size(LogPaths.tiles(space))
        return [
            ("segments", segments), ("sidecars", sidecars), ("tiles", tiles),
            ("other files", files - segments - sidecars - tiles), ("live in the log", live),
        ]
    }

    private static func showBlocks(_ sealed: [SealedSegment], _ count: Double) throws {
        var sizes: [String: Int] = [:]
        for segment in sealed { try add(segment, to: &sizes) }
        var text = "\n"
        for (name, size) in sizes.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            let value = "\((Double(size) / count * 10_000).rounded() / 10_000)"
            text += value + String(repeating: " ", count: max(1, 9 - value.count)) + name + "\n"
        }
        System.say(text, to: System.standardOutput)
    }

    private static func add(_ segment: SealedSegment, to sizes: inout [String: Int]) throws {
        var reader = try SegmentReader(
            SegmentMemory(.segment, segment.segment),
            sidecar: SegmentMemory(.sidecar, segment.sidecar)
        )
        sizes["index", default: 0] += reader.header.blocksOffset
        sizes["sidecar: index", default: 0] += reader.sidecarHeader?.blocksOffset ?? 0
        for (number, block) in reader.index.blocks.enumerated() {
            guard let kind = SegmentBlockKind(rawValue: block.kind) else { continue }
            sizes["\(kind)", default: 0] += block.storedSize
            guard kind == .fields else { continue }
            let type = try reader.eventType(block.key)
            sizes["fields \(type.name)", default: 0] += block.storedSize
            let columns = try reader.fields(inBlock: number)
            for column in columns.columns {
                let name = "\(type.name) \(type.fields[column.field].name)"
                sizes[name, default: 0] += column.storedSize
            }
            guard let own = try reader.personalFields(inBlock: number) else { continue }
            for column in own.columns {
                let name = "sidecar: \(type.name) \(type.fields[column.field].name)"
                sizes[name, default: 0] += column.storedSize
            }
        }
    }
}
