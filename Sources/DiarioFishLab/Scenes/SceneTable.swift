import DiarioCore
import DiarioFish

/// The top of a table, by its material.
package enum SceneBackground: String, CaseIterable, Sendable {
    case wood, marble, cloth, plain
}

/// The grey levels of a table, without light and shadow.
struct SceneTable {
    let background: SceneBackground
    let level: Double
    private let noise: SceneNoise
    /// Along the grain, the threads or the veins.
    private let axis: Vector
    /// How strong the pattern is, in grey levels.
    private let strength: Double
    /// The size of the pattern in millimetres.
    private let period: Double

    init(_ background: SceneBackground, isHard: Bool, _ random: inout SeededRandom) {
        self.background = background
        noise = SceneNoise(&random)
        axis = random.direction()
        level = random.uniform(55...205)
        let more = isHard ? 1.3 : 1
        switch background {
        case .wood:
            strength = random.uniform(8...26) * more
            period = random.uniform(60...130)
        case .marble:
            strength = random.uniform(10...40) * more
            period = random.uniform(25...80)
        case .cloth:
            strength = random.oneIn(3) ? 0 : random.uniform(8...34) * more
            period = random.uniform(7...30)
        case .plain:
            strength = random.uniform(1...6) * more
            period = random.uniform(10...60)
        }
    }

    func level(at point: Vector) -> Double {
        let (along, across) = (point.dot(axis), point.dot(axis.turned))
        switch background {
        case .wood:
            let drift = noise.layered(along * 0.004, across * 0.03)
            let rings = SceneNoise.wave(across * 0.11 + 3.5 * drift)
            let fibres = noise.at(along * 0.03, across * 1.3)
            let gap = across / period - Double(SceneNoise.floor(across / period))
            let groove = gap * period < 1.1 ? -0.9 : 0
            return level + strength * (0.9 * (rings - 0.5) + 0.35 * fibres + 0.5 * drift + groove)
        case .marble:
            let clouds = noise.layered(point.x * 0.02, point.y * 0.02)
            let bend = 0.9 * noise.layered(point.x * 0.025 + 40, point.y * 0.025)
            let vein = noise.layered(along / period + bend, across / period * 0.4 + bend)
            let depth = max(0, 1 - vein.magnitude * 9)
            return level + strength * (0.3 * clouds - depth * depth)
        case .cloth:
            let threads = SceneNoise.wave(along * 0.45) - SceneNoise.wave(across * 0.45)
            let folds = noise.layered(point.x * 0.012, point.y * 0.012)
            return level + strength * (stripe(along) + stripe(across)) + 5 * threads + 7 * folds
        case .plain:
            return level + strength * noise.layered(point.x / period, point.y / period)
                + noise.at(point.x * 0.9, point.y * 0.9)
        }
    }

    /// -0.5 or 0.5, with an edge as wide as a few threads.
    private func stripe(_ place: Double) -> Double {
        let wave = place / period - Double(SceneNoise.floor(place / period))
        let edge = 0.8 / period
        let rise = SceneNoise.smooth((wave - 0.5) / edge)
        return rise - SceneNoise.smooth((wave - 1 + edge) / edge) - 0.5
    }
}
