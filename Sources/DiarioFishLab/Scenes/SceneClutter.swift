import DiarioCore
import DiarioFish

/// Something else on the table, most of it round.
struct SceneClutter {
    enum Kind: CaseIterable { case plate, cap, onion, paper }

    let kind: Kind
    let center: Vector
    let radius: Double
    private let level: Double
    private let axis: Vector
    private let noise: SceneNoise
    /// Of an onion ring: its width in millimetres, and how far it is from a circle.
    private let band: Double
    private let waviness: Double

    init(_ kind: Kind, at center: Vector, _ random: inout SeededRandom) {
        self.kind = kind
        self.center = center
        switch kind {
        case .plate: radius = random.uniform(75...140)
        case .cap: radius = random.uniform(14.5...16.2)
        case .onion: radius = random.uniform(11...34)
        case .paper: radius = random.uniform(25...70)
        }
        let isWhite = kind == .plate || kind == .paper
        level = isWhite ? random.uniform(180...245) : random.uniform(40...230)
        axis = random.direction()
        band = random.uniform(1.4...3.4)
        waviness = random.uniform(0.03...0.1)
        noise = SceneNoise(&random)
    }

    /// What hides the table at a point: its level, and how much of it shows (from 0 to 1).
    func cover(at point: Vector, light: Vector) -> (level: Double, share: Double)? {
        let own = point - center
        guard own.length < radius * 1.5 else { return nil }
        switch kind {
        case .plate: return plate(own, light)
        case .cap: return cap(own, light)
        case .onion: return onion(own)
        case .paper: return paper(own)
        }
    }

    private func plate(_ own: Vector, _ light: Vector) -> (level: Double, share: Double)? {
        let share = own.length / radius
        guard share < 1 else { return nil }
        // The rim rises to the edge; where it begins there is a soft step.
        let slope = share > 0.72 ? 12 : -14 * SceneNoise.smooth((share - 0.62) * 10)
        let lip: Double = share > 0.985 ? -18 : 0
        return (level + lip + slope * light.dot(own) / max(own.length, 1), 1)
    }

    private func cap(_ own: Vector, _ light: Vector) -> (level: Double, share: Double)? {
        let distance = own.length
        let unit = own * (1 / max(distance, 1e-9))
        // Twenty-one teeth around a flat top.
        let teeth = Self.cosine(of: unit, times: 21)
        guard distance < radius - 0.75 + 0.75 * teeth else { return nil }
        let fall = max(0, distance / radius - 0.8) * 5
        let print = distance < 9 ? 25 * noise.at(own.x * 0.5, own.y * 0.5) : 0
        return (level + print + fall * (40 * light.dot(unit) - 22 + 18 * teeth), 1)
    }

    private func onion(_ own: Vector) -> (level: Double, share: Double)? {
        let flat = Vector(own.dot(axis), own.dot(axis.turned) * (1 + waviness))
        let unit = flat * (1 / max(flat.length, 1e-9))
        let edge = radius * (1 + waviness * noise.at(unit.x * 1.6 + 9, unit.y * 1.6))
        let place = edge - flat.length
        guard 0..<band ~= place else { return nil }
        let shine = 30 * SceneNoise.wave(place / band) + 8 * noise.at(own.x, own.y)
        return (level + shine, 0.75)
    }

    private func paper(_ own: Vector) -> (level: Double, share: Double)? {
        let (x, y) = (own.dot(axis), own.dot(axis.turned))
        guard x.magnitude < radius, y.magnitude < radius * 0.6 else { return nil }
        let isLine = SceneNoise.wave(y / 4.5) > 0.75 && noise.at(x * 0.6, y / 4.5) > 0
        return (level - (isLine ? 90 : 0), 1)
    }

    /// The cosine of a multiple of a direction's angle.
    private static func cosine(of unit: Vector, times count: Int) -> Double {
        var turned = Vector(1, 0)
        for _ in 0..<count { turned = unit * turned.x + unit.turned * turned.y }
        return turned.x
    }
}
