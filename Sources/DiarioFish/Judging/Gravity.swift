/// The direction of gravity along the axes of a phone: right, up and out of the screen.
///
/// In millionths of g. Flat on a table, screen up, it is (0, 0, -1,000,000).
package struct Gravity: Equatable, Sendable {
    package let x: Int64
    package let y: Int64
    package let z: Int64

    package init(x: Int64, y: Int64, z: Int64) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// The direction, of length 1; nil for less than half of g and for more than twice of it.
    package var direction: Vector3? {
        let vector = Vector3(Double(x), Double(y), Double(z))
        let length = vector.length
        return 500_000...2_000_000 ~= length ? vector * (1 / length) : nil
    }

    /// The angle between the photo and the level, in thousandths of a degree.
    package var tiltMdeg: Int64? {
        guard let direction else { return nil }
        let across = (direction.x * direction.x + direction.y * direction.y).squareRoot()
        let tilt = Trigonometry.arcTangent(y: across, x: abs(direction.z))
        return (tilt * 180_000 / Trigonometry.pi).nearestInteger
    }
}

extension Fish.Gate {
    /// Judges gravity along the axis out of the screen, in millionths of g; nil if unknown.
    ///
    /// The standard gate lets at most 7.69 degrees pass, and a phone that does not tell. The old
    /// one is as the thesis prints it: from 2.56 to 7.69 degrees, and one that does not tell is
    /// out. Where nobody looks, nothing is known.
    package func result(zMicroG: Int64?) -> Fish.GateResult {
        switch (self, zMicroG) {
        case (.off, _), (.standard, nil): .unknown
        case (.standard, let z?): z <= -991_000 ? .ok : .out
        case (.legacy, let z?): -999_000 ... -991_000 ~= z ? .ok : .out
        case (.legacy, nil): .out
        }
    }
}
