/// The encodings that were found best, kept from segment to segment, whatever the space.
///
/// Any plan makes a right segment; a good one makes a small one fast. A column that none of its
/// known ways makes about as small as it was when they were found is tried anew.
package struct SegmentPlan: Sendable {
    private var columns: [ColumnName: [ColumnPlan]] = [:]
    /// How many searches were made: a measure of what the plan cost.
    package internal(set) var searchCount = 0

    package init() {}

    /// Columns that it knows of.
    package var columnCount: Int { columns.count }

    /// Ways that are kept for a column: spaces differ, most of all in their envelopes.
    private static let wayCountMax = 3

    /// The ways to write a column, that which was of use last first.
    func ways(_ name: ColumnName) -> [ColumnPlan] { columns[name] ?? [] }

    /// Puts a way in front of the others of a column.
    mutating func prefer(_ way: ColumnPlan, for name: ColumnName) {
        var ways = self.ways(name)
        ways.removeAll { $0.variant == way.variant && $0.method == way.method }
        ways.insert(way, at: 0)
        columns[name] = Array(ways.prefix(Self.wayCountMax))
    }
}

/// A column, whatever the segment.
enum ColumnName: Hashable, Sendable {
    /// A part of the envelope, or of its block.
    case envelope(SegmentBlockKind, Int)
    /// The index of a field.
    case field(TypeEntry, Int)
    case presence(TypeEntry, Int)
    /// A column that several types share: the pack and the name of the field.
    case shared(String)
}

/// How a column is written, and how well that went.
struct ColumnPlan: Sendable {
    /// Which of several ways to make integers of the values.
    var variant: Int
    var method: IntegerMethod
    /// Bytes for each value when the way was found.
    var bytesPerValue: Double
    /// How many values there were.
    var valueCount: Int

    /// Whether that were too few to tell how so many are written best.
    func isOutgrown(by count: Int) -> Bool {
        valueCount < Self.tellingCount && count >= 4 * valueCount
    }

    private static let tellingCount = 4096
}
