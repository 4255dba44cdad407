import DiarioCore
import DiarioFormat

/// Which events of a lane are put into a private segment next, and which segments that replaces.
///
/// Like `SealPlan` a function of what is there. It does not align anything: a lane loses events at
/// its start whenever the authority accepts some.
struct LanePlan: Equatable {
    let sequences: ClosedRange<UInt64>
    /// Those of which `sequences` has all that is needed.
    let replaced: [SegmentEntry]

    /// The state of a lane.
    struct Lane {
        /// Its private segments, in order.
        var segments: [SegmentEntry]
        /// The lowest sequence that is needed of those; nil if none is.
        var start: UInt64?
        /// The first sequences that lie in blocks of the log, up to a gap; nil if none do.
        var unsealed: ClosedRange<UInt64>?
    }

    /// Nil if nothing is to be done.
    ///
    /// With `all`, a short segment is made of what fills no run yet; what follows it replaces that.
    static func next(_ lane: Lane, all: Bool, _ sizes: LogSizes) -> LanePlan? {
        let start = lane.start ?? .max
        let needed = lane.segments.filter { $0.last >= start }
        return rows(needed, lane, all: all, sizes) ?? merge(needed, start: start, sizes)
    }

    /// Complete runs of events that no segment holds, as many as make up one; with `all`, the rest.
    private static func rows(
        _ needed: [SegmentEntry],
        _ lane: Lane,
        all: Bool,
        _ sizes: LogSizes
    ) -> LanePlan? {
        guard let unsealed = lane.unsealed else { return nil }
        var first = unsealed.lowerBound
        var replaced: [SegmentEntry] = []
        if let last = needed.last, let start = lane.start, last.last + 1 == first,
            last.count < sizes.segmentCount, last.rowSize <= sizes.segmentMax / 2
        {
            first = max(last.first, start)
            replaced = [last]
        }
        let count = unsealed.upperBound - first + 1
        let step = UInt64(sizes.segmentCount)
        let whole = min(count / step * step, UInt64(sizes.mergedCount))
        if whole > 0 {
            return LanePlan(sequences: first...first + whole - 1, replaced: replaced)
        }
        return all ? LanePlan(sequences: first...unsealed.upperBound, replaced: replaced) : nil
    }

    /// The first neighbours that make up a larger segment, to which nothing can be added.
    private static func merge(
        _ needed: [SegmentEntry],
        start: UInt64,
        _ sizes: LogSizes
    ) -> LanePlan? {
        var group: ArraySlice<SegmentEntry> = []
        for index in needed.indices {
            let next = needed[index]
            if !mayMerge(group, next, sizes) {
                if group.count > 1 { return plan(group, start: start) }
                group = needed[index..<index]
            }
            group = needed[group.startIndex...index]
        }
        let count = group.reduce(0) { $0 + $1.count }
        guard group.count > 1, count + sizes.segmentCount > sizes.mergedCount else { return nil }
        return plan(group, start: start)
    }

    private static func mayMerge(
        _ group: ArraySlice<SegmentEntry>,
        _ next: SegmentEntry,
        _ sizes: LogSizes
    ) -> Bool {
        guard let last = group.last, last.last + 1 == next.first else { return false }
        return group.reduce(next.count) { $0 + $1.count } <= sizes.mergedCount
            && group.reduce(next.rowSize) { $0 + $1.rowSize } <= sizes.segmentMax
    }

    private static func plan(_ group: ArraySlice<SegmentEntry>, start: UInt64) -> LanePlan? {
        guard let first = group.first, let last = group.last else { return nil }
        return LanePlan(sequences: max(first.first, start)...last.last, replaced: Array(group))
    }
}
