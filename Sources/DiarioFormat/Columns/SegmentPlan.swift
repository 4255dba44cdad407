/// The encodings that were found best, kept from segment to segment.
///
/// Any plan makes a right segment; a good one makes a small one fast. A column whose size gets
/// worse is tried anew.
package struct SegmentPlan: Sendable {
    private var columns: [ColumnName: ColumnPlan] = [:]
    /// How many searches were made: a measure of what the plan cost.
    package internal(set) var searchCount = 0

    package init() {}

    /// Columns that it knows of.
    package var columnCount: Int { columns.count }

    subscript(_ name: ColumnName) -> ColumnPlan? {
        get { columns[name] }
        set { columns[name] = newValue }
    }
}

/// A column, whatever the segment.
struct ColumnName: Hashable, Sendable {
    /// The fingerprint and the index of a field, or a part of the envelope.
    enum Place: Hashable, Sendable {
        case envelope(SegmentBlockKind, Int)
        case field(TypeEntry, Int)
        case presence(TypeEntry, Int)
        /// The pack and the name of the field.
        case shared(String)
    }

    var place: Place
}

/// How a column is written, and how well that went.
struct ColumnPlan: Sendable {
    enum Method: Hashable, Sendable {
        case integers(IntegerMethod)
        /// One of several ways to make integers of the values.
        case variant(Int, IntegerMethod)
        case texts(TextMethod)
    }

    var method: Method
    /// Bytes for each value when the plan was made.
    var bytesPerValue: Double
}
