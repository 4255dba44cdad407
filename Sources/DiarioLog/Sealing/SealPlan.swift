/// The positions that are sealed next, and the segments that the new ones replace.
///
/// A pure function of the manifest and the head, so that it decides the same after a crash.
struct SealPlan: Equatable {
    let positions: ClosedRange<UInt64>
    /// Those that lie in `positions`.
    let replaced: [SegmentEntry]
    /// True if they make up no run yet.
    var isShort = false

    /// Nil if nothing is to be done.
    ///
    /// `first` is the lowest position that can be read, `head` the last one.
    static func next(
        _ segments: [SegmentEntry],
        first: UInt64,
        head: UInt64,
        _ extent: SealExtent,
        _ sizes: LogSizes
    ) -> SealPlan? {
        let planner = Planner(
            segments: segments,
            first: first,
            head: head,
            sizes: sizes
        )
        if let plan = planner.merge() ?? planner.run() { return plan }
        switch extent {
        case .complete: return nil
        case .all: return planner.rest()
        case .tail: return planner.tail()
        }
    }
}

private struct Planner {
    let segments: [SegmentEntry]
    let first: UInt64
    let head: UInt64
    let sizes: LogSizes

    private var sealedEnd: UInt64 { segments.last?.last ?? first - 1 }

    /// The first window of a large segment that is complete and not yet one segment.
    func merge() -> SealPlan? {
        var index = 0
        while index < segments.count {
            let window = self.window(of: segments[index].first, UInt64(sizes.mergedCount))
            var end = index
            while end < segments.count, segments[end].first <= window.upperBound { end += 1 }
            defer { index = end }
            guard window.upperBound <= head else { break }
            let inside = segments[index..<end]
            if mayMerge(inside, window) { return plan(window) }
        }
        let window = self.window(of: sealedEnd + 1, UInt64(sizes.mergedCount))
        guard window.upperBound <= head,
            segments.last.map({ $0.last < window.lowerBound }) ?? true
        else { return nil }
        return plan(window)
    }

    /// Segments that were cut because of their size are not merged again, or this would never end.
    private func mayMerge(_ inside: ArraySlice<SegmentEntry>, _ window: ClosedRange<UInt64>) -> Bool
    {
        guard inside.reduce(0, { $0 + $1.rowSize }) <= sizes.segmentMax,
            let last = inside.last, last.last <= window.upperBound
        else { return false }
        guard last.last == window.upperBound else { return true }
        return inside.count > 1
            && inside.allSatisfy { $0.last.isMultiple(of: UInt64(sizes.segmentCount)) }
    }

    /// The run of the first event that is not sealed, if it is complete.
    func run() -> SealPlan? {
        let run = window(of: sealedEnd + 1, UInt64(sizes.segmentCount))
        return run.upperBound <= head ? plan(run) : nil
    }

    /// The rest of the tail.
    func rest() -> SealPlan? {
        guard head > sealedEnd else { return nil }
        let run = window(of: sealedEnd + 1, UInt64(sizes.segmentCount))
        return short(from: run.lowerBound)
    }

    /// The rest of the tail, merged with short segments before it that are small and not larger
    /// than the events after them; so few are merged often, and there are never many.
    func tail() -> SealPlan? {
        guard head > sealedEnd else { return nil }
        let run = window(of: sealedEnd + 1, UInt64(sizes.segmentCount))
        var start = sealedEnd + 1
        for entry in segments.reversed() {
            guard entry.last + 1 == start, entry.first >= run.lowerBound,
                entry.count < sizes.segmentCount / 8, UInt64(entry.count) <= head + 1 - start
            else { break }
            start = entry.first
        }
        return short(from: start)
    }

    private func short(from start: UInt64) -> SealPlan {
        var plan = plan(start...head)
        plan.isShort = true
        return plan
    }

    /// The aligned positions around one of them.
    private func window(of position: UInt64, _ count: UInt64) -> ClosedRange<UInt64> {
        let start = (position - 1) / count * count + 1
        return start...start + count - 1
    }

    private func plan(_ positions: ClosedRange<UInt64>) -> SealPlan {
        var start = max(positions.lowerBound, first)
        // One that begins before is left as it is: it was made by other sizes.
        if let before = segments.last(where: { $0.first < start }), before.last >= start {
            start = before.last + 1
        }
        return SealPlan(
            positions: start...positions.upperBound,
            replaced: segments.filter { $0.first >= start && $0.last <= positions.upperBound }
        )
    }
}
