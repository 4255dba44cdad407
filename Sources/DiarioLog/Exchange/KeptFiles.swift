package import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioStorage

// Events of others that the authority lost, as they are kept here: schema/format/sync.md,
// section 9.

extension SpaceLog {
    /// Events of others that the authority lost.
    package var kept: KeptFiles { KeptFiles(log: log, space: space) }
}

/// The files of kept events of a space.
package struct KeptFiles: Sendable {
    let log: LogStore
    let space: SpaceID

    private var folder: WholeFiles {
        WholeFiles(
            log: log,
            space: space,
            path: LogPaths.kept(space),
            sizeMax: KeptEvents.sizeMax
        )
    }

    private func path(_ number: UInt64) -> String { LogPaths.keptFile(number, of: space) }

    /// How many events of others are kept, and of how many replicas.
    ///
    /// Files that are damaged do not count: `verify` names them.
    package func count() throws(LogError) -> (events: Int, replicas: Int) {
        var (events, replicas): (Int, Set<ReplicaID>) = (0, [])
        for number in try numbers() {
            guard let kept = try wholeFile(number) else { continue }
            events += kept.eventCount
            replicas.formUnion(kept.replicas)
        }
        return (events, replicas.count)
    }

    /// The numbers of the files of kept events, in order.
    package func numbers() throws(LogError) -> [UInt64] {
        try folder.names().compactMap { LogPaths.keptNumber($0) }.sorted()
    }

    /// A file of kept events; nil if somebody has removed it meanwhile.
    package func file(_ number: UInt64) throws(LogError) -> KeptEvents? {
        let path = path(number)
        guard let bytes = try folder.contents(path) else { return nil }
        do throws(FormatError) { return try KeptEvents(bytes.span) } catch {
            throw .corrupt(Fault(file: path, offset: error.offset, what: error.message))
        }
    }

    /// The same, and nil if it is damaged.
    private func wholeFile(_ number: UInt64) throws(LogError) -> KeptEvents? {
        do throws(LogError) { return try file(number) } catch .corrupt(_) {
            return nil
        }
    }

    /// What is wrong with the files of kept events.
    func faults() throws(LogError) -> [Fault] {
        var faults: [Fault] = []
        for number in try numbers() {
            do throws(LogError) { _ = try file(number) } catch {
                guard case .corrupt(let fault) = error else { throw error }
                faults.append(fault)
            }
        }
        return faults
    }

    // MARK: Keeping

    /// Writes one file of kept events, durably, behind those that are there.
    func append(_ file: [UInt8]) throws(LogError) {
        try log.withWriter { (_) throws(LogError) in
            try folder.write([(path((try numbers().last ?? 0) + 1), file)])
        }
    }

    /// Copies what is kept of a space to the one that is to take its place.
    func copy(to new: SpaceID) throws(LogError) {
        for number in try numbers() {
            if let bytes = try folder.contents(path(number)) { try log[new].kept.append(bytes) }
        }
    }

    /// Forgets all kept events; durable when this returns.
    package func removeAll() throws(LogError) {
        try log.withWriter { (_) throws(LogError) in
            try folder.remove(try numbers().map { path($0) })
        }
    }

    /// Forgets those of kept events that are in the log of the space again.
    package func settle() throws(LogError) {
        for number in try numbers() {
            guard let kept = try wholeFile(number) else { continue }
            let known = try knownEvents(of: kept)
            guard !known.isEmpty else { continue }
            var again: Set<Origin> = []
            for block in kept.blocks {
                for batch in try formatted({ () throws(FormatError) in try block.batches() })
                where try isKnown(batch, of: block, known) {
                    again.formUnion(batch.map { $0.origin })
                }
            }
            try remove(again, in: number)
        }
    }

    /// Whether all events of a batch are in the log.
    private func isKnown(
        _ batch: ArraySlice<BlockRow>,
        of block: ReceivedRows,
        _ known: [Origin: KnownEvent]
    ) throws(LogError) -> Bool {
        var hasher = EventHasher()
        for row in batch {
            guard let event = known[row.origin] else { return false }
            let hash = try formatted { () throws(FormatError) in try block.hash(of: row, &hasher) }
            if hash == event.eventHash { continue }
            guard try says(row, of: block, event) else { return false }
        }
        return true
    }

    /// Whether an event of the log says what a kept one does: an author without a log of its own
    /// sent it once more, and the server gave it another clock and salt (http.md, section 7).
    private func says(
        _ row: BlockRow,
        of block: ReceivedRows,
        _ known: KnownEvent
    ) throws(LogError) -> Bool {
        let positions = known.position...known.position
        var cursor = try log.cursor(space, positions: positions, .canonical)
        guard let events = try cursor.next(), let other = events.rows.first?.row else {
            return false
        }
        return try formatted { () throws(FormatError) in
            guard block.head.types[row.typeIndex] == events.types[other.typeIndex] else {
                return false
            }
            let content = try row.content(of: block.block.span)
            return try content == other.content(of: events.bytes.span)
        }
    }

    /// What the log has under the origins of kept events.
    private func knownEvents(of kept: KeptEvents) throws(LogError) -> [Origin: KnownEvent] {
        var ranges: [ReplicaID: ClosedRange<UInt64>] = [:]
        for run in kept.blocks.flatMap({ $0.head.runs }) {
            let (first, last) = (run.firstSequence, run.lastSequence)
            let range = ranges[run.replica] ?? first...last
            ranges[run.replica] = min(range.lowerBound, first)...max(range.upperBound, last)
        }
        var known: [Origin: KnownEvent] = [:]
        for (replica, range) in ranges {
            let last = log[space].lastSequence(of: replica)
            guard range.lowerBound <= last else { continue }
            let sequences = range.lowerBound...min(range.upperBound, last)
            for event in try log[space].known(sequences, of: replica) {
                known[event.origin] = event
            }
        }
        return known
    }

    /// Forgets kept events of one file, which are somewhere else by now; durable when this returns.
    package func remove(
        _ origins: Set<Origin>,
        in number: UInt64
    ) throws(LogError) {
        guard !origins.isEmpty else { return }
        try log.withWriter { (_) throws(LogError) in
            guard let kept = try file(number) else { return }
            var rest = KeptBlocks()
            for block in kept.blocks {
                for row in try formatted({ () throws(FormatError) in try block.rows() })
                where !origins.contains(row.origin) {
                    try rest.append(row, of: block)
                }
            }
            guard let file = rest.take(at: kept.writtenAt) else {
                return try folder.remove([path(number)])
            }
            try folder.write([(path(number), file)])
        }
    }

    // MARK: Sending

    /// The kept events that are sent next: of one replica, behind a place, but none of some
    /// replicas.
    ///
    /// They are in the order that they had, so that what is about another event comes behind it.
    package func next(
        behind place: KeptPlace?,
        without stuck: Set<ReplicaID>,
        countMax: Int
    ) throws(LogError) -> KeptRun? {
        for number in try numbers() where number >= place?.file ?? 0 {
            guard let kept = try wholeFile(number) else { continue }
            let position = number == place?.file ? place?.position ?? 0 : 0
            do throws(FormatError) {
                for block in kept.blocks {
                    let rows = try block.rows()
                    let isNext = { (row: BlockRow) in
                        row.position ?? 0 > position && !stuck.contains(row.replica)
                    }
                    guard let first = rows.firstIndex(where: isNext) else { continue }
                    let run = try block.run(of: rows[first...], countMax: countMax)
                    return try block.keptRun(run, in: number)
                }
            } catch {
                throw .format(error)
            }
        }
        return nil
    }
}

