import DiarioCore
import DiarioFormat
import Synchronization

/// The last events that both sides of a pull have, as the context that blocks are compressed after:
/// schema/format/sync.md, section 4.
struct ExchangeContext {
    private var parts: [UInt8] = []
    private var rows: [Row] = []
    private var nextPosition: UInt64
    private let end: UInt64

    private struct Row {
        let type: TypeEntry
        let replica: ReplicaID
        let part: Range<Int>
    }

    /// Most events of a context.
    private static let countMax: UInt64 = 1024
    /// Bytes of their public parts, of which those of the last events count.
    private static let sizeMax = 128 * 1024

    /// The context of the first `size` events, of which there is at least one.
    init(size: UInt64) {
        end = size
        nextPosition = size - min(size, Self.countMax) + 1
    }

    /// The positions that it is made of.
    var positions: ClosedRange<UInt64> { nextPosition...end }

    /// Takes the next of these events.
    mutating func append(_ stored: StoredRow, of events: StoredEvents) {
        guard stored.position == nextPosition else { return }
        nextPosition += 1
        let start = parts.count
        parts += events.bytes[stored.row.publicPart]
        rows.append(
            Row(
                type: events.types[stored.row.typeIndex],
                replica: stored.row.replica,
                part: start..<parts.count
            )
        )
    }

    /// The bytes; nil if events of it are lost here.
    func bytes() -> [UInt8]? {
        guard nextPosition == end + 1 else { return nil }
        var size = 0
        let chosen = rows.reversed().prefix { row in
            size += row.part.count
            return size <= Self.sizeMax
        }
        var bytes: [UInt8] = []
        var types: Set<TypeEntry> = []
        var replicas: Set<ReplicaID> = []
        for row in chosen.reversed() {
            if types.insert(row.type).inserted {
                bytes.append(counted: row.type.name.span.raw)
                bytes.append(varint: UInt64(row.type.version))
                bytes.append(row.type.fingerprint)
            }
            if replicas.insert(row.replica).inserted {
                bytes.append(littleEndian: row.replica.rawValue)
            }
        }
        for row in chosen.reversed() { bytes += parts[row.part] }
        return bytes
    }
}

extension SpaceLog {
    /// The context of the first `size` events; nil if some of its events are lost here.
    package func exchangeContext(size: UInt64) throws(LogError) -> [UInt8]? {
        guard size > 0 else { return nil }
        var context = ExchangeContext(size: size)
        guard try canRead(from: context.positions.lowerBound) else { return nil }
        var cursor = try log.cursor(space, positions: context.positions, .canonical)
        while let events = try cursor.next() {
            for stored in events.rows { context.append(stored, of: events) }
        }
        return context.bytes()
    }

    /// True if no event of a space was given away.
    package func hasAll() throws(LogError) -> Bool {
        try canRead(from: 1)
    }

    /// True if no event from a position on was given away.
    func canRead(from position: UInt64) throws(LogError) -> Bool {
        let released = shared.index.withLock { $0.brief(of: space).released }
        return try shared.firstReadable(space, released: released) <= position
    }
}
