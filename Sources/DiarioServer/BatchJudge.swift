import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema

/// Says which batches of a push are refused, and why: schema/format/sync.md, section 6.
struct BatchJudge {
    private let store: LogStore
    private let space: SpaceID
    private let types: SpaceTypes
    private let caller: Caller
    private var payload = Payload()
    private var again = Payload()
    private var reader = PayloadReader()
    private var text: [UInt8] = []
    /// Ids that refused events of this push made.
    private var refusedIDs: Set<[UInt8]> = []
    /// Subjects that accepted events of this push wrote to: all of one replica, so they object to
    /// nothing.
    private let head: UInt64

    init(_ store: LogStore, _ space: SpaceID, _ types: SpaceTypes, _ caller: Caller) {
        self.store = store
        self.space = space
        self.types = types
        self.caller = caller
        head = store.standing(of: space).head
    }

    /// The first rule that an event of the batch breaks; nil if the batch is accepted.
    mutating func objection(
        to batch: PushedBatch,
        of events: PushedEvents
    ) throws(LogError) -> Objection? {
        let (bytes, head) = events.blocks[batch.block]
        let found: Objection?
        do throws(FormatError) {
            found = try objection(to: batch, bytes.span, head, events.replica)
        } catch {
            // What the bytes of a payload are not: the block itself was checked.
            found = Objection(
                rule: .invalid,
                message: "A payload cannot be read: \(error.message).",
                sequence: batch.firstSequence
            )
        }
        guard found == nil else {
            noteRefused(batch, bytes.span, head)
            return found
        }
        return try change(of: batch, bytes.span, head, events.replica)
    }

    private mutating func objection(
        to batch: PushedBatch,
        _ block: Span<UInt8>,
        _ head: BlockHead,
        _ replica: ReplicaID
    ) throws(FormatError) -> Objection? {
        var cursor = RowCursor(block, head.summary)
        while let row = try cursor.next(), row.index < batch.rows.upperBound {
            guard batch.rows.contains(row.index) else { continue }
            let part = try PublicPart.parse(block, row)
            let entry = head.types[row.typeIndex]
            if let found = try objection(to: row, part, entry, block) { return found }
        }
        return nil
    }

    private mutating func objection(
        to row: BlockRow,
        _ part: PublicPart,
        _ entry: TypeEntry,
        _ block: Span<UInt8>
    ) throws(FormatError) -> Objection? {
        let name = String(decoding: entry.name, as: UTF8.self)
        func objection(_ rule: Objection.Rule, _ message: String) -> Objection {
            Objection(rule: rule, message: message, sequence: row.sequence)
        }
        guard !entry.isAuthority else {
            return objection(.engineType, "\(name) is recorded by the authority alone.")
        }
        guard let known = types[entry] else {
            return objection(
                .unknownType,
                "No adopted pack has \(name) version \(entry.version). Adopt one that does, and "
                    + "record the event again."
            )
        }
        guard known.fingerprint == entry.fingerprint else {
            return objection(
                .schema,
                "\(name) version \(entry.version) has another schema in this space."
            )
        }
        try PayloadCodec.decode(block, row, part, plan: known.plan, into: &payload)
        if let fault = fault(of: known.type) { return objection(.invalid, fault) }
        let actor = part.actor.map { Array(block, $0)[...] }
        guard caller.mayAppend(as: actor) else {
            return objection(.actor, "The event has an actor that the token does not name.")
        }
        guard part.envelope.base <= head else {
            return objection(
                .base,
                "The event was recorded behind position \(part.envelope.base), which is beyond "
                    + "the head \(head)."
            )
        }
        if let subject = subject(of: row, part, known.type, block),
            isRefused(subject, own: row.origin)
        {
            return objection(.cascade, "The event is about something that a refused event made.")
        }
        return nil
    }

    /// What the schema says against the payload at hand; nil if it lets it pass.
    ///
    /// It is written out and read again, as it would be if it had come as JSON: so there is one
    /// judge of payloads and not two.
    private mutating func fault(of type: EventType) -> String? {
        text.removeAll(keepingCapacity: true)
        PayloadWriter.append(payload, of: type, to: &text)
        let written = text
        do throws(SchemaError) {
            try reader.read(written.span, as: type, into: &again)
        } catch {
            return error.message
        }
        return again == payload ? nil : "The payload is not in its canonical form."
    }

