import DiarioCore
import DiarioFormat
import DiarioSchema

/// The standard workload as blocks of rows with positions, as they lie in a log.
struct SegmentWorkload {
    /// Who wrote the events.
    enum Origins: String, CaseIterable {
        /// Fifty replicas that sync now and then, as the lines say.
        case many
        /// One replica, that imports the lines.
        case one
    }

    /// Rows of each block.
    private static let blockCount = 1024

    private(set) var blocks: [[UInt8]] = []
    /// By name and version, for the rows of all blocks.
    private(set) var types: [TypeEntry: EventType] = [:]
    private(set) var eventCount = 0
    private(set) var lineBytes = 0

    private var builder = BlockBuilder()
    private var times: [AcceptedRun] = []
    private var position: UInt64 = 1
    private var acceptedAt: Int64 = 0
    private var lastClocks: [ReplicaID: UInt64] = [:]
    private var bases: [ReplicaID: UInt64] = [:]
    private var sequences: [ReplicaID: UInt64] = [:]

    init(_ options: WorkloadOptions, _ origins: Origins) throws(BenchError) {
        let catalog = try BenchSpace.catalog(of: nil)
        for type in catalog.types {
            let entry = TypeEntry(
                name: type.nameBytes,
                version: type.version,
                fingerprint: Fingerprint.schema(type)
            )
            types[entry] = type
        }
        var reader = EventLineReader(catalog: catalog, options: .exportKeys)
        var generator = WorkloadGenerator(options)
        var line = EventLine()
        var draft = DraftBatch()
        var stretch: [(line: EventLine, origin: Origin)] = []
        while !generator.isFinished {
            generator.line.removeAll()
            generator.next()
            let text = generator.line.bytes
            lineBytes += text.count
            do throws(SchemaError) {
                try reader.read(text.span.extracting(0..<text.count - 1), into: &line)
            } catch {
                throw .failed(error.message)
            }
            guard let origin = line.origin else { throw .failed("a line has no origin") }
            let isOther =
                switch origins {
                case .many: stretch.last.map { $0.origin.replica != origin.replica } ?? false
                case .one: stretch.count == 500
                }
            if isOther { add(&stretch, &draft, origins) }
            stretch.append((line, origin))
        }
        add(&stretch, &draft, origins)
        endBlock()
    }

    /// Adds events that were accepted together.
    private mutating func add(
        _ stretch: inout [(line: EventLine, origin: Origin)],
        _ draft: inout DraftBatch,
        _ origins: Origins
    ) {
        guard let last = stretch.last, let lastAt = last.line.at?.milliseconds else { return }
        let head = position - 1
        let delay = 40 + Int64(last.origin.sequence % 997)
        acceptedAt = max(acceptedAt + 1, lastAt + delay)
        for (line, origin) in stretch {
            let author = origins == .many ? origin : Self.importer(position)
            let at = line.at ?? Timestamp(milliseconds: 0)
            let wall = origins == .many ? at.milliseconds : acceptedAt
            let last = lastClocks[author.replica] ?? 0
            let clock = max(UInt64(wall) << 16, last + 1)
            lastClocks[author.replica] = clock
            draft.removeAll()
            draft.add(line)
            builder.append(
                event: 0,
                of: draft,
                envelope: RowEnvelope(
                    replica: author.replica,
                    sequence: author.sequence,
                    batchFirst: author.sequence,
                    batchCount: 1,
                    clock: HybridTime(rawValue: clock),
                    at: at,
                    base: origins == .many ? bases[author.replica] ?? 0 : head
                )
            )
            noteTime()
            position += 1
            eventCount += 1
            if builder.eventCount == Self.blockCount { endBlock() }
        }
        bases[last.origin.replica] = position - 1
        stretch.removeAll(keepingCapacity: true)
    }

    private static func importer(_ sequence: UInt64) -> Origin {
        guard let replica = ReplicaID(rawValue: 0x1234_5678_9abc_def0) else {
            preconditionFailure("the number is not zero")
        }
        return Origin(replica: replica, sequence: sequence)
    }

    private mutating func noteTime() {
        if let last = times.last, last.acceptedAt.milliseconds == acceptedAt {
            times[times.count - 1].count += 1
        } else {
            let time = Timestamp(milliseconds: acceptedAt)
            times.append(AcceptedRun(count: 1, acceptedAt: time))
        }
    }

    private mutating func endBlock() {
        guard !builder.isEmpty else { return }
        var bytes: [UInt8] = []
        builder.write(
            into: &bytes,
            position: position - UInt64(builder.eventCount),
            times: times,
            isAuthority: false
        )
        blocks.append(bytes)
        builder.removeAll()
        times.removeAll()
    }
}

extension SegmentWorkload {
    /// Seals the blocks into segments of `count` events, a multiple of what a block has.
    func seal(_ count: Int, _ plan: inout SegmentPlan) throws(FormatError) -> [SealedSegment] {
        var sealed: [SealedSegment] = []
        for place in 0..<runCount(count) { sealed.append(try sealRun(place, of: count, &plan)) }
        return sealed
    }

    /// Segments of `count` events that there are, the last of which may have fewer.
    func runCount(_ count: Int) -> Int { (eventCount + count - 1) / count }

    /// Seals one of them.
    func sealRun(
        _ place: Int,
        of count: Int,
        _ plan: inout SegmentPlan
    ) throws(FormatError) -> SealedSegment {
        let step = count / Self.blockCount
        let first = place * step
        let end = min(first + step, blocks.count)
        return try seal(first..<end, position: UInt64(place * count + 1), &plan)
    }

    private func seal(
        _ range: Range<Int>,
        position: UInt64,
        _ plan: inout SegmentPlan
    ) throws(FormatError) -> SealedSegment {
        var builder = SegmentBuilder(
            firstPosition: position,
            expected: range.count * Self.blockCount
        )
        var groups: Set<Origin> = []
        for index in range {
            let block = blocks[index]
            let head = try BlockHead.parse(block.span, verifyChecksum: false)
            let found = head.types.map { types[$0] ?? EventType.blank }
            var cursor = RowCursor(block.span, head.summary)
            while let row = try cursor.next() {
                let event = SegmentEvent(row, isAuthority: head.summary.isAuthority)
                try builder.append(event, of: block.span, type: found[row.typeIndex])
            }
            for run in head.runs {
                let last = SaltSeed.group(of: run.lastSequence)
                for group in SaltSeed.group(of: run.firstSequence)...last {
                    groups.insert(Origin(replica: run.replica, sequence: group))
                }
            }
        }
        var random = SeededRandom(seed: position)
        for group in groups.sorted() {
            let root = Salt(first: random.next(), second: random.next())
            let seed = SaltSeed(replica: group.replica, group: group.sequence, root: root)
            builder.append(seed.node)
        }
        return try builder.finish(&plan)
    }
}
