package import DiarioCore
package import DiarioCrypto
package import DiarioFormat
package import DiarioSchema
package import DiarioStorage

/// Takes over what is pending in a damaged directory into a new copy of the same space:
/// schema/format/salvage.md, section 6.
package struct LaneSalvage: ~Copyable {
    /// What came of it.
    package struct Outcome: Sendable {
        /// Events that are pending in the copy now.
        package var pending: UInt64 = 0
        /// Those of them that were recorded again under the id of the copy.
        package var recordedAgain: UInt64 = 0
        /// Batches of the inbox.
        package var inbox = 0
        package var faults: [Fault] = []
    }

    private let directory: any LogDirectory
    private let store: LogStore
    private let space: SpaceID
    private let find: (TypeEntry) -> EventType?
    private var known: [TypeEntry: EventType]
    /// What was done so far.
    package private(set) var outcome = Outcome()
    private var frames: LogPieces
    private var stage = Stage.log
    private var sources: SalvageSources?
    private var writing: Writing?

    private enum Stage {
        case log
        case segments(SpaceID)
        case events
    }

    /// The events that are being taken over.
    private struct Writing: ~Copyable {
        var sources: SalvageSources
        var lane: LaneTransfer
        let entries: [InboxEntry]
        let refused: [RefusedRun]
        /// The replicas whose events are still to be taken, the next one last.
        var rest: [ReplicaID]
        /// The sequence that is looked for next.
        var next: UInt64 = 1
        var batch = RefusedBatch()
    }

    /// `space` is a copy that is being made, of which nothing is pending yet.
    package init(
        from directory: any LogDirectory,
        into space: SpaceID,
        of store: LogStore,
        packs: [Hash32: [PackFile]],
        types find: @escaping (TypeEntry) -> EventType?
    ) throws(LogError) {
        var known = try Self.types(of: packs, in: directory)
        known.note(store.shared.types)
        frames = try LogPieces(directory)
        self.known = known
        self.directory = directory
        self.store = store
        self.space = space
        self.find = find
    }

    /// Goes on by about so many bytes, or by a file of the log or a segment; false once all was
    /// taken over.
    package mutating func step(_ budget: Int) throws(LogError) -> Bool {
        try spend(budget) { () throws(LogError) in try step() }
    }

    private mutating func step() throws(LogError) -> Int? {
        switch stage {
        case .log:
            if let size = try frames.step() { return size }
            outcome.faults += frames.faults
            let old = try findSpace()
            sources = try SalvageSources(old, frames, directory, known)
            stage = .segments(old)
            return 0
        case .segments(let old):
            guard var current = sources.take() else { return nil }
            if let size = try current.step() {
                sources = consume current
                return size
            }
            try begin(old, current)
            stage = .events
            return 0
        case .events:
            guard var current = writing.take() else { return nil }
            let size = try take(&current)
            if size == nil {
                try current.lane.flush()
                outcome.faults += current.sources.faults
                outcome.recordedAgain = UInt64(current.lane.newOrigins.count)
            } else {
                writing = consume current
            }
            return size
        }
    }

    private static func types(
        of packs: [Hash32: [PackFile]],
        in directory: any LogDirectory
    ) throws(LogError) -> [TypeEntry: EventType] {
        var known: [TypeEntry: EventType] = [:]
        for files in packs.values {
            if let pack = try? Pack(files: files) { known.note(pack.types) }
        }
        for name in try SalvagedFiles.names(in: LogPaths.packs, of: directory) {
            guard let fingerprint = Hash32(text: name),
                let files = try? KeptPacks(directory).files(fingerprint),
                let pack = try? Pack(files: files)
            else { continue }
            known.note(pack.types)
        }
        return known
    }

    /// The space of the damaged directory that has the lineage of the copy, or is the only one.
    private func findSpace() throws(LogError) -> SpaceID {
        let lineage = try SpaceHome.readManifest(space, in: store.directory).lineage
        var others: [SpaceID] = []
        for name in try SalvagedFiles.names(in: LogPaths.spaces, of: directory) {
            guard let id = SpaceID(text: name) else { continue }
            let bytes = try? Files.contents(
                of: LogPaths.manifest(id),
                in: directory,
                sizeMax: Manifest.sizeMax
            )
            guard let bytes, let manifest = Manifest(bytes.span) else {
                others.append(id)
                continue
            }
            if manifest.lineage == lineage, !manifest.isStaging { return id }
        }
        guard let only = others.first, others.count == 1 else {
            throw .outOfOrder(
                what: "no space there has the lineage \(lineage.text) that this server has"
            )
        }
        return only
    }

    private mutating func begin(
        _ old: SpaceID,
        _ sources: consuming SalvageSources
    ) throws(LogError) {
        let bytes = try? Files.contents(of: LogPaths.replica(old), in: directory, sizeMax: 4096)
        let file = bytes.flatMap { ReplicaFile($0.span) }
        let former = sources.authors(file)
        let (entries, notes) = try SalvagedFiles.inbox(of: old, in: directory, &outcome.faults)
        try store[space].inbox.keep(entries)
        for note in notes { try store[space].inbox.keep(note) }
        outcome.inbox = entries.count
        try store[space].takeFormer(former)
        let head = store[space].head()
        let own = try SpaceHome.read(space, in: store.directory).replica
        writing = Writing(
            sources: sources,
            lane: LaneTransfer(
                store,
                space,
                Origin(replica: own, sequence: 1),
                size: head,
                fork: nil,
                find
            ),
            entries: entries,
            refused: head > 0 ? try store[space].refusals(in: 1...head) : [],
            rest: former.reversed().map { $0.replica }
        )
    }

    /// Takes the next events of a replica that the server has not decided about; gives how many
    /// bytes of them, nil at the end.
    private mutating func take(_ writing: inout Writing) throws(LogError) -> Int? {
        guard let replica = writing.rest.last else { return nil }
        guard let (rows, end) = try writing.sources.next(of: replica, from: writing.next) else {
            writing.rest.removeLast()
            writing.next = 1
            writing.batch = RefusedBatch()
            return 0
        }
        let known = store[space].lastSequence(of: replica)
        let seeds = writing.sources.log.seeds
        for found in rows {
            let row = found.row
            guard row.sequence > known else {
                let isRefused = writing.refused.contains {
                    $0.replica == replica && $0.sequences.contains(row.sequence)
                }
                let isKept = writing.entries.contains {
                    $0.replica == replica && $0.sequences.contains(row.sequence)
                }
                if isRefused, !isKept { try keep(found, &writing.batch, seeds) }
                continue
            }
            try take(found, &writing.lane, seeds)
            outcome.pending += 1
        }
        writing.next = end
        return rows.reduce(0) { $0 + $1.stored.size }
    }

    private mutating func take(
        _ found: SalvagedRow,
        _ lane: inout LaneTransfer,
        _ seeds: [SpaceIndex.SeedKey: Salt]
    ) throws(LogError) {
        let row = found.row
        let node = row.seedNode(found.events, seeds)
        var isErased = found.isWithheld
        if case .present = row.personal, node == nil { isErased = true }
        guard isErased else {
            return try lane.take(row, found.events.bytes.span, found.type, node)
        }
        outcome.faults.append(
            Fault(
                file: found.events.file,
                offset: 0,
                what: "\(row.origin.text): its personal fields read as erased"
            )
        )
        var builder = BlockBuilder()
        var block: [UInt8] = []
        var erased: BlockRow?
        do throws(FormatError) {
            try builder.append(row, of: found.events.bytes.span, type: found.type, erased: .zero)
            builder.write(into: &block, position: nil, times: [], isAuthority: false)
            let summary = try BlockSummary.parse(block.span, verifyChecksum: false)
            var cursor = RowCursor(block.span, summary)
            erased = try cursor.next()
        } catch {
            throw .format(error)
        }
        if let erased { try lane.take(erased, block.span, found.type, nil) }
    }

    /// Puts a refused event into the inbox, with the rest of its batch.
    private mutating func keep(
        _ found: SalvagedRow,
        _ batch: inout RefusedBatch,
        _ seeds: [SpaceIndex.SeedKey: Salt]
    ) throws(LogError) {
        let node = found.row.seedNode(found.events, seeds)
        var entry: InboxEntry?
        do throws(FormatError) {
            entry = try batch.take(found, node, store.now)
        } catch {
            outcome.faults.append(
                Fault(file: found.events.file, offset: 0, what: error.message)
            )
        }
        guard let entry, entry.isOneBatch else { return }
        outcome.inbox += 1
        try store[space].inbox.keep([entry])
    }
}

