package import DiarioCore
package import DiarioFormat
package import DiarioSchema
import DiarioStorage

/// Makes a replica of a space anew, beside the one that it takes the place of:
/// schema/format/sync.md, section 9.
package struct SpaceRenewal: ~Copyable {
    /// What a space is made anew with.
    package struct Plan: Sendable {
        /// Canonical events up to this position stay.
        package var size: UInt64
        package var epoch: UInt64
        /// Pending events from this one on are recorded again under a new id.
        package var fork: Origin?

        package init(size: UInt64, epoch: UInt64, fork: Origin? = nil) {
            self.size = size
            self.epoch = epoch
            self.fork = fork
        }
    }

    /// What came of it.
    package struct Outcome: Sendable {
        /// The space that took the place of the old one.
        package let space: SpaceID
        /// Events that were recorded again under a new id.
        package let recordedAgain: UInt64
        /// Own events that lost their positions, and are pending again.
        package let pendingAgain: UInt64
        /// Events of others that the authority does not have, which are kept in files.
        package let kept: UInt64
    }

    private let store: LogStore
    private let old: SpaceID
    private let new: SpaceID
    private let plan: Plan
    /// The ids of this replica, with the last sequence of each that was recorded here.
    private let own: [ReplicaID: UInt64]
    private let find: (TypeEntry) -> EventType?
    private var lane: LaneBlocks
    private var isAgain = false
    /// The next origin under which an event is recorded again.
    private var next: Origin
    private var newOrigins: [Origin: Origin] = [:]
    /// Of the last event that was recorded again.
    private var lastClock = HybridTime(rawValue: 0)
    /// Of each replica the sequence that comes next in the new space.
    private var expected: [ReplicaID: UInt64] = [:]
    /// What the inbox has of each replica beyond the new space's history, in order.
    private var waiting: [ReplicaID: ArraySlice<InboxEntry>] = [:]
    private var kept: [InboxEntry] = []
    /// Events of others beyond the size, and how many there were.
    private var others = KeptBlocks()
    private var otherCount: UInt64 = 0
    private var pendingAgain: UInt64 = 0
    private var payload = Payload()

    /// How often somebody may record something meanwhile.
    private static let attemptCountMax = 100

    /// Makes the space `old` anew; `types` finds the schemas of its events.
    ///
    /// When it throws, the old space is as it was.
    package static func run(
        _ plan: Plan,
        of old: SpaceID,
        in store: LogStore,
        types find: @escaping (TypeEntry) -> EventType?
    ) throws(LogError) -> Outcome {
        try store.removeRemains()
        // Nobody takes anything out of the inbox while it is copied.
        let inbox = try store.holdInbox(of: old)
        defer { inbox.release() }
        let imports = try store.holdImports(of: old)
        defer { imports.release() }
        for _ in 0..<attemptCountMax {
            // Looked at first: the new space says where the ids of these events end.
            let standing = store.standing(of: old)
            let staged = try store.stage(inPlaceOf: old, epoch: plan.epoch, fork: plan.fork)
            defer { staged.lock.release() }
            do throws(LogError) {
                var renewal = try SpaceRenewal(
                    plan,
                    old,
                    store,
                    (staged.space, staged.replica),
                    find
                )
                if let outcome = try renewal.run(standing) { return outcome }
            } catch {
                // What took the place of the old space already is not staged any more.
                try? store.removeStaged(staged.space)
                guard case .moved = error else { throw error }
                continue
            }
            try store.remove(staged.space)
        }
        throw .outOfOrder(what: "other programs record into this space all the time")
    }

    private init(
        _ plan: Plan,
        _ old: SpaceID,
        _ store: LogStore,
        _ staged: (space: SpaceID, replica: ReplicaID),
        _ find: @escaping (TypeEntry) -> EventType?
    ) throws(LogError) {
        self.plan = plan
        self.old = old
        self.store = store
        self.find = find
        new = staged.space
        next = Origin(replica: staged.replica, sequence: 1)
        own = Dictionary(
            try store.ownReplicas(of: old).map { ($0.replica, $0.lastSequence) },
            uniquingKeysWith: max
        )
        lane = LaneBlocks(store, staged.space)
    }

    /// Nil if the old space is not what it was any more.
    private mutating func run(_ standing: SpaceStanding) throws(LogError) -> Outcome? {
        let size = try wholeBatches(through: min(plan.size, standing.head))
        try copyCanonical(through: size)
        try sortInbox()
        try store.copyKept(of: old, to: new)
        if size < standing.head { try takeBack(size + 1...standing.head) }
        for pending in standing.pending {
            var cursor = try store.cursor(old, allOf: pending)
            while let events = try cursor.next() { try take(events.rows, of: events) }
        }
        for replica in waiting.keys.sorted() { try takeWaiting(of: replica, before: .max) }
        try lane.flush()
        try copyInbox()
        try copyImports()
        // One that is damaged can be set anew.
        if let remote = try? store.remote(of: old) { try store.setRemote(remote, of: new) }
        guard try store.activate(new, inPlaceOf: old, ifStill: standing) else { return nil }
        return Outcome(
            space: new,
            recordedAgain: UInt64(newOrigins.count),
            pendingAgain: pendingAgain,
            kept: otherCount
        )
    }

    /// The position that ends the last batch which ends up to this one.
    ///
    /// Of a batch of which some events only are the same elsewhere, all are taken back.
    private func wholeBatches(through size: UInt64) throws(LogError) -> UInt64 {
        guard let last = try store.envelope(at: size, of: old) else { return size }
        return last.isLastOfBatch ? size : size - (last.sequence - last.batchFirst + 1)
    }

    private func copyCanonical(through size: UInt64) throws(LogError) {
        var position: UInt64 = 0
        var unpacker = BlockUnpacker()
        while position < size {
            let rest = Int(clamping: size - position)
            let (pieces, end) = try store.news(of: old, after: position, own: [:], countMax: rest)
            guard end > position, end <= size else {
                throw .outOfOrder(what: "a batch goes beyond position \(size)")
            }
            var contents: [Append.Content] = []
            for case .block(let packed) in pieces {
                do throws(FormatError) {
                    for (bytes, head) in try unpacker.unpackAll(packed) {
                        contents.append(.received(ReceivedRows(bytes, head)))
                    }
                } catch {
                    throw .format(error)
                }
            }
            try store.append(contents, to: new)
            position = end
        }
    }

    /// What was refused behind the size is judged again; the rest stays in the inbox.
    private mutating func sortInbox() throws(LogError) {
        for entry in try store.inbox(of: old) {
            let isKnown = entry.sequences.lowerBound < expectedSequence(of: entry.replica)
            if isKnown || own[entry.replica] == nil {
                kept.append(entry)
            } else {
                waiting[entry.replica, default: []].append(entry)
            }
        }
    }

    private func copyInbox() throws(LogError) {
        try store.keepInInbox(kept, of: new)
        let (notes, faults) = try store.readInboxNotes(of: old)
        if let fault = faults.first { throw .corrupt(fault) }
        for note in notes {
            try store.keepInInbox(
                InboxNote(
                    old: note.old,
                    count: note.count,
                    new: newOrigins[note.new] ?? note.new
                ),
                of: new
            )
        }
    }

    private func copyImports() throws(LogError) {
        let (notes, faults) = try store.readImports(of: old)
        if let fault = faults.first { throw .corrupt(fault) }
        var known: [ImportedRun] = []
        for note in notes {
            if let group = note.group, !isRecordedAgain(group) {
                // Whether its events were recorded is seen before the next import.
                try store.keep(note, of: new)
            } else {
                for run in note.runs { known += renamed(run) }
            }
        }
        guard !known.isEmpty else { return }
        try store.keep(ImportNote(group: nil, runs: known), of: new)
    }

    private func isRecordedAgain(_ group: ImportNote.Group) -> Bool {
        group.sequences.contains {
            newOrigins[Origin(replica: group.first.replica, sequence: $0)] != nil
        }
    }

    /// A run of imported events with the origins that they have in the new space.
    private func renamed(_ run: ImportedRun) -> [ImportedRun] {
        guard !newOrigins.isEmpty else { return [run] }
        var runs: [ImportedRun] = []
        for index in 0..<run.count {
            let rest = run.dropFirst(index)
            runs.appendMerging(
                ImportedRun(
                    first: rest.first,
                    count: 1,
                    newFirst: newOrigins[rest.newFirst] ?? rest.newFirst
                )
            )
        }
        return runs
    }

    /// Events that have no position any more: own ones are pending again, others are kept.
    private mutating func takeBack(_ positions: ClosedRange<UInt64>) throws(LogError) {
        var cursor = try store.cursor(old, positions: positions, .canonical)
        while let events = try cursor.next() {
            // What the authority wrote it writes again where that is due.
            let rows = events.rows.filter { !$0.isAuthority }
            try take(rows, of: events, isCanonical: true)
        }
        try keepOthers()
    }

    /// Keeps an event of somebody else: nobody but this replica may have it any more.
    private mutating func keep(
        _ stored: StoredRow,
        of events: StoredEvents,
        _ node: SaltNode?
    ) throws(LogError) {
        guard let position = stored.position, let acceptedAt = stored.acceptedAt else {
            preconditionFailure("what others recorded has positions")
        }
        let row = stored.row
        if others.isFull {
            let begins: Bool
            do throws(FormatError) { begins = try row.begunBatch(events.bytes.span) != nil } catch {
                throw .format(error)
            }
            if begins { try keepOthers() }
        }
        let type = events.types[row.typeIndex]
        try others.append(
            row,
            of: events.bytes.span,
            type,
            at: position,
            acceptedAt,
            node: node
        )
        otherCount += 1
    }

    private mutating func keepOthers() throws(LogError) {
        if let file = others.take(at: store.now) { try store.keep(file, of: new) }
    }

    private mutating func takeWaiting(
        of replica: ReplicaID,
        before sequence: UInt64
    ) throws(LogError) {
        while let entry = waiting[replica]?.first, entry.sequences.lowerBound < sequence {
            waiting[replica]?.removeFirst()
            let bytes: [UInt8]
            let head: BlockHead
            var rows: [BlockRow] = []
            do throws(FormatError) {
                var unpacker = BlockUnpacker()
                (bytes, head) = try unpacker.unpack(entry.block)
                var cursor = RowCursor(bytes.span, head.summary)
                while let row = try cursor.next() { rows.append(row) }
            } catch {
                throw .format(error)
            }
            for row in rows {
                let group = SaltSeed.group(of: row.sequence)
                let node = head.saltNodes.first { $0.group == group }
                try takeRow(row, bytes.span, head.types[row.typeIndex], node)
            }
        }
    }

    private mutating func take(
        _ rows: [StoredRow],
        of events: StoredEvents,
        isCanonical: Bool = false
    ) throws(LogError) {
        var seeds = Seeds(store: store.shared, space: old)
        seeds.segment = events.salts
        for stored in rows {
            let row = stored.row
            try takeWaiting(of: row.replica, before: row.sequence)
            var node: SaltNode?
            if case .present = row.personal {
                node = seeds.node(of: row.replica, sequence: row.sequence)
            }
            guard !isCanonical || isTaken(row) else {
                try keep(stored, of: events, node)
                continue
            }
            if isCanonical { pendingAgain += 1 }
            try takeRow(row, events.bytes.span, events.types[row.typeIndex], node)
        }
    }

    /// Whether an event that had a position is pending again: if it is an own one.
    ///
    /// What another device recorded under this id is for that one to push. If nothing is in the way
    /// it is pushed from here too, as it is, but it is never recorded again.
    private mutating func isTaken(_ row: BlockRow) -> Bool {
        guard let last = own[row.replica] else { return false }
        guard row.sequence > last else { return true }
        return !isAgain && row.sequence == expectedSequence(of: row.replica)
    }

    private mutating func expectedSequence(of replica: ReplicaID) -> UInt64 {
        if let known = expected[replica] { return known }
        let first = store.lastSequence(of: replica, in: new) + 1
        expected[replica] = first
        return first
    }

    /// Puts a row into the lane, under its origin or as a new event.
    private mutating func takeRow(
        _ row: BlockRow,
        _ bytes: Span<UInt8>,
        _ type: TypeEntry,
        _ node: SaltNode?
    ) throws(LogError) {
        let part: PublicPart
        do throws(FormatError) { part = try PublicPart.parse(bytes, row) } catch {
            throw .format(error)
        }
        // The authority waits for each sequence: behind one that nobody has, all gets a new id.
        if row.origin == plan.fork || row.sequence != expectedSequence(of: row.replica) {
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
        envelope.base = min(envelope.base, plan.size)
        // What comes together under one id may come from several, each with a clock of its own.
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
