/// Three numbers: a point in space, a ray, or a point of the projective plane.
package struct Vector3: Equatable, Sendable {
    package var x: Double
    package var y: Double
    package var z: Double

    package init(_ x: Double, _ y: Double, _ z: Double) {
        self.x = x
        self.y = y
        self.z = z
    }

    package var length: Double { dot(self).squareRoot() }

    package func dot(_ other: Vector3) -> Double { x * other.x + y * other.y + z * other.z }

    package func cross(_ other: Vector3) -> Vector3 {
        Vector3(
            y * other.z - z * other.y,
            z * other.x - x * other.z,
            x * other.y - y * other.x
        )
    }

    package static func + (left: Vector3, right: Vector3) -> Vector3 {
        Vector3(left.x + right.x, left.y + right.y, left.z + right.z)
    }
    package static func - (left: Vector3, right: Vector3) -> Vector3 { left + right * -1 }
    package static func * (vector: Vector3, factor: Double) -> Vector3 {
        Vector3(vector.x * factor, vector.y * factor, vector.z * factor)
    }
}

/// A matrix of three rows.
package struct Matrix3: Equatable, Sendable {
    package var rows: (Vector3, Vector3, Vector3)

    package init(_ first: Vector3, _ second: Vector3, _ third: Vector3) {
        rows = (first, second, third)
    }

    package static func == (left: Matrix3, right: Matrix3) -> Bool { left.rows == right.rows }

    package var transposed: Matrix3 {
        let (a, b, c) = rows
        return Matrix3(
            Vector3(a.x, b.x, c.x),
            Vector3(a.y, b.y, c.y),
            Vector3(a.z, b.z, c.z)
        )
    }

    package var determinant: Double { rows.0.dot(rows.1.cross(rows.2)) }

    /// The inverse times the determinant, which also a singular matrix has.
    package var adjugate: Matrix3 {
        let (a, b, c) = rows
        return Matrix3(b.cross(c), c.cross(a), a.cross(b)).transposed
    }

    package static func * (matrix: Matrix3, vector: Vector3) -> Vector3 {
        let (a, b, c) = matrix.rows
        return Vector3(a.dot(vector), b.dot(vector), c.dot(vector))
    }

    package static func * (left: Matrix3, right: Matrix3) -> Matrix3 {
        let (a, b, c) = right.transposed.rows
        return Matrix3(left * a, left * b, left * c).transposed
    }

    package static func * (matrix: Matrix3, factor: Double) -> Matrix3 {
        let (a, b, c) = matrix.rows
        return Matrix3(a * factor, b * factor, c * factor)
    }

    package static func + (left: Matrix3, right: Matrix3) -> Matrix3 {
        let ((a, b, c), (d, e, f)) = (left.rows, right.rows)
        return Matrix3(a + d, b + e, c + f)
    }

    /// What times this matrix gives `right`, by elimination with the greatest pivot of each column.
    ///
    /// Nil if a pivot is less than 1e-13 of the greatest number of the matrix: then rows depend on
    /// one another as far as 53 bits can tell.
    package func solve(_ right: Vector3) -> Vector3? {
        var lines = [(rows.0, right.x), (rows.1, right.y), (rows.2, right.z)]
        var greatest = 0.0
        for (row, _) in lines { greatest = max(greatest, abs(row.x), abs(row.y), abs(row.z)) }
        let least = greatest * 1e-13
        func pivot(_ column: (Vector3) -> Double, from first: Int) -> Bool {
            var best = first
            for index in first..<3 where abs(column(lines[index].0)) > abs(column(lines[best].0)) {
                best = index
            }
            lines.swapAt(first, best)
            let pivot = column(lines[first].0)
            guard abs(pivot) > least, pivot.isFinite else { return false }
            for index in (first + 1)..<3 {
                let factor = column(lines[index].0) / pivot
                lines[index].0 = lines[index].0 - lines[first].0 * factor
                lines[index].1 -= lines[first].1 * factor
            }
            return true
        }
        guard pivot({ $0.x }, from: 0), pivot({ $0.y }, from: 1) else { return nil }
        let (last, value) = lines[2]
        guard abs(last.z) > least, last.z.isFinite else { return nil }
        let z = value / last.z
        let y = (lines[1].1 - lines[1].0.z * z) / lines[1].0.y
        let x = (lines[0].1 - lines[0].0.y * y - lines[0].0.z * z) / lines[0].0.x
        return Vector3(x, y, z)
    }
}
