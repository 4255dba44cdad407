import DiarioCore
import DiarioFish
import DiarioFishLab
import Testing

@Suite struct GeometryTests {
    // MARK: Circles

    @Test func threePointsGiveTheEquationOfTheirCircle() throws {
        let matrix = Matrix3(Vector3(110, 50, 1), Vector3(50, 110, 1), Vector3(-10, 50, 1))
        let right = Vector3(-14_600, -14_600, -2600)
        let equation = try #require(matrix.solve(right))
        #expect((equation - Vector3(-100, -100, 1400)).length < 1e-11)
        let circle = try #require(Circle(through: [v(110, 50), v(50, 110), v(-10, 50)]))
        #expect(abs(circle.centre.x - 50) < 1e-12)
        #expect(abs(circle.centre.y - 50) < 1e-12)
        #expect(abs(circle.diameter - 120) < 1e-12)
        let small = try #require(Circle(through: [v(2, 0), v(0, 2), v(0, 0)]))
        #expect(abs(small.diameter - 2 * 2.0.squareRoot()) < 1e-14)
        #expect(abs(small.centre.x - 1) < 1e-15)
    }

    @Test func pointsOnALineAndPointsThatCoincideHaveNoCircle() {
        #expect(Circle(through: [v(0, 0), v(1, 1), v(2, 2)]) == nil)
        #expect(Circle(through: [v(0, 0), v(0, 0), v(2, 2)]) == nil)
        #expect(Circle(through: [v(3, 3), v(3, 3), v(3, 3)]) == nil)
        #expect(Circle(through: [v(0, 0), v(10_000, 0.5), v(20_000, 0)]) == nil)
        #expect(Circle(through: [v(0, 0), v(1, 1)]) == nil)
        #expect(Circle(through: [v(.nan, 0), v(1, 1), v(2, 3)]) == nil)
        #expect(Circle(through: [v(.infinity, 0), v(1, 1), v(2, 3)]) == nil)
        #expect(Circle(through: (0..<9).map { v(Double($0), Double($0) * 2) }) == nil)
    }

    @Test(arguments: UInt64(0)..<50) func aCircleIsFoundFromAnyOfItsPoints(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let centre = v(random.uniform(0...20_000), random.uniform(0...20_000))
        let radius = random.uniform(1...3000)
        let points = (0..<(3 + random.below(10))).map { index in
            let angle = Double(index) + random.uniform(0...0.5)
            return centre + v(Trigonometry.cosine(angle), Trigonometry.sine(angle)) * radius
        }
        let circle = try #require(Circle(through: points))
        #expect((circle.centre - centre).length < radius * 1e-9)
        #expect(abs(circle.diameter - 2 * radius) < radius * 1e-9)
    }

    // MARK: Ellipses

    @Test(arguments: UInt64(0)..<200) func anEllipseIsFoundFromAnyOfItsPoints(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let ellipse = randomEllipse(&random)
        let points = ellipse.rim(count: 5 + random.below(20))
        let found = try #require(Ellipse(fitting: points))
        #expect((found.centre - ellipse.centre).length < ellipse.width * 1e-7)
        #expect(abs(found.width - ellipse.width) < ellipse.width * 1e-7)
        #expect(abs(found.height - ellipse.height) < ellipse.width * 1e-7)
        let angle = abs(found.direction.cross(ellipse.direction))
        #expect(angle * (1 - ellipse.axisRatio) < 1e-7)
    }

    @Test(arguments: UInt64(0)..<50) func marksOffTheRimGiveAnEllipseNearby(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let ellipse = Ellipse(
            centre: v(1000, 2000),
            width: 200,
            height: 190,
            direction: v(0.6, 0.8)
        )
        let points = ellipse.rim(count: 12).map { $0 + v(random.normal(), random.normal()) }
        let found = try #require(Ellipse(fitting: points))
        #expect((found.centre - ellipse.centre).length < 3)
        #expect(abs(found.width - 200) < 5)
        #expect(abs(found.height - 190) < 5)
    }

    @Test func pointsOfNoEllipseHaveNone() {
        let line = (0..<8).map { v(Double($0), 3 * Double($0)) }
        #expect(Ellipse(fitting: line) == nil)
        #expect(Ellipse(fitting: Array(repeating: v(7, 7), count: 8)) == nil)
        #expect(Ellipse(fitting: [v(0, 0), v(1, 0), v(1, 1), v(0, 1)]) == nil)
        #expect(Ellipse(fitting: line.dropLast() + [v(.nan, 0)]) == nil)
        #expect(Ellipse(fitting: line.dropLast() + [v(0, .infinity)]) == nil)
    }

