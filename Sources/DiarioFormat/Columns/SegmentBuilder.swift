package import DiarioCore
import DiarioCrypto
package import DiarioSchema

/// Gathers events and seals them: bytes of rows in, bytes of a segment and its sidecar out.
///
///     var builder = SegmentBuilder(firstPosition: 1)
///     while let row = try cursor.next() {
///         try builder.append(SegmentEvent(row, isAuthority: ...), of: block, type: type)
///     }
///     builder.append(saltNode)                 // for each seed or node of the events' groups
///     let sealed = try builder.finish(&plan)   // keep the plan for the next segment
///
/// Events come in order of position (pending ones, of one replica, by sequence), at most
/// `SegmentLimits.eventCountMax`. Merging is the same with the rows of `SegmentRows`. Nothing is
/// hashed but the segment's identity. Erasing is building again with `.erased` personal parts;
/// the segment then stays byte for byte if plan and program do, but only its sidecar may be kept.
package struct SegmentBuilder: ~Copyable {
    let firstPosition: UInt64?
    private var rows: [EnvelopeRow] = []
    private var acceptedTimes: [Int64] = []
    private var actors = ByteStrings()
    private var subjects = ByteStrings()
    var types: [GatheredType] = []
    /// Once all events are there: the columns of the envelope, and the public ones by type and
    /// chunk.
    private(set) var envelope = EnvelopeColumns()
    private(set) var publicFields: [[GatheredFields]] = []
    var replicas: [ReplicaID] = []
    private var replicaNumbers: [ReplicaID: Int] = [:]
    private var lastSequences: [UInt64] = []
    /// The number of the replica that wrote the event before.
    private var lastNumber = 0
    /// Runs of sequences that stand here, by replica.
    var runs: [[SegmentRun]] = []
    var refused: [ReplicaID: [SegmentRun]] = [:]
    var saltNodes: [SaltNode] = []
    var erasures: [(index: Int, commitment: Hash32)] = []
    /// For each of `types` the object that its events name, which `types` keep; and the last one.
    private var typeObjects: [ObjectIdentifier] = []
    private var lastTypeObject: ObjectIdentifier?
    private var lastTypeIndex = 0

    /// `firstPosition` is that of the first event; nil if the events are pending.
    ///
    /// Memory is taken at once for the events that are `expected`, as far as that is known.
    package init(firstPosition: UInt64?, expected: Int = 0) {
        precondition(firstPosition != 0, "positions count from 1")
        self.firstPosition = firstPosition
        rows.reserveCapacity(min(expected, SegmentLimits.eventCountMax))
    }

    package var eventCount: Int { rows.count }
    package var isEmpty: Bool { rows.isEmpty }

    /// Adds the next event, whose parts lie in `bytes`.
    ///
    /// Throws if the row is none of the type, as far as its envelope tells; its payload is looked
    /// at by `finish`. What was gathered is of no use then.
    package mutating func append(
        _ event: SegmentEvent,
        of bytes: Span<UInt8>,
        type: EventType
    ) throws(FormatError) {
        precondition(eventCount < SegmentLimits.eventCountMax, "a full segment takes no event")
        precondition(
            (event.acceptedAt != nil) == (firstPosition != nil),
            "events with positions, and no others, were accepted at a time"
        )
        let personalSize =
            switch event.personal {
            case .absent: 0
            case .erased: 1
            case .present(let range): range.count
            }
        let part = try PublicPart.parse(
            bytes,
            event.publicPart,
            origin: Origin(replica: event.replica, sequence: event.sequence),
            personalSize: personalSize
        )
        let typeIndex = index(of: type)
        try types[typeIndex].append(part, event.personal, of: bytes, row: eventCount)
        if case .erased(let range) = event.personal {
            guard let commitment = Hash32(bytes.extracting(range)) else {
                throw .truncated(at: range.lowerBound)
            }
            erasures.append((eventCount, commitment))
        }
        if let acceptedAt = event.acceptedAt {
            precondition(
                acceptedTimes.last.map { $0 <= acceptedAt.milliseconds } ?? true,
                "L5: acceptedAt never decreases"
            )
            acceptedTimes.append(acceptedAt.milliseconds)
        }
        rows.append(
            EnvelopeRow(
                part,
                type: typeIndex,
                replica: note(event.replica, event.sequence),
                isAuthority: event.isAuthority
            )
        )
        if let range = part.actor { actors.append(bytes.raw.extracting(range)) }
        if let range = part.subject { subjects.append(bytes.raw.extracting(range)) }
    }

    /// Makes columns of all events.
    mutating func makeColumns() throws(FormatError) {
        for index in types.indices { publicFields.append(try types[index].takePublicFields()) }
        envelope = EnvelopeColumns(rows, actors: actors, subjects: subjects)
        envelope.accepted = acceptedTimes
    }

    /// Adds a node from which salts of the events come; it goes to the sidecar.
    ///
    /// Its replica must have written an event by `finish`.
    package mutating func append(_ node: SaltNode) { saltNodes.append(node) }

    /// Notes sequences that an event of this segment refused, for the index.
    ///
    /// Those of one replica come in order.
    package mutating func refuse(_ replica: ReplicaID, _ sequences: ClosedRange<UInt64>) {
        var runs = refused[replica, default: []]
        if let last = runs.last, last.last + 1 == sequences.lowerBound {
            runs[runs.count - 1].last = sequences.upperBound
        } else {
            runs.append(
                SegmentRun(first: sequences.lowerBound, last: sequences.upperBound, isRefused: true)
            )
        }
        refused[replica] = runs
    }

    /// Notes an event among the runs of its replica; gives the number of that.
    private mutating func note(_ replica: ReplicaID, _ sequence: UInt64) -> Int {
        let number: Int
        if lastNumber < replicas.count, replicas[lastNumber] == replica {
            number = lastNumber
        } else if let known = replicaNumbers[replica] {
            number = known
        } else {
            number = replicas.count
            replicas.append(replica)
            replicaNumbers[replica] = number
            lastSequences.append(0)
            runs.append([])
        }
        precondition(sequence > lastSequences[number], "L4: the sequences of a replica increase")
        if sequence == lastSequences[number] + 1, let run = runs[number].indices.last {
            runs[number][run].last = sequence
        } else {
            runs[number].append(SegmentRun(first: sequence, last: sequence, isRefused: false))
        }
        lastSequences[number] = sequence
        lastNumber = number
        return number
    }

    private mutating func index(of type: EventType) -> Int {
        let object = ObjectIdentifier(type)
        if lastTypeObject == object { return lastTypeIndex }
        // Their own array, because looking at a gathered type counts references to all it holds.
        for place in typeObjects.indices where typeObjects[place] == object {
            lastTypeObject = object
            lastTypeIndex = place
            return place
        }
        // Not kept: another object of the same type may be gone by the next event.
        return listedIndex(of: type)
    }

    /// The index of a type that was not met as this very object.
    private mutating func listedIndex(of type: EventType) -> Int {
        let entry = TypeEntry(
            name: type.nameBytes,
            version: type.version,
            fingerprint: Fingerprint.schema(type)
        )
        for index in types.indices where types[index].entry.isSameType(as: entry) {
            precondition(types[index].entry == entry, "a version of a type has one schema")
            return index
        }
        precondition(types.count < SegmentLimits.typeCountMax, "a segment has few types")
        types.append(GatheredType(type, entry))
        typeObjects.append(ObjectIdentifier(type))
        return types.count - 1
    }
}

