import DiarioCore
import DiarioEngine
import DiarioFormat
import DiarioLog
import DiarioProjection
import DiarioServer
import DiarioStorage
import DiarioSync

/// A replica of a sync world, on a machine of its own.
final class Device: Peer {
    let number: Int
    /// The actor that its token names; nil if it may name any.
    let actor: String?
    /// The roles that its token gives.
    var roles: [String] = []
    /// True if its program has another schema for notes than the space.
    let hasOtherSchema: Bool
    var link = Link()
    /// Nil while it does not sync.
    var session: ReplicaSession?
    /// The number of the request in transit, if any.
    var request: Int?
    /// Counts the times at which it is woken: only the last one holds.
    var wakeNumber = 0
    /// True while its token gives no rights.
    var isRevoked = false
    /// True if a refusal because of that may still be on its way.
    var mayBeForbidden = false
    /// True if one of its requests was damaged since it last got a proper answer.
    var mayBeMisread = false
    /// Ids of things that it made.
    var things: [[UInt8]] = []
    var contents = Contents()
    /// The read models, in memory, and the version of the pack that they are of.
    var models: ModelFile?
    var modelVersion = 0
    /// An earlier state of the disk, to be restored.
    var backup: Backup?
    /// True from when its disk was put back until its log was read.
    var isPutBack = false
    /// The largest answer that it was given.
    var answerSizeMax = 0

    /// What its disk must have, and the state of its log when last read.
    struct Contents {
        /// Replicas under which it recorded, or the device whose disk it was copied from.
        var replicas: Set<ReplicaID> = []
        /// Events that it recorded, or that were on the disk it was copied from.
        var recorded: Set<Int64> = []
        /// Its pending events, by token.
        var holds: [Int64: Hold] = [:]
        /// Events that have to be in its inbox.
        var refused: [Origin: Int64] = [:]
        /// Events of others that it had, that the server lost, and that it has to keep until they
        /// are in the log again, or refused.
        var others: Set<Int64> = []
        var space: SpaceID?
        var epoch: UInt64 = 0
        var head: UInt64 = 0
        /// Canonical events that were compared with the ledger since the log was opened.
        var compared: UInt64 = 0

        /// Events that a copy of the disk may not have.
        var unsecured: [Int64] { holds.filter { !$0.value.isSynced }.map(\.key) }

        /// What a copy of the disk must have.
        var copy: Contents {
            var copy = self
            copy.recorded.subtract(unsecured)
            return copy
        }

        /// The device has an event, without a verdict.
        mutating func hold(_ token: Int64, _ origin: Origin) {
            holds[token] = Hold(isSynced: true, origin: origin)
        }
    }

    /// An event without a verdict on a device, which must have it if it is synced.
    struct Hold: Hashable {
        var isSynced: Bool
        var origin: Origin?
    }

    /// A copy of the disk, with the events that must be on it.
    struct Backup {
        let disk: CrashDisk
        /// True if nothing shows that the disk was restored.
        let isSnapshot: Bool
        let contents: Contents
    }

    init(
        _ number: Int,
        _ disk: CrashDisk,
        _ sizes: LogSizes,
        entropySeed: UInt64,
        _ space: SpaceID,
        _ kinds: SyncKinds,
        actor: String? = nil,
        hasOtherSchema: Bool = false
    ) {
        self.number = number
        self.actor = actor
        self.hasOtherSchema = hasOtherSchema
        super.init("device\(number)", disk, sizes, entropySeed: entropySeed, space, kinds)
    }

    /// A device of a world as it begins.
    convenience init(
        _ number: Int,
        of plan: SyncPlan,
        _ space: SpaceID,
        _ kinds: SyncKinds,
        using random: inout SeededRandom
    ) {
        let sizes = plan.sizes(using: &random)
        var (drift, offset): (Int64, Int64) = (0, 0)
        if plan.traits.contains(.wildClocks) {
            drift = Int64(random.below(2001)) - 1000
            offset = Int64(random.below(7_200_000)) - 3_600_000
        }
        self.init(
            number,
            CrashDisk(machineID: "device\(number)"),
            sizes,
            entropySeed: plan.seed ^ UInt64(number + 1) << 32,
            space,
            kinds,
            actor: random.oneIn(4) ? nil : "actor\(number)",
            hasOtherSchema: plan.traits.contains(.refusals) && random.oneIn(8)
        )
        roles = random.oneIn(3) ? [] : [random.pick(Makers.roles)]
        driftPerMillion = drift
        clockOffset = offset
    }

    override func forgetProgram() {
        session = nil
        request = nil
        wakeNumber += 1
    }

    /// The caller of a request: an administrator sends events of others.
    func caller(of request: [UInt8]) -> Caller {
        if isRevoked { return Caller(rights: [], actor: actor) }
        if case .relay? = try? SyncMessage(request.span) {
            return Caller(rights: .all, actor: actor)
        }
        return Caller(rights: [.read, .append], actor: actor, roles: roles)
    }

