// The error model, with L the length, and each part independent of the others:
//
//   marks        each coordinate of each mark is off by the edge error on its own. What that does
//                to L is tried out, one coordinate after the other, so every method has its own.
//                For two pins it is L sqrt(2 (e/D)^2 + 2 (e/L)^2), with e the edge error.
//   height       the fish's line is higher or lower than assumed: L dz / Hf. Methods that do not
//                allow for the height at all count all of it, z - t, beside its error.
//   perspective  methods that do not level the photo: at tilt T, a coin c away from the middle of
//                the fish is nearer or farther by c sin(T) cos(b), b being its unknown bearing; and
//                what is along the tilt is shorter by 1 - cos(T).

extension MeasuringInput {
    /// The length of the fish.
    package func measure() throws(MeasuringRefusal) -> Measurement {
        let scene = try Scene(self)
        let view = try view(scene)
        let length = try length(scene, scene.fish, view)
        let pixels = Vector.length(along: scene.fish)
        guard let um = length.nearestInteger, let scale = (length / pixels * 1000).nearestInteger
        else { throw MeasuringRefusal(.notFinite, .length) }
        // A size that is just enough is not to fall short of it by a rounding.
        let across = scene.object.acrossUm / view.unit + 1e-9
        guard across >= 20 else { throw MeasuringRefusal(.tooSmall, .reference) }
        guard Measurement.lengthRange ~= um else { throw MeasuringRefusal(.outOfRange, .length) }
        guard let start = MarkPoint(scene.fish[0]), let end = MarkPoint(scene.fish.last ?? .zero)
        else { throw MeasuringRefusal(.outsideImage, .fish) }
        let marking = markingVariance(scene, view, length)
        let others = heightError(scene, view, length) + perspectiveError(scene, view, length)
        return Measurement(
            method: method,
            algorithmVersion: version,
            lengthUm: um,
            sigmaUm: (marking + others).squareRoot().nearestInteger ?? um,
            markingSigmaUm: marking.squareRoot().nearestInteger ?? um,
            scaleNmPerPx: max(1, scale),
            start: start,
            end: end,
            cameraHeightUm: view.cameraHeight?.nearestInteger,
            warnings: warnings(scene, view, length: length, across: across)
        )
    }

    /// The version of the method's arithmetic.
    package var version: Int {
        switch method {
        case .pins2: TwoPins.version
        case .circle3: ThreePointCircle.version
        case .views: PinchedViews.version
        case .ellipse: EllipseMetric.version
        case .conic: RimConic.version
        case .rectified: GravityRectification.version
        case .card: CardCorners.version
        }
    }

    private func view(_ scene: Scene) throws(MeasuringRefusal) -> TableView {
        switch method {
        case .pins2: try TwoPins.view(scene)
        case .circle3: try ThreePointCircle.view(scene)
        case .views: try PinchedViews.view(scene)
        case .ellipse: try EllipseMetric.view(scene)
        case .conic: try RimConic.view(scene)
        case .rectified: try GravityRectification.view(scene)
        case .card: try CardCorners.view(scene)
        }
    }

    /// The length on the table of a line in the photo; between two points, along the body's axis.
    private func length(
        _ scene: Scene,
        _ line: [Vector],
        _ view: TableView
    ) throws(MeasuringRefusal) -> Double {
        var places: [Vector] = []
        for point in line {
            guard let place = view.map.place(of: point) else {
                throw MeasuringRefusal(.beyondHorizon, .fish)
            }
            places.append(place)
        }
        guard let axis = scene.axis, line.count == 2 else { return Vector.length(along: places) }
        guard let further = view.map.place(of: line[0] + axis),
            let direction = (further - places[0]).direction
        else { throw MeasuringRefusal(.beyondHorizon, .fish) }
        return abs((places[1] - places[0]).dot(direction))
    }

    // MARK: Errors

    private func markingVariance(_ scene: Scene, _ view: TableView, _ length: Double) -> Double {
        let step = max(Double(errors.edgeUm) / view.unit, Double(errors.edgeMinMpx) / 1000)
        var variance = 0.0
        func add(_ other: Double?) {
            // Marks that a small error makes useless say nothing about the length.
            let change = (other ?? 0) - length
            variance += change * change
        }
        for line in scene.fish.variations(by: step) { add(try? self.length(scene, line, view)) }
        for marks in scene.reference.variations(by: step) {
            var other = scene
            other.reference = marks
            add((try? self.view(other)).flatMap { try? self.length(scene, scene.fish, $0) })
        }
        return variance
    }

    private func cameraDistance(_ scene: Scene, _ view: TableView) -> Double {
        // Without tilt, the focal length is to the distance as a pixel is to its size on the table.
        view.cameraHeight ?? scene.focal.map { $0 * view.unit } ?? Double(errors.cameraHeightUm)
    }

    private func heightError(_ scene: Scene, _ view: TableView, _ length: Double) -> Double {
        let ignored = view.cameraHeight == nil ? scene.fishHeight - scene.object.thickness : 0
        let error = Double(errors.heightUm)
        let part = length / cameraDistance(scene, view)
        return part * part * (ignored * ignored + error * error)
    }

    private func perspectiveError(_ scene: Scene, _ view: TableView, _ length: Double) -> Double {
        guard !view.isLevelled else { return 0 }
        let tilt = Double(scene.gravity?.tiltMdeg ?? errors.tiltMdeg) * Trigonometry.pi / 180_000
        let (sine, cosine) = Trigonometry.sineAndCosine(tilt)
        let away = (Vector.mean(scene.fish) - view.centre).length * view.unit
        let gradient = away * sine / cameraDistance(scene, view)
        let shortening = 1 - cosine
        return length * length * (gradient * gradient / 2 + shortening * shortening)
    }

    // MARK: Warnings

    private func warnings(
        _ scene: Scene,
        _ view: TableView,
        length: Double,
        across: Double
    ) -> [MeasuringWarning] {
        var warnings: [MeasuringWarning] = []
        func warn(_ warning: MeasuringWarning, if applies: Bool) {
            if applies { warnings.append(warning) }
        }
        let way = scene.fish[scene.fish.count - 1] - scene.fish[0]
        let middle = Vector.mean([scene.fish[0], scene.fish[0] + way])
        let along = (view.centre - middle).dot(way) / max(way.dot(way), 1e-9)
        let gravityTilt = scene.gravity?.tiltMdeg
        warn(.referenceSmall, if: across < 60)
        warn(.coinOblique, if: (view.axisRatio ?? 1) < 0.97)
        warn(.coinFarFromMiddle, if: !view.isLevelled && abs(along) > 0.25)
        warn(.methodsApart, if: !(0.97...1.03 ~= (view.agreement ?? 1)))
        warn(
            .markAtEdge,
            if: (scene.fish + scene.reference.extremes).contains(where: scene.isAtEdge)
        )
        warn(.referenceLongerThanFish, if: scene.object.longestUm > length)
        warn(.tiltUnknown, if: method != .card && gravityTilt == nil)
        warn(.tiltOut, if: (gravityTilt ?? 0) > 7693)
        warn(.focalUnknown, if: method == .card && scene.focal == nil)
        return warnings
    }
}

extension TableView {
    /// The micrometres of a pixel at the reference, in the mean of all directions.
    fileprivate var unit: Double {
        guard let place = map.place(of: centre), let right = map.place(of: centre + Vector(1, 0)),
            let down = map.place(of: centre + Vector(0, 1))
        else { return .nan }
        return abs((right - place).cross(down - place)).squareRoot()
    }
}