    /// What an event is about, as text; nil if about nothing.
    private func subject(
        of row: BlockRow,
        _ part: PublicPart,
        _ type: EventType,
        _ block: Span<UInt8>
    ) -> [UInt8]? {
        guard let index = type.subjectFieldIndex else {
            return part.subject.map { Array(block, $0) }
        }
        return payload.bytes(at: index).map { Array($0) }
    }

    /// Whether a subject is the id that a refused event made.
    private func isRefused(_ subject: [UInt8], own: Origin) -> Bool {
        if refusedIDs.contains(subject) { return true }
        guard let origin = Origin(text: String(decoding: subject, as: UTF8.self)), origin != own,
            origin.sequence <= store.lastSequence(of: origin.replica, in: space)
        else { return false }
        let sequences = origin.sequence...origin.sequence
        let refusals = try? store.refusals(sequences, of: origin.replica, in: space)
        return refusals?.isEmpty == false
    }

    private mutating func noteRefused(
        _ batch: PushedBatch,
        _ block: Span<UInt8>,
        _ head: BlockHead
    ) {
        var cursor = RowCursor(block, head.summary)
        while let row = try? cursor.next(), row.index < batch.rows.upperBound {
            guard batch.rows.contains(row.index), let known = types[head.types[row.typeIndex]],
                let index = known.type.newIDFieldIndex,
                let part = try? PublicPart.parse(block, row),
                (try? PayloadCodec.decode(block, row, part, plan: known.plan, into: &payload))
                    != nil,
                let id = payload.bytes(at: index)
            else { continue }
            refusedIDs.insert(Array(id))
        }
    }

    // MARK: ifUnchanged

    /// Whether another replica wrote to a subject behind the base of an event that asks.
    private mutating func change(
        of batch: PushedBatch,
        _ block: Span<UInt8>,
        _ head: BlockHead,
        _ replica: ReplicaID
    ) throws(LogError) -> Objection? {
        var asked: [(subject: [UInt8], base: UInt64, sequence: UInt64)] = []
        do throws(FormatError) {
            var cursor = RowCursor(block, head.summary)
            while let row = try cursor.next(), row.index < batch.rows.upperBound {
                guard batch.rows.contains(row.index) else { continue }
                let part = try PublicPart.parse(block, row)
                guard part.flags.contains(.ifUnchanged),
                    let known = types[head.types[row.typeIndex]]
                else { continue }
                try PayloadCodec.decode(block, row, part, plan: known.plan, into: &payload)
                if let subject = subject(of: row, part, known.type, block) {
                    asked.append((subject, part.envelope.base, row.sequence))
                }
            }
        } catch {
            throw .format(error)
        }
        for (subject, base, sequence) in asked {
            guard let position = try writer(to: subject, behind: base, besides: replica) else {
                continue
            }
            noteRefused(batch, block, head)
            return Objection(
                rule: .changed,
                message: "Another replica wrote to this subject at position \(position), and the "
                    + "event was recorded without knowing that.",
                sequence: sequence,
                position: position
            )
        }
        return nil
    }

    /// The last event about a subject that another replica wrote behind a position.
    private mutating func writer(
        to subject: [UInt8],
        behind base: UInt64,
        besides replica: ReplicaID
    ) throws(LogError) -> UInt64? {
        guard base < head else { return nil }
        var filter = LogFilter()
        filter.subject = subject
        var cursor = try store.cursor(
            space,
            positions: base + 1...head,
            .canonical,
            filter: filter,
            isReversed: true
        )
        while let events = try cursor.next() {
            for stored in events.rows
            where stored.row.replica != replica && !stored.isAuthority {
                let block = events.bytes.span
                guard let known = types[events.types[stored.row.typeIndex]] else { continue }
                do throws(FormatError) {
                    let part = try PublicPart.parse(block, stored.row)
                    try PayloadCodec.decode(
                        block,
                        stored.row,
                        part,
                        plan: known.plan,
                        into: &payload
                    )
                    let other = self.subject(of: stored.row, part, known.type, block)
                    if other == subject { return stored.position }
                } catch {
                    throw .format(error)
                }
            }
        }
        return nil
    }
}
