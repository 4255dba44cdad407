import CBaseline
import DiarioCore
import DiarioFormat
import DiarioSchema

/// `diario-bench scan`: what reading sealed events costs.
enum ScanBench {
    static let help = """
        diario-bench scan [OPTIONS]
          The standard workload in segments of 65,536, in memory: every column of both files into
          typed arrays, against C that reads every field of decoded records from a mapped file;
          all rows as bytes; and of each segment the rows of one tile, as proofs need them.
          Processor time of one core.

          --events N      events (1000000)
          --runs N        runs (5)
          --seed S, --ids given|derived, --mix main|second   of the workload
          --origins many|one   fifty replicas that sync, or one that imports (many)
          --part all|columns|rows|tiles   what is measured (all)
          --json          one JSON object instead of a table

        """

    private enum Part: String, CaseIterable {
        case all, columns, rows, tiles
    }

    static func run(_ arguments: inout Arguments) async throws(BenchError) {
        let asJSON = arguments.flag("--json")
        let runs = try arguments.count("--runs", 1...1000) ?? 5
        let origins = try arguments.choice("--origins", SegmentWorkload.Origins.self) ?? .many
        let part = try arguments.choice("--part", Part.self) ?? .all
        let options = try WorkloadCommand.options(&arguments, defaultCount: 1_000_000)
        try arguments.finish()
        let workload = try SegmentWorkload(options, origins)
        var plan = SegmentPlan()
        let sealed = try StorageBench.formatting { () throws(FormatError) in
            try workload.seal(65_536, &plan)
        }
        var measurements: [Measurement] = []
        if part == .all || part == .columns {
            measurements += try await measureColumns(sealed, workload, runs)
        }
        if part == .all || part == .rows {
            measurements += try measureRows(sealed, workload, runs)
        }
        if part == .all || part == .tiles {
            measurements += try measureTiles(sealed, workload, runs, options.seed)
        }
        Report(
            benchmark: "scan",
            settings: [
                ("events", "\(workload.eventCount)"), ("runs", "\(runs)"),
                ("ids", options.identifiers.rawValue), ("mix", options.mix.rawValue),
                ("origins", origins.rawValue),
            ],
            measurements: measurements
        ).show(asJSON: asJSON)
    }

    private static func measureColumns(
        _ sealed: [SealedSegment],
        _ workload: SegmentWorkload,
        _ runs: Int
    ) async throws(BenchError) -> [Measurement] {
        let scratch = try Scratch()
        let path = scratch.path + "/records"
        try writeRecords(sealed, workload, to: path)
        let pairs = try await compare(runs: runs) { () throws(BenchError) in
            try sample(workload) { () throws(SegmentError) in
                for segment in sealed { try scan(segment, workload) }
            }
        } baseline: { () throws(BenchError) in
            var (sum, count): (UInt64, UInt64) = (0, 0)
            let seconds = unsafe baseline_scan(path, &sum, &count)
            guard seconds >= 0, count == UInt64(workload.eventCount) else {
                throw .failed("the records cannot be read")
            }
            return Sample(seconds: seconds, events: workload.eventCount)
        }
        var columns = Measurement("columns", pairs, goal: .atLeast(0.4))
        let perEvent = 1e9 / Double(workload.eventCount)
        columns.figures = [
            ("ns for each event", Spread(pairs.map { 1e9 / $0.ours.eventsPerSecond })),
            ("baseline: ns", Spread(pairs.map { 1e9 / $0.baseline.eventsPerSecond })),
            ("C: ns to decompress the streams alone", Spread([try floor(sealed) * perEvent])),
        ]
        return [
            columns,
            Measurement(
                "columns",
                unit: "events/s",
                value: Spread(pairs.map(\.ours.eventsPerSecond)),
                goal: .atLeast(15e6)
            ),
        ]
    }

