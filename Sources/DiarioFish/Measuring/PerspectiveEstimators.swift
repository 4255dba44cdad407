// Full perspective. A pinhole camera sees the table; the coin or card, whose top is t above the
// table, tells the camera's distance from its plane, Hc. The fish's line is z above the table, in
// a plane at Hf = Hc + t - z, and what is seen there is smaller by Hf / Hc than it would be beside
// the reference.

/// A coin or a card, and gravity to tell which way the table faces.
package enum GravityRectification: Estimator {
    package static let version = 1

    /// Marks that stand for a whole ellipse.
    private static let rimCount = 16

    package static func view(_ scene: Scene) throws(MeasuringRefusal) -> TableView {
        let toUnit = try unitMap(scene)
        let marks = try marks(scene)
        var places: [Vector] = []
        for mark in marks {
            guard let place = toUnit.place(of: mark) else {
                throw MeasuringRefusal(.beyondHorizon, .reference)
            }
            places.append(place)
        }
        let (distance, agreement) =
            switch scene.object {
            case .disc(let diameterUm, _): try distance(ofRim: places, Double(diameterUm))
            case .card: (try distance(ofCorners: places, scene.object), nil)
            }
        let fishDistance = distance + scene.object.thickness - scene.fishHeight
        guard fishDistance > 0 else { throw MeasuringRefusal(.outOfRange, .fishHeight) }
        let toFish = PlaneMap(scale: fishDistance).matrix * toUnit.matrix
        var view = TableView(map: PlaneMap(toFish), centre: Vector.mean(marks))
        view.cameraHeight = distance + scene.object.thickness
        view.isLevelled = true
        view.agreement = agreement
        return view
    }

    private static func marks(_ scene: Scene) throws(MeasuringRefusal) -> [Vector] {
        switch (scene.reference, scene.object) {
        case (.points, .disc): return try scene.points(3...64)
        case (_, .card): return try scene.points(4...4)
        case (.oval(let centre, let width, let height, let direction), .disc):
            let ellipse = Ellipse(
                centre: centre,
                width: width,
                height: height,
                direction: direction
            )
            return ellipse.rim(count: rimCount)
        }
    }

    /// The distance at which a coin has this rim; and how far the rim is a circle, as it should be
    /// unless gravity or marks are wrong.
    private static func distance(
        ofRim places: [Vector],
        _ diameterUm: Double
    ) throws(MeasuringRefusal) -> (Double, Double?) {
        guard let circle = Circle(through: places) else {
            throw MeasuringRefusal(.collinear, .reference)
        }
        let ellipse = Ellipse(fitting: places)
        return (diameterUm / circle.diameter, ellipse.map { circle.diameter / $0.width })
    }

    /// The distance at which a card fits these corners best: as if both were complex numbers, and
    /// one the other times a factor.
    private static func distance(
        ofCorners places: [Vector],
        _ card: ReferenceObject
    ) throws(MeasuringRefusal) -> Double {
        let (middle, corners) = (Vector.mean(places), card.corners(seenAs: places))
        let centre = Vector.mean(corners)
        var (straight, mirrored, square) = (Vector.zero, Vector.zero, 0.0)
        for (place, corner) in zip(places, corners) {
            let (seen, real) = (place - middle, corner - centre)
            straight = straight + Vector(real.dot(seen), real.cross(seen))
            mirrored =
                mirrored
                + Vector(real.x * seen.x - real.y * seen.y, real.x * seen.y + real.y * seen.x)
            square += real.dot(real)
        }
        let factor = max(straight.length, mirrored.length) / square
        guard factor > 0, factor.isFinite else { throw MeasuringRefusal(.coincident, .reference) }
        return 1 / factor
    }

    /// The map from pixels to a level plane at distance 1 below the camera.
    ///
    /// The ray of a pixel is r = ((x - cx) / f, -(y - cy) / f, -1), and meets the plane at
    /// r / (g . r), of which two axes of the plane give the place.
    private static func unitMap(_ scene: Scene) throws(MeasuringRefusal) -> PlaneMap {
        guard let gravity = scene.gravity else { throw MeasuringRefusal(.missing, .gravity) }
        guard let down = gravity.direction else { throw MeasuringRefusal(.implausible, .gravity) }
        guard let focal = scene.focal else { throw MeasuringRefusal(.missing, .focal) }
        let (x, y) = (scene.principal.x / focal, scene.principal.y / focal)
        let rays = Matrix3(
            Vector3(1 / focal, 0, -x),
            Vector3(0, -1 / focal, y),
            Vector3(0, 0, -1)
        )
        // Any axis will do that is not along gravity.
        let axis = abs(down.x) < 0.8 ? Vector3(1, 0, 0) : Vector3(0, 1, 0)
        let across = axis - down * axis.dot(down)
        let first = across * (1 / across.length)
        return PlaneMap(Matrix3(first, down.cross(first), down) * rays)
    }
}

/// The four corners of a card, in order around, which tell the table's plane by themselves.
package enum CardCorners: Estimator {
    package static let version = 1

    package static func view(_ scene: Scene) throws(MeasuringRefusal) -> TableView {
        guard case .card(_, _, let thicknessUm) = scene.object else {
            throw MeasuringRefusal(.wrongReference, .object)
        }
        let corners = try scene.points(4...4)
        let places = scene.object.corners(seenAs: corners)
        guard let map = PlaneMap(of: corners, to: places) else {
            throw MeasuringRefusal(.notAQuadrangle, .reference)
        }
        var view = TableView(map: map, centre: Vector.mean(corners))
        if let distance = distance(of: map, scene) {
            let thickness = Double(thicknessUm)
            let fishDistance = distance + thickness - scene.fishHeight
            guard fishDistance > 0 else { throw MeasuringRefusal(.outOfRange, .fishHeight) }
            let toFish = PlaneMap(PlaneMap(scale: fishDistance / distance).matrix * map.matrix)
            view = TableView(map: toFish, centre: view.centre)
            view.cameraHeight = distance + thickness
        }
        view.isLevelled = true
        return view
    }

    /// The distance of the camera from the card's plane, if its focal length is known.
    ///
    /// In the camera's axes, the map from the card to the photo has for columns, up to one factor,
    /// the card's two axes of length 1 and the way to its corner.
    private static func distance(of map: PlaneMap, _ scene: Scene) -> Double? {
        guard let focal = scene.focal else { return nil }
        let (x, y) = (scene.principal.x / focal, scene.principal.y / focal)
        let toRays = Matrix3(
            Vector3(1 / focal, 0, -x),
            Vector3(0, 1 / focal, -y),
            Vector3(0, 0, 1)
        )
        let (first, second, corner) = (toRays * map.matrix.adjugate).transposed.rows
        let normal = first.cross(second)
        let factor = (first.length * second.length).squareRoot()
        let distance = abs(corner.dot(normal)) / (normal.length * factor)
        return distance.isFinite && distance > 0 ? distance : nil
    }
}

extension ReferenceObject {
    /// The corners of a card in the order of those seen, of which any may be the first.
    ///
    /// The sides that are longer where it is seen are those of its length.
    fileprivate func corners(seenAs seen: [Vector]) -> [Vector] {
        let first = (seen[1] - seen[0]).length + (seen[3] - seen[2]).length
        let second = (seen[2] - seen[1]).length + (seen[0] - seen[3]).length
        let (width, height) = first >= second ? (longestUm, acrossUm) : (acrossUm, longestUm)
        return [Vector(0, 0), Vector(width, 0), Vector(width, height), Vector(0, height)]
    }
}
