/// The values of a column in arrays of their type, without an object for each event.
package enum ColumnValues: Equatable, Sendable {
    /// No row has a value.
    case none
    /// Integers, days, milliseconds.
    case integers([Int64])
    /// Booleans, indices of enumerations.
    case codes([UInt32])
    case numbers([Double])
    /// Strings, nested values, bytes; uuids as their 16 bytes.
    case texts(TextValues)

    package var count: Int {
        switch self {
        case .none: 0
        case .integers(let values): values.count
        case .codes(let values): values.count
        case .numbers(let values): values.count
        case .texts(let values): values.count
        }
    }
}

/// A field of some rows of a type.
package struct FieldColumn: Equatable, Sendable {
    /// The index of the field in its type.
    package var field: Int
    /// The rows that have a value, counted from the first of the block; nil if all have one.
    package var present: [Int32]?
    package var values: ColumnValues
    /// Bytes that the column takes in its block.
    package var storedSize = 0
}

/// The rows of one block of fields, by column.
package struct FieldColumns {
    /// The index of the type in the segment.
    package var type: Int
    /// The rows of the type that the columns are about; of the personal ones, those that have a
    /// personal part, counted from the first of the block.
    package var rowCount: Int
    /// The fields of the part, in order.
    package var columns: [FieldColumn]
}
