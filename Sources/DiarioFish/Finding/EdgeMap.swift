/// A point where the level changes most along the direction in which it changes.
struct EdgePoint {
    var x: Float
    var y: Float
    /// Towards the brighter side, of length 1.
    var toX: Float
    var toY: Float
    /// Change for each pixel, in sixteenths of a level.
    var strength: Float
}

/// The edges of a reduced picture.
struct EdgeMap {
    let width: Int
    let height: Int
    /// In the order of rows.
    private(set) var points: [EdgePoint] = []
    /// The first point of each row, and the number of points.
    private(set) var rowStarts: [Int] = []

    /// Edges are kept up to this share of all pixels, the strongest.
    private static let shareMax = 8
    /// Changes below this many sixteenths of a level are noise in any picture.
    private static let strengthMin: Int32 = 14

    init(_ picture: ReducedPicture) {
        width = picture.width
        height = picture.height
        guard width > 8, height > 8 else {
            rowStarts = [Int](repeating: 0, count: height + 1)
            return
        }
        let strengths = Self.strengths(picture)
        let least = Self.threshold(strengths)
        for row in 0..<height {
            rowStarts.append(points.count)
            guard 3..<height - 3 ~= row else { continue }
            for column in 3..<width - 3 {
                let index = row * width + column
                if strengths[index] >= least { add(column, row, picture, strengths) }
            }
        }
        rowStarts.append(points.count)
    }

    /// How much the level changes for each pixel: the central differences' length, doubled.
    private static func strengths(_ picture: ReducedPicture) -> [Int32] {
        let width = picture.width
        var strengths = [Int32](repeating: 0, count: picture.levels.count)
        for row in 2..<picture.height - 2 {
            for index in row * width + 2..<(row + 1) * width - 2 {
                let x = picture.levels[index + 1] &- picture.levels[index - 1]
                let y = picture.levels[index + width] &- picture.levels[index - width]
                strengths[index] = Int32(Float(x &* x &+ y &* y).squareRoot())
            }
        }
        return strengths
    }

    /// The strength from which on points are few enough.
    private static func threshold(_ strengths: [Int32]) -> Int32 {
        var counts = [Int](repeating: 0, count: 512)
        for strength in strengths { counts[Int(min(strength, 511))] += 1 }
        // About a third of the pixels on a slope are its ridge.
        var rest = strengths.count * 3 / shareMax
        for strength in stride(from: 511, to: Int(2 * strengthMin), by: -1) {
            rest -= counts[strength]
            if rest < 0 { return Int32(strength) }
        }
        return 2 * strengthMin
    }

    /// Adds the pixel if neither neighbour along the change is stronger.
    private mutating func add(
        _ column: Int,
        _ row: Int,
        _ picture: ReducedPicture,
        _ strengths: [Int32]
    ) {
        let index = row * width + column
        let own = strengths[index]
        let x = picture.levels[index + 1] &- picture.levels[index - 1]
        let y = picture.levels[index + width] &- picture.levels[index - width]
        let (wide, high) = (x.magnitude, y.magnitude)
        // 5/12 is close to the tangent of an eighth of a half turn.
        var (stepX, stepY) = (0, 0)
        if 12 * wide > 5 * high { stepX = x < 0 ? -1 : 1 }
        if 12 * high > 5 * wide { stepY = y < 0 ? -1 : 1 }
        let step = stepY * width + stepX
        let (before, after) = (strengths[index - step], strengths[index + step])
        guard own > before, own >= after else { return }
        let shift = Float(before - after) / Float(2 * (before + after - 2 * own))
        let length = Float(x &* x &+ y &* y).squareRoot()
        points.append(
            EdgePoint(
                x: Float(column) + 0.5 + shift * Float(stepX),
                y: Float(row) + 0.5 + shift * Float(stepY),
                toX: Float(x) / length,
                toY: Float(y) / length,
                strength: length / 2
            )
        )
    }

    /// The points of the rows from `top` to `bottom`.
    func rows(_ top: Float, _ bottom: Float) -> ArraySlice<EdgePoint> {
        let first = min(max(Int(top), 0), height)
        let end = min(max(Int(max(bottom, 0)) + 1, first), height)
        return points[rowStarts[first]..<rowStarts[end]]
    }

    /// About so many of the strongest points, not all of one place.
    func strongest(_ count: Int) -> [EdgePoint] {
        var counts = [Int](repeating: 0, count: 256)
        for point in points { counts[Int(min(point.strength / 8, 255))] += 1 }
        // Four times as many are strong enough, of which every fourth is taken.
        var (least, rest) = (255, 4 * count - counts[255])
        while least > 0, rest > 0 {
            least -= 1
            rest -= counts[least]
        }
        let strong = points.filter { Int(min($0.strength / 8, 255)) >= least }
        let step = max(1, strong.count / max(count, 1))
        return stride(from: 0, to: strong.count, by: step).map { strong[$0] }
    }
}
