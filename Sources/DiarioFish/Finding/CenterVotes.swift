/// A circle that many edges point to or away from.
struct CircleGuess {
    var x: Float
    var y: Float
    var radius: Float
    /// The share of its circumference that voted.
    var share: Float
}

/// Finds middles of circles by votes: each edge votes for the places that it points to.
///
/// Radii are taken in bands, with cells as large as what a tilted coin and noise blur the votes by,
/// so an edge has a handful of votes in each band whatever the radius.
struct CenterVotes {
    private let width: Int
    private let height: Int

    static let radiusMin: Float = 7
    /// Of the shorter side: a coin beside a fish is smaller.
    static let radiusShareMax: Float = 0.17
    private static let bandStep: Float = 1.2
    private static let guessesPerBand = 6
    private static let guessCountMax = 48
    /// The share of a circle below which votes are chance.
    private static let shareMin: Float = 0.2

    static func guesses(_ edges: EdgeMap) -> [CircleGuess] {
        let votes = CenterVotes(width: edges.width, height: edges.height)
        let radiusMax = radiusShareMax * Float(min(edges.width, edges.height))
        var guesses: [CircleGuess] = []
        var radius = radiusMin
        while radius < radiusMax {
            guesses += votes.band(edges, from: radius, to: radius * bandStep)
            radius *= bandStep
        }
        return Array(guesses.sorted { $0.share > $1.share }.prefix(guessCountMax))
    }

    private init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    private func band(_ edges: EdgeMap, from low: Float, to high: Float) -> [CircleGuess] {
        let middle = (low + high) / 2
        let cell = max(1.5, 0.14 * middle)
        let (columns, rows) = (Int(Float(width) / cell) + 3, Int(Float(height) / cell) + 3)
        var counts = [Int32](repeating: 0, count: columns * rows)
        let (endX, endY) = (Float(width), Float(height))
        let scale = 1 / cell
        let reaches = [-high, -middle, -low, low, middle, high]
        for point in edges.points {
            for reach in reaches {
                let x = point.x + reach * point.toX
                let y = point.y + reach * point.toY
                guard x >= 0, y >= 0, x < endX, y < endY else { continue }
                // One cell of margin for the sums of neighbours.
                let index = (Int(y * scale) + 1) * columns + Int(x * scale) + 1
                counts[index] &+= reach > 0 ? 1 : Self.darker
            }
        }
        return peaks(counts, columns: columns, rows: rows, radius: middle, cell: cell)
    }

    /// A vote for a darker middle, beside votes for brighter ones in the lower half.
    static let darker: Int32 = 1 << 16

    /// A rim has the same side bright all around, mostly; the pattern of a table has not.
    static func votes(_ sum: Int32) -> Float {
        let (bright, dark) = (Float(sum & 0xffff), Float(sum >> 16))
        return max(bright, dark) + 0.25 * min(bright, dark)
    }

    private func peaks(
        _ counts: [Int32],
        columns: Int,
        rows: Int,
        radius: Float,
        cell: Float
    ) -> [CircleGuess] {
        var sums = [Float](repeating: 0, count: counts.count)
        for row in 1..<rows - 1 {
            for index in row * columns + 1..<(row + 1) * columns - 1 {
                var sum: Int32 = 0
                for line in [index - columns, index, index + columns] {
                    sum &+= counts[line - 1] &+ counts[line] &+ counts[line + 1]
                }
                sums[index] = Self.votes(sum)
            }
        }
        // Each edge of a circle has three votes near its middle.
        let whole = 3 * 6.2832 * radius
        var best: [CircleGuess] = []
        for row in 1..<rows - 1 {
            for index in row * columns + 1..<(row + 1) * columns - 1 {
                let own = sums[index]
                let share = own / whole
                guard share > Self.shareMin,
                    share > (best.last?.share ?? 0)
                        || best.count < Self.guessesPerBand,
                    own >= sums[index - 1], own > sums[index + 1],
                    own >= sums[index - columns], own > sums[index + columns]
                else { continue }
                let column = index - row * columns
                let guess = CircleGuess(
                    x: (Float(column) - 0.5) * cell,
                    y: (Float(row) - 0.5) * cell,
                    radius: radius,
                    share: share
                )
                let place = best.firstIndex { $0.share < share } ?? best.count
                best.insert(guess, at: place)
                if best.count > Self.guessesPerBand { best.removeLast() }
            }
        }
        return best
    }
}