/// Gives an error of a format as one of the log.
private func formatted<Value>(
    _ body: () throws(FormatError) -> Value
) throws(LogError) -> Value {
    do throws(FormatError) { return try body() } catch { throw .format(error) }
}

extension KeptRun {
    /// Those of its batches that were refused, for the inbox.
    package func entries(
        _ refused: [ClosedRange<UInt64>],
        at now: Timestamp
    ) throws(LogError) -> [InboxEntry] {
        do throws(FormatError) {
            let all = ReceivedRows(block, try Block.check(block.span))
            let rows = try all.rows()
            var entries: [InboxEntry] = []
            for sequences in refused {
                let batch = rows.filter { sequences.contains($0.sequence) }
                let entry = InboxEntry(
                    replica: replica,
                    sequences: sequences,
                    writtenAt: now,
                    block: try all.pending(batch[...]).block
                )
                if entry.isOneBatch { entries.append(entry) }
            }
            return entries
        } catch {
            throw .format(error)
        }
    }
}

extension KeptBlocks {
    /// Takes a row of a block that was kept before.
    fileprivate mutating func append(_ row: BlockRow, of block: ReceivedRows) throws(LogError) {
        guard let position = row.position, let acceptedAt = row.acceptedAt else {
            preconditionFailure("what is kept had a position")
        }
        try append(
            row,
            of: block.block.span,
            block.head.types[row.typeIndex],
            at: position,
            acceptedAt,
            node: block.node(of: row)
        )
    }
}