/// A segment and its sidecar, as bytes of files.
package struct SealedSegment: Equatable, Sendable {
    package var segment: [UInt8]
    package var sidecar: [UInt8]

    package init(segment: [UInt8], sidecar: [UInt8]) {
        self.segment = segment
        self.sidecar = sidecar
    }
}

/// The rows of one type of a segment.
struct GatheredType {
    let type: EventType
    let entry: TypeEntry
    private let plan: PayloadPlan
    // Of the plan, apart from it so that no row counts references.
    private let mayBeDerived: Bool
    private let hasSubjectField: Bool
    private let hasPersonalFields: Bool
    private let fieldCount: Int
    /// For each row its event index.
    private(set) var rows: [Int32] = []
    /// Once all rows are there.
    private(set) var chunks: [Chunk] = []
    /// The chunk that takes rows, apart from the others so that it is changed where it is.
    private var open = Chunk(firstRow: 0)
    /// Bytes of its rows.
    private var openSize = 0
    private(set) var times = TimeRange()

    /// Rows that are written as one block of fields, and perhaps one of personal fields.
    struct Chunk {
        var firstRow: Int
        var rowCount = 0
        /// The parts of the rows as they came; the public ones until they are columns.
        var publicParts = ByteStrings()
        var personalParts = ByteStrings()
        /// For each personal row its row among those of the chunk.
        var personalRows: [Int32] = []

        var rows: Range<Int> { firstRow..<firstRow + rowCount }
    }

    /// The fields of the public part, in order.
    var publicFields: [PlannedField] { plan.publicFields }
    var personalFields: [PlannedField] { plan.personalFields }

    /// The public columns, by chunk; their rows as they came are forgotten, and no more come.
    mutating func takePublicFields() throws(FormatError) -> [GatheredFields] {
        beginChunk()
        var found: [GatheredFields] = []
        for number in chunks.indices {
            found.append(try GatheredFields(plan.publicFields, chunks[number].publicParts))
            chunks[number].publicParts = ByteStrings()
        }
        return found
    }

    init(_ type: EventType, _ entry: TypeEntry) {
        self.type = type
        self.entry = entry
        plan = PayloadPlan(type)
        mayBeDerived = plan.newIDField >= 0
        hasSubjectField = plan.hasSubjectField
        hasPersonalFields = !plan.personalFields.isEmpty
        fieldCount = plan.fieldCount
    }

    mutating func append(
        _ part: PublicPart,
        _ personal: BlockRow.Personal,
        of bytes: Span<UInt8>,
        row: Int
    ) throws(FormatError) {
        let isDerived = part.flags.contains(.derived)
        guard !isDerived || mayBeDerived, part.subject == nil || !hasSubjectField
        else { throw .malformed(.rowFlags, at: part.payload.lowerBound) }
        if openSize > SegmentLimits.chunkSizeMax
            || (open.rowCount + 1) * (fieldCount + 1) > SegmentLimits.cellCountMax
        {
            beginChunk()
        }
        open.publicParts.append(bytes.raw.extracting(part.payload))
        open.rowCount += 1
        openSize += part.payload.count
        if case .present(let range) = personal {
            guard hasPersonalFields else {
                throw .malformed(.personalPart, at: range.lowerBound)
            }
            open.personalParts.append(bytes.raw.extracting(range))
            open.personalRows.append(Int32(open.rowCount - 1))
            openSize += range.count
        }
        times.add(part.envelope.at.milliseconds)
        rows.append(Int32(row))
    }

    /// Puts the chunk that took rows to the others.
    private mutating func beginChunk() {
        guard open.rowCount > 0 else { return }
        chunks.append(open)
        open = Chunk(firstRow: rows.count)
        openSize = 0
    }
}

/// The lowest and the highest of some times.
struct TimeRange {
    private var lowest = Int64.max
    private var highest = Int64.min

    var range: ClosedRange<Int64> { lowest...max(lowest, highest) }

    mutating func add(_ time: Int64) {
        lowest = min(lowest, time)
        highest = max(highest, time)
    }
}
