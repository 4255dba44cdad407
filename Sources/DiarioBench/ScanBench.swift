import CBaseline
import DiarioCore
import DiarioFormat
import DiarioSchema

/// `diario-bench scan`: what reading sealed events costs.
enum ScanBench {
    static let help = """
        diario-bench scan [OPTIONS]
          The segments of a sealed space of the standard workload, in memory: every column of both
          files into typed arrays, against C that reads every field of decoded records from a
          mapped file. Processor time of one core.

          --events N      events (1000000)
          --runs N        runs (5)
          \(WorkloadOptions.help)

        """

    static func run(_ arguments: inout Arguments) async throws -> Report {
        let runs = try arguments.count("--runs", 1...1000) ?? 5
        let options = try WorkloadOptions(&arguments, defaultCount: 1_000_000)
        try arguments.finish()
        let scratch = try Scratch()
        return try await MadeSpace.with(options, in: scratch) { made in
            Report(
                benchmark: "scan",
                settings: options.settings + [("runs", "\(runs)")],
                measurements: try await measure(made.segments(), in: scratch, runs)
            )
        }
    }

    private static func measure(
        _ sealed: [SealedSegment],
        in scratch: Scratch,
        _ runs: Int
    ) async throws -> [Measurement] {
        let path = scratch.path + "/records"
        let eventCount = try writeRecords(sealed, to: path)
        let known = try types(sealed)
        let pairs = try await compare(runs: runs) {
            let before = baseline_process_nanoseconds()
            for segment in sealed {
                var reader = try open(segment, known)
                try readColumns(&reader)
            }
            let time = baseline_process_nanoseconds() - before
            return Sample(seconds: Double(time) / 1e9, events: eventCount)
        } baseline: {
            var (sum, count): (UInt64, UInt64) = (0, 0)
            let seconds = unsafe baseline_scan(path, &sum, &count)
            guard seconds >= 0, count == UInt64(eventCount) else {
                throw BenchError.failed("the records cannot be read")
            }
            return Sample(seconds: seconds, events: eventCount)
        }
        var columns = Measurement("columns", pairs, goal: .none)
        columns.figures = [
            ("ns for each event", Spread(pairs.map { 1e9 / $0.ours.eventsPerSecond })),
            ("baseline: ns", Spread(pairs.map { 1e9 / $0.baseline.eventsPerSecond })),
        ]
        return [
            columns,
            Measurement(
                "columns",
                unit: "events/s",
                value: Spread(pairs.map(\.ours.eventsPerSecond)),
                goal: .atLeast(9e6)
            ),
        ]
    }

    private static func open(
        _ segment: SealedSegment,
        _ known: [TypeEntry: EventType] = [:]
    ) throws -> SegmentReader {
        try SegmentReader(
            SegmentMemory(.segment, segment.segment),
            sidecar: SegmentMemory(.sidecar, segment.sidecar),
            known: known
        )
    }

    /// The types of all segments, which a log knows after it read them once.
    private static func types(_ sealed: [SealedSegment]) throws -> [TypeEntry: EventType] {
        var known: [TypeEntry: EventType] = [:]
        for segment in sealed {
            var reader = try open(segment, known)
            for (type, made) in zip(reader.index.types, try reader.eventTypes()) {
                known[type.entry] = made
            }
        }
        return known
    }

    private static func readColumns(_ reader: inout SegmentReader) throws {
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
                _ = try reader.personalFields(inBlock: block)
                count += columns.rowCount
            }
        }
        precondition(count == reader.header.eventCount, "the types have all events")
    }

    /// Writes what the C program reads, all values of each event, decoded; gives how many events.
    private static func writeRecords(_ sealed: [SealedSegment], to path: String) throws -> Int {
        let descriptor = try System.create(path)
        defer { System.close(descriptor) }
        var count = 0
        for segment in sealed {
            var bytes: [UInt8] = []
            var rows = try SegmentRows(try open(segment))
            let plans = try rows.reader.eventTypes().map { PayloadPlan($0) }
            var payload = Payload()
            while let row = try rows.next() {
                try Record.append(row, rows.bytes, plans[row.typeIndex], &payload, &bytes)
                count += 1
            }
            try System.write(bytes, to: descriptor)
        }
        return count
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
    ) throws {
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
