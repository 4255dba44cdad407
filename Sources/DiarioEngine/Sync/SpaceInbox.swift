package import DiarioCore
import DiarioFormat
import DiarioLog
package import DiarioSchema
import DiarioStorage

/// The inbox of a space, for those who look through it: schema/format/sync.md, section 8.
package struct SpaceInbox {
    /// With what others recorded, and with the types of packs that they adopted.
    private let space: Space
    private var files: InboxFiles { space.store[space.id].inbox }

    package init(_ space: Space) throws(DiarioError) { self.space = try space.refreshed() }

    /// The batches, in order of replica and sequence.
    package func batches() throws(DiarioError) -> [InboxBatch] {
        let (batches, fault) = try read()
        if let fault { throw fault }
        return batches
    }

    /// The same, with an error about the files that cannot be read.
    package func read() throws(DiarioError) -> ([InboxBatch], DiarioError?) {
        let reader = try InboxReader(space)
        return (reader.batches.map { InboxBatch($0) }, reader.faults.first.map { Self.damage($0) })
    }

    /// What others recorded about the subjects of a batch behind its base, and before it was
    /// refused: the last ones, in order of position.
    package func concurrentLines(
        with batch: InboxBatch,
        limit: Int
    ) throws(DiarioError) -> [EventLine] {
        let base = batch.events.map { $0.base }.min() ?? 0
        let end = batch.refusal.map { $0.position - 1 } ?? space.head
        let subjects = Set(batch.events.compactMap { $0.subject })
        guard base < end, !subjects.isEmpty else { return [] }
        var filter = EventFilter.everything
        filter.wantPositions(base + 1...end)
        if subjects.count == 1 { filter.subject = subjects.first }
        var reader = try EventReader(space, filter, for: .use, isReversed: true)
        var found: [EventLine] = []
        while found.count < limit, try reader.advance() {
            let line = reader.line
            guard let event = RecordedEvent(line), event.origin.replica != batch.replica,
                let subject = event.subject, subjects.contains(subject)
            else { continue }
            found.append(line)
        }
        return found.reversed()
    }

    /// Removes a batch for good; gives its origin and how many events it had.
    package func drop(_ origin: Origin) throws(DiarioError) -> (origin: Origin, count: Int) {
        try whileHeld { (reader) throws(DiarioError) in
            let batch = try Self.batch(with: origin, in: reader)
            try remove(batch.entry)
            return (batch.entry.origin, batch.lines.count)
        }
    }

    /// Runs `body` with what is in the inbox, while nobody else takes anything out.
    private func whileHeld<Value>(
        _ body: (InboxReader) throws(DiarioError) -> Value
    ) throws(DiarioError) -> Value {
        let hold: any DirectoryLock
        do { hold = try files.hold() } catch { throw DiarioError(error) }
        defer { hold.release() }
        return try body(try InboxReader(space))
    }

    private static func batch(
        with origin: Origin,
        in reader: InboxReader
    ) throws(DiarioError) -> InboxReader.Batch {
        if let batch = reader.batch(with: origin) { return batch }
        if let fault = reader.faults.first { throw damage(fault) }
        throw DiarioError(.notFound, "No event \(origin.text) is in the inbox.")
    }

    /// A file of the inbox is damaged; nothing else is the worse for it.
    private static func damage(_ fault: Fault) -> DiarioError {
        DiarioError(
            .corrupt,
            "A file of the inbox is damaged at \(fault.message). Move it out of the folder."
        )
    }

    private func remove(_ entry: InboxEntry) throws(DiarioError) {
        do {
            try files.drop(entry)
            try files.tidy()
        } catch {
            throw DiarioError(error)
        }
    }

    // MARK: Retrying

    /// Others that record at the same time get in between seldom.
    private static let attemptCountMax = 64

    /// Records a batch once more, and takes it out.
    package func retry(_ origin: Origin, evenIfChanged: Bool) throws(DiarioError) -> InboxRetry {
        try whileHeld { (reader) throws(DiarioError) in
            let batch = try Self.batch(with: origin, in: reader)
            let new: Origin
            if let known = batch.recordedAgain {
                new = known
            } else {
                new = try recordAgain(batch, reader, evenIfChanged)
            }
            try remove(batch.entry)
            return InboxRetry(
                old: batch.entry.origin,
                new: new,
                count: batch.lines.count,
                wasRecorded: batch.recordedAgain != nil
            )
        }
    }

    private func recordAgain(
        _ batch: InboxReader.Batch,
        _ reader: InboxReader,
        _ evenIfChanged: Bool
    ) throws(DiarioError) -> Origin {
        guard batch.refusal != nil || evenIfChanged else {
            throw DiarioError(
                .invalid,
                "The log does not say that \(batch.entry.origin.text) was refused. If another copy "
                    + "of this replica used its origin, a sync records it again by itself; if none "
                    + "does, force it."
            )
        }
        try checkNames(in: batch, reader)
        // Other events could get the sequences that a note names which nothing was recorded for.
        let idle = reader.batches.filter { $0.recordedAgain == nil }.compactMap { $0.note }
        do { try files.remove(idle) } catch { throw DiarioError(error) }
        for _ in 0..<Self.attemptCountMax {
            let next: Origin
            do { next = try nextOrigin() } catch { throw DiarioError(error) }
            let note = InboxNote(
                old: batch.entry.origin,
                count: UInt64(batch.lines.count),
                new: next
            )
            let draft = try draft(of: batch, reader.ids, note, evenIfChanged)
            do {
                if try record(draft, note) { return next }
            } catch {
                throw DiarioError(error)
            }
        }
        throw DiarioError(.busy, "Others record all the time. Try again.")
    }

    /// An id of a batch that is in the inbox itself is not known to anybody.
    private func checkNames(
        in batch: InboxReader.Batch,
        _ reader: InboxReader
    ) throws(DiarioError) {
        for line in batch.lines {
            for named in line.namedOrigins where !batch.contains(named) {
                guard let other = reader.batch(with: named) else { continue }
                throw DiarioError(
                    .invalid,
                    "\(batch.entry.origin.text) is about \(named.text), which is in the inbox too. "
                        + "First retry \(other.entry.origin.text)."
                )
            }
        }
    }

    /// Appends events as those that come next; false if others came first.
    private func record(_ draft: DraftBatch, _ note: InboxNote) throws(LogError) -> Bool {
        try files.keep(note)
        let (store, id, new) = (space.store, space.id, note.new)
        do throws(LogError) {
            let appended = try store.append(
                Append(space: id, contents: [.new([draft])], firstSequence: new.sequence)
            )
            precondition(
                appended.first?.firstOrigin == new,
                "the sequence was asked for, and the replica had settled"
            )
            return true
        } catch {
            guard case .outOfOrder = error else { throw error }
            _ = try store.refresh()
            let isTaken = store[id].lastSequence(of: new.replica) >= new.sequence
            let replica = try store[id].status().replica
            guard isTaken || replica != new.replica else { throw error }
            return false
        }
    }

    /// What the next event is called that is recorded here, with all that others wrote taken up.
    private func nextOrigin() throws(LogError) -> Origin {
        let (store, id) = (space.store, space.id)
        _ = try store.refresh()
        var replica = try store[id].status().replica
        if store[id].lastSequence(of: replica) == 0 {
            // If the directory was copied, it takes its new id with the first event. This one asks
            // for a sequence that there is not, so it is not appended, whatever else happens.
            let append = Append(
                space: id,
                contents: [.new([space.types.draft])],
                firstSequence: 0
            )
            do throws(LogError) { _ = try store.append(append) } catch {
                guard case .outOfOrder = error else { throw error }
            }
            replica = try store[id].status().replica
        }
        return Origin(replica: replica, sequence: store[id].lastSequence(of: replica) + 1)
    }

    /// The events of a batch as new ones.
    private func draft(
        of batch: InboxReader.Batch,
        _ ids: RewrittenIDs,
        _ note: InboxNote,
        _ evenIfChanged: Bool
    ) throws(DiarioError) -> DraftBatch {
        var ids = ids
        ids.add(note)
        var draft = space.types.draft
        for (index, old) in batch.lines.enumerated() {
            let sequence = note.new.sequence + UInt64(index)
            let origin = Origin(replica: note.new.replica, sequence: sequence)
            var line = old
            line.payload = try payload(of: old, ids)
            line.subject = ids.subject(of: old).map { line.keep($0.span) }
            if evenIfChanged { line.ifUnchanged = false }
            do throws(FormatError) { try draft.append(line, origin: origin) } catch {
                throw Self.refusal(of: old, error.message)
            }
        }
        return draft
    }

    /// The payload of an event with new ids, if a new event may have it.
    private func payload(
        of line: EventLine,
        _ ids: RewrittenIDs
    ) throws(DiarioError) -> Payload {
        guard !line.type.isUnknown else {
            throw Self.refusal(
                of: line,
                "no adopted pack has version \(line.type.version) of \(line.type.name) as it was "
                    + "recorded"
            )
        }
        guard line.type.pack != "engine" else {
            throw Self.refusal(of: line, "events of the pack engine are recorded by the engine")
        }
        let payload = ids.payload(of: line)
        var text: [UInt8] = []
        PayloadWriter.append(payload, of: line.type, to: &text)
        var reader = PayloadReader()
        var again = Payload()
        do throws(SchemaError) {
            try reader.read(text.span, as: line.type, into: &again)
        } catch {
            throw Self.refusal(of: line, error.message)
        }
        return payload
    }

    private static func refusal(of line: EventLine, _ what: String) -> DiarioError {
        let origin = line.origin?.text ?? ""
        return DiarioError(.invalid, "\(origin) cannot be recorded again: \(what).")
    }
}

extension InboxBatch {
    fileprivate init(_ batch: InboxReader.Batch) {
        self.init(
            replica: batch.entry.replica,
            sequences: batch.entry.sequences,
            keptAt: batch.entry.writtenAt,
            refusal: batch.refusal,
            lines: batch.lines,
            events: batch.lines.compactMap { RecordedEvent($0) },
            recordedAgain: batch.recordedAgain
        )
    }
}
