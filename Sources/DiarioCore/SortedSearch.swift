extension RandomAccessCollection {
    /// The first index whose element does not lie before what is looked for.
    ///
    /// Those that do, for which `isBefore` is true, stand in front of all others. Complexity:
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
