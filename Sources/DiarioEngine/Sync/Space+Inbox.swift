package import DiarioCore
import DiarioFormat
import DiarioLog
package import DiarioSchema
import DiarioStorage

extension Space {
    /// The batches in the inbox, in order of replica and sequence.
    package func inbox() throws(DiarioError) -> [InboxBatch] {
        let (batches, fault) = try readInbox()
        if let fault { throw fault }
        return batches
    }

    /// The same, with an error about the files that cannot be read.
    package func readInbox() throws(DiarioError) -> ([InboxBatch], DiarioError?) {
        let reader = try inboxReader()
        let batches = reader.batches.map { batch in
            InboxBatch(
                replica: batch.entry.replica,
                sequences: batch.entry.sequences,
                keptAt: batch.entry.writtenAt,
                refusal: batch.refusal,
                events: batch.lines.compactMap { RecordedEvent($0) },
                recordedAgain: batch.recordedAgain
            )
        }
        return (batches, reader.faults.first.map { DiarioError(inbox: $0) })
    }

    /// The events of a batch of the inbox, as an export tells them.
    package func inboxLines(of batch: InboxBatch) throws(DiarioError) -> [EventLine] {
        try inboxReader().batch(with: batch.origin)?.lines ?? []
    }

    /// How many events are in the inbox.
    package func inboxCount() throws(DiarioError) -> Int {
        try logging { () throws(LogError) in
            try store[id].inbox.read().entries.reduce(0) { $0 + $1.sequences.count }
        }
    }

    private func inboxReader() throws(DiarioError) -> InboxReader {
        try InboxReader(try refreshed())
    }

