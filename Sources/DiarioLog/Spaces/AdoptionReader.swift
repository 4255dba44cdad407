import DiarioCore
import DiarioCrypto
import DiarioFormat
package import DiarioSchema

/// Finds the packs that a space adopted, in the events that say so.
package struct AdoptionReader: Sendable {
    /// The full name of the type of these events.
    package static let typeName = "engine.pack.adopted"

    private let plan: PayloadPlan
    private let fingerprintIndex: Int

    /// Nil unless `type` is `engine.pack.adopted` with a text field `fingerprint`.
    package init?(_ type: EventType) {
        guard type.name == Self.typeName,
            let index = type.fields.firstIndex(where: { $0.name == "fingerprint" })
        else { return nil }
        plan = PayloadPlan(type)
        fingerprintIndex = index
    }

    /// The pack that a row at a position adopted; nil if it tells of something else.
    func adoption(
        of stored: StoredRow,
        in bytes: Span<UInt8>,
        _ type: TypeEntry
    ) throws(FormatError) -> Adoption? {
        guard type.name.elementsEqual(Self.typeName.utf8), let position = stored.position else {
            return nil
        }
        var payload = Payload()
        let part = try PublicPart.parse(bytes, stored.row)
        try PayloadCodec.decode(bytes, stored.row, part, plan: plan, into: &payload)
        guard let text = payload.bytes(at: fingerprintIndex),
            let fingerprint = Hash32(text: String(decoding: text, as: UTF8.self))
        else { return nil }
        return Adoption(position: position, fingerprint: fingerprint)
    }

    func adoptions(
        in block: Span<UInt8>,
        _ summary: BlockSummary
    ) throws(FormatError) -> [Adoption] {
        let head = try BlockHead(block, summary)
        let wanted = head.types.map { $0.name.elementsEqual(Self.typeName.utf8) }
        guard wanted.contains(true) else { return [] }
        var found: [Adoption] = []
        var cursor = RowCursor(block, summary)
        var payload = Payload()
        while let row = try cursor.next() {
            guard wanted[row.typeIndex], let position = row.position else { continue }
            let part = try PublicPart.parse(block, row)
            try PayloadCodec.decode(block, row, part, plan: plan, into: &payload)
            guard let text = payload.bytes(at: fingerprintIndex),
                let fingerprint = Hash32(text: String(decoding: text, as: UTF8.self))
            else { throw .malformed(.identifier, at: part.payload.lowerBound) }
            found.append(Adoption(position: position, fingerprint: fingerprint))
        }
        return found
    }
}
