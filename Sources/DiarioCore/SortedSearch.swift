extension RandomAccessCollection {
    /// The first index whose element is not before the sought one.
    ///
    /// The array is partitioned: elements for which `isBefore` is true come first. Complexity:
    /// logarithmic.
    @inlinable
    package func sortedIndex(behindAll isBefore: (Element) -> Bool) -> Index {
        var low = startIndex
        var count = self.count
        while count > 0 {
            let half = count / 2
            let middle = index(low, offsetBy: half)
            if isBefore(self[middle]) {
                low = index(after: middle)
                count -= half + 1
            } else {
                count = half
            }
        }
        return low
    }
}
