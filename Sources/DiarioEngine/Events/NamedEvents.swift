package import DiarioCore
import DiarioFormat
package import DiarioLog
import DiarioSchema

/// Events whose origins a client drew itself, so that each is recorded once however often it is
/// sent: schema/format/http.md, section 7.
///
/// They are compared with the log, and new ones appended, while no one else records for their
/// replica.
package struct NamedEvents {
    package let replica: ReplicaID
    private let space: Space
    private var reader: EventLineReader
    private var events: [Event] = []
    /// The events by their sequences.
    private var indices: [UInt64: Int] = [:]
    /// The batch of the last event; only there to see that it keeps to its limits.
    private var draft = DraftBatch()
    private var batches = BatchGrouping()

    private struct Event {
        let origin: Origin
        var line: EventLine
        /// As it came, in case it was recorded as of an older version of its type.
        let text: [UInt8]
        let place: InputPlace
        /// The index of the first event of its batch.
        let batchStart: Int
        var position: UInt64?
    }

    init(_ space: Space, _ reader: EventLineReader, of replica: ReplicaID) {
        self.space = space
        self.reader = reader
        self.replica = replica
    }

    /// The sequences of the events, in their order.
    package var sequences: [UInt64] { events.map { $0.origin.sequence } }

    /// Takes in an event.
    mutating func add(
        _ line: EventLine,
        _ text: Span<UInt8>,
        at place: InputPlace
    ) throws(DiarioError) {
        guard let origin = line.origin, origin.replica == replica else {
            throw .refused(
                place,
                "events of one request have origins of one replica, or none of them has any."
            )
        }
        guard LogNumber.isValid(origin.sequence, count: 1) else {
            throw .refused(place, "the origin \(origin.text) is out of all bounds.")
        }
        guard line.base ?? 0 <= LogNumber.max else {
            throw .refused(place, "`base` is out of all bounds.")
        }
        guard indices.updateValue(events.count, forKey: origin.sequence) == nil else {
            throw .refused(place, "the origin \(origin.text) comes twice in this request.")
        }
        let begins = batches.begins(with: line)
        let start = begins ? events.count : events[events.count - 1].batchStart
        if begins {
            draft.removeAll()
        } else if events[events.count - 1].origin.advanced(by: 1) != origin {
            throw .refused(
                place,
                "\(origin.text) does not follow in its batch. Those have sequences in a row."
            )
        }
        var line = line
        do throws(FormatError) {
            try complete(&line.payload, of: line.type, origin, in: start..<events.count)
            try draft.append(line, origin: origin)
        } catch {
            throw DiarioError(error, at: place)
        }
        var bytes: [UInt8] = []
        if !line.givesVersion {
            for index in text.indices { bytes.append(text[index]) }
        }
        events.append(
            Event(origin: origin, line: line, text: bytes, place: place, batchStart: start)
        )
    }

    /// Replaces `#n` by ids, which are known, since the origins are.
    private func complete(
        _ payload: inout Payload,
        of type: EventType,
        _ origin: Origin,
        in batch: Range<Int>
    ) throws(FormatError) {
        let references = payload.references
        payload.references = []
        for reference in references {
            guard 1...batch.count + 1 ~= reference.number, reference.number <= batch.count else {
                throw .unresolvedReference(number: reference.number)
            }
            let target = events[batch.lowerBound + reference.number - 1].line
            guard let index = target.type.newIDFieldIndex, let id = target.payload.bytes(at: index)
            else { throw .unresolvedReference(number: reference.number) }
            payload.setBytes(Array(id).span, at: reference.fieldIndex)
        }
        if let index = type.newIDFieldIndex, case .absent = payload.slots[index] {
            payload.setBytes(Array(origin.text.utf8).span, at: index)
        }
    }

    // MARK: What is known

    /// Why the events cannot be recorded after those of their replica; nil if they can.
    ///
    /// Those with sequences up to `last` are compared with what the log has under their origins.
    package mutating func conflict(through last: UInt64) throws(DiarioError) -> OriginConflict? {
        if let forked = try compare(through: last) { return forked }
        var next = last + 1
        let now = space.now
        for event in events {
            let sequence = event.origin.sequence
            if sequence > last, events[event.batchStart].origin.sequence <= last {
                return OriginConflict(
                    .forked,
                    event.origin,
                    event.place,
                    "its batch began before it and was recorded without it. A batch is sent "
                        + "again as it was."
                )
            }
            guard sequence > last else { continue }
            try EventTime.check(event.line.at, now: now, at: event.place)
            guard sequence == next else {
                return OriginConflict(
                    .gap(expected: next),
                    event.origin,
                    event.place,
                    "the next sequence of this replica is \(next)."
                )
            }
            next += 1
        }
        return nil
    }

    private mutating func compare(through last: UInt64) throws(DiarioError) -> OriginConflict? {
        var unknown = Set(sequences.filter { $0 <= last })
        var others: [Int] = []
        try space.readEvents(unknown, of: replica) { (known, isErased) throws(DiarioError) in
            guard let sequence = known.origin?.sequence, let index = indices[sequence] else {
                return
            }
            unknown.remove(sequence)
            events[index].position = known.position
            if try !isSame(events[index], as: known, isErased: isErased) { others.append(index) }
        }
        others += unknown.compactMap { indices[$0] }
        guard let event = others.min().map({ events[$0] }) else { return nil }
        return OriginConflict(
            .forked,
            event.origin,
            event.place,
            "\(event.origin.text) was recorded as another event than this one."
        )
    }

    /// True if a client says the same as is recorded, as far as it says it.
    private mutating func isSame(
        _ event: Event,
        as known: EventLine,
        isErased: Bool
    ) throws(DiarioError) -> Bool {
        var line = event.line
        guard line.type.name == known.type.name else { return false }
        if line.type.version != known.type.version {
            // A newer version may have been adopted since it was recorded.
            guard !line.givesVersion, let payload = payload(of: event, as: known.type) else {
                return false
            }
            line.payload = payload
        }
        if isErased {
            for index in known.type.personalFieldIndices { line.payload.slots[index] = .absent }
        }
        return line.payload == known.payload
            && line.text(line.actor) == known.text(known.actor)
            && line.text(line.subject) == known.text(known.subject)
            && line.at ?? known.at == known.at && line.base ?? known.base == known.base
    }

    /// The payload of an event if it is of this version; nil if it cannot be.
    private mutating func payload(of event: Event, as type: EventType) -> Payload? {
        var line = EventLine()
        do throws(SchemaError) {
            try reader.read(event.text.span, into: &line, version: type.version)
        } catch {
            return nil
        }
        let batch = event.batchStart..<(indices[event.origin.sequence] ?? event.batchStart)
        do throws(FormatError) {
            try complete(&line.payload, of: type, event.origin, in: batch)
        } catch {
            return nil
        }
        return line.payload
    }

    // MARK: What is new

    /// The lowest base of each subject, of new events with `ifUnchanged`.
    package func bases(after last: UInt64) -> [[UInt8]: UInt64] {
        var bases: [[UInt8]: UInt64] = [:]
        for event in events where event.origin.sequence > last && event.line.ifUnchanged {
            guard let base = event.line.base, let subject = event.line.subjectBytes else {
                continue
            }
            bases[subject] = min(bases[subject] ?? base, base)
        }
        return bases
    }

    /// The first new event whose subject others changed after its base, by the last positions at
    /// which they wrote to subjects; nil if there is none.
    package func conflict(
        after last: UInt64,
        _ lastPosition: ([UInt8]) -> UInt64?
    ) -> OriginConflict? {
        for event in events where event.origin.sequence > last && event.line.ifUnchanged {
            guard let base = event.line.base, let subject = event.line.subjectBytes,
                let position = lastPosition(subject), position > base
            else { continue }
            return OriginConflict(
                .changed(position: position),
                event.origin,
                event.place,
                "another replica wrote to its subject at position \(position), after the base "
                    + "\(base)."
            )
        }
        return nil
    }

    /// Makes sure that whoever records the new events may do so.
    package func checkRecorder(after last: UInt64) throws(DiarioError) {
        let new = events.indices.filter { events[$0].origin.sequence > last }
        try space.check(
            new.compactMap { index in
                let event = events[index]
                return AskedEvent(
                    event.line,
                    in: space,
                    origin: event.origin,
                    number: index - event.batchStart + 1,
                    at: event.place
                )
            }
        )
    }

    /// Records the new events after the position `head`, durably, with clocks that follow `clock`;
    /// gives the last one of these.
    ///
    /// - Throws: `.outOfOrder` if another process recorded something meanwhile. Events recorded
    ///   before that stay.
    package mutating func append(
        after last: UInt64,
        behind head: UInt64,
        _ clock: HybridTime,
        by commit: Append.Commit? = nil
    ) throws(LogError) -> HybridTime {
        let now = space.store.now
        var clock = clock
        var rows: [PreservedRows] = []
        var block = PreservedRows.container
        var index = events.firstIndex { $0.origin.sequence > last } ?? events.endIndex
        var position = head
        while index < events.endIndex {
            if block.batch.count >= Limits.batchCountMax
                || block.batch.size >= Limits.batchSizeMax / 2
            {
                rows.append(block)
                block = .container
            }
            let rest = events[index...]
            let end = rest.firstIndex { $0.batchStart != index } ?? events.endIndex
            for next in index..<end {
                clock = clock.next(at: now)
                position += 1
                events[next].position = position
                let (line, origin) = (events[next].line, events[next].origin)
                do throws(FormatError) { try block.batch.append(line, origin: origin) } catch {
                    throw .format(error)
                }
                block.envelopes.append(
                    RowEnvelope(
                        replica: replica,
                        sequence: origin.sequence,
                        batchFirst: events[index].origin.sequence,
                        batchCount: end - index,
                        clock: clock,
                        at: line.at ?? Timestamp(milliseconds: clock.milliseconds),
                        base: line.base ?? head
                    )
                )
                block.acceptedAt.append(nil)
            }
            index = end
        }
        rows.append(block)
        let contents = rows.map { Append.Content.preserved([$0]) }
        try space.store[space.id].append(contents, behind: head, by: commit)
        return clock
    }

    /// The places of the events, in their order.
    package var recorded: RecordedEvents {
        RecordedEvents(
            origins: events.map { $0.origin },
            positions: events.compactMap { $0.position }
        )
    }
}

