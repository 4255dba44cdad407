// Weak perspective: what makes an ellipse of the coin does the same to the fish beside it.

/// An ellipse laid over the coin, both axes of which count.
package enum EllipseMetric: Estimator {
    package static let version = 1

    package static func view(_ scene: Scene) throws(MeasuringRefusal) -> TableView {
        guard case .oval(let centre, let width, let height, let direction) = scene.reference else {
            throw MeasuringRefusal(.wrongShape, .reference)
        }
        let ellipse = Ellipse(centre: centre, width: width, height: height, direction: direction)
        return TableView(of: ellipse, diameterUm: try scene.coinDiameter())
    }
}

/// The ellipse that fits marks all around the rim best.
package enum RimConic: Estimator {
    package static let version = 1

    package static func view(_ scene: Scene) throws(MeasuringRefusal) -> TableView {
        let diameter = try scene.coinDiameter()
        let points = try scene.points(5...64)
        guard let circle = Circle(through: points) else {
            throw MeasuringRefusal(.collinear, .reference)
        }
        guard let ellipse = Ellipse(fitting: points) else {
            throw MeasuringRefusal(.notAnEllipse, .reference)
        }
        var view = TableView(of: ellipse, diameterUm: diameter)
        view.agreement = circle.diameter / ellipse.width
        return view
    }
}

extension TableView {
    fileprivate init(of ellipse: Ellipse, diameterUm: Double) {
        self.init(map: PlaneMap(of: ellipse, toDiameter: diameterUm), centre: ellipse.centre)
        axisRatio = ellipse.axisRatio
    }
}
