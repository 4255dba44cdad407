/// The difference of a table, or of an index for text or places, to the one of another generation.
package struct TableDifference: Hashable, Sendable {
    package let name: String
    /// Rows whose keys the other one does not have.
    package let added: Int
    /// Rows of the other one whose keys are not there any more.
    package let removed: Int
    /// Rows with the same key and other values.
    package let changed: Int
    package let shape: Shape

    /// The change of its columns.
    package enum Shape: String, Sendable {
        case same
        /// They are others.
        case changed
        /// The other generation does not have the table.
        case new
        /// Only the other generation has it.
        case gone
    }

    package init(name: String, added: Int, removed: Int, changed: Int, shape: Shape) {
        self.name = name
        self.added = added
        self.removed = removed
        self.changed = changed
        self.shape = shape
    }

    /// True if there is no difference.
    package var isEmpty: Bool { added + removed + changed == 0 && shape == .same }
}