    /// What others recorded about the subjects of a batch behind its base, and before it was
    /// refused: the last ones, in order of position.
    package func concurrentLines(
        with batch: InboxBatch,
        limit: Int
    ) throws(DiarioError) -> [EventLine] {
        let base = batch.events.map { $0.base }.min() ?? 0
        let end = batch.refusal.map { $0.position - 1 } ?? store.standing(of: id).head
        let subjects = Set(batch.events.compactMap { $0.subject })
        guard base < end, !subjects.isEmpty else { return [] }
        var filter = EventFilter.everything
        filter.positions = base + 1...end
        filter.wantPositions()
        if subjects.count == 1 { filter.subject = subjects.first }
        var reader = try EventReader(self, filter, for: .use, isReversed: true)
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

    /// Removes a batch from the inbox for good; gives its origin and how many events it had.
    package func drop(_ origin: Origin) throws(DiarioError) -> (origin: Origin, count: Int) {
        try refreshed().dropNow(origin)
    }

    private func dropNow(
        _ origin: Origin
    ) throws(DiarioError) -> (origin: Origin, count: Int) {
        let hold = try logging { () throws(LogError) in try store[id].inbox.hold() }
        defer { hold.release() }
        let batch = try batch(with: origin, in: try inboxReader())
        try remove(batch.entry)
        return (batch.entry.origin, batch.lines.count)
    }

    private func batch(
        with origin: Origin,
        in reader: InboxReader
    ) throws(DiarioError) -> InboxReader.Batch {
        if let batch = reader.batch(with: origin) { return batch }
        if let fault = reader.faults.first { throw DiarioError(inbox: fault) }
        throw DiarioError(.notFound, "No event \(origin.text) is in the inbox.")
    }

    private func remove(_ entry: InboxEntry) throws(DiarioError) {
        try logging { () throws(LogError) in
            try store[id].inbox.drop(entry)
            try store[id].inbox.tidy()
        }
    }

    // MARK: Retrying

    /// Others that record at the same time get in between seldom.
    private static let attemptCountMax = 64

    /// Records a batch of the inbox once more, and takes it out: schema/format/sync.md, section 8.
    package func retry(_ origin: Origin, evenIfChanged: Bool) throws(DiarioError) -> InboxRetry {
        try refreshed().retryNow(origin, evenIfChanged: evenIfChanged)
    }

    private func retryNow(
        _ origin: Origin,
        evenIfChanged: Bool
    ) throws(DiarioError) -> InboxRetry {
        let hold = try logging { () throws(LogError) in try store[id].inbox.hold() }
        defer { hold.release() }
        let reader = try inboxReader()
        let batch = try batch(with: origin, in: reader)
        if let new = batch.recordedAgain {
            try remove(batch.entry)
            return InboxRetry(batch, new, wasRecorded: true)
        }
        guard batch.refusal != nil || evenIfChanged else {
            throw DiarioError(
                .invalid,
                "The log does not say that \(batch.entry.origin.text) was refused. If another copy "
                    + "of this replica used its origin, a sync records it again by itself; if none "
                    + "does, force it."
            )
        }
        try checkNames(in: batch, reader)
        try removeIdleNotes(reader)
        for _ in 0..<Self.attemptCountMax {
            guard let new = try record(batch, reader.ids, evenIfChanged) else { continue }
            try remove(batch.entry)
            return InboxRetry(batch, new, wasRecorded: false)
        }
        throw DiarioError(.busy, "Others record all the time. Try again.")
    }

    /// Other events could get the sequences that a note names which nothing was recorded for.
    private func removeIdleNotes(_ reader: InboxReader) throws(DiarioError) {
        let idle = reader.batches.filter { $0.recordedAgain == nil }.compactMap { $0.note }
        try logging { () throws(LogError) in try store[id].inbox.remove(idle) }
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

    /// Appends the events of a batch as those that come next; nil if others came first.
    private func record(
        _ batch: InboxReader.Batch,
        _ ids: RewrittenIDs,
        _ evenIfChanged: Bool
    ) throws(DiarioError) -> Origin? {
        let replica = try writingReplica()
        let next = store[id].lastSequence(of: replica) + 1
        let note = InboxNote(
            old: batch.entry.origin,
            count: UInt64(batch.lines.count),
            new: Origin(replica: replica, sequence: next)
        )
        let draft = try draft(of: batch, ids, note, evenIfChanged)
        return try logging { () throws(LogError) in
            try store[id].inbox.keep(note)
            let append = Append(
                space: id,
                contents: [.new([draft])],
                firstSequence: next
            )
            do throws(LogError) {
                let appended = try store.append(append)
                precondition(
                    appended.first?.firstOrigin == note.new,
                    "the sequence was asked for, and the replica had settled"
                )
                return note.new
            } catch {
                guard case .outOfOrder = error else { throw error }
                _ = try store.refresh()
                let status = try store.status(of: id)
                let isTaken = store[id].lastSequence(of: replica) >= next
                guard isTaken || status.replica != replica else { throw error }
                return nil
            }
        }
    }

    /// Who writes here, with all that others wrote taken up.
    private func writingReplica() throws(DiarioError) -> ReplicaID {
        try logging { () throws(LogError) in
            _ = try store.refresh()
            let replica = try store.status(of: id).replica
            guard store[id].lastSequence(of: replica) == 0 else { return replica }
            // If the directory was copied, it takes its new id with the first event. This one asks
            // for a sequence that there is not, so it is not appended, whatever else happens.
            let append = Append(
                space: id,
                contents: [.new([types.draft])],
                firstSequence: 0
            )
            do throws(LogError) { _ = try store.append(append) } catch {
                guard case .outOfOrder = error else { throw error }
            }
            return try store.status(of: id).replica
        }
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
        var draft = types.draft
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

extension DiarioError {
    /// A file of the inbox is damaged; nothing else is the worse for it.
    fileprivate init(inbox fault: Fault) {
        self.init(
            .corrupt,
            "A file of the inbox is damaged at \(fault.message). Move it out of the folder."
        )
    }
}

extension InboxRetry {
    fileprivate init(_ batch: InboxReader.Batch, _ new: Origin, wasRecorded: Bool) {
        self.init(
            old: batch.entry.origin,
            new: new,
            count: batch.lines.count,
            wasRecorded: wasRecorded
        )
    }
}
