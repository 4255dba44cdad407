/// Looks for rims near an ellipse, in a part of the whole picture just large enough.
struct RimMeasurement {
    /// The part's corner in the whole picture.
    private let corner: Vector
    private let factor: Double
    private let edges: RimEdges
    private let smoothed: ReducedPicture
    /// As a share of the radius.
    private let pixel: Double

    /// The part is reduced as far as rims keep this radius.
    private static let radius = 40.0
    private static let reach: Float = 1.75
    private static let binShare = 0.03
    private static let peakCountMax = 6
    private static let turns = Vector.turns(8)

    /// Nil if hardly anything of it is in the picture.
    init?(_ picture: GreyPicture, _ start: RimFrame, radius: Double = radius) {
        let factor = max(1, Int(min(start.radius, 1e5) / radius))
        let reach = Double(Self.reach) * start.longer + 6 * Double(factor)
        guard reach < 1e5, start.x.magnitude < 1e5, start.y.magnitude < 1e5 else { return nil }
        let (left, top) = (max(0, Int(start.x - reach)), max(0, Int(start.y - reach)))
        let width = min(picture.width, Int(start.x + reach)) - left
        let height = min(picture.height, Int(start.y + reach)) - top
        guard width > 16 * factor, height > 16 * factor else { return nil }
        let part = ReducedPicture(
            picture,
            left: left,
            top: top,
            width: width,
            height: height,
            factor: factor
        ).smoothed
        smoothed = part
        corner = Vector(Double(left), Double(top))
        self.factor = Double(factor)
        let local = start.moved(by: corner * -1, scaled: 1 / self.factor)
        edges = RimEdges(EdgeMap(part), local, from: 0.6, to: Self.reach)
        pixel = 1 / local.radius
    }

    /// Looks at the edges of a reduced picture.
    init(_ picture: ReducedPicture, _ all: EdgeMap, _ circle: RimFrame, factor: Double) {
        smoothed = picture
        (corner, self.factor) = (.zero, factor)
        edges = RimEdges(all, circle, from: 0.6, to: 1.5)
        pixel = 1 / circle.radius
    }

    /// The rims near the ellipse, with edges in ever narrower rings.
    func rims(from inner: Double, to outer: Double, _ tolerances: [Double]) -> [MeasuredRim] {
        peaks(from: inner, to: outer).compactMap { distance, side in
            edges.wave(near: RimWave(mean: distance - 1), side, tolerances)
                .map { measured($0, side) }
        }
    }

    /// A rim with the alignment of what is seen along it.
    func aligned(_ rim: MeasuredRim) -> MeasuredRim {
        var rim = rim
        let local = rim.frame.moved(by: corner * -1, scaled: 1 / factor)
        rim.alignment = RimAlignment(picture: smoothed).surprise(local)
        return rim
    }

    private func measured(_ wave: RimWave, _ side: RimEdges.Side) -> MeasuredRim {
        let frame = edges.frame.moved(by: wave).moved(by: corner * (1 / factor), scaled: factor)
        let (share, surprise) = edges.support(wave, side, pixel: pixel)
        return MeasuredRim(frame: frame, side: side, share: share, surprise: surprise)
    }

