extension String {
    /// Compares byte by byte, because strings compare equal that differ in their code points.
    package func hasBytes(of other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