/// Gathers the events of one batch that was refused.
private struct RefusedBatch: ~Copyable {
    private var cutter = BlockCutter()
    private var first: UInt64 = 0

    /// The batch as the inbox keeps it, once its last event came.
    mutating func take(
        _ found: SalvagedRow,
        _ node: SaltNode?,
        _ now: Timestamp
    ) throws(FormatError) -> InboxEntry? {
        let (row, bytes) = (found.row, found.events.bytes.span)
        let envelope = try PublicPart.parse(bytes, row).envelope
        if envelope.sequence == envelope.batchFirst {
            cutter = BlockCutter()
            first = envelope.sequence
        }
        _ = try cutter.append(
            row,
            of: bytes,
            type: found.type,
            position: nil,
            acceptedAt: nil,
            isAuthority: false,
            node: node
        )
        guard envelope.isLastOfBatch, envelope.batchFirst == first, let block = cutter.close()
        else { return nil }
        return InboxEntry(
            replica: row.replica,
            sequences: first...row.sequence,
            writtenAt: now,
            block: block
        )
    }
}

extension BlockRow {
    /// The node that the salt of a personal part comes from; nil if that is not known.
    func seedNode(
        _ events: StoredEvents,
        _ seeds: [SpaceIndex.SeedKey: Salt]
    ) -> SaltNode? {
        guard case .present = personal else { return nil }
        if let node = events.salts?.node(of: replica, sequence: sequence) { return node }
        let group = SaltSeed.group(of: sequence)
        return seeds[SpaceIndex.SeedKey(replica: replica, group: group)].map {
            SaltSeed(replica: replica, group: group, root: $0).node
        }
    }
}