    /// It recorded an event; without an origin, that may be in its log or not.
    func note(_ event: SyncEvent, _ origin: Origin?) {
        contents.recorded.insert(event.token)
        contents.holds[event.token] = Hold(isSynced: origin != nil, origin: origin)
        guard let origin else { return }
        contents.replicas.insert(origin.replica)
        if event.kind == .thing, let id = Ledger.subject(event, origin) { things.append(id) }
    }

    // MARK: Reading

    /// The pending events, in order.
    func lane() throws -> [(token: Int64, row: SyncKinds.Row)] {
        try read("a read") { store in
            var found: [(token: Int64, row: SyncKinds.Row)] = []
            var cursor = try store.cursor(space, .pending)
            while let events = try cursor.next() {
                for stored in events.rows {
                    let row = try kinds.read(stored, of: events)
                    guard case .event(let event) = row.content else {
                        throw Broken(.content, "an event of the authority is pending on \(name)")
                    }
                    found.append((event.token, row))
                }
            }
            return found
        }
    }

    /// The events in the inbox.
    func inbox(_ book: Book) throws -> [Origin: Int64] {
        let rows = try read("the inbox") { store in
            var unpacker = BlockUnpacker()
            return try store[space].inbox.entries().flatMap {
                try kinds.rows(in: $0.block, &unpacker)
            }
        }
        var found: [Origin: Int64] = [:]
        for (origin, token) in try book.recorded(rows, "in the inbox of \(name)") {
            guard found.updateValue(token, forKey: origin) == nil else {
                throw Broken(.once, "an event is twice in the inbox of \(name)")
            }
        }
        return found
    }

    /// The events of others that it keeps, and their origins.
    func kept(_ book: Book) throws -> [Int64: Origin] {
        let rows = try read("the kept events") { store in
            var unpacker = BlockUnpacker()
            let kept = store[space].kept
            return try kept.numbers().flatMap { try kept.file($0)?.blocks ?? [] }
                .flatMap { try kinds.rows(in: $0.block, &unpacker) }
        }
        var found: [Int64: Origin] = [:]
        for (origin, token) in try book.recorded(rows, "kept by \(name)") { found[token] = origin }
        return found
    }

    // MARK: Syncing

    /// A push of the lane without its first batch, as a faulty program could send it, and where it
    /// starts; nil if there is no more than that.
    func pushWithGap(_ lineage: Lineage) throws -> (UInt64, Push)? {
        let lane = try lane().map(\.row.envelope)
        guard let first = lane.first?.origin, let last = lane.last?.origin,
            last.replica == first.replica,
            let start = lane.first(where: { $0.batchFirst > first.sequence })?.batchFirst
        else { return nil }
        return try read("a push") { store in
            let events = PendingEvents(replica: first.replica, sequences: start...last.sequence)
            let push = Push(
                standing: Standing(
                    lineage: lineage,
                    epoch: contents.epoch,
                    size: head,
                    root: try store[space].root()
                ),
                replica: first.replica,
                blocks: try store[space].pendingBlocks(events).blocks
            )
            return (start, push)
        }
    }

    /// The most by which blocks of these worlds grow when they are unpacked.
    private static let expansionMax = 16

    /// A session holds no more than one answer with its unpacked blocks, and a little for each
    /// replica that it speaks for.
    func checkMemory() throws {
        guard let session else { return }
        let size = Reach.size(of: session)
        guard size <= Self.expansionMax * answerSizeMax + 16_384 else {
            throw Broken(
                .bounded,
                "the session of \(name) holds \(size) bytes, and the largest answer has "
                    + "\(answerSizeMax)"
            )
        }
    }

    /// True if it has all that the authority has, and nothing else.
    func isSettled(at ledger: Ledger) -> Bool {
        guard request == nil, let store, contents.epoch == ledger.epoch,
            case .live = session?.machine.state, session?.isRelaying == false
        else { return false }
        let standing = store[space].standing()
        return standing.head == ledger.head && standing.pending.isEmpty
    }

    /// Its state in words.
    func state(at ledger: Ledger) -> String {
        guard let store else { return "\(name) is off" }
        let standing = store[space].standing()
        let state = session.map { "\($0.machine.state)" } ?? "no session"
        return "\(name) at \(standing.head) of \(ledger.head) with "
            + "\(standing.pending.count) runs pending, \(state)"
    }
}

/// The memory that a value reaches, by reflection.
enum Reach {
    /// Bytes of a value and all values in it, without the contents of objects.
    static func size(of value: Any) -> Int {
        if let bytes = value as? [UInt8] { return bytes.count }
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle != .class else { return 8 }
        guard !mirror.children.isEmpty else { return 8 }
        return mirror.children.reduce(8) { $0 + size(of: $1.value) }
    }
}
