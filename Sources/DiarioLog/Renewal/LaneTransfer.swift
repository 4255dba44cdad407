import DiarioCore
import DiarioFormat
import DiarioSchema

/// Puts pending events of one space into the lane of another: under their origins as long as these
/// follow what is there, and from then on as new events.
struct LaneTransfer: ~Copyable {
    private let store: LogStore
    private let new: SpaceID
    /// Canonical events of the new space: no base is above.
    private let size: UInt64
    private let fork: Origin?
    private let find: (TypeEntry) -> EventType?
    private var lane: LaneBlocks
    /// True once events are recorded again.
    private(set) var isAgain = false
    /// The next origin under which an event is recorded again.
    private var next: Origin
    private(set) var newOrigins: [Origin: Origin] = [:]
    /// Of the last event that was recorded again.
    private var lastClock = HybridTime(rawValue: 0)
    /// Of each replica the sequence that comes next in the new space.
    private var expected: [ReplicaID: UInt64] = [:]
    private var payload = Payload()

    /// From `fork` on events are recorded again in any case, the first of them as `next`.
    init(
        _ store: LogStore,
        _ new: SpaceID,
        _ next: Origin,
        size: UInt64,
        fork: Origin?,
        _ find: @escaping (TypeEntry) -> EventType?
    ) {
        self.store = store
        self.new = new
        self.next = next
        self.size = size
        self.fork = fork
        self.find = find
        lane = LaneBlocks(store, new)
    }

    mutating func flush() throws(LogError) { try lane.flush() }

    /// The sequence that comes next of a replica.
    mutating func expectedSequence(of replica: ReplicaID) -> UInt64 {
        if let known = expected[replica] { return known }
        let first = store[new].lastSequence(of: replica) + 1
        expected[replica] = first
        return first
    }

    /// Puts a row into the lane, under its origin or as a new event.
    mutating func take(
        _ row: BlockRow,
        _ bytes: Span<UInt8>,
        _ type: TypeEntry,
        _ node: SaltNode?
    ) throws(LogError) {
        let part: PublicPart
        do throws(FormatError) { part = try PublicPart.parse(bytes, row) } catch {
            throw .format(error)
        }
        // The authority waits for each sequence: all events after a missing one get a new id.
        if row.origin == fork || row.sequence != expectedSequence(of: row.replica) {
            isAgain = true
        }
        expected[row.replica] = row.sequence + 1
        let isFirst = part.envelope.batchFirst == row.sequence
        guard isAgain else {
            return try lane.append(row, of: bytes, type, node: node, isFirst: isFirst)
        }
        try record(row, part, bytes, type)
    }

    /// Records an event again: all as it was but its origin, and ids that were made of such.
    private mutating func record(
        _ row: BlockRow,
        _ part: PublicPart,
        _ bytes: Span<UInt8>,
        _ entry: TypeEntry
    ) throws(LogError) {
        let origin = next
        next = Origin(replica: next.replica, sequence: next.sequence + 1)
        newOrigins[row.origin] = origin
        var envelope = part.envelope
        let offset = row.sequence - envelope.batchFirst
        envelope.replica = origin.replica
        envelope.sequence = origin.sequence
        envelope.batchFirst = origin.sequence - offset
        envelope.base = min(envelope.base, size)
        // Events under one id may come from several replicas, each with its own clock.
        envelope.clock = max(envelope.clock, HybridTime(rawValue: lastClock.rawValue + 1))
        lastClock = envelope.clock
        guard let type = find(entry), Fingerprint.schema(type) == entry.fingerprint else {
            // Nobody here can tell which of its fields are ids; the authority will refuse it.
            return try lane.append(row, of: bytes, entry, envelope)
        }
        var draft = DraftBatch()
        do throws(FormatError) {
            try PayloadCodec.decode(bytes, row, part, plan: PayloadPlan(type), into: &payload)
            let origins = newOrigins
            payload.replaceIDs(of: type) { Self.renamed($0, by: origins) }
            let actor = part.actor.map { Array(bytes, $0) }
            var subject = part.subject.map { Array(bytes, $0) }
            if let named = subject, let new = Self.renamed(named[...], by: origins) {
                subject = new
            }
            try draft.append(
                payload,
                type: type,
                at: part.envelope.at,
                actor: actor?.span,
                subject: subject?.span,
                ifUnchanged: part.flags.contains(.ifUnchanged),
                origin: origin
            )
        } catch {
            throw .format(error)
        }
        try lane.append(draft, envelope)
    }

    /// The new form of an id that is an origin; nil if it stays as it is.
    private static func renamed(
        _ id: ArraySlice<UInt8>,
        by origins: [Origin: Origin]
    ) -> [UInt8]? {
        guard let origin = Origin(text: String(decoding: id, as: UTF8.self)) else { return nil }
        return origins[origin].map { Array($0.text.utf8) }
    }
}
