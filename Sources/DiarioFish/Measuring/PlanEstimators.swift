// The thesis's three methods: they find the coin's diameter in the photo, and take all of the photo
// for a plan of that scale.

/// Phase 1: two pins on the coin's rim, opposite to each other.
package enum TwoPins: Estimator {
    package static let version = 1

    package static func view(_ scene: Scene) throws(MeasuringRefusal) -> TableView {
        let diameter = try scene.coinDiameter()
        let points = try scene.points(2...2)
        return TableView(
            diameterUm: diameter,
            pixels: (points[1] - points[0]).length,
            centre: Vector.mean(points)
        )
    }
}

/// Phase 2: three pins on the rim, which determine a circle.
package enum ThreePointCircle: Estimator {
    package static let version = 1

    package static func view(_ scene: Scene) throws(MeasuringRefusal) -> TableView {
        let diameter = try scene.coinDiameter()
        guard let circle = Circle(through: try scene.points(3...3)) else {
            throw MeasuringRefusal(.collinear, .reference)
        }
        return TableView(diameterUm: diameter, pixels: circle.diameter, centre: circle.centre)
    }
}

/// Phase 3: an ellipse laid over the coin, whose width is the diameter.
package enum PinchedViews: Estimator {
    package static let version = 1

    package static func view(_ scene: Scene) throws(MeasuringRefusal) -> TableView {
        let diameter = try scene.coinDiameter()
        guard case .oval(let centre, let width, let height, _) = scene.reference else {
            throw MeasuringRefusal(.wrongShape, .reference)
        }
        var view = TableView(diameterUm: diameter, pixels: width, centre: centre)
        view.axisRatio = min(width, height) / max(width, height)
        return view
    }
}