    /// Seconds of C for the streams of all columns through zstd, and nothing else.
    private static func floor(_ sealed: [SealedSegment]) throws(BenchError) -> Double {
        var total = 0.0
        for segment in sealed {
            var kept = KeptFrames()
            try StorageBench.reading { () throws(SegmentError) in
                var reader = try SegmentReader(
                    SegmentMemory(.segment, segment.segment),
                    sidecar: SegmentMemory(.sidecar, segment.sidecar)
                )
                reader.keepFrames()
                try readColumns(&reader)
                kept = reader.keptFrames
            }
            // Safe: C reads the frames and their sizes, and keeps no pointer.
            let seconds = unsafe baseline_unzstd(kept.bytes, kept.sizes, kept.sizes.count / 2)
            guard seconds >= 0 else { throw .failed("zstd fails: \(seconds)") }
            total += seconds
        }
        return total
    }

    private static func measureRows(
        _ sealed: [SealedSegment],
        _ workload: SegmentWorkload,
        _ runs: Int
    ) throws(BenchError) -> [Measurement] {
        var rows: [Double] = []
        for _ in 0..<runs {
            let sample = try sample(workload) { () throws(SegmentError) in
                for segment in sealed { try readRows(segment, workload) }
            }
            rows.append(sample.seconds * 1e9 / Double(workload.eventCount))
        }
        return [Measurement("rows", unit: "ns", value: Spread(rows), goal: .atMost(60))]
    }

    private static func measureTiles(
        _ sealed: [SealedSegment],
        _ workload: SegmentWorkload,
        _ runs: Int,
        _ seed: UInt64
    ) throws(BenchError) -> [Measurement] {
        var random = SeededRandom(seed: seed)
        var times: [Double] = []
        for _ in 0..<runs {
            let before = baseline_process_nanoseconds()
            for segment in sealed {
                let place = random.below(1 << 16)
                try StorageBench.reading { () throws(SegmentError) in
                    try readTile(segment, workload, place)
                }
            }
            let time = baseline_process_nanoseconds() - before
            times.append(Double(time) / 1e6 / Double(sealed.count))
        }
        return [Measurement("rows of a tile", unit: "ms", value: Spread(times), goal: .atMost(2))]
    }

    private static func readTile(
        _ segment: SealedSegment,
        _ workload: SegmentWorkload,
        _ place: Int
    ) throws(SegmentError) {
        var reader = try open(segment, workload)
        let count = reader.header.eventCount
        let first = place % count / 256 * 256
        let events = first..<min(first + 256, count)
        reader.want(events)
        var rows = try SegmentRows(reader)
        let found = try rows.rows(in: events)
        precondition(found.count == events.count, "all rows are there")
    }

    private static func sample(
        _ workload: SegmentWorkload,
        _ body: () throws(SegmentError) -> Void
    ) throws(BenchError) -> Sample {
        let before = baseline_process_nanoseconds()
        try StorageBench.reading(body)
        let time = baseline_process_nanoseconds() - before
        return Sample(seconds: Double(time) / 1e9, events: workload.eventCount)
    }

    private static func open(
        _ segment: SealedSegment,
        _ workload: SegmentWorkload
    ) throws(SegmentError) -> SegmentReader {
        try SegmentReader(
            SegmentMemory(.segment, segment.segment),
            sidecar: SegmentMemory(.sidecar, segment.sidecar),
            known: workload.types
        )
    }

    /// Every column of both files, as arrays.
    private static func scan(
        _ segment: SealedSegment,
        _ workload: SegmentWorkload
    ) throws(SegmentError) {
        var reader = try open(segment, workload)
        try readColumns(&reader)
    }

    private static func readColumns(_ reader: inout SegmentReader) throws(SegmentError) {
        for column in EnvelopeColumn.allCases {
            let values = try reader.numbers(column)
            precondition(values.count == reader.header.eventCount, "a column has all events")
        }
        _ = try reader.typeIndices()
        _ = try reader.replicaIndices()
        _ = try reader.flags()
        _ = try reader.batches()
        _ = try reader.actors()
        _ = try reader.subjects()
        _ = try reader.saltNodes()
        var count = 0
        for type in reader.index.types.indices {
            for block in reader.index.fieldBlocks(ofType: type) {
                let columns = try reader.fields(inBlock: block)
                _ = try reader.personalFields(inBlock: block, publicColumns: columns)
                count += columns.rowCount
            }
        }
        precondition(count == reader.header.eventCount, "the types have all events")
    }