/// Why events with origins of a client's own cannot be recorded.
package struct OriginConflict: Error, Sendable {
    package enum Kind: Sendable {
        /// Something else is recorded under the origin.
        case forked
        /// Events before it are missing.
        case gap(expected: UInt64)
        /// Another replica wrote to its subject.
        case changed(position: UInt64)
    }

    package let kind: Kind
    package let origin: Origin
    package let line: Int
    package let message: String

    init(_ kind: Kind, _ origin: Origin, _ place: InputPlace, _ what: String) {
        self.kind = kind
        self.origin = origin
        line = place.line
        message = "\(place.text): \(what)"
    }
}

/// The places of the events of a request, in their order.
package struct RecordedEvents: Sendable {
    package let origins: [Origin]
    package let positions: [UInt64]
}

extension PreservedRows {
    /// Several batches that share a block.
    fileprivate static var container: PreservedRows {
        PreservedRows(
            batch: DraftBatch(isContainer: true),
            envelopes: [],
            acceptedAt: [],
            isAuthority: false
        )
    }
}

extension EventLine {
    fileprivate func text(_ range: Range<Int>?) -> ArraySlice<UInt8>? { range.map { arena[$0] } }

    /// The subject as text; nil if it has none.
    fileprivate var subjectBytes: [UInt8]? {
        guard let index = type.subjectFieldIndex else { return text(subject).map { Array($0) } }
        return payload.bytes(at: index).map { Array($0) }
    }
}

