/// Finds the name that was probably meant.
package enum NearestName {
    /// The one of `names` that differs from `name` in the fewest letters, if these are few.
    ///
    /// Only the first 256 names are compared, and no name of more than 128 bytes: this bounds the
    /// time.
    package static func find(_ name: String, in names: [String]) -> String? {
        guard name.utf8.count <= 128 else { return nil }
        let tolerance = name.utf8.count < 4 ? 1 : 2
        var best: (name: String, distance: Int)?
        for candidate in names.prefix(256) {
            let distance = distance(name, candidate)
            if distance <= tolerance, distance < best?.distance ?? .max {
                best = (candidate, distance)
            }
        }
        return best?.name
    }

    /// Letters to insert, drop, change or swap with their neighbour; case counts as nothing.
    package static func distance(_ left: String, _ right: String) -> Int {
        guard abs(left.utf8.count - right.utf8.count) <= 2 else { return .max }
        let left = left.utf8.map(lowerCased)
        let right = right.utf8.map(lowerCased)
        var beforePrevious: [Int] = []
        var previous = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = previous[column] + (letter == other ? 0 : 1)
                cost = min(cost, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, letter == right[column - 1], other == left[row - 1] {
                    cost = min(cost, beforePrevious[column - 1] + 1)
                }
                current.append(cost)
            }
            beforePrevious = previous
            previous = current
        }
        return previous[right.count]
    }

    private static func lowerCased(_ byte: UInt8) -> UInt8 {
        0x41...0x5a ~= byte ? byte + 0x20 : byte
    }
}