    /// Distances from the middle at which many sectors have edges of a side, those with most first.
    private func peaks(from inner: Double, to outer: Double) -> [(Double, RimEdges.Side)] {
        let count = Int((outer - inner) / Self.binShare) + 1
        var masks = [UInt64](repeating: 0, count: 3 * (count + 1))
        for point in edges.points {
            let bin = (Double(point.distance) - inner) / Self.binShare
            guard bin >= 0, bin < Double(count + 1) else { continue }
            let sector: UInt64 = 1 << UInt64(point.sector)
            masks[3 * Int(bin) + (point.isBrightOutside ? 0 : 1)] |= sector
            masks[3 * Int(bin) + 2] |= sector
        }
        var found: [(covered: Int, distance: Double, side: RimEdges.Side)] = []
        for (index, side) in [RimEdges.Side.bright, .dark, .mixed].enumerated() {
            let covered = (0..<count).map { bin in
                (masks[3 * bin + index] | masks[3 * bin + index + 3]).nonzeroBitCount
            }
            for bin in covered.indices {
                let own = covered[bin]
                guard own >= 12, own >= (bin > 0 ? covered[bin - 1] : 0),
                    own > (bin + 1 < count ? covered[bin + 1] : 0)
                else { continue }
                let distance = inner + Double(bin + 1) * Self.binShare
                // Edges of both sides are together by chance more often.
                found.append((side == .mixed ? own - 8 : own, distance, side))
            }
        }
        found.sort { $0.covered > $1.covered }
        return found.prefix(Self.peakCountMax).map { ($0.distance, $0.side) }
    }

    /// Of the rims in and around one that was found, the outermost that is well supported.
    static func outermost(_ picture: GreyPicture, _ rim: MeasuredRim) -> MeasuredRim? {
        var best = rim
        // Each is at least a hundredth larger than the one before.
        for _ in 0..<3 {
            guard let near = RimMeasurement(picture, best.frame, radius: 80) else { return nil }
            let (own, wave) = near.inside(best)
            guard let outer = near.around(own, wave) else { return own }
            best = outer
        }
        return best
    }

    /// The rim again, or a better one that it contains: where a shadow begins at the rim, an
    /// ellipse through the edge of that on one side and through the rim on all others fits as well.
    private func inside(_ rim: MeasuredRim) -> (MeasuredRim, RimWave) {
        guard let start = edges.wave(near: RimWave(), rim.side, [0.03, 0.025]) else {
            return (rim, RimWave())
        }
        var (best, bestWave) = (measured(start, rim.side), start)
        for side in [RimEdges.Side.mixed, rim.side] {
            for begin in Self.moved(start, -0.03, 1) + Self.moved(start, -0.055, 1) {
                guard let wave = edges.wave(near: begin, side, [0.03, 0.025, 0.02])
                else { continue }
                let found = measured(wave, side)
                if found.rating > best.rating { (best, bestWave) = (found, wave) }
            }
        }
        return (best, bestWave)
    }

    /// A rim grown by a share of its radius, and moved by a share of that in eight directions.
    private static func moved(_ wave: RimWave, _ growth: Double, _ share: Double) -> [RimWave] {
        turns.map { wave.moved($0 * (share * growth), growth: growth) }
    }

    /// The outermost rim around one that has nearly as much of an edge; nil if there is none.
    private func around(_ rim: MeasuredRim, _ inner: RimWave) -> MeasuredRim? {
        var (chosen, mean) = (MeasuredRim?.none, inner.mean)
        let strength = [true, false].map { edges.strength(inner, isBrightOutside: $0) }.max() ?? 0
        let near = Self.moved(inner, 0.04, 0.6) + Self.moved(inner, 0.07, 0.6)
        let begins =
            peaks(from: 1.02, to: 1.62).map { (RimWave(mean: $0.0 - 1), $0.1) }
            + [RimEdges.Side.bright, .dark, .mixed].flatMap { side in near.map { ($0, side) } }
        for (begin, side) in begins {
            guard let wave = edges.wave(near: begin, side, [0.04, 0.03, 0.02]),
                wave.mean > mean + 0.012, wave.surrounds(inner, within: 1.1)
            else { continue }
            let found = measured(wave, side)
            // What is not around the same middle may be the edge of a shadow.
            let demand = wave.surrounds(inner, within: 0.5) ? 0.35 : 0.9
            // A shadow is brighter outside, and soft.
            guard found.share > 0.65 * rim.share, found.rating > demand * rim.rating,
                side == .dark || edges.strength(wave, isBrightOutside: true) > 0.35 * strength
            else { continue }
            (chosen, mean) = (found, wave.mean)
        }
        return chosen
    }
}
