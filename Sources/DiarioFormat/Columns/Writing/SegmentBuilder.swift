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
    private(set) var envelope = EnvelopeColumns()
    private(set) var types: [GatheredType] = []
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
    /// The indices of types by the object that events name, which `types` keep.
    private var typeIndices: [ObjectIdentifier: Int] = [:]

    /// `firstPosition` is that of the first event; nil if the events are pending.
    ///
    /// Memory is taken at once for the events that are `expected`, as far as that is known.
    package init(firstPosition: UInt64?, expected: Int = 0) {
        precondition(firstPosition != 0, "positions count from 1")
        self.firstPosition = firstPosition
        envelope.reserveCapacity(min(expected, SegmentLimits.eventCountMax))
    }

    package var eventCount: Int { envelope.count }
    package var isEmpty: Bool { eventCount == 0 }

    /// Adds the next event, whose parts lie in `bytes`.
    ///
    /// Throws if the row is none of the type. What was gathered is of no use then.
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
        envelope.append(
            part,
            of: bytes,
            type: typeIndex,
            replica: note(event.replica, event.sequence),
            acceptedAt: event.acceptedAt,
            isAuthority: event.isAuthority
        )
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
        precondition(sequence > lastSequences[number], "B2: the sequences of a replica increase")
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
        if let known = typeIndices[ObjectIdentifier(type)] { return known }
        let entry = TypeEntry(
            name: type.nameBytes,
            version: type.version,
            fingerprint: Fingerprint.schema(type)
        )
        // Another object of a known type is not kept: it may be gone by the next event.
        for index in types.indices where types[index].entry.isSameType(as: entry) {
            precondition(types[index].entry == entry, "a version of a type has one schema")
            return index
        }
        precondition(types.count < SegmentLimits.typeCountMax, "a segment has few types")
        types.append(GatheredType(type, entry))
        typeIndices[ObjectIdentifier(type)] = types.count - 1
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
