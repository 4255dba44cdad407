import DiarioFish

// Points of the table, and above it, are in millimetres from the point below the camera: x to the
// right and y downwards in the picture.

extension Vector {
    /// How far this point is from the line between two others.
    func distance(from start: Vector, to end: Vector) -> Double {
        let (line, own) = (end - start, self - start)
        let share = own.dot(line) / max(line.dot(line), 1e-12)
        return (own - line * min(max(share, 0), 1)).length
    }
}

/// A pinhole camera above a table.
///
/// Device axes: x right, y up, z out of the screen; the camera looks along -z. A point at height z
/// above the table has distance `altitude - z` from the camera along gravity.
struct SceneCamera {
    let width: Int
    let height: Int
    /// In pixels; the principal point is the middle of the picture.
    let focal: Double
    /// Millimetres above the table.
    let altitude: Double
    /// Unit gravity in device axes.
    let gravity: [Double]
    /// The table's axes in device axes.
    private let right: [Double]
    private let down: [Double]

    /// `tilt` is gravity's share in the screen's axes.
    init(width: Int, height: Int, focal: Double, altitude: Double, tilt: Vector) {
        self.width = width
        self.height = height
        self.focal = focal
        self.altitude = altitude
        let depth = (1 - tilt.dot(tilt)).squareRoot()
        gravity = [tilt.x, tilt.y, -depth]
        let length = (1 - tilt.x * tilt.x).squareRoot()
        right = [length, -tilt.x * tilt.y / length, tilt.x * depth / length]
        down = [0, -depth / length, -tilt.y / length]
    }

    /// The point at height `above` that a place of the picture shows.
    func point(_ column: Double, _ row: Double, above: Double) -> Vector {
        let x = (column - Double(width) / 2) / focal
        let y = (Double(height) / 2 - row) / focal
        let stretch = (altitude - above) / (gravity[0] * x + gravity[1] * y - gravity[2])
        return Vector(
            (right[0] * x + right[1] * y - right[2]) * stretch,
            (down[0] * x + down[1] * y - down[2]) * stretch
        )
    }

    /// Where a point at height `above` is in the picture.
    func place(_ point: Vector, above: Double) -> Vector {
        let image = axes(above: above).map { $0[0] * point.x + $0[1] * point.y + $0[2] }
        return Vector(image[0] / image[2], image[1] / image[2])
    }

    /// The matrix that takes (x, y, 1) at height `above` to homogeneous places of the picture.
    private func axes(above: Double) -> [[Double]] {
        let columns = [right, down, gravity.map { $0 * (altitude - above) }]
        let (middleX, middleY) = (Double(width) / 2, Double(height) / 2)
        return [
            columns.map { focal * $0[0] - middleX * $0[2] },
            columns.map { -focal * $0[1] - middleY * $0[2] },
            columns.map { -$0[2] },
        ]
    }

    /// The ellipse as which a circle at height `above` is seen.
    ///
    /// Made from the lines that touch the circle, not from points of it: a line (a, b, c) touches
    /// where (ax + by + c)^2 = r^2 (a^2 + b^2), and lines are projected by the matrix above.
    func image(of center: Vector, radius: Double, above: Double) -> Ellipse {
        let axes = axes(above: above)
        let middle = axes.map { $0[0] * center.x + $0[1] * center.y + $0[2] }
        func dual(_ row: Int, _ column: Int) -> Double {
            let spread = axes[row][0] * axes[column][0] + axes[row][1] * axes[column][1]
            return middle[row] * middle[column] - radius * radius * spread
        }
        let scale = dual(2, 2)
        let (x, y) = (dual(0, 2) / scale, dual(1, 2) / scale)
        let xx = x * x - dual(0, 0) / scale
        let yy = y * y - dual(1, 1) / scale
        let xy = x * y - dual(0, 1) / scale
        let half = (xx + yy) / 2
        let spread = ((xx - yy) * (xx - yy) / 4 + xy * xy).squareRoot()
        // Of two vectors along the longer axis, the one that is not nearly zero.
        let axis = xx > yy ? Vector(half + spread - yy, xy) : Vector(xy, half + spread - xx)
        return Ellipse(
            centre: Vector(x, y),
            width: 2 * (half + spread).squareRoot(),
            height: 2 * (half - spread).squareRoot(),
            direction: axis.direction ?? Vector(1, 0)
        )
    }
}
