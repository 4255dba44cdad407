import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioProjection
import DiarioSchema

/// Canonical events on their way into read models: columns of segments where there are such, else
/// rows.
///
/// A copy goes on by itself from where it was made.
struct ModelEvents {
    private let catalog: TypeCatalog
    private let plan: PackPlan
    private let parts: Set<EnvelopePart>
    /// Reads rows, and finds segments.
    private var rows: EventReader
    /// The segment that is being read by columns.
    private var segment: Segment?

    private struct Segment {
        let columns: SealedColumns
        let types: [EventType?]
        /// Nil until they are made, which takes as long as reading the columns.
        var events: ColumnEvents?
        /// The position to go on with.
        var next: UInt64
    }

    /// The progress through some events.
    struct Progress {
        /// The events to which read models listen.
        var count = 0
        /// All events up to this position were gone through.
        var last: UInt64
        var isAtEnd = false
    }

    /// Those of a cursor that is asked for these types.
    init(_ space: Space, _ cursor: LogCursor, _ plan: PackPlan, types: [String]) {
        catalog = space.catalog
        self.plan = plan
        parts = plan.envelopeParts
        rows = EventReader(space, cursor, types: types)
    }

    /// Lets the file take the next events, of which its models listen to `countMax` at most; fewer
    /// if what was done should be kept first, and none where a segment is begun.
    mutating func apply(
        to file: ModelFile,
        after position: UInt64,
        countMax: Int,
        _ care: ModelFile.Care
    ) throws(ApplyError) -> Progress {
        var progress = Progress(last: position)
        while progress.count < countMax, progress.count == 0 || !file.shouldCommit {
            if let events = segment?.events {
                try applyColumns(events, to: file, countMax, care, &progress)
                continue
            }
            if let begun = segment {
                segment?.events = ColumnEvents(
                    begun.columns.envelope,
                    begun.columns.wantedEvents,
                    begun.types,
                    for: plan
                )
                break
            }
            do throws(DiarioError) {
                if rows.isBetweenBlocks {
                    segment = try nextSegment()
                    guard segment == nil else { break }
                }
                guard try rows.advance() else {
                    progress.isAtEnd = true
                    break
                }
            } catch {
                throw ApplyError(error)
            }
            try file.apply(rows.line, care)
            progress.last = rows.line.position ?? progress.last
            progress.count += 1
        }
        return progress
    }

    private mutating func applyColumns(
        _ events: ColumnEvents,
        to file: ModelFile,
        _ countMax: Int,
        _ care: ModelFile.Care,
        _ progress: inout Progress
    ) throws(ApplyError) {
        guard var current = segment else { return }
        let window: ColumnWindow
        do throws(LogError) { window = try current.columns.window(from: current.next) } catch {
            throw ApplyError(DiarioError(error))
        }
        let countMax = countMax - progress.count
        let (next, count) = try file.apply(events, window, countMax: countMax, care)
        progress.count += count
        let end = current.columns.positions.upperBound
        current.next = min(end, current.columns.position(of: next))
        progress.last = current.next - 1
        segment = current.next < end ? current : nil
    }

    private mutating func nextSegment() throws(DiarioError) -> Segment? {
        let (catalog, plan) = (catalog, plan)
        var types: [EventType?] = []
        let found = try rows.nextColumns(parts) { (entry, own) in
            // Those of the catalog, so that one type has one identity.
            let name = String(decoding: entry.name, as: UTF8.self)
            let type = catalog.type(name, version: entry.version)
            if let type, type.canonicalSchema != own.canonicalSchema { return .asRows }
            return plan.selection(of: type ?? .unknown(name, version: entry.version))
                .map { .read($0) } ?? .leaveOut
        }
        guard let found else { return nil }
        for index in 0..<found.typeCount {
            let entry = found.entry(ofType: index)
            let name = String(decoding: entry.name, as: UTF8.self)
            let type =
                catalog.type(name, version: entry.version)
                ?? .unknown(name, version: entry.version)
            types.append(plan.selection(of: type) == nil ? nil : type)
        }
        return Segment(columns: found, types: types, next: found.positions.lowerBound)
    }
}
