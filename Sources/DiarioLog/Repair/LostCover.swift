import DiarioCore
import DiarioCrypto
import DiarioFormat

/// Puts lost positions, and the subtrees around them whose hashes are known, into ranges that do
/// not overlap.
struct LostCover {
    /// In order; what of them is kept is told at the end.
    private var ranges: [LostPositions]
    private var lost = NumberRanges()

    /// A subtree, and its hash.
    typealias Node = (node: TreeNode, hash: Hash32)

    /// Begins with what was known before.
    init(_ known: [LostPositions]) {
        ranges = known.map(\.place)
        for run in known.runs { lost.insert(run) }
    }

    /// Adds lost positions; gives those of them that are in no range yet.
    mutating func add(_ run: ClosedRange<UInt64>) -> [ClosedRange<UInt64>] {
        lost.insert(run)
        var rest = NumberRanges([run])
        var index = ranges.sortedIndex(behindAll: { $0.last < run.lowerBound })
        while index < ranges.count, ranges[index].first <= run.upperBound {
            rest.remove(ranges[index].positions)
            index += 1
        }
        return rest.ranges
    }

    /// Covers positions by stand-ins for their leaves; they are in no range yet.
    mutating func coverByStandIns(_ positions: ClosedRange<UInt64>, since: Timestamp) {
        insert(LostPositions(positions, since: since))
    }

    /// Covers positions by the subtrees around them, which take in ranges that they overlap.
    mutating func cover(by nodes: [Node], since: Timestamp) {
        for (node, hash) in nodes {
            let positions = node.leaves.lowerBound + 1...node.leaves.upperBound
            let start = ranges.sortedIndex(behindAll: { $0.last < positions.lowerBound })
            var end = start
            while end < ranges.count, ranges[end].first <= positions.upperBound { end += 1 }
            let overlapped = ranges[start..<end]
            // Subtrees lie in one another, or apart.
            if overlapped.contains(where: { $0.holds(positions) }) { continue }
            var new = overlapped.flatMap { $0.parts(outside: positions) }
            new.append(LostPositions(positions, since: since, hashes: [hash]))
            new.sort { $0.first < $1.first }
            ranges.replaceSubrange(start..<end, with: new)
        }
    }

    private mutating func insert(_ range: LostPositions) {
        let index = ranges.sortedIndex(behindAll: { $0.first < range.first })
        ranges.insert(range, at: index)
    }

    /// All ranges, with what of each is kept.
    var list: [LostPositions] {
        var list = ranges
        let runs = lost.ranges
        for index in list.indices where !list[index].hashes.isEmpty {
            var next = list[index].first
            let last = list[index].last
            for run in runs[runs.sortedIndex(behindAll: { $0.upperBound < next })...] {
                guard run.lowerBound <= last else { break }
                if next < run.lowerBound { list[index].kept.append(next...run.lowerBound - 1) }
                next = run.upperBound + 1
            }
            if next <= last { list[index].kept.append(next...last) }
        }
        return list
    }
}

extension LostPositions {
    /// The same without what of it is kept.
    var place: LostPositions { LostPositions(positions, since: since, hashes: hashes) }

    fileprivate func holds(_ other: ClosedRange<UInt64>) -> Bool {
        first <= other.lowerBound && other.upperBound <= last
    }

    /// What of it lies outside of a subtree.
    fileprivate func parts(outside other: ClosedRange<UInt64>) -> [LostPositions] {
        guard hashes.isEmpty else {
            return zip(nodes, hashes).compactMap { (node, hash) -> LostPositions? in
                let positions = node.leaves.lowerBound + 1...node.leaves.upperBound
                guard !positions.overlaps(other) else { return nil }
                return LostPositions(positions, since: since, hashes: [hash])
            }
        }
        var rest = NumberRanges([positions])
        rest.remove(other)
        return rest.ranges.map { LostPositions($0, since: since) }
    }
}
