import Diario
import DiarioSchema

/// `diario-bench workload`: writes the standard workload as lines of JSON.
enum WorkloadCommand {
    static let help = """
        diario-bench workload [OPTIONS]
          Writes the standard workload: one event on each line, to standard output.

          --events N        lines to write (100000)
          --seed S          the same seed gives the same bytes (1)
          --ids given       new things get random ids, as ULIDs and UUIDs are (default)
          --ids derived     new things are named by the event that makes them
          --mix MIX         how much of which app there is: main, second, or making, in which
                            things are made and never used (main)
          --record          lines as `diario record -` takes them: without origins. With derived
                            ids, things that later lines mention get given ids all the same
          --output FILE     write there
          --json            as other benchmarks take it; the lines are JSON in any case
          --schema DIR      check the first lines against these packs, not the built-in ones

        """

    static func run(_ arguments: inout Arguments) throws(BenchError) {
        let options = try Self.options(&arguments, defaultCount: 100_000)
        let output = try arguments.value("--output")
        _ = arguments.flag("--json")
        let folder = try arguments.value("--schema")
        try arguments.finish()
        try check(options, try BenchSpace.catalog(of: folder))
        try write(options, to: output)
    }

    /// Writes the workload to a file, or to standard output.
    static func write(_ options: WorkloadOptions, to path: String?) throws(BenchError) {
        let descriptor = try path.map(System.create) ?? System.standardOutput
        defer { if path != nil { System.close(descriptor) } }
        var generator = WorkloadGenerator(options)
        while !generator.isFinished {
            generator.next()
            if generator.line.count >= 1 << 18 { try flush(&generator, descriptor) }
        }
        try flush(&generator, descriptor)
    }

    /// The options that other benchmarks share.
    static func options(
        _ arguments: inout Arguments,
        defaultCount: Int
    ) throws(BenchError) -> WorkloadOptions {
        var options = WorkloadOptions(
            eventCount: try arguments.count("--events", 1...1_000_000_000) ?? defaultCount,
            seed: UInt64(try arguments.count("--seed", 0...Int.max) ?? 1)
        )
        options.identifiers =
            try arguments.choice("--ids", WorkloadOptions.Identifiers.self) ?? .given
        options.mix = try arguments.choice("--mix", WorkloadOptions.Mix.self) ?? .main
        options.isForRecording = arguments.flag("--record")
        return options
    }

    private static func flush(
        _ generator: inout WorkloadGenerator,
        _ descriptor: Int32
    ) throws(BenchError) {
        try System.write(generator.line.bytes, to: descriptor)
        generator.line.removeAll()
    }

    /// Makes sure that the packs take what is going to be written.
    static func check(_ options: WorkloadOptions, _ catalog: TypeCatalog) throws(BenchError) {
        var generator = WorkloadGenerator(options)
        var reader = EventLineReader(
            catalog: catalog,
            options: options.isForRecording ? [] : .exportKeys
        )
        var line = EventLine()
        while !generator.isFinished, generator.emittedCount < 2000 {
            generator.line.removeAll()
            generator.next()
            let text = generator.line.bytes
            do throws(SchemaError) {
                try reader.read(text.span.extracting(0..<text.count - 1), into: &line)
            } catch {
                throw .failed(
                    "the packs refuse line \(generator.emittedCount): \(error.message)\n"
                        + String(decoding: text, as: UTF8.self)
                )
            }
        }
    }
}
