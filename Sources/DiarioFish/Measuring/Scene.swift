/// The marks of the reference, in pixels.
package enum ReferenceMarks: Equatable, Sendable {
    case points([Vector])
    /// An ellipse as it was drawn: its width need not be the longer axis.
    case oval(centre: Vector, width: Double, height: Double, direction: Vector)

    /// The marks that show how far they reach.
    package var extremes: [Vector] {
        switch self {
        case .points(let points): return points
        case .oval(let centre, let width, let height, let direction):
            let (along, across) = (direction * (width / 2), direction.turned * (height / 2))
            return [centre + along, centre - along, centre + across, centre - across]
        }
    }

    /// The same marks with one thing amiss, for each that may be: by one standard deviation.
    ///
    /// A point goes along either axis. An ellipse has two edges on each axis, whose errors add up
    /// to the square root of two.
    package func variations(by step: Double) -> [ReferenceMarks] {
        switch self {
        case .points(let points): return points.variations(by: step).map { .points($0) }
        case .oval(let centre, let width, let height, let direction):
            let edges = step * 2.0.squareRoot()
            return [
                .oval(
                    centre: centre,
                    width: width + edges,
                    height: height,
                    direction: direction
                ),
                .oval(
                    centre: centre,
                    width: width,
                    height: height + edges,
                    direction: direction
                ),
            ]
        }
    }
}

extension [Vector] {
    /// The same points with one moved along one axis, for each point and axis.
    package func variations(by step: Double) -> [[Vector]] {
        indices.flatMap { index in
            [Vector(step, 0), Vector(0, step)].map { shift in
                var points = self
                points[index] = points[index] + shift
                return points
            }
        }
    }
}