extension Space {
    /// So far apart are sequences that are looked for one by one.
    private static let sequenceDistanceMax: UInt64 = 4096

    /// Gives the events of a replica with these sequences that are in the log to `body`, the last
    /// one first, and says whether their personal parts were erased.
    func readEvents(
        _ sequences: Set<UInt64>,
        of replica: ReplicaID,
        _ body: (EventLine, _ isErased: Bool) throws(DiarioError) -> Void
    ) throws(DiarioError) {
        var rest = sequences.sorted(by: >)[...]
        while let last = rest.first {
            var count = 1
            for (one, next) in zip(rest, rest.dropFirst()) {
                guard one - next <= Self.sequenceDistanceMax else { break }
                count += 1
            }
            var wanted = Set(rest.prefix(count))
            rest = rest.dropFirst(count)
            let first = wanted.min() ?? last
            let cursor: LogCursor
            do { cursor = try store[id].backwards(first...last, of: replica) } catch {
                throw DiarioError(error)
            }
            var reader = EventReader(self, cursor, types: [])
            while !wanted.isEmpty, try reader.advance() {
                guard let origin = reader.line.origin, origin.replica == replica else { continue }
                if origin.sequence < first { break }
                guard wanted.remove(origin.sequence) != nil else { continue }
                try body(reader.line, reader.isErased)
            }
        }
    }

    /// The events of a replica with these sequences that are in the log.
    func lines(
        _ sequences: ClosedRange<UInt64>,
        of replica: ReplicaID
    ) throws(DiarioError) -> [EventLine] {
        var filter = LogFilter()
        filter.sequences = LogFilter.Sequences(sequences, of: replica)
        let cursor: LogCursor
        do { cursor = try store.cursor(id, filter: filter) } catch { throw DiarioError(error) }
        var reader = EventReader(self, cursor, types: [])
        var found: [EventLine] = []
        while found.count < sequences.count, try reader.advance() {
            guard let origin = reader.line.origin, origin.replica == replica,
                sequences.contains(origin.sequence)
            else { continue }
            found.append(reader.line)
        }
        return found
    }
}
