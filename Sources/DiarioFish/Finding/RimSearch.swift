/// Makes ellipses of guessed circles, with the edges of the reduced picture.
struct RimSearch {
    private let edges: EdgeMap

    init(_ edges: EdgeMap) { self.edges = edges }

    /// How far, as a share of the radius, the middle may be from its guess, in steps of `step`.
    private static let stepCount = 2
    private static let step: Float = 0.07
    /// Radii are taken from 0.7 of the guess on, in bins of this share of it.
    private static let binShare: Float = 0.035
    private static let binCount = 23
    private static let peakCountMax = 4
    private static let pointCountMax = 500

    /// An ellipse, and on how many of the 32 parts of its rim there are edges.
    typealias Rim = (frame: RimFrame, covered: Int)

    /// Ellipses near a guess, for each radius at which many edges are.
    func rims(near guess: CircleGuess) -> [Rim] {
        var near = points(near: guess)
        // Of very many points, every so manyth says as much.
        let weight = near.count / Self.pointCountMax + 1
        if weight > 1 { near = stride(from: 0, to: near.count, by: weight).map { near[$0] } }
        return peaks(near, guess, Float(weight)).compactMap { peak in
            fit(near, RimFrame(x: Double(peak.x), y: Double(peak.y), radius: Double(peak.radius)))
        }
    }

    /// The edges in a ring around a guess that point to its middle, roughly.
    private func points(near guess: CircleGuess) -> [EdgePoint] {
        let (inner, outer) = (0.55 * guess.radius, 1.6 * guess.radius)
        return edges.rows(guess.y - outer, guess.y + outer).filter { point in
            let (x, y) = (point.x - guess.x, point.y - guess.y)
            let square = x * x + y * y
            guard square > inner * inner, square < outer * outer else { return false }
            let along = x * point.toX + y * point.toY
            return along * along > 0.6 * square
        }
    }

    /// Middles and radii with the most edges, the radii apart from each other.
    private func peaks(
        _ points: [EdgePoint],
        _ guess: CircleGuess,
        _ weight: Float
    ) -> [CircleGuess] {
        let width = Self.binShare * guess.radius
        var best = [CircleGuess](
            repeating: CircleGuess(x: 0, y: 0, radius: 0, share: 0),
            count: Self.binCount
        )
        var counts = [Int32](repeating: 0, count: Self.binCount + 1)
        for row in -Self.stepCount...Self.stepCount {
            for column in -Self.stepCount...Self.stepCount {
                let x = guess.x + Float(column) * Self.step * guess.radius
                let y = guess.y + Float(row) * Self.step * guess.radius
                for bin in counts.indices { counts[bin] = 0 }
                for point in points {
                    let (ownX, ownY) = (point.x - x, point.y - y)
                    let square = ownX * ownX + ownY * ownY
                    let along = ownX * point.toX + ownY * point.toY
                    guard along * along > 0.86 * square else { continue }
                    let bin = (square.squareRoot() - 0.7 * guess.radius) / width
                    guard bin >= 0, bin < Float(Self.binCount + 1) else { continue }
                    counts[Int(bin)] &+= along > 0 ? 1 : CenterVotes.darker
                }
                for bin in best.indices {
                    let radius = 0.7 * guess.radius + Float(bin + 1) * width
                    let count = weight * CenterVotes.votes(counts[bin] &+ counts[bin + 1])
                    let share = count / (6.2832 * radius)
                    if share > best[bin].share {
                        best[bin] = CircleGuess(x: x, y: y, radius: radius, share: share)
                    }
                }
            }
        }
        return Self.apart(best)
    }

    private static func apart(_ best: [CircleGuess]) -> [CircleGuess] {
        let most = best.reduce(0) { max($0, $1.share) }
        let peaks = best.indices.filter { bin in
            let before = bin > 0 ? best[bin - 1].share : 0
            let after = bin + 1 < best.count ? best[bin + 1].share : 0
            let own = best[bin].share
            return own > max(0.3, 0.45 * most) && own >= before && own > after
        }
        return Array(
            peaks.map { best[$0] }.sorted { $0.share > $1.share }.prefix(peakCountMax)
        )
    }

    /// Fits an ellipse to the edges near a circle, in ever narrower rings; nil for too few.
    private func fit(_ points: [EdgePoint], _ circle: RimFrame) -> Rim? {
        var (frame, count) = (circle, 0)
        for tolerance in [0.09, 0.06, 0.04, 0.03] {
            let reach = max(tolerance, 0.8 / frame.radius)
            var sums = RimWave.Sums()
            var covered: UInt32 = 0
            for point in points {
                let (u, v) = frame.circle(Double(point.x), Double(point.y))
                let length = (u * u + v * v).squareRoot()
                let distance = length - 1
                guard distance.magnitude < reach else { continue }
                let (turnX, turnY) = (u / length, v / length)
                let along = turnX * Double(point.toX) + turnY * Double(point.toY)
                guard along.magnitude > 0.9 else { continue }
                let share = distance / reach
                let weight = (1 - share * share) * (along * along)
                sums.add(turnX, turnY, distance: distance, weight: weight)
                covered |= 1 << Self.sector(turnX, turnY)
            }
            count = covered.nonzeroBitCount
            guard count >= 12, let wave = sums.wave() else { return nil }
            frame = frame.moved(by: wave)
            let size = frame.radius / circle.radius
            guard 0.75..<1.35 ~= size, frame.ratio > CoinFinder.ratioMin else { return nil }
        }
        return (frame, count)
    }

    /// One of 32 parts of the turn.
    private static func sector(_ u: Double, _ v: Double) -> UInt32 {
        let (wide, high) = (u.magnitude, v.magnitude)
        let octant: UInt32 = (u < 0 ? 1 : 0) + (v < 0 ? 2 : 0) + (high > wide ? 4 : 0)
        let slope = min(wide, high) / max(wide, high, 1e-12)
        return octant * 4 + UInt32(min(slope * 4, 3))
    }
}
