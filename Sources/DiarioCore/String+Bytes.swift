extension String {
    /// Compares byte by byte, because strings compare equal that differ in their code points.
    package func hasBytes(of other: String) -> Bool {
        // Which is known soonest of most: those that have the same bytes do compare equal.
        guard self == other else { return false }
        let (content, otherContent) = (Array(utf8), Array(other.utf8))
        let (bytes, others) = (content.span, otherContent.span)
        guard bytes.count == others.count else { return false }
        var difference: UInt8 = 0
        for index in bytes.indices {
            // Safe: the loop goes through the indices of both.
            difference |= unsafe bytes[unchecked: index] ^ others[unchecked: index]
        }
        return difference == 0
    }
}
