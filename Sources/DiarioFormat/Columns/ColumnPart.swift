import DiarioCore

/// Which values of a column are made out of what is written: some that follow one another.
///
/// What is written of the others is gone past, or taken into account where the wanted ones depend
/// on it, but not checked.
struct ColumnPart {
    /// Values that are written.
    let count: Int
    /// Those that come out.
    let wanted: Range<Int>

    /// All values.
    init(all count: Int) {
        self.init(count: count, wanted: 0..<count)
    }

    init(count: Int, wanted: Range<Int>) {
        precondition(
            wanted.lowerBound >= 0 && wanted.upperBound <= count,
            "only values that are written are wanted"
        )
        self.count = count
        self.wanted = wanted
    }

    var first: Int { wanted.lowerBound }
    var end: Int { wanted.upperBound }
    var isWhole: Bool { wanted.count == count }

    /// The wanted values with all in front of them, for columns in which each depends on those.
    var prefix: ColumnPart { ColumnPart(count: count, wanted: 0..<end) }
}

extension Array where Element == Int32 {
    /// Where the first number stands that is at least `row`, in ascending ones.
    func firstPlace(notBefore row: Int) -> Int {
        sortedIndex(behindAll: { Int($0) < row })
    }

    /// Where those of some rows stand, in ascending ones.
    func places(of rows: Range<Int>) -> Range<Int> {
        firstPlace(notBefore: rows.lowerBound)..<firstPlace(notBefore: rows.upperBound)
    }
}

extension Array where Element: BitwiseCopyable {
    /// Leaves out the first elements.
    consuming func dropping(_ count: Int) -> [Element] {
        guard count > 0 else { return self }
        removeFirst(count)
        return self
    }
}
