import DiarioCore
import DiarioFormat
import DiarioSchema
import Synchronization

/// Reads the rows of one segment piece by piece, in either direction.
///
/// Shared by copies of a cursor, each of which says which rows it wants.
final class SegmentWalk: Sendable {
    let entry: SegmentEntry
    private let shared: LogShared
    private let types: [TypeEntry]
    private let salts: SaltNodes
    /// The numbers of the events that may be wanted, the first and the last of them among these.
    private let wanted: Range<UInt64>
    private let pieceCount: Int
    private let state: Mutex<State>

    private let place: SegmentPlace

    private struct State: ~Copyable {
        var rows: SegmentRows
        /// Its counted cost.
        var counted: SegmentCounters
    }

    /// Bytes of rows that are made at once, about; and rows, at least and at most.
    private static let pieceSize = 1024 * 1024
    private static let pieceCounts = 16...1024

    /// A segment is read as columns if more than one in so many of its events is asked for.
    static let partRatio = 16

    /// Opens a segment; nil if its files are gone.
    static func open(
        _ entry: SegmentEntry,
        of space: SpaceID,
        in shared: LogShared,
        _ filter: LogFilter
    ) throws(LogError) -> Opened? {
        if let index = shared.segments.index(of: entry.name), filter.types(index).isEmpty {
            return .nothingWanted
        }
        guard var segment = try OpenSegment.open(entry, of: space, in: shared) else { return nil }
        shared.segments.keep(segment.reader.index, of: entry.name)
        var types: Set<Int>?
        var salts = SaltNodes([])
        do throws(SegmentError) {
            if !filter.isEmpty {
                let found = try filter.types(
                    filter.types(segment.reader.index),
                    withSubjectIn: &segment.reader
                )
                types = found
            }
            let wanted = types ?? Set(segment.reader.index.types.indices)
            if try shared.segments.keepTypes(wanted, of: &segment.reader) {
                salts = SaltNodes(try segment.reader.saltNodes())
            }
        } catch {
            throw segment.place.error(error)
        }
        let cost = segment.reader.cost
        shared.segments.count(cost)
        guard types?.isEmpty != true else { return .nothingWanted }
        let place = segment.place
        var wanted = entry.first..<entry.last + 1
        if let sequences = filter.sequences {
            guard let events = try segment.events(sequences) else { return .nothingWanted }
            wanted =
                entry.first + UInt64(events.lowerBound)..<entry.first + UInt64(events.upperBound)
        }
        var rows = try segment.rows()
        if let types { rows.want(types: types) }
        return .walk(SegmentWalk(entry, place, rows, wanted, cost, salts, in: shared))
    }

    /// The result of opening.
    enum Opened {
        /// No event of the segment is wanted.
        case nothingWanted
        case walk(SegmentWalk)
    }

    private init(
        _ entry: SegmentEntry,
        _ place: SegmentPlace,
        _ rows: consuming sending SegmentRows,
        _ wanted: Range<UInt64>,
        _ counted: SegmentCounters,
        _ salts: SaltNodes,
        in shared: LogShared
    ) {
        self.entry = entry
        self.place = place
        self.shared = shared
        self.wanted = wanted
        self.salts = salts
        types = rows.reader.index.types.map { $0.entry }
        let rowSize = max(1, entry.rowSize / entry.count)
        let count = Self.pieceSize / rowSize
        pieceCount = min(max(count, Self.pieceCounts.lowerBound), Self.pieceCounts.upperBound)
        state = Mutex(State(rows: rows, counted: counted))
    }

    /// The wanted events of the first, or last, piece of `positions`, and the positions of it.
    func events(
        _ positions: Range<UInt64>,
        isReversed: Bool
    ) throws(LogError) -> (StoredEvents, covered: Range<UInt64>) {
        let low = max(positions.lowerBound, entry.first)
        let high = min(positions.upperBound, entry.last + 1)
        precondition(low < high, "a walk is asked for positions of its segment")
        let rest = wanted.clamped(to: low..<high)
        guard !rest.isEmpty else { return (.empty, low..<high) }
        // Events before the wanted ones are skipped.
        if isReversed, rest.upperBound < high { return (.empty, rest.upperBound..<high) }
        if !isReversed, low < rest.lowerBound { return (.empty, low..<rest.lowerBound) }
        return try events(rest.lowerBound, rest.upperBound, isReversed)
    }

    private func events(
        _ low: UInt64,
        _ high: UInt64,
        _ isReversed: Bool
    ) throws(LogError) -> (StoredEvents, covered: Range<UInt64>) {
        let count = min(UInt64(pieceCount), high - low)
        let covered = isReversed ? high - count..<high : low..<low + count
        let events = Int(covered.lowerBound - entry.first)..<Int(covered.upperBound - entry.first)
        let stored = try state.withLock { (state) throws(LogError) -> StoredEvents in
            do throws(SegmentError) {
                var rows = try state.rows.rows(in: events)
                if isReversed { rows.reverse() }
                let cost = state.rows.reader.cost
                shared.segments.count(cost.since(state.counted))
                state.counted = cost
                return StoredEvents(
                    bytes: state.rows.bytes,
                    types: types,
                    rows: rows.map(StoredRow.init),
                    fileName: .segment(entry.name, place.space),
                    salts: salts
                )
            } catch {
                throw place.error(error)
            }
        }
        return (stored, covered)
    }
}

extension SegmentReader {
    /// The cost so far.
    var cost: SegmentCounters {
        SegmentCounters(segments: 1, blocks: blocksRead, bytes: bytesRead)
    }
}

extension SegmentShelf {
    /// Keeps types of a segment for the next one; true if one of them has personal fields.
    func keepTypes(
        _ wanted: Set<Int>,
        of reader: inout SegmentReader
    ) throws(SegmentError) -> Bool {
        let known = types
        var new: [TypeEntry: EventType] = [:]
        var isPersonal = false
        for index in wanted.sorted() {
            let type = try reader.eventType(index)
            isPersonal = isPersonal || !type.personalFieldIndices.isEmpty
            let entry = reader.index.types[index].entry
            if known[entry] == nil { new[entry] = type }
        }
        if !new.isEmpty { keep(new) }
        return isPersonal
    }
}
