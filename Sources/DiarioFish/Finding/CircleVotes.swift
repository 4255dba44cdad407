/// Finds middles of circles by votes: each edge votes for the places that it points to, and for
/// those that it points away from, apart from each other.
///
/// A few bands of radii are enough, since larger circles are sought in smaller pictures. Cells are
/// as large as what tilt and noise blur the votes by.
enum CircleVotes {
    /// The radii that are looked for, in pixels.
    static let radiusMin: Float = 9
    static let radiusMax: Float = 18.7
    private static let bandStep: Float = 1.2
    private static let bandCount = 4
    private static let circlesPerBand = 12

    static func circles(_ edges: EdgeMap) -> [RimFrame] {
        var circles: [RimFrame] = []
        var radius = radiusMin
        for _ in 0..<bandCount {
            circles += band(edges, from: radius, to: radius * bandStep)
            radius *= bandStep
        }
        return circles
    }

    private static func band(_ edges: EdgeMap, from low: Float, to high: Float) -> [RimFrame] {
        let middle = (low + high) / 2
        let cell = max(1.5, 0.14 * middle)
        let (endX, endY) = (Float(edges.width), Float(edges.height))
        let (columns, rows) = (Int(endX / cell) + 3, Int(endY / cell) + 3)
        // Votes for brighter middles in the lower half of a number, for darker ones in the upper.
        var counts = [Int32](repeating: 0, count: columns * rows)
        let scale = 1 / cell
        let reaches = [-high, -middle, -low, low, middle, high]
        for point in edges.points {
            for reach in reaches {
                let x = point.x + reach * point.toX
                let y = point.y + reach * point.toY
                guard x >= 0, y >= 0, x < endX, y < endY else { continue }
                // One cell of margin for the sums of neighbours.
                let index = (Int(y * scale) + 1) * columns + Int(x * scale) + 1
                counts[index] &+= reach > 0 ? 1 : darker
            }
        }
        return peaks(counts, columns: columns, rows: rows, radius: middle, cell: cell)
    }

    private static let darker: Int32 = 1 << 16

    /// The cells with most votes, as circles.
    private static func peaks(
        _ counts: [Int32],
        columns: Int,
        rows: Int,
        radius: Float,
        cell: Float
    ) -> [RimFrame] {
        // Sums over all cells above and to the left; those over a square follow from four of them.
        let across = columns + 1
        var table = [Int32](repeating: 0, count: across * (rows + 1))
        for index in counts.indices {
            let place = (index / columns + 1) * across + index % columns + 1
            let above = table[place - across] &- table[place - across - 1]
            table[place] = counts[index] &+ table[place - 1] &+ above
        }
        func sum(_ index: Int, reach: Int) -> Int32 {
            let (row, column) = (index / columns, index % columns)
            let (left, right) = (max(column - reach, 0), min(column + reach + 1, columns))
            let top = max(row - reach, 0) * across
            let bottom = min(row + reach + 1, rows) * across
            return table[bottom + right] &- table[bottom + left] &- table[top + right]
                &+ table[top + left]
        }
        // How many standard deviations votes are above those of the surroundings: where edges are
        // dense, more are chance. Three of each edge come together.
        func excess(_ near: Int32, _ far: Int32) -> Float {
            let expected = Float(far) / 9
            return (Float(near) - expected) / (3 * expected + 20).squareRoot()
        }
        let scores = counts.indices.map { index in
            let (near, far) = (sum(index, reach: 1), sum(index, reach: 4))
            let dark = excess(near >> 16, far >> 16)
            let bright = excess(near & 0xffff, far & 0xffff)
            return max(dark, bright) + 0.25 * max(min(dark, bright), 0)
        }
        var best: [(index: Int, score: Float)] = []
        for row in 1..<rows - 1 {
            for index in row * columns + 1..<(row + 1) * columns - 1 {
                let own = scores[index]
                guard own > 1, best.count < circlesPerBand || own > best[best.count - 1].score,
                    own >= scores[index - 1], own > scores[index + 1],
                    own >= scores[index - columns], own > scores[index + columns]
                else { continue }
                best.insert((index, own), at: best.firstIndex { $0.score < own } ?? best.count)
                if best.count > circlesPerBand { best.removeLast() }
            }
        }
        return best.map { index, _ in
            let (column, row) = (Double(index % columns), Double(index / columns))
            let side = Double(cell)
            return RimFrame(x: (column - 0.5) * side, y: (row - 0.5) * side, radius: Double(radius))
        }
    }
}
