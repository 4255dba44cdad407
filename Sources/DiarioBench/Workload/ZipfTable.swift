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
