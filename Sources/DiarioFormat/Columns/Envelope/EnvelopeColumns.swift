import DiarioCore

/// The columns that all events of a segment have, one number for each event.
struct EnvelopeColumns {
    private(set) var types: [Int64] = []
    private(set) var replicas: [Int64] = []
    private(set) var sequences: [Int64] = []
    private(set) var clocks: [Int64] = []
    private(set) var times: [Int64] = []
    /// Empty if the events are pending.
    private(set) var accepted: [Int64] = []
    private(set) var batchOffsets: [Int64] = []
    private(set) var batchCounts: [Int64] = []
    private(set) var bases: [Int64] = []
    private(set) var flags: [Int64] = []
    /// Over the events that have one.
    private(set) var actors = ByteStrings()
    private(set) var subjects = ByteStrings()

    /// Stands for "an authority wrote this" among the flags.
    static let authorityFlag: Int64 = 32

    var count: Int { types.count }

    mutating func reserveCapacity(_ count: Int) {
        types.reserveCapacity(count)
        replicas.reserveCapacity(count)
        sequences.reserveCapacity(count)
        clocks.reserveCapacity(count)
        times.reserveCapacity(count)
        batchOffsets.reserveCapacity(count)
        batchCounts.reserveCapacity(count)
        bases.reserveCapacity(count)
        flags.reserveCapacity(count)
    }

    /// Adds an event, whose actor and subject lie in `bytes`.
    mutating func append(
        _ part: PublicPart,
        of bytes: Span<UInt8>,
        type: Int,
        replica: Int,
        acceptedAt: Timestamp?,
        isAuthority: Bool
    ) {
        let envelope = part.envelope
        types.append(Int64(type))
        replicas.append(Int64(replica))
        sequences.append(Int64(bitPattern: envelope.sequence))
        clocks.append(Int64(bitPattern: envelope.clock.rawValue))
        times.append(envelope.at.milliseconds)
        batchOffsets.append(Int64(bitPattern: envelope.sequence &- envelope.batchFirst))
        batchCounts.append(Int64(envelope.batchCount))
        bases.append(Int64(bitPattern: envelope.base))
        flags.append(Int64(part.flags.rawValue) | (isAuthority ? Self.authorityFlag : 0))
        if let acceptedAt {
            precondition(
                accepted.last.map { $0 <= acceptedAt.milliseconds } ?? true,
                "B3: acceptedAt never decreases"
            )
            accepted.append(acceptedAt.milliseconds)
        }
        if let range = part.actor { actors.append(bytes.raw.extracting(range)) }
        if let range = part.subject { subjects.append(bytes.raw.extracting(range)) }
    }

    /// The events with a flag; nil if all have it.
    func events(with flag: RowFlags) -> [Int32]? {
        let bit = Int64(flag.rawValue)
        let found = flags.indices.filter { flags[$0] & bit != 0 }
        return found.count < flags.count ? found.map { Int32(truncatingIfNeeded: $0) } : nil
    }
}

/// The place in its batch and in its replica that an event is expected to have after the one
/// before it.
struct EnvelopePrediction {
    private var lastReplica: Int64 = -1
    private var lastOffset: Int64 = 0
    private var lastCount: Int64 = 1
    private var nextSequences: [Int64]

    /// `firstSequences` are those of the segment's replicas.
    init(firstSequences: [Int64]) { nextSequences = firstSequences }

    /// The sequence that the next event of this replica has if none is left out.
    func sequence(of replica: Int64) -> Int64 { nextSequences[Int(replica)] }

    /// The place and the number of the batch that are expected of an event of this replica.
    func batch(of replica: Int64) -> (offset: Int64, count: Int64) {
        guard replica == lastReplica, lastOffset &+ 1 < lastCount else { return (0, 1) }
        return (lastOffset &+ 1, lastCount)
    }

    mutating func note(replica: Int64, sequence: Int64, offset: Int64, count: Int64) {
        nextSequences[Int(replica)] = sequence &+ 1
        lastReplica = replica
        lastOffset = offset
        lastCount = count
    }
}
