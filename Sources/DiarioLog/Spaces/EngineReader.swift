package import DiarioCore
import DiarioCrypto
package import DiarioFormat
package import DiarioSchema

/// Finds what the engine's own events say that the log itself must know: the packs that a space
/// adopted, and the events that its authority refused.
package struct EngineReader: Sendable {
    /// The full names of the types of these events.
    package static let adoptionName = "engine.pack.adopted"
    package static let refusalName = "engine.event.rejected"

    private let adoption: PayloadPlan
    private let fingerprintIndex: Int
    private let refusal: Refusals?

    private struct Refusals: Sendable {
        let plan: PayloadPlan
        let replicaIndex: Int
        let firstIndex: Int
        let countIndex: Int
    }

    /// Nil unless one of the types is `engine.pack.adopted` with a text field `fingerprint`.
    package init?(_ types: [EventType]) {
        guard let type = types.last(where: { $0.name == Self.adoptionName }),
            let index = Self.field("fingerprint", of: type)
        else { return nil }
        adoption = PayloadPlan(type)
        fingerprintIndex = index
        refusal = types.last { $0.name == Self.refusalName }.flatMap { type in
            guard let replica = Self.field("replica", of: type),
                let first = Self.field("first", of: type),
                let count = Self.field("count", of: type)
            else { return nil }
            return Refusals(
                plan: PayloadPlan(type),
                replicaIndex: replica,
                firstIndex: first,
                countIndex: count
            )
        }
    }

    private static func field(_ name: String, of type: EventType) -> Int? {
        type.fields.firstIndex { $0.name == name }
    }

    /// The facts in rows of an authority.
    package struct Facts: Equatable, Sendable {
        package var adoptions: [Adoption] = []
        package var refusals: [RefusedRun] = []

        package init() {}
    }

    /// The facts of one row; empty if it has none of these.
    func facts(
        of stored: StoredRow,
        in bytes: Span<UInt8>,
        _ type: TypeEntry
    ) throws(FormatError) -> Facts {
        var facts = Facts()
        guard stored.isAuthority, let topic = topic(of: type), let position = stored.position else {
            return facts
        }
        var payload = Payload()
        try read(stored.row, bytes, topic, at: position, &payload, &facts)
        return facts
    }

    /// The facts in the rows of a block with positions.
    package func facts(
        in block: Span<UInt8>,
        _ summary: BlockSummary
    ) throws(FormatError) -> Facts {
        var facts = Facts()
        guard summary.isAuthority, summary.isPositioned else { return facts }
        let topics = try BlockHead(block, summary).types.map { topic(of: $0) }
        guard topics.contains(where: { $0 != nil }) else { return facts }
        var cursor = RowCursor(block, summary)
        var payload = Payload()
        while let row = try cursor.next() {
            guard let topic = topics[row.typeIndex], let position = row.position else { continue }
            try read(row, block, topic, at: position, &payload, &facts)
        }
        return facts
    }

    private enum Topic {
        case adoption
        case refusal(Refusals)
    }

    private func topic(of type: TypeEntry) -> Topic? {
        if type.name.elementsEqual(Self.adoptionName.utf8) { return .adoption }
        guard type.name.elementsEqual(Self.refusalName.utf8), let refusal else { return nil }
        return .refusal(refusal)
    }

    private func read(
        _ row: BlockRow,
        _ bytes: Span<UInt8>,
        _ topic: Topic,
        at position: UInt64,
        _ payload: inout Payload,
        _ facts: inout Facts
    ) throws(FormatError) {
        let part = try PublicPart.parse(bytes, row)
        let place = part.payload.lowerBound
        switch topic {
        case .adoption:
            try PayloadCodec.decode(bytes, row, part, plan: adoption, into: &payload)
            guard let text = payload.bytes(at: fingerprintIndex),
                let fingerprint = Hash32(text: String(decoding: text, as: UTF8.self))
            else { throw .malformed(.identifier, at: place) }
            facts.adoptions.append(Adoption(position: position, fingerprint: fingerprint))
        case .refusal(let refusal):
            try PayloadCodec.decode(bytes, row, part, plan: refusal.plan, into: &payload)
            guard let text = payload.bytes(at: refusal.replicaIndex),
                let replica = ReplicaID(text: String(decoding: text, as: UTF8.self)),
                case .integer(let first) = payload.slots[refusal.firstIndex],
                case .integer(let count) = payload.slots[refusal.countIndex],
                let first = UInt64(exactly: first), let count = UInt64(exactly: count),
                LogNumber.isValid(first, count: count)
            else { throw .malformed(.identifier, at: place) }
            facts.refusals.append(
                RefusedRun(
                    replica: replica,
                    sequences: first...first + count - 1,
                    position: position
                )
            )
        }
    }
}

/// Events of a replica that its authority refused, and where the log says so.
package struct RefusedRun: Hashable, Sendable {
    package let replica: ReplicaID
    package let sequences: ClosedRange<UInt64>
    /// Of the `engine.event.rejected`.
    package let position: UInt64

    package init(replica: ReplicaID, sequences: ClosedRange<UInt64>, position: UInt64) {
        self.replica = replica
        self.sequences = sequences
        self.position = position
    }
}
