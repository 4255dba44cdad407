package import DiarioCore
package import DiarioFish

/// One user who marks one photo.
package struct SimulatedMarks {
    /// The marks that a user puts around a rim, for the methods that take any number.
    package static let rimCount = 10

    private let photo: SimulatedPhoto
    private let user: SimulatedUser
    private let edge: Double
    private var random: SeededRandom

    package init(photo: SimulatedPhoto, user: SimulatedUser, random: SeededRandom) {
        self.photo = photo
        self.user = user
        self.random = random
        let pixelsPerUm = SimulatedPhoto.focal / (SimulatedPhoto.cameraHeight * 1000)
        edge = Double(user.edgeUm) * pixelsPerUm
    }

    /// What a method is given; nil if a mark is no number.
    package mutating func input(
        _ method: Fish.Method,
        _ object: ReferenceObject,
        heightSigmaUm: Int64
    ) -> MeasuringInput? {
        guard let (fish, axis) = fish(method), let reference = reference(method, object) else {
            return nil
        }
        return MeasuringInput(
            method: method,
            fish: fish,
            axis: axis,
            reference: reference,
            object: object,
            photo: photo.facts,
            fishHeightUm: Int64(SimulatedPhoto.assumedHeight) * 1000,
            errors: ErrorModel(edgeUm: user.edgeUm, heightUm: heightSigmaUm)
        )
    }

    private mutating func fish(_ method: Fish.Method) -> (MarkShape, [MarkPoint]?)? {
        let (snout, tail) = (photo.snout, photo.tail)
        switch method {
        case .pins2, .circle3:
            // The second pin is beside the line: on a lobe of the tail, for example.
            let angle = Double(user.offAxisMdeg) * random.normal() * Trigonometry.pi / 180_000
            let (sine, cosine) = Trigonometry.sineAndCosine(angle)
            let beside = tail + (tail - snout).turned * (sine / cosine)
            guard let points = marked([fishPoint(snout), fishPoint(beside)]) else { return nil }
            return (.points(points), nil)
        case .views:
            let (first, last) = (fishPoint(snout), fishPoint(tail))
            let top = min(first.y, last.y) + edge * random.normal()
            let bottom = max(first.y, last.y) + edge * random.normal()
            // As wide as a fish is high, which does not matter as long as it is less than long.
            let width = (bottom - top) / 5
            guard let frame = frame((first.x + last.x - width) / 2, top, width, bottom - top)
            else { return nil }
            return (.frame(frame), nil)
        case .ellipse, .conic, .rectified, .card:
            // On a lobe as well, but the body's line is marked and corrects it.
            let lobe = tail + (tail - snout).turned * (0.05 * random.normal())
            let line = [snout + (tail - snout) * 0.2, snout + (tail - snout) * 0.8]
            guard let points = marked([fishPoint(snout), fishPoint(lobe)]),
                let axis = marked(line.map { fishPoint($0) })
            else { return nil }
            return (.points(points), axis)
        }
    }

    private mutating func reference(
        _ method: Fish.Method,
        _ object: ReferenceObject
    ) -> MarkShape? {
        let thickness = object.thickness / 1000
        if case .card(let widthUm, let heightUm, _) = object {
            let half = Vector(Double(widthUm), Double(heightUm)) * 0.0005
            let corners = [half * -1, Vector(half.x, -half.y), half, Vector(-half.x, half.y)]
            return marked(
                corners.map { photo.seen(photo.referenceCentre + $0, height: thickness) }
            ).map { .points($0) }
        }
        let diameter = object.acrossUm / 1000
        func rim(_ turn: Double) -> Vector {
            photo.rim(of: diameter, thickness: thickness, at: turn)
        }
        let whole = 2 * Trigonometry.pi
        switch method {
        case .pins2:
            // A chord at a distance from the middle.
            let away = random.unit() * Double(user.chordMilliMax) / 1000
            let half = Trigonometry.arcCosine(away)
            let turn = random.uniform(0...whole)
            return marked([rim(turn - half), rim(turn + half)]).map { .points($0) }
        case .circle3: return marked(uneven(3).map(rim)).map { .points($0) }
        case .conic, .rectified:
            return marked(uneven(Self.rimCount).map(rim)).map { .points($0) }
        case .card: return nil
        case .views, .ellipse:
            guard let seen = Ellipse(fitting: (0..<12).map { rim(whole * Double($0) / 12) }) else {
                return nil
            }
            return method == .views ? box(seen) : oval(seen)
        }
    }

    /// The upright ellipse that touches the four outermost points.
    private mutating func box(_ seen: Ellipse) -> MarkShape? {
        let (along, across) = (
            seen.direction * (seen.width / 2), seen.direction.turned * (seen.height / 2)
        )
        let half = Vector(
            (along.x * along.x + across.x * across.x).squareRoot(),
            (along.y * along.y + across.y * across.y).squareRoot()
        )
        let left = seen.centre.x - half.x + edge * random.normal()
        let right = seen.centre.x + half.x + edge * random.normal()
        let top = seen.centre.y - half.y + edge * random.normal()
        let bottom = seen.centre.y + half.y + edge * random.normal()
        return frame(left, top, right - left, bottom - top).map { .frame($0) }
    }

    private mutating func oval(_ seen: Ellipse) -> MarkShape? {
        let edges = edge * 2.0.squareRoot()
        let angle = Trigonometry.arcTangent(y: seen.direction.y, x: seen.direction.x)
        guard let centre = MarkPoint(seen.centre),
            let width = ((seen.width + edges * random.normal()) * 1000).nearestInteger,
            let height = ((seen.height + edges * random.normal()) * 1000).nearestInteger,
            let mdeg = (angle * 180_000 / Trigonometry.pi).nearestInteger
        else { return nil }
        return .ellipse(
            MarkEllipse(
                xMpx: centre.xMpx,
                yMpx: centre.yMpx,
                widthMpx: width,
                heightMpx: height,
                angleMdeg: mdeg
            )
        )
    }

    /// Angles that divide a rim, each off by some part.
    private mutating func uneven(_ count: Int) -> [Double] {
        let start = random.uniform(0...2 * Trigonometry.pi)
        let off = Double(user.unevenMdegMax) * Trigonometry.pi / 180_000
        return (0..<count).map { index in
            // Ten marks are closer to each other than three.
            let share = off * min(1, 6 / Double(count))
            let even = 2 * Trigonometry.pi * Double(index) / Double(count)
            return start + even + random.uniform(-share...share)
        }
    }

    private func fishPoint(_ place: Vector) -> Vector {
        photo.seen(place, height: photo.fishHeight)
    }

    /// The marks that the user puts where these points are.
    private mutating func marked(_ points: [Vector]) -> [MarkPoint]? {
        var marks: [MarkPoint] = []
        for point in points {
            let off = Vector(edge * random.normal(), edge * random.normal())
            guard let mark = MarkPoint(point + off) else { return nil }
            marks.append(mark)
        }
        return marks
    }

    private func frame(
        _ x: Double,
        _ y: Double,
        _ width: Double,
        _ height: Double
    ) -> MarkFrame? {
        guard let corner = MarkPoint(Vector(x, y)), let size = MarkPoint(Vector(width, height))
        else { return nil }
        return MarkFrame(
            xMpx: corner.xMpx,
            yMpx: corner.yMpx,
            widthMpx: size.xMpx,
            heightMpx: size.yMpx
        )
    }
}
