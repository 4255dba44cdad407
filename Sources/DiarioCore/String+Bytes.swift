extension String {
    /// Compares byte by byte, because strings compare equal that differ in their code points.
    package func hasBytes(of other: String) -> Bool {
        // Which is known soonest of most: those that have the same bytes do compare equal.
        self == other && utf8.elementsEqual(other.utf8)
    }
}
