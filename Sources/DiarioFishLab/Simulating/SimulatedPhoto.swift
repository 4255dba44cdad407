package import DiarioCore
package import DiarioFish

/// A photo of a fish and a coin, or a card, on a table, of which everything is known.
///
/// Lengths are in millimetres. The camera is 400 mm above the table, tilted by any angle that the
/// gate lets pass in any direction, and looks at the fish; its sensor of gravity is exact.
package struct SimulatedPhoto: Sendable {
    package static let cameraHeight = 400.0
    package static let focal = 3000.0
    package static let size = Vector(4032, 3024)
    /// The height of the fish's line that the measurement assumes.
    package static let assumedHeight = 8.0
    /// From the fish's line to the middle of the coin or the card.
    package static let aside = 60.0

    package let length: Double
    /// The true height of the fish's line.
    package let fishHeight: Double
    package let gravity: Gravity
    /// The middle of the reference on the table, and of the fish, in axes along the table.
    package let referenceCentre: Vector
    package let fishMiddle: Vector
    /// The way from the middle of the fish to its tail, of length 1.
    package let fishDirection: Vector

    private let axes: (Vector3, Vector3, Vector3)

    package init(length: Double, heightSigma: Double, random: inout SeededRandom) {
        self.length = length
        let tilt = random.uniform(0...7.69) * Trigonometry.pi / 180
        let bearing = random.uniform(-Trigonometry.pi...Trigonometry.pi)
        let (sine, cosine) = Trigonometry.sineAndCosine(tilt)
        let (y, x) = Trigonometry.sineAndCosine(bearing)
        let down = Vector3(sine * x, sine * y, -cosine)
        let across = Vector3(1, 0, 0) - down * down.x
        let first = across * (1 / across.length)
        axes = (first, down.cross(first), down)
        gravity = Gravity(
            x: (down.x * 1e6).nearestInteger ?? 0,
            y: (down.y * 1e6).nearestInteger ?? 0,
            z: (down.z * 1e6).nearestInteger ?? 0
        )
        fishHeight = max(0, Self.assumedHeight + heightSigma * random.normal())
        // The axis of the lens meets the table here.
        let aim = Vector(-axes.0.z, -axes.1.z) * (Self.cameraHeight / cosine)
        let middle = aim + Vector(random.uniform(-15...15), random.uniform(-15...15))
        // Upright in the photo, as the thesis's rectangle takes it.
        let direction = Vector(0, random.oneIn(2) ? 1 : -1)
        // Every other coin is beside the middle, the others are beside either end.
        let along =
            random.oneIn(2)
            ? random.uniform(-0.1...0.1) : random.uniform(0.4...0.5) * (random.oneIn(2) ? 1 : -1)
        let side = Self.aside * (random.oneIn(2) ? 1 : -1)
        fishDirection = direction
        fishMiddle = middle
        referenceCentre = middle + direction * (along * length) + direction.turned * side
    }

    package var snout: Vector { fishMiddle - fishDirection * (length / 2) }
    package var tail: Vector { fishMiddle + fishDirection * (length / 2) }

    /// Where a point above the table is in the photo.
    package func seen(_ place: Vector, height: Double) -> Vector {
        let (first, second, down) = axes
        let ray =
            first * place.x + second * place.y + down * (Self.cameraHeight - height)
        let scale = Self.focal / -ray.z
        return Self.size * 0.5 + Vector(ray.x * scale, -ray.y * scale)
    }

    /// A point of a coin's upper rim in the photo.
    package func rim(of diameter: Double, thickness: Double, at turn: Double) -> Vector {
        let (sine, cosine) = Trigonometry.sineAndCosine(turn)
        let place = referenceCentre + Vector(cosine, sine) * (diameter / 2)
        return seen(place, height: thickness)
    }

    /// What the measurement is told of the photo.
    package var facts: PhotoFacts {
        PhotoFacts(
            widthPx: Int(Self.size.x),
            heightPx: Int(Self.size.y),
            gravity: gravity,
            focalMpx: Int64(Self.focal) * 1000
        )
    }
}