extension ReceivedRows {
    fileprivate func rows() throws(FormatError) -> [BlockRow] {
        var rows: [BlockRow] = []
        var cursor = RowCursor(block.span, head.summary)
        while let row = try cursor.next() { rows.append(row) }
        return rows
    }

    fileprivate func batches() throws(FormatError) -> [ArraySlice<BlockRow>] {
        let rows = try rows()
        var batches: [ArraySlice<BlockRow>] = []
        var start = rows.startIndex
        for index in rows.indices.dropFirst() where try rows[index].begunBatch(block.span) != nil {
            batches.append(rows[start..<index])
            start = index
        }
        if start < rows.endIndex { batches.append(rows[start...]) }
        return batches
    }

    /// The node that the salt of a row comes from; nil if it has no personal part.
    fileprivate func node(of row: BlockRow) -> SaltNode? {
        guard case .present = row.personal else { return nil }
        let group = SaltSeed.group(of: row.sequence)
        return head.saltNodes.first { $0.replica == row.replica && $0.group == group }
    }

    fileprivate func hash(
        of row: BlockRow,
        _ hasher: inout EventHasher
    ) throws(FormatError) -> Hash32 {
        try hasher.eventHash(of: row, head.types[row.typeIndex], block.span, node(of: row))
    }

    /// The first of some rows, with those that follow it under its id: whole batches, as many as
    /// one exchange may take.
    fileprivate func run(
        of rows: ArraySlice<BlockRow>,
        countMax: Int
    ) throws(FormatError) -> ArraySlice<BlockRow> {
        var end = rows.startIndex
        while end < rows.endIndex {
            let row = rows[end]
            if end > rows.startIndex {
                let before = rows[end - 1]
                guard row.replica == before.replica, row.sequence == before.sequence + 1 else {
                    break
                }
                if end - rows.startIndex >= countMax, try row.begunBatch(block.span) != nil {
                    break
                }
            }
            end += 1
        }
        return rows[..<end]
    }

    fileprivate func keptRun(
        _ rows: ArraySlice<BlockRow>,
        in file: UInt64
    ) throws(FormatError) -> KeptRun {
        let (block, run, types) = try pending(rows)
        return KeptRun(
            end: KeptPlace(file: file, position: rows.last?.position ?? 0),
            replica: run.replica,
            sequences: run.firstSequence...run.lastSequence,
            types: types,
            block: block
        )
    }

    /// Rows that follow one another as a block of a push.
    fileprivate func pending(
        _ rows: ArraySlice<BlockRow>
    ) throws(FormatError) -> (block: [UInt8], run: BlockRun, types: [TypeEntry]) {
        var builder = BlockBuilder()
        var groups: Set<UInt64> = []
        for row in rows {
            try builder.append(row, of: block.span, type: head.types[row.typeIndex])
            guard let node = node(of: row), groups.insert(node.group).inserted else { continue }
            builder.append(node)
        }
        guard let run = builder.onlyRun else { throw .malformed(.runs, at: BlockHeader.size) }
        let types = builder.types
        var bytes: [UInt8] = []
        builder.write(into: &bytes, position: nil, times: [], isAuthority: false)
        return (bytes, run, types)
    }
}
