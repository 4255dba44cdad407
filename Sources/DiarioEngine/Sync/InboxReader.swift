import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioStorage

/// The inbox of a space with its events taken apart: schema/format/sync.md, section 8.
struct InboxReader {
    /// A batch of the inbox.
    struct Batch {
        let entry: InboxEntry
        /// The events; those of a type that the space does not have come without their payloads.
        let lines: [EventLine]
        var refusal: InboxBatch.Refusal?
        var note: InboxNote?
        var recordedAgain: Origin?

        func contains(_ origin: Origin) -> Bool {
            origin.replica == entry.replica && entry.sequences.contains(origin.sequence)
        }
    }

    private let space: Space
    private(set) var batches: [Batch] = []
    /// Indices of the batches of each replica, by their first sequence.
    private var places: [ReplicaID: [Int]] = [:]
    /// The new ids of batches that were recorded again and are no longer here.
    private(set) var ids = RewrittenIDs()
    /// The faults of files that cannot be read.
    let faults: [Fault]

    init(_ space: Space) throws(DiarioError) {
        self.space = space
        let (entries, notes): ([InboxEntry], [InboxNote])
        do {
            let files = space.store[space.id].inbox
            let (damaged, damagedNotes): ([Fault], [Fault])
            (entries, damaged) = try files.read()
            (notes, damagedNotes) = try files.readNotes()
            faults = damaged + damagedNotes
        } catch {
            throw DiarioError(error)
        }
        var noted: [Origin: InboxNote] = [:]
        for note in notes where noted[note.old] == nil { noted[note.old] = note }
        for entry in entries {
            places[entry.replica, default: []].append(batches.count)
            var batch = Batch(entry: entry, lines: try Self.lines(of: entry, space.types))
            batch.note = noted[entry.origin]
            batches.append(batch)
        }
        for (replica, indices) in places {
            places[replica] = indices.sorted {
                batches[$0].entry.sequences.lowerBound < batches[$1].entry.sequences.lowerBound
            }
        }
        for note in notes where index(ofBatchFrom: note.old) == nil { ids.add(note) }
        guard !batches.isEmpty else { return }
        try findRefusals()
        for index in batches.indices {
            guard let note = batches[index].note,
                try isRecorded(batches[index], note)
            else { continue }
            batches[index].recordedAgain = note.new
        }
    }

    /// The batch that an event is in; nil if it is in none.
    func batch(with origin: Origin) -> Batch? { index(of: origin).map { batches[$0] } }

    private func index(of origin: Origin) -> Int? {
        guard let indices = places[origin.replica] else { return nil }
        var (low, high) = (0, indices.count)
        while low < high {
            let middle = (low + high) / 2
            if batches[indices[middle]].entry.sequences.upperBound < origin.sequence {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low < indices.count, batches[indices[low]].contains(origin) else { return nil }
        return indices[low]
    }

    private func index(ofBatchFrom origin: Origin) -> Int? {
        index(of: origin).flatMap { batches[$0].entry.origin == origin ? $0 : nil }
    }

    // MARK: Events

    private static func lines(
        of entry: InboxEntry,
        _ types: SpaceTypes
    ) throws(DiarioError) -> [EventLine] {
        do throws(FormatError) {
            let (bytes, head) = try entry.unpacked()
            let plans = head.types.map { entry in
                let name = String(decoding: entry.name, as: UTF8.self)
                return types.plan(of: entry)
                    ?? PayloadPlan(.unknown(name, version: entry.version))
            }
            var lines: [EventLine] = []
            let block = bytes.span
            var cursor = RowCursor(block, head.summary)
            while let row = try cursor.next() {
                lines.append(try line(row, block, plans[row.typeIndex]))
            }
            return lines
        } catch {
            throw DiarioError(error)
        }
    }

    private static func line(
        _ row: BlockRow,
        _ block: Span<UInt8>,
        _ plan: PayloadPlan
    ) throws(FormatError) -> EventLine {
        var line = EventLine(type: plan.type)
        let part = try PublicPart.parse(block, row)
        line.actor = part.actor.map { line.keep(block.extracting($0)) }
        line.subject = part.subject.map { line.keep(block.extracting($0)) }
        if !plan.type.isUnknown {
            try PayloadCodec.decode(block, row, part, plan: plan, into: &line.payload)
        }
        line.at = part.envelope.at
        line.ifUnchanged = part.flags.contains(.ifUnchanged)
        line.origin = row.origin
        line.base = part.envelope.base
        line.clock = part.envelope.clock
        return line
    }

    // MARK: What the log says

    /// Finds what the log says against the batches.
    private mutating func findRefusals() throws(DiarioError) {
        let wanted = EventFilter(types: [EngineReader.refusalName], authorityOnly: true)
        var reader = try EventReader(space, wanted, for: .use, isReversed: true)
        var missing = batches.count
        while missing > 0, try reader.advance() {
            let line = reader.line
            guard let replica = line.text("replica").flatMap({ ReplicaID(text: $0) }),
                let first = line.integer("first"), let position = line.position
            else { continue }
            let origin = Origin(replica: replica, sequence: first)
            guard let index = index(ofBatchFrom: origin), batches[index].refusal == nil else {
                continue
            }
            missing -= 1
            batches[index].refusal = InboxBatch.Refusal(
                position: position,
                refusedAt: line.acceptedAt ?? Timestamp(milliseconds: 0),
                rule: line.text("rule") ?? "",
                message: line.text("message") ?? "",
                origin: line.integer("sequence").map { Origin(replica: replica, sequence: $0) },
                conflict: line.integer("position")
            )
        }
    }

    /// True if the events that a note names are those of the batch, recorded again.
    private func isRecorded(_ batch: Batch, _ note: InboxNote) throws(DiarioError) -> Bool {
        let last = note.new.sequence + note.count - 1
        guard note.count == batch.lines.count,
            space.store[space.id].lastSequence(of: note.new.replica) >= last
        else { return false }
        var new = index(ofBatchFrom: note.new).map { batches[$0].lines }
        if new == nil { new = try space.lines(note.new.sequence...last, of: note.new.replica) }
        guard let new, new.count == batch.lines.count else { return false }
        var ids = ids
        ids.add(note)
        return zip(batch.lines, new).allSatisfy { ids.isSame($0, as: $1) }
    }
}

extension EventLine {
    /// The text of a field; nil if there is none.
    fileprivate func text(_ name: String) -> String? {
        guard let index = type.fields.firstIndex(where: { $0.name == name }),
            let bytes = payload.bytes(at: index)
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A number from 0 that a field holds; nil if there is none.
    fileprivate func integer(_ name: String) -> UInt64? {
        guard let index = type.fields.firstIndex(where: { $0.name == name }),
            case .integer(let value) = payload.slots[index]
        else { return nil }
        return UInt64(exactly: value)
    }
}
