/// The edges around an ellipse whose change of level points to its middle or away from it, as seen
/// on the circle that the ellipse shows.
struct RimEdges {
    struct Point {
        /// The direction from the middle, and the distance, 1 on the ellipse.
        var turnX: Float
        var turnY: Float
        var distance: Float
        /// The cosine of the angle between the change of level and the normal.
        var along: Float
        /// The change of level, up to a bound.
        var strength: Float
        /// True if the side away from the middle is the brighter one.
        var isBrightOutside: Bool
        /// One of 64 parts of the turn.
        var sector: UInt8
    }

    /// Which edges belong to a rim: those with the brighter side outside, those with the darker
    /// one, or the first on one arc and the others on the rest.
    enum Side { case bright, dark, mixed }

    let frame: RimFrame
    private(set) var points: [Point] = []
    /// Edges of any direction for each unit of area, the ellipse's radius being 1.
    private(set) var density = 0.0

    static let sectorCount = 64
    /// The cosine of the angle to the normal up to which an edge belongs, an eighth of a turn in
    /// all, and of half of that.
    private static let alongMin: Float = 0.9239
    private static let straightMin: Float = 0.9808

    init(_ edges: EdgeMap, _ frame: RimFrame, from inner: Float, to outer: Float) {
        self.frame = frame
        let area = frame.xToX * frame.yToY - frame.yToX * frame.xToY
        guard area.magnitude > 1e-6 else { return }
        let scale = 1 / Float(area)
        let (xToX, yToX) = (Float(frame.yToY) * scale, -Float(frame.yToX) * scale)
        let (xToY, yToY) = (-Float(frame.xToY) * scale, Float(frame.xToX) * scale)
        let (x, y) = (Float(frame.x), Float(frame.y))
        let (least, most) = (inner * inner, outer * outer)
        let reach = outer * Float(frame.longer)
        var count = 0
        for point in edges.rows(y - reach, y + reach) {
            let (ownX, ownY) = (point.x - x, point.y - y)
            guard ownX.magnitude < reach else { continue }
            let (u, v) = (xToX * ownX + yToX * ownY, xToY * ownX + yToY * ownY)
            let square = u * u + v * v
            guard square > least, square < most else { continue }
            count += 1
            // The normal of an ellipse is the transposed inverse of the way to its rim.
            let (normalX, normalY) = (xToX * u + xToY * v, yToX * u + yToY * v)
            let along = normalX * point.toX + normalY * point.toY
            let normal = normalX * normalX + normalY * normalY
            guard along * along > Self.alongMin * Self.alongMin * normal else { continue }
            let distance = square.squareRoot()
            let (turnX, turnY) = (u / distance, v / distance)
            points.append(
                Point(
                    turnX: turnX,
                    turnY: turnY,
                    distance: distance,
                    along: along.magnitude / normal.squareRoot(),
                    strength: min(point.strength, 800),
                    isBrightOutside: along > 0,
                    sector: Self.sector(turnX, turnY)
                )
            )
        }
        density = Double(count) / (3.1416 * Double(most - least))
    }

    private static func sector(_ u: Float, _ v: Float) -> UInt8 {
        let (wide, high) = (u.magnitude, v.magnitude)
        let slope = min(wide, high) / max(wide, high, 1e-6)
        // The angle within an octant, nearly, then in a quarter, a half and the whole turn.
        let part = min(8 * slope * (1.273 - 0.273 * slope), 7.99)
        let quarter = high > wide ? 15.99 - part : part
        let half = u < 0 ? 31.99 - quarter : quarter
        return UInt8(v < 0 ? 63.99 - half : half)
    }

    /// The wave through edges of a side near one, in ever narrower rings; nil for too few.
    func wave(near start: RimWave, _ side: Side, _ tolerances: [Double]) -> RimWave? {
        var wave = start
        for tolerance in tolerances {
            var sums = RimWave.Sums()
            for point in points where belongs(point, side) {
                let (u, v) = (Double(point.turnX), Double(point.turnY))
                let distance = Double(point.distance) - 1
                let share = (distance - wave.at(u, v)) / tolerance
                guard share.magnitude < 1 else { continue }
                let weight = (1 - share * share) * Double(point.strength)
                sums.add(u, v, distance: distance, weight: weight)
            }
            guard let next = sums.wave(), next.isSmall else { return nil }
            wave = next
        }
        return wave
    }

    /// How much of a wave has edges of a side near it, and how unlikely that is, in bits.
    func support(_ wave: RimWave, _ side: Side, pixel: Double) -> (share: Double, surprise: Double)
    {
        let reach = max(0.02, 0.8 * pixel)
        var sectors: UInt64 = 0
        for point in points where belongs(point, side) {
            let wanted = wave.at(Double(point.turnX), Double(point.turnY))
            guard (Double(point.distance) - 1 - wanted).magnitude < reach else { continue }
            sectors |= 1 << UInt64(point.sector)
        }
        let count = sectors.nonzeroBitCount
        let surprise = Chance.surprise(
            ofAtLeast: count,
            of: Self.sectorCount,
            chance: chance(reach) * (side == .mixed ? 2 : 1)
        )
        return (Double(count) / Double(Self.sectorCount), surprise)
    }

    /// The mean change of level at edges near a wave, of those with that side brighter.
    func strength(_ wave: RimWave, isBrightOutside: Bool) -> Double {
        let near = points.filter { point in
            let wanted = wave.at(Double(point.turnX), Double(point.turnY))
            return point.isBrightOutside == isBrightOutside
                && (Double(point.distance) - 1 - wanted).magnitude < 0.02
        }
        return near.reduce(0) { $0 + Double($1.strength) } / Double(max(near.count, 1))
    }

    private func belongs(_ point: Point, _ side: Side) -> Bool {
        side == .mixed || point.isBrightOutside == (side == .bright)
    }

    /// How likely a sector has an edge within a tolerance by chance, with one side brighter.
    private func chance(_ tolerance: Double) -> Double {
        let area = 2 * tolerance * 6.2832 / Double(Self.sectorCount)
        let expected = density * area * 0.125
        // No ground is so empty that a shape on it may not have edges of any direction.
        return max(expected / (1 + expected), 0.12)
    }
}
