extension String {
    /// Compares byte by byte, because strings compare equal that differ in their code points.
    package func hasBytes(of other: String) -> Bool {
        // Which is known soonest of most: those that have the same bytes do compare equal.
        guard self == other else { return false }
        let (content, otherContent) = (Array(utf8), Array(other.utf8))
        return content.span.hasBytes(of: otherContent.span)
    }
}

extension Span where Element == UInt8 {
    /// True if both have the same bytes.
    package func hasBytes(of other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        var difference: UInt8 = 0
        for index in indices {
            // Safe: the loop goes through the indices of both.
            difference |= unsafe self[unchecked: index] ^ other[unchecked: index]
        }
        return difference == 0
    }
}
