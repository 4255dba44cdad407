import DiarioCore

/// Draws ranks from 0 up, the first ones most often: rank r as often as 1 / (r + 1).
struct ZipfTable: Sendable {
    /// The rank for each of so many equal parts of the distribution.
    private let ranks: [UInt16]

    private static let size = 1 << 16

    init(count: Int) {
        precondition(1...Int(UInt16.max) ~= count, "a rank fits the table's elements")
        self.init(weights: (0..<count).map { 1 / Double($0 + 1) })
    }

    init(weights: [Double]) {
        let total = weights.reduce(0, +)
        var ranks: [UInt16] = []
        ranks.reserveCapacity(Self.size)
        var sum = 0.0
        for (rank, weight) in weights.enumerated() {
            sum += weight
            let end = rank == weights.count - 1 ? Self.size : Int(sum / total * Double(Self.size))
            while ranks.count < end { ranks.append(UInt16(rank)) }
        }
        self.ranks = ranks
    }

    func draw(_ random: inout SeededRandom) -> Int { Int(ranks[Int(random.next() >> 48)]) }
}

extension SeededRandom {
    /// A number below `count`: r nearly as often as 1 / (r + 1), as in a `ZipfTable` without end.
    mutating func belowByZipf(_ count: Int) -> Int {
        precondition(count > 0, "a draw needs at least one outcome")
        // Each power of two is as likely as the next, since 1 / r adds up to as much in each.
        let power = below(Int.bitWidth - count.leadingZeroBitCount)
        let first = 1 << power
        return first - 1 + below(min(first, count - first + 1))
    }
}
