import DiarioCore

/// The columns that all events of a segment have, one number for each event.
struct EnvelopeColumns {
    var types: [Int64] = []
    var replicas: [Int64] = []
    var sequences: [Int64] = []
    var clocks: [Int64] = []
    var times: [Int64] = []
    var accepted: [Int64] = []
    var batchOffsets: [Int64] = []
    var batchCounts: [Int64] = []
    var bases: [Int64] = []
    var flags: [Int64] = []
    /// Over the events that have one.
    var actors = ByteStrings()
    var subjects = ByteStrings()

    /// Stands for "an authority wrote this" among the flags.
    static let authorityFlag: Int64 = 32

    mutating func reserve(_ count: Int) {
        types.reserveCapacity(count)
        replicas.reserveCapacity(count)
        sequences.reserveCapacity(count)
        clocks.reserveCapacity(count)
        times.reserveCapacity(count)
        accepted.reserveCapacity(count)
        batchOffsets.reserveCapacity(count)
        batchCounts.reserveCapacity(count)
        bases.reserveCapacity(count)
        flags.reserveCapacity(count)
    }

    /// Adds what the public part of an event says of itself.
    mutating func append(_ part: PublicPart, of bytes: Span<UInt8>) {
        let envelope = part.envelope
        sequences.append(Int64(bitPattern: envelope.sequence))
        clocks.append(Int64(bitPattern: envelope.clock.rawValue))
        times.append(envelope.at.milliseconds)
        batchOffsets.append(Int64(bitPattern: envelope.sequence &- envelope.batchFirst))
        batchCounts.append(Int64(envelope.batchCount))
        bases.append(Int64(bitPattern: envelope.base))
        if let range = part.actor { actors.append(bytes.raw.extracting(range)) }
        if let range = part.subject { subjects.append(bytes.raw.extracting(range)) }
    }

    /// The rows with a flag, by event index; nil if all have it.
    func rows(with flag: RowFlags) -> [Int32]? {
        let bit = Int64(flag.rawValue)
        let flags = flags.span
        var all = bit
        for index in flags.indices { all &= flags[index] }
        guard all == 0 else { return nil }
        // Safe: `count` is of rows before the one at hand, and what lies before it was written.
        return unsafe [Int32](unsafeUninitializedCapacity: flags.count) { target, count in
            count = 0
            guard let target = target.baseAddress else { return }
            for index in flags.indices {
                // Written always and kept if the bit is set: chance has no branch here.
                unsafe target[count] = Int32(truncatingIfNeeded: index)
                count &+= unsafe flags[unchecked: index] & bit == 0 ? 0 : 1
            }
        }
    }
}

/// What follows of an event's place in its batch and in its replica from the event before it.
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
