import DiarioCore
import DiarioCrypto
import DiarioFormat

extension EventHasher {
    /// Appends to `range` the leaves of those events of `run` that it does not have yet.
    ///
    /// `run` is canonical, and `block` the block it lies in.
    mutating func append(
        _ block: Span<UInt8>,
        _ run: Run,
        seeds: inout Seeds,
        to range: inout CompactRange
    ) throws(FormatError) {
        let summary = try BlockSummary.parse(block, verifyChecksum: false)
        var types = TypeCursor(block, summary)
        var cursor = RowCursor(block, summary)
        let end = Int(run.skip) + Int(run.count)
        while let row = try cursor.next(), row.index < end {
            let position = run.first &+ UInt64(row.index) &- UInt64(run.skip)
            guard row.index >= Int(run.skip), position > range.size else { continue }
            let type = try types.entry(row.typeIndex)
            let hash = eventHash(
                typeName: block.extracting(type.name),
                version: type.version,
                replica: row.replica,
                sequence: row.sequence,
                publicPart: block.raw.extracting(row.publicPart),
                commitment: try commitment(of: row, in: block, seeds: &seeds)
            )
            guard let acceptedAt = run.promotedAt ?? row.acceptedAt?.milliseconds else {
                throw .malformed(.acceptedTimes, at: row.publicPart.lowerBound)
            }
            range.append(leaf(hash, acceptedAt: acceptedAt), &self)
        }
    }

    /// Appends the leaves of canonical events from a segment, which follow those of `range`.
    mutating func append(
        _ events: StoredEvents,
        seeds: inout Seeds,
        to range: inout CompactRange
    ) throws(FormatError) {
        seeds.segment = events.salts
        let bytes = events.bytes.span
        for stored in events.rows {
            let row = stored.row
            let type = events.types[row.typeIndex]
            let name = type.name
            let hash = eventHash(
                typeName: name.span,
                version: type.version,
                replica: row.replica,
                sequence: row.sequence,
                publicPart: bytes.raw.extracting(row.publicPart),
                commitment: try commitment(of: row, in: bytes, seeds: &seeds)
            )
            guard let acceptedAt = stored.acceptedAt else {
                throw .malformed(.acceptedTimes, at: row.publicPart.lowerBound)
            }
            range.append(leaf(hash, acceptedAt: acceptedAt.milliseconds), &self)
        }
        seeds.segment = nil
    }

    /// The commitment of the personal part of a row; nil if it never had one.
    mutating func commitment(
        of row: BlockRow,
        in block: Span<UInt8>,
        seeds: inout Seeds
    ) throws(FormatError) -> Hash32? {
        switch row.personal {
        case .absent: return nil
        case .erased(let range): return Hash32(block.extracting(range))
        case .present(let range):
            guard let node = seeds.node(of: row.replica, sequence: row.sequence) else {
                throw .malformed(.saltNode, at: range.lowerBound)
            }
            let salt = salt(node, index: SaltSeed.index(of: row.sequence))
            return commitment(block.raw.extracting(range), salt: salt)
        }
    }
}
