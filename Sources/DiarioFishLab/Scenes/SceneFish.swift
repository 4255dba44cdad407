import DiarioCore
import DiarioFish

/// A fish that lies on its side: an outline at one height above the table.
struct SceneFish {
    let snout: Vector
    /// From the snout to the tail.
    let axis: Vector
    let length: Double
    /// The height of the outline above the table.
    let above: Double
    /// Half widths as shares of the length, at equal steps from the snout to the root of the tail.
    private let back: [Double]
    private let belly: [Double]
    /// The side of the back: 1 or -1.
    private let side: Double
    private let bend: Double
    /// How far the lobes of the tail reach along and across, as shares of the length.
    private let lobes: [(along: Double, across: Double)]
    private let notch: Double
    private let fin: (start: Double, end: Double, height: Double)
    private let backLevel: Double
    private let bellyLevel: Double
    private let pattern: Double
    private let noise: SceneNoise

    /// Where the root of the tail is, as a share of the length.
    private static let root = 0.84

    init(
        snout: Vector,
        axis: Vector,
        length: Double,
        table: Double,
        isHard: Bool,
        _ random: inout SeededRandom
    ) {
        self.snout = snout
        self.axis = axis
        self.length = length
        let depth = random.uniform(0.085...0.145)
        above = length * depth * random.uniform(0.25...0.4)
        let thick = [0.0, 0.52, 0.8, 0.95, 1, 0.96, 0.84, 0.66, 0.45, 0.3, 0.26]
        let (upper, lower) = (random.uniform(0.85...1.1), random.uniform(0.85...1.2))
        back = thick.map { $0 * depth * upper }
        belly = thick.map { $0 * depth * lower }
        side = random.oneIn(2) ? 1 : -1
        bend = random.uniform(-0.02...0.02)
        let (wide, other) = (random.uniform(0.09...0.14), random.uniform(0.08...0.13))
        let short = random.uniform(0.95...1)
        let upperIsLonger = random.oneIn(2)
        lobes = [(upperIsLonger ? 1 : short, wide), (upperIsLonger ? short : 1, -other)]
        notch = random.uniform(0.89...0.94)
        let start = random.uniform(0.32...0.42)
        fin = (start, start + random.uniform(0.15...0.3), random.uniform(0.03...0.07))
        let darker = isHard ? random.uniform(14...40) : random.uniform(35...80)
        backLevel = table > 110 ? table - darker : table + darker * 0.6
        bellyLevel = backLevel + random.uniform(25...75)
        pattern = random.uniform(3...16)
        noise = SceneNoise(&random)
    }

    var tail: Vector { snout + axis * length }

    /// How far inside the outline a point is, in millimetres; below zero outside.
    func depth(at point: Vector) -> Double {
        let (along, across) = shares(point)
        var depth = tailDepth(along, across)
        if 0..<1 ~= along / Self.root {
            depth = max(
                depth,
                across < 0 ? width(belly, along) + across : width(back, along) - across
            )
            if fin.start..<fin.end ~= along {
                let share = (along - fin.start) / (fin.end - fin.start)
                let height = fin.height * (1 - share) * min(1, share * 8)
                depth = max(depth, width(back, along) + height - across.magnitude)
                if across < 0 { depth = max(depth, width(belly, along) + 0.4 * height + across) }
            }
        }
        return min(depth, along, 1 - along) * length
    }

    /// The level at a point inside the outline; light comes from `light`.
    func level(at point: Vector, light: Vector) -> Double {
        let (along, across) = shares(point)
        let (u, v) = (along * length, across * length)
        if along > Self.root || across > width(back, along) || -across > width(belly, along) {
            // Fins with rays, between back and belly in level.
            let rays = noise.at(u * 0.15, v * 1.6)
            return SceneNoise.mix(backLevel, bellyLevel, 0.35) + 10 * rays
        }
        let half = across < 0 ? width(belly, along) : width(back, along)
        let height = across / max(half, 0.002)
        let blend = SceneNoise.smooth((0.35 - height) / 0.8)
        var level = SceneNoise.mix(backLevel, bellyLevel, blend)
        level += pattern * noise.layered(u * 0.12, v * 0.25) * (1.2 - blend)
        level += 5 * (SceneNoise.wave(u * 0.45 + v * 0.3) + SceneNoise.wave(u * 0.45 - v * 0.3) - 1)
        // The body is round: its edge turns away from the light on one side.
        level += 16 * height.magnitude * height * side * light.dot(axis.turned)
        let gill = along - 0.2 + 0.9 * across * across / 0.1
        if gill.magnitude < 0.005 { level -= 22 }
        let eye = ((along - 0.075) * (along - 0.075) + (across - 0.018) * (across - 0.018))
            .squareRoot()
        if eye < 0.022 { level = eye < 0.012 ? 22 : bellyLevel }
        return level
    }

    /// The place along the body, and across it towards the back, as shares of the length.
    private func shares(_ point: Vector) -> (along: Double, across: Double) {
        let own = point - snout
        let along = own.dot(axis) / length
        let curve = 4 * bend * along * (1 - along)
        return (along, (own.dot(axis.turned) / length - curve) * side)
    }

    private func width(_ widths: [Double], _ along: Double) -> Double {
        let place = min(max(along / Self.root, 0), 0.9999) * Double(widths.count - 1)
        let index = Int(place)
        // The head is blunt.
        let share = index == 0 ? (place * (2 - place)).squareRoot() : place - Double(index)
        return SceneNoise.mix(widths[index], widths[index + 1], share)
    }

    /// How far inside one of the two lobes, as a share of the length.
    private func tailDepth(_ along: Double, _ across: Double) -> Double {
        let start = Self.root - 0.02
        guard along > start else { return -0.05 }
        let lobe = across >= 0 ? lobes[0] : lobes[1]
        let reach = across.magnitude / lobe.across.magnitude
        // The outer edge from the root to the tip, and the inner one from the notch to the tip.
        let share = (along - start) / (lobe.along - start)
        let outer = 0.026 + (lobe.across.magnitude - 0.026) * share * (1.25 - 0.25 * share)
        let end = SceneNoise.mix(notch, lobe.along, reach * (0.4 + 0.6 * reach))
        return min(outer - across.magnitude, end - along)
    }
}