/// An input that was checked, in pixels and as real numbers.
package struct Scene: Sendable {
    package let fish: [Vector]
    package let axis: Vector?
    package var reference: ReferenceMarks
    package let object: ReferenceObject
    /// The size of the photo.
    package let size: Vector
    package let principal: Vector
    package let focal: Double?
    package let gravity: Gravity?
    package let fishHeight: Double

    package init(_ input: MeasuringInput) throws(MeasuringRefusal) {
        let photo = input.photo
        guard 1...20_000 ~= photo.widthPx, 1...20_000 ~= photo.heightPx else {
            throw MeasuringRefusal(.outOfRange, .photo)
        }
        size = Vector(Double(photo.widthPx), Double(photo.heightPx))
        principal = photo.principal?.pixels ?? size * 0.5
        if let focalMpx = photo.focalMpx {
            guard 1...1_000_000_000 ~= focalMpx else { throw MeasuringRefusal(.outOfRange, .focal) }
            focal = Double(focalMpx) / 1000
        } else {
            focal = nil
        }
        guard 0...500_000 ~= input.fishHeightUm else {
            throw MeasuringRefusal(.outOfRange, .fishHeight)
        }
        fishHeight = Double(input.fishHeightUm)
        gravity = photo.gravity
        fish = try Scene.line(input.fish)
        axis = try Scene.axis(input.axis)
        reference = try Scene.marks(input.reference)
        object = input.object
        guard object.isPossible else { throw MeasuringRefusal(.outOfRange, .object) }
        guard fish.allSatisfy(isNearPhoto) else { throw MeasuringRefusal(.outsideImage, .fish) }
        guard reference.extremes.allSatisfy(isNearPhoto) else {
            throw MeasuringRefusal(.outsideImage, .reference)
        }
    }

    /// The line along the fish, of a frame the one in its middle along the longer side.
    private static func line(_ shape: MarkShape) throws(MeasuringRefusal) -> [Vector] {
        switch shape {
        case .ellipse: throw MeasuringRefusal(.wrongShape, .fish)
        case .points(let points):
            guard 2...64 ~= points.count else { throw MeasuringRefusal(.pointCount, .fish) }
            for index in points.indices.dropFirst() where points[index] == points[index - 1] {
                throw MeasuringRefusal(.coincident, .fish)
            }
            return points.map { $0.pixels }
        case .frame(let frame):
            guard frame.widthMpx > 0, frame.heightMpx > 0 else {
                throw MeasuringRefusal(.outOfRange, .fish)
            }
            let corner = MarkPoint(xMpx: frame.xMpx, yMpx: frame.yMpx).pixels
            let size = MarkPoint(xMpx: frame.widthMpx, yMpx: frame.heightMpx).pixels
            let isUpright = size.y >= size.x
            let start = isUpright ? Vector(size.x / 2, 0) : Vector(0, size.y / 2)
            let end = isUpright ? Vector(size.x / 2, size.y) : Vector(size.x, size.y / 2)
            return [corner + start, corner + end]
        }
    }

    private static func axis(_ points: [MarkPoint]?) throws(MeasuringRefusal) -> Vector? {
        guard let points else { return nil }
        guard points.count == 2 else { throw MeasuringRefusal(.pointCount, .fish) }
        guard let direction = (points[1].pixels - points[0].pixels).direction else {
            throw MeasuringRefusal(.coincident, .fish)
        }
        return direction
    }

    private static func marks(_ shape: MarkShape) throws(MeasuringRefusal) -> ReferenceMarks {
        let ellipse: MarkEllipse
        switch shape {
        case .points(let points):
            guard 2...64 ~= points.count else { throw MeasuringRefusal(.pointCount, .reference) }
            return .points(points.map { $0.pixels })
        case .ellipse(let given): ellipse = given
        case .frame(let frame):
            let middle = MarkPoint(xMpx: frame.xMpx, yMpx: frame.yMpx).pixels
            let size = MarkPoint(xMpx: frame.widthMpx, yMpx: frame.heightMpx).pixels
            guard size.x > 0, size.y > 0 else { throw MeasuringRefusal(.outOfRange, .reference) }
            return .oval(
                centre: middle + size * 0.5,
                width: size.x,
                height: size.y,
                direction: Vector(1, 0)
            )
        }
        guard ellipse.widthMpx > 0, ellipse.heightMpx > 0, ellipse.direction.isFinite else {
            throw MeasuringRefusal(.outOfRange, .reference)
        }
        return .oval(
            centre: MarkPoint(xMpx: ellipse.xMpx, yMpx: ellipse.yMpx).pixels,
            width: Double(ellipse.widthMpx) / 1000,
            height: Double(ellipse.heightMpx) / 1000,
            direction: ellipse.direction
        )
    }

    /// True on the photo and in a margin of a twentieth around it.
    private func isNearPhoto(_ point: Vector) -> Bool {
        let (x, y) = (point.x / size.x, point.y / size.y)
        return -0.05...1.05 ~= x && -0.05...1.05 ~= y
    }

    /// True within a hundredth of the photo's edge, and beyond it.
    package func isAtEdge(_ point: Vector) -> Bool {
        let (x, y) = (point.x / size.x, point.y / size.y)
        return !(0.01...0.99 ~= x && 0.01...0.99 ~= y)
    }
}

extension ReferenceObject {
    /// The least size across.
    package var acrossUm: Double {
        switch self {
        case .disc(let diameterUm, _): Double(diameterUm)
        case .card(let widthUm, let heightUm, _): Double(min(widthUm, heightUm))
        }
    }

    package var longestUm: Double {
        switch self {
        case .disc(let diameterUm, _): Double(diameterUm)
        case .card(let widthUm, let heightUm, _): Double(max(widthUm, heightUm))
        }
    }

    package var thickness: Double {
        switch self {
        case .disc(_, let thicknessUm), .card(_, _, let thicknessUm): Double(thicknessUm)
        }
    }

    fileprivate var isPossible: Bool {
        (1000...1_000_000).contains(acrossUm) && longestUm <= 1_000_000
            && 0...100_000 ~= thickness
    }
}
