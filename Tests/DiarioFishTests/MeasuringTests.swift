import DiarioCore
import DiarioFish
import DiarioFishLab
import Testing

@Suite struct MeasuringTests {
    // MARK: Golden values

    @Test func twoPinsGiveTheProportion() throws {
        let coin = try marks([(200, 1000), (303, 1000)])
        let short = try MeasuringSample.measure(
            .pins2,
            fish: marks([(500, 500), (952, 500)]),
            reference: coin
        )
        #expect(short.lengthUm == 113_000)
        #expect(short.scaleNmPerPx == 250_000)
        #expect(short.algorithmVersion == 1)
        #expect(try short.start == mark(500, 500))
        #expect(try short.end == mark(952, 500))
        let long = try MeasuringSample.measure(
            .pins2,
            fish: marks([(500, 500), (500, 1560)]),
            reference: coin
        )
        #expect(long.lengthUm == 265_000)
    }

    @Test func threePinsGiveTheCirclesWholeDiameter() throws {
        let coin = try marks([(1110, 1050), (1050, 1110), (990, 1050)])
        let fish = try marks([(500, 500), (1500, 500)])
        let found = try MeasuringSample.measure(.circle3, fish: fish, reference: coin)
        // 120 pixels, not the 60 of the thesis's formula.
        #expect(found.lengthUm == 214_583)
    }

