import DiarioCore
package import DiarioFormat
package import DiarioSchema
import Synchronization

/// The columns of a sealed segment, of which events at some positions are wanted.
///
/// Used by one thread at a time.
package final class SealedColumns {
    /// The wanted ones; all are of the segment.
    package let positions: Range<UInt64>
    private let place: SegmentPlace
    private let shared: LogShared
    private var columns: SegmentColumns
    /// The counted cost of reading.
    private var counted: SegmentCounters

    /// How a type of a segment is read.
    package enum Choice {
        case leaveOut
        case read(FieldSelection)
        /// Its columns are of no use: all of the segment is read as rows.
        case asRows
    }

    init(
        _ columns: consuming SegmentColumns,
        at positions: Range<UInt64>,
        _ place: SegmentPlace,
        _ counted: SegmentCounters,
        in shared: LogShared
    ) {
        self.columns = columns
        self.positions = positions
        self.place = place
        self.counted = counted
        self.shared = shared
    }

    package var envelope: SegmentEnvelope { columns.envelope }

    /// The events of wanted types.
    package var wantedEvents: [Int32] { columns.wantedEvents }

    /// The type at an index of the segment.
    package func entry(ofType type: Int) -> TypeEntry { columns.reader.index.types[type].entry }

    package var typeCount: Int { columns.reader.index.types.count }

    /// The number in the segment of the event at a position.
    private func event(at position: UInt64) -> Int {
        Int(position - columns.envelope.firstPosition)
    }

    /// The position of an event by its number in the segment.
    package func position(of event: Int) -> UInt64 {
        columns.envelope.firstPosition + UInt64(event)
    }

    /// The wanted events from that at a position on whose columns are read together.
    package func window(from position: UInt64) throws(LogError) -> ColumnWindow {
        precondition(positions.contains(position), "only wanted positions are asked for")
        do throws(SegmentError) {
            var window = try columns.window(from: event(at: position))
            window.end(before: event(at: positions.upperBound))
            let cost = columns.reader.cost
            shared.segments.count(cost.since(counted))
            counted = cost
            return window
        } catch {
            throw place.error(error)
        }
    }
}

extension LogCursor {
    /// The next segment as columns, if much of it is wanted; the cursor then continues after it.
    ///
    /// Nil if the next events are better read as rows. `choose` selects types; the filter of the
    /// cursor is applied first.
    package mutating func nextColumns(
        _ parts: Set<EnvelopePart>,
        _ choose: (TypeEntry, EventType) -> SealedColumns.Choice
    ) throws(LogError) -> SealedColumns? {
        while let (entry, own) = try nextLargePart() {
            let shared = store.shared
            if let index = shared.segments.index(of: entry.name), filter.types(index).isEmpty {
                leave(own)
                continue
            }
            guard let segment = try OpenSegment.open(entry, of: space, in: shared) else {
                shared.segments.forget(space)
                return nil
            }
            shared.segments.keep(segment.reader.index, of: entry.name)
            switch try segment.columns(filter, parts, choose, at: own, in: shared) {
            case .some(.some(let columns)):
                leave(own)
                return columns
            case .some(.none): leave(own)
            case .none: return nil
            }
        }
        return nil
    }

    /// The segment that comes next and the wanted positions in it, unless these are few.
    private mutating func nextLargePart() throws(LogError) -> (SegmentEntry, Range<UInt64>)? {
        guard !isReversed, !positions.isEmpty, isBetweenSegments else { return nil }
        let first = positions.lowerBound
        let shared = store.shared
        guard first <= shared.index.withLock({ $0[space].released }),
            let entry = try shared.segments.entry(at: first, of: space, in: shared.directory)
        else { return nil }
        let own = positions.clamped(to: entry.first..<entry.last + 1)
        return own.count * SegmentWalk.partRatio > entry.count ? (entry, own) : nil
    }
}

extension OpenSegment {
    /// The columns of events at some positions; nil inside if nothing is wanted, and outside if
    /// they are to be read as rows.
    fileprivate consuming func columns(
        _ filter: LogFilter,
        _ parts: Set<EnvelopePart>,
        _ choose: (TypeEntry, EventType) -> SealedColumns.Choice,
        at positions: Range<UInt64>,
        in shared: LogShared
    ) throws(LogError) -> SealedColumns?? {
        let place = place
        var reader = consume reader
        var selection = SegmentSelection()
        selection.envelope = parts
        selection.fields = reader.index.types.map { _ in nil }
        do throws(SegmentError) {
            let wanted = filter.types(reader.index)
            _ = try shared.segments.keepTypes(wanted, of: &reader)
            for type in wanted.sorted() {
                switch choose(reader.index.types[type].entry, try reader.eventType(type)) {
                case .leaveOut: break
                case .read(let fields): selection.fields[type] = fields
                case .asRows: return nil
                }
            }
            guard selection.fields.contains(where: { $0 != nil }) else {
                shared.segments.count(reader.cost)
                return .some(nil)
            }
            let columns = try SegmentColumns(reader, selection)
            let cost = columns.reader.cost
            shared.segments.count(cost)
            return SealedColumns(columns, at: positions, place, cost, in: shared)
        } catch {
            throw place.error(error)
        }
    }
}
