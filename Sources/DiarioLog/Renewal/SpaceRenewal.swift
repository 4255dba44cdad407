package import DiarioCore
package import DiarioFormat
package import DiarioSchema
import DiarioStorage

/// Rebuilds a replica of a space beside the old one, which it then replaces:
/// schema/format/sync.md, section 9.
package struct SpaceRenewal: ~Copyable {
    /// The parameters of a rebuild.
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

    /// The result of a rebuild.
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
    private var lane: LaneTransfer
    /// The inbox entries of each replica beyond the new space's history, in order.
    private var waiting: [ReplicaID: ArraySlice<InboxEntry>] = [:]
    private var kept: [InboxEntry] = []
    /// Events of others beyond the size, and how many there were.
    private var others = KeptBlocks()
    private var otherCount: UInt64 = 0
    private var pendingAgain: UInt64 = 0

    /// How often others may record events meanwhile.
    private static let attemptCountMax = 100

    /// Rebuilds the space `old`; `types` finds the schemas of its events.
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
        let inbox = try store[old].inbox.hold()
        defer { inbox.release() }
        let imports = try store[old].imports.hold()
        defer { imports.release() }
        for _ in 0..<attemptCountMax {
            // Looked at first: the new space says where the ids of these events end.
            let standing = store[old].standing()
            let staged = try stage(inPlaceOf: store[old], epoch: plan.epoch, fork: plan.fork)
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
                // A space that has already replaced the old one is not staged any more.
                try? store[staged.space].removeStaged()
                guard case .moved = error else { throw error }
                continue
            }
            try store[staged.space].remove()
        }
        throw .outOfOrder(what: "other programs record into this space all the time")
    }

    /// Makes an empty space that is to take the place of another one, with a replica id of its own.
    ///
    /// Of the replica of `fork`, another device recorded what has a position from there on.
    private static func stage(
        inPlaceOf old: SpaceLog,
        epoch: UInt64,
        fork: Origin? = nil
    ) throws(LogError) -> (space: SpaceID, replica: ReplicaID, lock: any DirectoryLock) {
        let directory = old.shared.directory
        let former = try old.ownReplicas().map { own in
            var last = own.lastSequence
            if last == .max { last = old.lastSequence(of: own.replica) }
            if let fork, fork.replica == own.replica { last = min(last, fork.sequence - 1) }
            return FormerID(own.replica, lastSequence: last)
        }
        let lineage = try SpaceHome.readManifest(old.space, in: directory).lineage
        let manifest = Manifest(
            space: SpaceID(drawnFrom: old.shared.entropy),
            lineage: lineage,
            epoch: epoch,
            isStaging: true
        )
        let lock = try old.log.stageSpace(manifest, former: former)
        do throws(LogError) {
            let home = try SpaceHome.read(manifest.space, in: directory)
            return (manifest.space, home.replica, lock)
        } catch {
            lock.release()
            throw error
        }
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
        new = staged.space
        own = try store[old].ownReplicas().reduce(into: [:]) { own, id in
            own[id.replica] = max(own[id.replica] ?? 0, id.lastSequence)
        }
        lane = LaneTransfer(
            store,
            staged.space,
            Origin(replica: staged.replica, sequence: 1),
            size: plan.size,
            fork: plan.fork,
            find
        )
    }

    /// Nil if the old space is not what it was any more.
    private mutating func run(_ standing: SpaceStanding) throws(LogError) -> Outcome? {
        let size = try wholeBatches(through: min(plan.size, standing.head))
        try copyCanonical(through: size)
        try sortInbox()
        try store[old].kept.copy(to: new)
        if size < standing.head { try takeBack(size + 1...standing.head) }
        for pending in standing.pending {
            var cursor = try store.cursor(old, allOf: pending)
            while let events = try cursor.next() { try take(events.rows, of: events) }
        }
        for replica in waiting.keys.sorted() { try takeWaiting(of: replica, before: .max) }
        try lane.flush()
        try copyInbox()
        try copyImports()
        // A damaged one can be set again.
        if let remote = try? store[old].remote() { try store[new].setRemote(remote) }
        guard try store[new].activate(inPlaceOf: old, ifStill: standing) else { return nil }
        return Outcome(
            space: new,
            recordedAgain: UInt64(lane.newOrigins.count),
            pendingAgain: pendingAgain,
            kept: otherCount
        )
    }

    /// The position that ends the last batch which ends up to this one.
    ///
    /// Of a batch of which some events only are the same elsewhere, all are taken back.
    private func wholeBatches(through size: UInt64) throws(LogError) -> UInt64 {
        guard let last = try store[old].envelope(at: size) else { return size }
        return last.isLastOfBatch ? size : size - (last.sequence - last.batchFirst + 1)
    }

    private func copyCanonical(through size: UInt64) throws(LogError) {
        var position: UInt64 = 0
        var unpacker = BlockUnpacker()
        while position < size {
            let rest = Int(clamping: size - position)
            let (pieces, end) = try store[old].news(after: position, own: [:], countMax: rest)
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
            try store[new].append(contents)
            position = end
        }
    }

    /// Events refused after the size are judged again; the rest stays in the inbox.
    private mutating func sortInbox() throws(LogError) {
        for entry in try store[old].inbox.entries() {
            let isKnown = entry.sequences.lowerBound < lane.expectedSequence(of: entry.replica)
            if isKnown || own[entry.replica] == nil {
                kept.append(entry)
            } else {
                waiting[entry.replica, default: []].append(entry)
            }
        }
    }

    private func copyInbox() throws(LogError) {
        try store[new].inbox.keep(kept)
        let (notes, faults) = try store[old].inbox.readNotes()
        if let fault = faults.first { throw .corrupt(fault) }
        for note in notes {
            try store[new].inbox.keep(
                InboxNote(
                    old: note.old,
                    count: note.count,
                    new: lane.newOrigins[note.new] ?? note.new
                )
            )
        }
    }

    private func copyImports() throws(LogError) {
        let (notes, faults) = try store[old].imports.read()
        if let fault = faults.first { throw .corrupt(fault) }
        var known: [ImportedRun] = []
        for note in notes {
            if let group = note.group, !isRecordedAgain(group) {
                // The next import checks if its events were recorded.
                try store[new].imports.keep(note)
            } else {
                for run in note.runs { known += renamed(run) }
            }
        }
        guard !known.isEmpty else { return }
        try store[new].imports.keep(ImportNote(group: nil, runs: known))
    }

    private func isRecordedAgain(_ group: ImportNote.Group) -> Bool {
        group.sequences.contains {
            lane.newOrigins[Origin(replica: group.first.replica, sequence: $0)] != nil
        }
    }

    /// A run of imported events with the origins that they have in the new space.
    private func renamed(_ run: ImportedRun) -> [ImportedRun] {
        guard !lane.newOrigins.isEmpty else { return [run] }
        var runs: [ImportedRun] = []
        for index in 0..<run.count {
            let rest = run.dropFirst(index)
            runs.appendMerging(
                ImportedRun(
                    first: rest.first,
                    count: 1,
                    newFirst: lane.newOrigins[rest.newFirst] ?? rest.newFirst
                )
            )
        }
        return runs
    }

    /// Events that have no position any more: own ones are pending again, others are kept.
    private mutating func takeBack(_ positions: ClosedRange<UInt64>) throws(LogError) {
        var cursor = try store.cursor(old, positions: positions, .canonical)
        while let events = try cursor.next() {
            // The authority records its own events again where needed.
            let rows = events.rows.filter { !$0.isAuthority }
            try take(rows, of: events, isCanonical: true)
        }
        try keepOthers()
    }

    /// Keeps an event of another author: perhaps only this replica has it.
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
        if let file = others.take(at: store.now) { try store[new].kept.append(file) }
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
                try lane.take(row, bytes.span, head.types[row.typeIndex], node)
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
            let node = seeds.node(of: row)
            guard !isCanonical || isTaken(row) else {
                try keep(stored, of: events, node)
                continue
            }
            if isCanonical { pendingAgain += 1 }
            try lane.take(row, events.bytes.span, events.types[row.typeIndex], node)
        }
    }

    /// True if an event that had a position is pending again: if it is an own one.
    ///
    /// Events that another device recorded under this id are pushed by that device. If possible
    /// they are pushed from here too, unchanged, but never recorded again.
    private mutating func isTaken(_ row: BlockRow) -> Bool {
        guard let last = own[row.replica] else { return false }
        guard row.sequence > last else { return true }
        return !lane.isAgain && row.sequence == lane.expectedSequence(of: row.replica)
    }
}
