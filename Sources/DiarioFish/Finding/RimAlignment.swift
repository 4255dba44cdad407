/// How many changes of level along an ellipse point to its middle or away from it, whatever their
/// strength, and how unlikely that is where it lies.
///
/// On print or stones each letter and stone ends at a coin's rim, darker or brighter than the coin,
/// so the rim is seen though no edge goes around. What chance brings about there is told by the
/// same ellipse moved aside: how many changes are across it, and how much they go together.
struct RimAlignment {
    let picture: ReducedPicture

    private static let countMax = 128
    private static let turns = Vector.turns(countMax)
    /// The cosine of an eighth of a half turn, within which a change points across the rim; so a
    /// quarter of all do by chance.
    private static let alongMin = 0.9239
    private static let chanceMin = 0.25
    /// Changes that are noise in any picture, as for edges.
    private static let changeMin = 28.0

    /// The share of an ellipse along which changes of level are across it, and the surprise in
    /// that, in bits.
    func surprise(_ frame: RimFrame) -> (share: Double, bits: Double) {
        // Changes are about independent two pixels apart.
        let count = min(Self.countMax, max(24, Int(Trigonometry.pi * frame.radius)))
        guard let share = share(frame, count) else { return (0, 0) }
        let others = Vector.turns(12).enumerated().compactMap { index, turn in
            let way = frame.way(turn * (index % 2 == 0 ? 0.45 : 0.65))
            return self.share(frame.moved(by: way), count)
        }
        guard others.count > 3 else { return (share, 0) }
        let mean = others.reduce(0, +) / Double(others.count)
        let spread = others.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(others.count - 1)
        // So many go together.
        let together = max(spread * Double(count) / max(mean * (1 - mean), 0.02), 1)
        let independent = Double(count) / together
        let chance = min(max(mean, Self.chanceMin), 0.95)
        let (least, all) = (Int(share * independent), Int(independent))
        let bits = share > mean ? Chance.surprise(ofAtLeast: least, of: all, chance: chance) : 0
        return (share, bits)
    }

    /// The share of an ellipse, or of one a little larger or smaller; nil for one half outside.
    private func share(_ frame: RimFrame, _ count: Int) -> Double? {
        var best: Double?
        for away in [-0.7, 0, 0.7] {
            var (seen, across) = (0, 0)
            let scale = 1 + away / frame.radius
            for index in 0..<count {
                let turn = Self.turns[index * Self.countMax / count]
                let place = frame.place(turn.x * scale, turn.y * scale)
                guard 1..<Double(picture.width - 1) ~= place.x,
                    1..<Double(picture.height - 1) ~= place.y
                else { continue }
                seen += 1
                if isAcross(frame.normal(turn), place) { across += 1 }
            }
            if 2 * seen > count { best = max(best ?? 0, Double(across) / Double(seen)) }
        }
        return best
    }

    private func isAcross(_ normal: Vector, _ place: Vector) -> Bool {
        let (pixel, width) = (Int(place.y) &* picture.width &+ Int(place.x), picture.width)
        let levels = picture.levels
        let x = Double(levels[pixel + 1] - levels[pixel - 1])
        let y = Double(levels[pixel + width] - levels[pixel - width])
        let (along, square) = (x * normal.x + y * normal.y, x * x + y * y)
        return square > Self.changeMin * Self.changeMin
            && along * along > Self.alongMin * Self.alongMin * square * normal.dot(normal)
    }
}