    @Test func theLongerAxisIsTheWidth() {
        let ellipse = Ellipse(centre: .zero, width: 10, height: 20, direction: v(1, 0))
        #expect(ellipse.width == 20)
        #expect(ellipse.direction == v(0, 1))
        #expect(ellipse.axisRatio == 0.5)
    }

    @Test(arguments: UInt64(0)..<50) func turningAndMovingAFitChangesNothingElse(
        seed: UInt64
    ) throws {
        var random = SeededRandom(seed: seed)
        let points = randomEllipse(&random).rim(count: 9).map {
            $0 + v(random.normal(), random.normal()) * 0.1
        }
        let (sine, cosine) = Trigonometry.sineAndCosine(random.uniform(-3...3))
        let (shift, scale) = (v(random.uniform(-900...900), 50), random.uniform(0.1...10))
        func moved(_ point: Vector) -> Vector {
            v(cosine * point.x - sine * point.y, sine * point.x + cosine * point.y) * scale + shift
        }
        let before = try #require(Ellipse(fitting: points))
        let after = try #require(Ellipse(fitting: points.map(moved)))
        #expect((after.centre - moved(before.centre)).length < 1e-6 * after.width)
        #expect(abs(after.width / before.width / scale - 1) < 1e-6)
        #expect(abs(after.height / before.height / scale - 1) < 1e-6)
    }

    // MARK: Maps

    @Test(arguments: UInt64(0)..<50) func fourCornersDetermineTheMap(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let card = [v(0, 0), v(85.6, 0), v(85.6, 53.98), v(0, 53.98)]
        let truth = PlaneMap(
            Matrix3(
                Vector3(random.uniform(5...9), random.uniform(-2...2), random.uniform(0...2000)),
                Vector3(random.uniform(-2...2), random.uniform(5...9), random.uniform(0...2000)),
                Vector3(random.uniform(-1e-3...1e-3), random.uniform(-1e-3...1e-3), 1)
            )
        )
        let corners = try card.map { try #require(truth.place(of: $0)) }
        let map = try #require(PlaneMap(of: corners, to: card))
        let point = v(random.uniform(-100...200), random.uniform(-100...200))
        let seen = try #require(truth.place(of: point))
        let place = try #require(map.place(of: seen))
        #expect((place - point).length < 1e-8)
    }

    @Test func cornersThatAreNoQuadrangleHaveNoMap() {
        let card = [v(0, 0), v(85.6, 0), v(85.6, 53.98), v(0, 53.98)]
        let crossed = [v(0, 0), v(80, 50), v(80, 0), v(0, 50)]
        let dented = [v(0, 0), v(80, 0), v(20, 10), v(0, 50)]
        let flat = [v(0, 0), v(40, 0), v(80, 0), v(0, 50)]
        let point = Array(repeating: v(5, 5), count: 4)
        for corners in [crossed, dented, flat, point, Array(card.dropLast()), []] {
            #expect(PlaneMap(of: corners, to: card) == nil)
        }
        #expect(PlaneMap(of: [v(.nan, 0)] + card.dropFirst(), to: card) == nil)
    }

    @Test func nothingIsPlacedBeyondTheHorizon() {
        let map = PlaneMap(Matrix3(Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, -1, 100)))
        #expect(map.place(of: v(0, 99)) != nil)
        #expect(map.place(of: v(0, 100)) == nil)
        #expect(map.place(of: v(0, 101)) == nil)
        #expect(map.place(of: v(.nan, 0)) == nil)
    }

    private func v(_ x: Double, _ y: Double) -> Vector { Vector(x, y) }

    private func randomEllipse(_ random: inout SeededRandom) -> Ellipse {
        let (sine, cosine) = Trigonometry.sineAndCosine(random.uniform(-3...3))
        let width = random.uniform(20...4000)
        return Ellipse(
            centre: v(random.uniform(0...20_000), random.uniform(0...20_000)),
            width: width,
            height: width * random.uniform(0.3...1),
            direction: v(cosine, sine)
        )
    }
}
