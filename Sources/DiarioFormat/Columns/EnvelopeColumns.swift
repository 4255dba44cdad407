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

    init() {}

    /// The columns of rows, and their texts.
    init(_ rows: [EnvelopeRow], actors: ByteStrings, subjects: ByteStrings) {
        types = rows.map { Int64($0.type) }
        replicas = rows.map { Int64($0.replica) }
        sequences = rows.map { Int64(bitPattern: $0.sequence) }
        clocks = rows.map { Int64(bitPattern: $0.clock) }
        times = rows.map(\.time)
        batchOffsets = rows.map { Int64($0.batchOffset) }
        batchCounts = rows.map { Int64($0.batchCount) }
        bases = rows.map { Int64(bitPattern: $0.base) }
        flags = rows.map { Int64($0.flags) }
        self.actors = actors
        self.subjects = subjects
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

/// What all events have, of one event: gathered as it comes, since to append to ten columns takes
/// longer than to go through the rows ten times.
struct EnvelopeRow {
    var type: Int32
    var replica: Int32
    var batchOffset: UInt32
    var batchCount: UInt32
    var sequence: UInt64
    var clock: UInt64
    var time: Int64
    var base: UInt64
    var flags: UInt8

    init(_ part: PublicPart, type: Int, replica: Int, isAuthority: Bool) {
        let envelope = part.envelope
        self.type = Int32(truncatingIfNeeded: type)
        self.replica = Int32(truncatingIfNeeded: replica)
        // Not above `Limits.batchCountMax`, as was checked when the part was read.
        batchOffset = UInt32(truncatingIfNeeded: envelope.sequence &- envelope.batchFirst)
        batchCount = UInt32(truncatingIfNeeded: envelope.batchCount)
        sequence = envelope.sequence
        clock = envelope.clock.rawValue
        time = envelope.at.milliseconds
        base = envelope.base
        flags = part.flags.rawValue | (isAuthority ? UInt8(EnvelopeColumns.authorityFlag) : 0)
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
