/// A point of a plane, or the way from one point to another.
package struct Vector: Equatable, Sendable {
    package var x: Double
    package var y: Double

    package init(_ x: Double, _ y: Double) {
        self.x = x
        self.y = y
    }

    package static let zero = Vector(0, 0)

    package var length: Double { dot(self).squareRoot() }
    package var isFinite: Bool { x.isFinite && y.isFinite }
    /// The same way with length 1; nil for none.
    package var direction: Vector? {
        let length = length
        return length > 0 && length.isFinite ? self * (1 / length) : nil
    }
    /// The way turned by a quarter, from the first axis to the second.
    package var turned: Vector { Vector(-y, x) }

    package func dot(_ other: Vector) -> Double { x * other.x + y * other.y }
    /// Twice the area of the triangle that both ways span, negative if the second is on the other
    /// side.
    package func cross(_ other: Vector) -> Double { x * other.y - y * other.x }

    package static func + (left: Vector, right: Vector) -> Vector {
        Vector(left.x + right.x, left.y + right.y)
    }
    package static func - (left: Vector, right: Vector) -> Vector {
        Vector(left.x - right.x, left.y - right.y)
    }
    package static func * (vector: Vector, factor: Double) -> Vector {
        Vector(vector.x * factor, vector.y * factor)
    }

    /// The mean of some points, of which there must be one.
    package static func mean(_ points: [Vector]) -> Vector {
        points.reduce(.zero, +) * (1 / Double(points.count))
    }

    /// The length of a line through all points.
    package static func length(along points: [Vector]) -> Double {
        var sum = 0.0
        for index in points.indices.dropFirst() {
            sum += (points[index] - points[index - 1]).length
        }
        return sum
    }
}

extension Vector {
    /// Some directions, evenly around the turn.
    static func turns(_ count: Int) -> [Vector] {
        (0..<count).map { index in
            let angle = 2 * Trigonometry.pi * Double(index) / Double(count)
            let (sine, cosine) = Trigonometry.sineAndCosine(angle)
            return Vector(cosine, sine)
        }
    }
}
