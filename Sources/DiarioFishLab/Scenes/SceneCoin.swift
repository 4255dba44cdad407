import DiarioCore
import DiarioFish

/// A euro coin on the table: a short cylinder with a raised rim and relief.
struct SceneCoin {
    /// Identifier, radii and thickness in millimetres; coins of one metal have no inner radius.
    typealias Kind = (id: String, radius: Double, inner: Double, thickness: Double)

    static let kinds: [Kind] = [
        ("eur1", 11.625, 8.125, 2.33), ("eur2", 12.875, 9.375, 2.20), ("eur050", 12.125, 0, 2.38),
    ]

    let kind: Kind
    let center: Vector
    /// Of the ring, or of all where there is one metal.
    var level: Double
    /// What the metal inside the ring has more.
    private let innerStep: Double
    /// Of the wall, as a share of the face.
    private let wallShare: Double
    private let relief: Double
    private let sheen: Vector
    private let strokes: [(Vector, Vector)]
    private let stars: [Vector]
    private let noise: SceneNoise

    init(_ kind: Kind, at center: Vector, level: Double, _ random: inout SeededRandom) {
        self.kind = kind
        self.center = center
        self.level = level
        let step = random.uniform(10...38)
        innerStep = kind.inner > 0 ? (random.oneIn(2) ? step : -step) : 0
        wallShare = random.uniform(0.4...0.95)
        relief = random.uniform(8...30)
        sheen = random.direction() * random.uniform(0...14)
        noise = SceneNoise(&random)
        var point = Vector(random.uniform(-0.4...0), random.uniform(-0.4...0))
        strokes = (0..<5).map { _ in
            let next = Vector(random.uniform(-0.5...0.5), random.uniform(-0.5...0.5))
            defer { point = next }
            return (point * kind.radius, next * kind.radius)
        }
        var spoke = random.direction()
        stars = (0..<12).map { _ in
            // A twelfth of a turn.
            spoke = spoke * 0.8660254037844386 + spoke.turned * 0.5
            return spoke * (0.84 * kind.radius)
        }
    }

    /// The level of the face, `offset` from its middle; light comes from `light`.
    func face(_ offset: Vector, light: Vector) -> Double {
        let distance = offset.length
        let share = distance / kind.radius
        var level = level + (distance < kind.inner ? innerStep : 0)
        level += sheen.dot(offset) / kind.radius
        let step = light * (0.012 * kind.radius)
        level += relief * 2.2 * (height(offset + step) - height(offset - step))
        if share > 0.955 {
            // The shoulder, which falls off outwards.
            level += (share - 0.955) / 0.045 * 16 * light.dot(offset) / distance
        } else if share > 0.925 {
            level -= 10 + 8 * light.dot(offset) / distance
        }
        if kind.inner > 0, (distance - kind.inner).magnitude < 0.12 { level -= 12 }
        return level
    }

    /// What stands out of the face, from 0 to about 1.
    private func height(_ offset: Vector) -> Double {
        guard offset.length < 0.92 * kind.radius else { return 0 }
        var height = 0.35 * noise.layered(offset.x * 0.7, offset.y * 0.7)
        for (start, end) in strokes {
            let distance = offset.distance(from: start, to: end)
            height = max(height, 1 - SceneNoise.smooth((distance - 0.5) / 0.5))
        }
        for star in stars where (offset - star).length < 1 {
            height = max(height, 0.8 - SceneNoise.smooth((offset - star).length - 0.2))
        }
        return height
    }

    /// The level of the wall where a line of sight enters it.
    func wall(_ offset: Vector, light: Vector) -> Double {
        let lit = 18 * light.dot(offset) / kind.radius
        return level * wallShare + lit + 6 * noise.at(offset.x * 3, offset.y * 3)
    }
}