    private static func readRows(
        _ segment: SealedSegment,
        _ workload: SegmentWorkload
    ) throws(SegmentError) {
        var rows = try SegmentRows(try open(segment, workload))
        var count = 0
        while let row = try rows.next() { count += row.event.publicPart.isEmpty ? 0 : 1 }
        precondition(count == rows.reader.header.eventCount, "all rows came")
    }

    /// Writes what the C program reads: all values of each event, decoded.
    private static func writeRecords(
        _ sealed: [SealedSegment],
        _ workload: SegmentWorkload,
        to path: String
    ) throws(BenchError) {
        let descriptor = try System.create(path)
        defer { System.close(descriptor) }
        var bytes: [UInt8] = []
        for segment in sealed {
            try StorageBench.reading { () throws(SegmentError) in
                var rows = try SegmentRows(try open(segment, workload))
                let types = try rows.reader.eventTypes()
                let plans = types.map { PayloadPlan($0) }
                var payload = Payload()
                while let row = try rows.next() {
                    do throws(FormatError) {
                        try Record.append(row, rows.bytes, plans[row.typeIndex], &payload, &bytes)
                    } catch {
                        preconditionFailure("a row of a segment is a row: \(error.message)")
                    }
                }
            }
            try System.write(bytes, to: descriptor)
            bytes.removeAll(keepingCapacity: true)
        }
    }
}

/// An event as the C program reads it.
private struct Record {
    private var cells: [UInt64] = []
    private var isText: UInt64 = 0
    private var texts: [UInt8] = []

    private mutating func add(_ number: UInt64) { cells.append(number) }

    /// The offset counts from the first text, until the record is whole.
    private mutating func add(_ text: some Sequence<UInt8>) {
        let start = texts.count
        texts += text
        isText |= 1 << UInt64(cells.count)
        cells.append(UInt64(start) | UInt64(texts.count - start) << 32)
    }

    static func append(
        _ row: SegmentRow,
        _ bytes: [UInt8],
        _ plan: PayloadPlan,
        _ payload: inout Payload,
        _ output: inout [UInt8]
    ) throws(FormatError) {
        let event = row.event
        var personal: Range<Int>?
        if case .present(let range) = event.personal { personal = range }
        let part = try PublicPart.parse(
            bytes.span,
            event.publicPart,
            origin: .init(replica: event.replica, sequence: event.sequence),
            personalSize: personal?.count ?? 0
        )
        try PayloadCodec.decode(
            bytes.span,
            publicPayload: part.payload,
            personalPayload: personal,
            plan: plan,
            isDerived: part.flags.contains(.derived),
            origin: part.envelope.origin,
            into: &payload
        )
        var record = Record()
        for number in [
            row.position ?? 0, UInt64(row.typeIndex), event.replica.rawValue, event.sequence,
            part.envelope.clock.rawValue, UInt64(bitPattern: part.envelope.at.milliseconds),
            UInt64(bitPattern: event.acceptedAt?.milliseconds ?? 0), part.envelope.batchFirst,
            UInt64(part.envelope.batchCount), part.envelope.base, UInt64(part.flags.rawValue),
        ] {
            record.add(number)
        }
        if let actor = part.actor { record.add(bytes[actor]) }
        if let subject = part.subject { record.add(bytes[subject]) }
        for slot in payload.slots {
            switch slot {
            case .absent: record.add(0)
            case .integer(let value): record.add(UInt64(bitPattern: value))
            case .number(let value): record.add(value.bitPattern)
            case .bytes(let start, let count):
                record.add(payload.arena[Int(start)..<Int(start) + Int(count)])
            }
        }
        record.write(to: &output)
    }

    private func write(to output: inout [UInt8]) {
        let textStart = 16 + 8 * cells.count
        let size = (textStart + texts.count + 7) / 8 * 8
        output.append(littleEndian: UInt32(size))
        output.append(littleEndian: UInt32(cells.count))
        output.append(littleEndian: isText)
        for (index, cell) in cells.enumerated() {
            let offset = isText >> UInt64(index) & 1 == 1 ? UInt64(textStart) : 0
            output.append(littleEndian: cell + offset)
        }
        output += texts
        output += [UInt8](repeating: 0, count: size - textStart - texts.count)
    }
}
