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
            let name = block.extracting(type.name)
            let hash = try eventHash(of: row, name, type.version, block, seeds.node(of: row))
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
        for stored in events.rows {
            let hash = try eventHash(of: stored.row, in: events, &seeds)
            guard let acceptedAt = stored.acceptedAt else {
                throw .malformed(.acceptedTimes, at: stored.row.publicPart.lowerBound)
            }
            range.append(leaf(hash, acceptedAt: acceptedAt.milliseconds), &self)
        }
        seeds.segment = nil
    }

    /// The hash of an event, which is the same for its author and everybody else.
    mutating func eventHash(
        of row: BlockRow,
        in events: StoredEvents,
        _ seeds: inout Seeds
    ) throws(FormatError) -> Hash32 {
        seeds.segment = events.salts
        let type = events.types[row.typeIndex]
        return try eventHash(of: row, type, events.bytes.span, seeds.node(of: row))
    }

    /// The hash of a row of `block`; the salt of its personal part comes from `node`.
    mutating func eventHash(
        of row: BlockRow,
        _ type: TypeEntry,
        _ block: Span<UInt8>,
        _ node: SaltNode?
    ) throws(FormatError) -> Hash32 {
        let name = type.name
        return try eventHash(of: row, name.span, type.version, block, node)
    }

    private mutating func eventHash(
        of row: BlockRow,
        _ typeName: Span<UInt8>,
        _ version: Int,
        _ block: Span<UInt8>,
        _ node: SaltNode?
    ) throws(FormatError) -> Hash32 {
        eventHash(
            typeName: typeName,
            version: version,
            replica: row.replica,
            sequence: row.sequence,
            publicPart: block.raw.extracting(row.publicPart),
            commitment: try commitment(of: row, block, node)
        )
    }

    /// The commitment of the personal part of a row; nil if it never had one.
    mutating func commitment(
        of row: BlockRow,
        _ block: Span<UInt8>,
        _ node: SaltNode?
    ) throws(FormatError) -> Hash32? {
        switch row.personal {
        case .absent: return nil
        case .erased(let range): return Hash32(block.extracting(range))
        case .present(let range):
            guard let node else { throw .malformed(.saltNode, at: range.lowerBound) }
            let salt = salt(node, index: SaltSeed.index(of: row.sequence))
            return commitment(block.raw.extracting(range), salt: salt)
        }
    }
}

/// Hashes rows of a space as they were read.
struct RowHashing: ~Copyable {
    private var hasher = EventHasher()
    private var seeds: Seeds

    init(_ store: LogShared, _ space: SpaceID) { seeds = Seeds(store: store, space: space) }

    mutating func hash(
        of stored: StoredRow,
        in events: StoredEvents
    ) throws(LogError) -> Hash32 {
        do throws(FormatError) {
            return try hasher.eventHash(of: stored.row, in: events, &seeds)
        } catch {
            throw .format(error)
        }
    }
}