    @Test(arguments: [
        (0.0, 1000.0, 234_091), (1000, 0, 214_583), (707.106_781, 707.106_781, 224_549),
    ])
    func theEllipseMetricTurnsTheCoinIntoACircle(dx: Double, dy: Double, lengthUm: Int64) throws {
        let coin = MarkShape.ellipse(
            MarkEllipse(
                xMpx: 2_000_000,
                yMpx: 1_500_000,
                widthMpx: 120_000,
                heightMpx: 110_000,
                angleMdeg: 0
            )
        )
        let fish = try marks([(1000, 1000), (1000 + dx, 1000 + dy)])
        #expect(
            try MeasuringSample.measure(.ellipse, fish: fish, reference: coin).lengthUm == lengthUm
        )
        #expect(
            try MeasuringSample.measure(.views, fish: fish, reference: coin).lengthUm == 214_583
        )
    }

    @Test func gravityRectifiesTheExample() throws {
        let (fish, rim) = (try marks(MeasuringSample.fish), try marks(MeasuringSample.rim))
        let found = try MeasuringSample.measure(.rectified, fish: fish, reference: rim)
        #expect(abs(found.lengthUm - 265_000) < 5)
        #expect(found.cameraHeightUm == 400_001)
        #expect(found.warnings == [])
        let flat = try MeasuringSample.measure(.rectified, fish: fish, reference: rim, height: 2200)
        #expect(abs(flat.lengthUm - 268_920) < 5)
        let conic = try MeasuringSample.measure(.conic, fish: fish, reference: rim)
        #expect(abs(conic.lengthUm - 253_790) < 5)
        let ellipse = try #require(Ellipse(fitting: MeasuringSample.rim.map { Vector($0.0, $0.1) }))
        let frame = MarkFrame(
            xMpx: 2_400_000,
            yMpx: 2_400_000,
            widthMpx: try #require((ellipse.width * 1000).nearestInteger),
            heightMpx: try #require((ellipse.height * 1000).nearestInteger)
        )
        let views = try MeasuringSample.measure(.views, fish: fish, reference: .frame(frame))
        #expect(abs(views.lengthUm - 253_200) < 5)
        #expect(views.warnings == [.coinFarFromMiddle])
    }

    @Test func anEllipseStandsForItsRim() throws {
        let ellipse = try #require(Ellipse(fitting: MeasuringSample.rim.map { Vector($0.0, $0.1) }))
        let angle = Trigonometry.arcTangent(y: ellipse.direction.y, x: ellipse.direction.x)
        let centre = try mark(ellipse.centre.x, ellipse.centre.y)
        let shape = MarkEllipse(
            xMpx: centre.xMpx,
            yMpx: centre.yMpx,
            widthMpx: try #require((ellipse.width * 1000).nearestInteger),
            heightMpx: try #require((ellipse.height * 1000).nearestInteger),
            angleMdeg: try #require((angle * 180_000 / Trigonometry.pi).nearestInteger)
        )
        let found = try MeasuringSample.measure(
            .rectified,
            fish: marks(MeasuringSample.fish),
            reference: .ellipse(shape)
        )
        #expect(abs(found.lengthUm - 265_000) < 100)
    }

    // MARK: Fish

    @Test func aFramesLengthIsThatOfItsLongerSideAlongItsMiddle() throws {
        let coin = try marks([(200, 1000), (303, 1000)])
        let upright = MarkFrame(xMpx: 500_000, yMpx: 100_000, widthMpx: 90_001, heightMpx: 452_000)
        let found = try MeasuringSample.measure(.pins2, fish: .frame(upright), reference: coin)
        #expect(found.lengthUm == 113_000)
        #expect(found.start == MarkPoint(xMpx: 545_001, yMpx: 100_000))
        #expect(found.end == MarkPoint(xMpx: 545_001, yMpx: 552_000))
        let wide = MarkFrame(xMpx: 500_000, yMpx: 100_000, widthMpx: 452_000, heightMpx: 90_000)
        let across = try MeasuringSample.measure(.pins2, fish: .frame(wide), reference: coin)
        #expect(across.lengthUm == 113_000)
        #expect(across.end == MarkPoint(xMpx: 952_000, yMpx: 145_000))
    }

    @Test func aBentFishIsMeasuredAlongItsLine() throws {
        let coin = try marks([(200, 1000), (303, 1000)])
        let bent = try marks([(500, 500), (800, 900), (800, 1400)])
        #expect(
            try MeasuringSample.measure(.pins2, fish: bent, reference: coin).lengthUm == 250_000
        )
    }

    @Test func theTailsFartherLobeCountsAlongTheBody() throws {
        let coin = try marks([(200, 1000), (303, 1000)])
        let toLobe = try marks([(500, 500), (952, 540)])
        let axis = [try mark(520, 500), try mark(700, 500)]
        let projected = try MeasuringSample.measure(
            .pins2,
            fish: toLobe,
            reference: coin,
            axis: axis
        )
        #expect(projected.lengthUm == 113_000)
        #expect(
            try MeasuringSample.measure(.pins2, fish: toLobe, reference: coin).lengthUm == 113_442
        )
    }

    // MARK: Cards

    @Test(arguments: 0..<8) func aCardMayBeMarkedFromAnyCornerAround(first: Int) throws {
        let corners = [(1000.0, 1000.0), (1856, 1000), (1856, 1539.8), (1000, 1539.8)]
        var order = (0..<4).map { corners[(first + $0) % 4] }
        if first >= 4 { order.reverse() }
        let found = try MeasuringSample.measure(
            .card,
            fish: marks([(500, 2000), (1630, 2000)]),
            reference: marks(order),
            object: .card,
            photo: PhotoFacts(widthPx: 4032, heightPx: 3024)
        )
        #expect(found.lengthUm == 113_000)
        #expect(found.warnings == [.focalUnknown])
        #expect(found.cameraHeightUm == nil)
    }

    @Test func withTheFocalLengthACardAllowsForHeight() throws {
        let corners = try marks([(1000, 1000), (1856, 1000), (1856, 1539.8), (1000, 1539.8)])
        let found = try MeasuringSample.measure(
            .card,
            fish: marks([(500, 2000), (1630, 2000)]),
            reference: corners,
            object: .card
        )
        // 3000 pixels at 10 pixels a millimetre: 300 mm above the card, 7.24 mm more than the fish.
        #expect(found.cameraHeightUm == 300_760)
        #expect(found.lengthUm == 110_273)
        #expect(found.warnings == [])
    }

    @Test func gravityTakesACardForAReferenceAsWell() throws {
        let corners = try marks([(1000, 1000), (1000, 1539.8), (1856, 1539.8), (1856, 1000)])
        let found = try MeasuringSample.measure(
            .rectified,
            fish: marks([(500, 2000), (1630, 2000)]),
            reference: corners,
            object: .card,
            photo: PhotoFacts(
                widthPx: 4032,
                heightPx: 3024,
                gravity: Gravity(x: 0, y: 0, z: -1_000_000),
                focalMpx: 3_000_000
            )
        )
        #expect(found.cameraHeightUm == 300_760)
        #expect(found.lengthUm == 110_273)
    }

    // MARK: Errors

    @Test func theErrorOfTwoPinsIsThatOfTheBudget() throws {
        let photo = PhotoFacts(
            widthPx: 4032,
            heightPx: 3024,
            gravity: Gravity(x: 0, y: 0, z: -1_000_000)
        )
        let coin = try marks([(1200, 1000), (1457.5, 1000)])
        for (pixels, sigmaUm) in [(1130.0, 636), (2650.0, 1462)] {
            let fish = try marks([(1000, 1500), (1000 + pixels, 1500)])
            let found = try MeasuringSample.measure(
                .pins2,
                fish: fish,
                reference: coin,
                photo: photo
            )
            #expect(abs(found.markingSigmaUm - Int64(sigmaUm)) <= 3)
            // The height of 8 mm, less the coin's 2.2, is not allowed for.
            let height =
                Double(found.lengthUm) / 400_000 * (5800.0 * 5800 + 3000 * 3000).squareRoot()
            let sigma = (Double(sigmaUm * sigmaUm) + height * height).squareRoot()
            #expect(abs(Double(found.sigmaUm) - sigma) < 10)
        }
    }

    // MARK: Properties

    @Test(arguments: Fish.Method.allCases, UInt64(0)..<40)
    func turningMovingAndEnlargingThePhotoChangesNoLength(
        method: Fish.Method,
        seed: UInt64
    ) throws {
        var random = SeededRandom(seed: seed)
        // Seen from straight above, so that any turn of the photo is possible.
        let angle = random.uniform(-3...3)
        let (sine, cosine) = Trigonometry.sineAndCosine(angle)
        let scale = random.uniform(3...9)
        let shift = Vector(random.uniform(1800...2200), random.uniform(1400...1600))
        func seen(_ x: Double, _ y: Double) throws -> MarkPoint {
            let turned = Vector(cosine * x - sine * y, sine * x + cosine * y)
            return try #require(MarkPoint(turned * scale + shift))
        }
        let rim = try [0.0, 1.1, 2.3, 3.2, 4.1, 5.3].map {
            try seen(12.875 * Trigonometry.cosine($0), 60 + 12.875 * Trigonometry.sine($0))
        }
        let corners = try [(0.0, 40.0), (85.6, 40), (85.6, 93.98), (0, 93.98)].map {
            try seen($0.0 - 40, $0.1)
        }
        let middle = try seen(0, 60)
        let diameterMpx = try #require((25_750 * scale).nearestInteger)
        let focalMpx = try #require((400_000 * scale).nearestInteger)
        let ellipse = MarkEllipse(
            xMpx: middle.xMpx,
            yMpx: middle.yMpx,
            widthMpx: diameterMpx,
            heightMpx: diameterMpx,
            angleMdeg: 30_000
        )
        let reference: MarkShape =
            switch method {
            case .pins2: .points([try seen(-12.875, 60), try seen(12.875, 60)])
            case .circle3: .points(Array(rim.prefix(3)))
            case .conic, .rectified: .points(rim)
            case .views, .ellipse: .ellipse(ellipse)
            case .card: .points(corners)
            }
        let found = try MeasuringSample.measure(
            method,
            fish: .points([try seen(-56.5, 0), try seen(56.5, 0)]),
            reference: reference,
            object: method == .card ? .card : .eur2,
            photo: PhotoFacts(
                widthPx: 4032,
                heightPx: 3024,
                gravity: Gravity(x: 0, y: 0, z: -1_000_000),
                focalMpx: focalMpx
            ),
            height: method == .card ? 760 : 2200
        )
        #expect(abs(found.lengthUm - 113_000) <= 8)
        #expect(found.sigmaUm > 0)
    }
}
