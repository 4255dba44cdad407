/// How a photo shows the table, as its reference tells.
package struct TableView: Sendable {
    /// From pixels to micrometres, where the fish's line is.
    package let map: PlaneMap
    /// The middle of the reference, in pixels.
    package let centre: Vector
    /// The minor axis of a coin as a part of the major one, where the method looks at both.
    package var axisRatio: Double?
    /// The diameter of the circle through the marks as a part of the ellipse's, which should be 1.
    package var agreement: Double?
    /// The height of the camera above the table, in micrometres, where it comes out.
    package var cameraHeight: Double?
    /// True if tilt does not matter any more.
    package var isLevelled = false

    package init(map: PlaneMap, centre: Vector) {
        self.map = map
        self.centre = centre
    }

    /// The view of a method that takes the photo for an enlarged plan.
    package init(diameterUm: Double, pixels: Double, centre: Vector) {
        self.init(map: PlaneMap(scale: diameterUm / pixels), centre: centre)
    }
}

/// A method: what a reference of known size says about the table around it.
package protocol Estimator {
    /// Raised by each change after which some length comes out otherwise.
    static var version: Int { get }

    static func view(_ scene: Scene) throws(MeasuringRefusal) -> TableView
}

extension Scene {
    /// The diameter of the coin, for methods that need one.
    package func coinDiameter() throws(MeasuringRefusal) -> Double {
        guard case .disc(let diameterUm, _) = object else {
            throw MeasuringRefusal(.wrongReference, .object)
        }
        return Double(diameterUm)
    }

    /// The points of the reference, as many as the method takes, and at as many places as it needs.
    package func points(_ count: ClosedRange<Int>) throws(MeasuringRefusal) -> [Vector] {
        guard case .points(let points) = reference else {
            throw MeasuringRefusal(.wrongShape, .reference)
        }
        guard count ~= points.count else { throw MeasuringRefusal(.pointCount, .reference) }
        let repeated = points.indices.count { points[..<$0].contains(points[$0]) }
        guard points.count - repeated >= count.lowerBound else {
            throw MeasuringRefusal(.coincident, .reference)
        }
        return points
    }
}
