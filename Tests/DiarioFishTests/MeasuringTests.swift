import DiarioCore
import DiarioFish
import Testing

/// A point in pixels.
private func mark(_ x: Double, _ y: Double) throws -> MarkPoint {
    try #require(MarkPoint(Vector(x, y)))
}

private func marks(_ points: [(Double, Double)]) throws -> MarkShape {
    .points(try points.map { try mark($0.0, $0.1) })
}

@Suite struct MeasuringTests {
    static let photo = PhotoFacts(
        widthPx: 4032,
        heightPx: 3024,
        gravity: Gravity(x: 0, y: -87_156, z: -996_195),
        focalMpx: 3_000_000
    )
    static let rim = [
        (2657.14, 2531.62), (2586.74, 2434.72), (2476.17, 2471.67), (2477.74, 2591.78),
        (2589.89, 2629.07),
    ]
    static let fish = [(2016.00, 2543.08), (2016.00, 529.31)]

    private func measure(
        _ method: MeasuringMethod,
        fish: MarkShape,
        reference: MarkShape,
        object: ReferenceObject = .eur2,
        photo: PhotoFacts = Self.photo,
        height: Int64 = 8000,
        axis: [MarkPoint]? = nil
    ) throws -> Measurement {
        try MeasuringInput(
            method: method,
            fish: fish,
            axis: axis,
            reference: reference,
            object: object,
            photo: photo,
            fishHeightUm: height
        ).measure()
    }

    private func refusal(
        _ method: MeasuringMethod,
        fish: MarkShape,
        reference: MarkShape,
        object: ReferenceObject = .eur2,
        photo: PhotoFacts = Self.photo,
        height: Int64 = 8000
    ) throws -> MeasuringRefusal {
        try #require(throws: MeasuringRefusal.self) {
            try measure(
                method,
                fish: fish,
                reference: reference,
                object: object,
                photo: photo,
                height: height
            )
        }
    }

    // MARK: Golden values

    @Test func twoPinsGiveTheProportion() throws {
        let coin = try marks([(200, 1000), (303, 1000)])
        let short = try measure(.pins2, fish: marks([(500, 500), (952, 500)]), reference: coin)
        #expect(short.lengthUm == 113_000)
        #expect(short.scaleNmPerPx == 250_000)
        #expect(short.algorithmVersion == 1)
        #expect(try short.start == mark(500, 500))
        #expect(try short.end == mark(952, 500))
        let long = try measure(.pins2, fish: marks([(500, 500), (500, 1560)]), reference: coin)
        #expect(long.lengthUm == 265_000)
    }

    @Test func threePinsGiveTheCirclesWholeDiameter() throws {
        let coin = try marks([(1110, 1050), (1050, 1110), (990, 1050)])
        let fish = try marks([(500, 500), (1500, 500)])
        let found = try measure(.circle3, fish: fish, reference: coin)
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
        #expect(try measure(.ellipse, fish: fish, reference: coin).lengthUm == lengthUm)
        #expect(try measure(.views, fish: fish, reference: coin).lengthUm == 214_583)
    }

    @Test func gravityRectifiesTheExample() throws {
        let (fish, rim) = (try marks(Self.fish), try marks(Self.rim))
        let found = try measure(.rectified, fish: fish, reference: rim)
        #expect(abs(found.lengthUm - 265_000) < 5)
        #expect(found.cameraHeightUm == 400_001)
        #expect(found.warnings == [])
        let flat = try measure(.rectified, fish: fish, reference: rim, height: 2200)
        #expect(abs(flat.lengthUm - 268_920) < 5)
        let conic = try measure(.conic, fish: fish, reference: rim)
        #expect(abs(conic.lengthUm - 253_790) < 5)
        let ellipse = try #require(Ellipse(fitting: Self.rim.map { Vector($0.0, $0.1) }))
        let frame = MarkFrame(
            xMpx: 2_400_000,
            yMpx: 2_400_000,
            widthMpx: try #require((ellipse.width * 1000).nearestInteger),
            heightMpx: try #require((ellipse.height * 1000).nearestInteger)
        )
        let views = try measure(.views, fish: fish, reference: .frame(frame))
        #expect(abs(views.lengthUm - 253_200) < 5)
        #expect(views.warnings == [.coinFarFromMiddle])
    }

    @Test func anEllipseStandsForItsRim() throws {
        let ellipse = try #require(Ellipse(fitting: Self.rim.map { Vector($0.0, $0.1) }))
        let angle = Trigonometry.arcTangent(y: ellipse.direction.y, x: ellipse.direction.x)
        let centre = try mark(ellipse.centre.x, ellipse.centre.y)
        let shape = MarkEllipse(
            xMpx: centre.xMpx,
            yMpx: centre.yMpx,
            widthMpx: try #require((ellipse.width * 1000).nearestInteger),
            heightMpx: try #require((ellipse.height * 1000).nearestInteger),
            angleMdeg: try #require((angle * 180_000 / Trigonometry.pi).nearestInteger)
        )
        let found = try measure(.rectified, fish: marks(Self.fish), reference: .ellipse(shape))
        #expect(abs(found.lengthUm - 265_000) < 100)
    }

    // MARK: Fish

    @Test func aFramesLengthIsThatOfItsLongerSideAlongItsMiddle() throws {
        let coin = try marks([(200, 1000), (303, 1000)])
        let upright = MarkFrame(xMpx: 500_000, yMpx: 100_000, widthMpx: 90_001, heightMpx: 452_000)
        let found = try measure(.pins2, fish: .frame(upright), reference: coin)
        #expect(found.lengthUm == 113_000)
        #expect(found.start == MarkPoint(xMpx: 545_001, yMpx: 100_000))
        #expect(found.end == MarkPoint(xMpx: 545_001, yMpx: 552_000))
        let wide = MarkFrame(xMpx: 500_000, yMpx: 100_000, widthMpx: 452_000, heightMpx: 90_000)
        let across = try measure(.pins2, fish: .frame(wide), reference: coin)
        #expect(across.lengthUm == 113_000)
        #expect(across.end == MarkPoint(xMpx: 952_000, yMpx: 145_000))
    }

    @Test func aBentFishIsMeasuredAlongItsLine() throws {
        let coin = try marks([(200, 1000), (303, 1000)])
        let bent = try marks([(500, 500), (800, 900), (800, 1400)])
        #expect(try measure(.pins2, fish: bent, reference: coin).lengthUm == 250_000)
    }

    @Test func theTailsFartherLobeCountsAlongTheBody() throws {
        let coin = try marks([(200, 1000), (303, 1000)])
        let toLobe = try marks([(500, 500), (952, 540)])
        let axis = [try mark(520, 500), try mark(700, 500)]
        let projected = try measure(.pins2, fish: toLobe, reference: coin, axis: axis)
        #expect(projected.lengthUm == 113_000)
        #expect(try measure(.pins2, fish: toLobe, reference: coin).lengthUm == 113_442)
    }

    // MARK: Cards

    @Test(arguments: 0..<8) func aCardMayBeMarkedFromAnyCornerAround(first: Int) throws {
        let corners = [(1000.0, 1000.0), (1856, 1000), (1856, 1539.8), (1000, 1539.8)]
        var order = (0..<4).map { corners[(first + $0) % 4] }
        if first >= 4 { order.reverse() }
        let found = try measure(
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
        let found = try measure(
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
        let found = try measure(
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

    // MARK: Refusals

    @Test func degenerateMarksAreRefused() throws {
        let fish = try marks([(500, 500), (952, 500)])
        let coin = try marks([(200, 1000), (303, 1000)])
        let spot = MarkPoint(xMpx: 500_000, yMpx: 500_000)
        let same = MarkShape.points([spot, spot])
        let line = try marks([(100, 100), (200, 200), (300, 300)])
        let longLine = try marks((1...6).map { (Double($0) * 100, Double($0) * 50) })
        typealias R = MeasuringRefusal
        #expect(try refusal(.pins2, fish: same, reference: coin) == R(.coincident, .fish))
        #expect(try refusal(.pins2, fish: fish, reference: same) == R(.coincident, .reference))
        #expect(try refusal(.circle3, fish: fish, reference: line) == R(.collinear, .reference))
        #expect(try refusal(.conic, fish: fish, reference: longLine) == R(.collinear, .reference))
        #expect(try refusal(.rectified, fish: fish, reference: line) == R(.collinear, .reference))
        #expect(try refusal(.circle3, fish: fish, reference: coin) == R(.pointCount, .reference))
        #expect(try refusal(.conic, fish: fish, reference: line) == R(.pointCount, .reference))
        #expect(try refusal(.views, fish: fish, reference: coin) == R(.wrongShape, .reference))
        #expect(
            try refusal(.pins2, fish: .points([spot]), reference: coin) == R(.pointCount, .fish)
        )
        #expect(
            try refusal(.card, fish: fish, reference: coin, object: .card)
                == R(.pointCount, .reference)
        )
        #expect(try refusal(.card, fish: fish, reference: coin) == R(.wrongReference, .object))
        #expect(
            try refusal(.pins2, fish: fish, reference: coin, object: .card)
                == R(.wrongReference, .object)
        )
        let dented = try marks([(0, 0), (800, 0), (200, 100), (0, 500)])
        #expect(
            try refusal(.card, fish: fish, reference: dented, object: .card)
                == R(.notAQuadrangle, .reference)
        )
        let branches = try marks([(100, 100), (110, 200), (100, 300), (400, 100), (390, 200)])
        let strange = try? measure(.conic, fish: fish, reference: branches)
        #expect(strange?.lengthUm != 0)
    }

    @Test func aCoinOfFewPixelsIsRefusedAndASmallOneDoubted() throws {
        let fish = try marks([(500, 500), (952, 500)])
        func coin(_ pixels: Double) throws -> MarkShape {
            try marks([(700, 900), (700 + pixels, 900)])
        }
        for pixels in [0.001, 1, 19.999] {
            #expect(
                try refusal(.pins2, fish: fish, reference: coin(pixels))
                    == MeasuringRefusal(.tooSmall, .reference)
            )
        }
        #expect(try measure(.pins2, fish: fish, reference: coin(20)).warnings == [.referenceSmall])
        #expect(try measure(.pins2, fish: fish, reference: coin(60)).warnings == [])
    }

    @Test func lengthsOfNoFishAreRefused() throws {
        let coin = try marks([(200, 1000), (303, 1000)])
        let refused = MeasuringRefusal(.outOfRange, .length)
        #expect(try refusal(.pins2, fish: marks([(5, 5), (8.99, 5)]), reference: coin) == refused)
        let small = try measure(.pins2, fish: marks([(5, 900), (9, 900)]), reference: coin)
        #expect(small.lengthUm == 1000)
        #expect(small.warnings == [.coinFarFromMiddle, .markAtEdge, .referenceLongerThanFish])
        let huge = PhotoFacts(widthPx: 20_000, heightPx: 20_000)
        let tiny = try marks([(9000, 9000), (9020, 9000)])
        let far = try marks([(0, 0), (20_000, 20_000)])
        #expect(try refusal(.pins2, fish: far, reference: tiny, photo: huge) == refused)
        let wide = try marks([(0, 10_000), (3883, 10_000)])
        #expect(try measure(.pins2, fish: wide, reference: tiny, photo: huge).lengthUm == 4_999_363)
    }

    @Test func marksOutsideThePhotoAreRefused() throws {
        let coin = try marks([(200, 1000), (303, 1000)])
        let outside = MeasuringRefusal(.outsideImage, .fish)
        func fish(_ x: Double) throws -> MarkShape { try marks([(500, 500), (x, 500)]) }
        #expect(
            try measure(.pins2, fish: fish(4233.6), reference: coin).warnings.contains(.markAtEdge)
        )
        #expect(try refusal(.pins2, fish: fish(4233.7), reference: coin) == outside)
        #expect(try refusal(.pins2, fish: fish(-201.7), reference: coin) == outside)
        let extreme = MarkPoint(xMpx: .max, yMpx: .min)
        for method in MeasuringMethod.allCases {
            let object: ReferenceObject = method == .card ? .card : .eur2
            let far = MarkShape.points([extreme, MarkPoint(xMpx: .min, yMpx: .max)])
            #expect(try refusal(method, fish: far, reference: coin, object: object) == outside)
            #expect(
                try refusal(method, fish: fish(900), reference: far, object: object)
                    == MeasuringRefusal(.outsideImage, .reference)
            )
        }
        let ellipse = MarkEllipse(
            xMpx: 500_000,
            yMpx: 500_000,
            widthMpx: .max,
            heightMpx: 1,
            angleMdeg: 45_000
        )
        #expect(
            try refusal(.ellipse, fish: fish(900), reference: .ellipse(ellipse))
                == MeasuringRefusal(.outsideImage, .reference)
        )
        let frame = MarkFrame(xMpx: .max, yMpx: .max, widthMpx: .max, heightMpx: .max)
        #expect(try refusal(.views, fish: .frame(frame), reference: coin) == outside)
    }

    @Test func facesOfThePhotoThatAreWrongAreNamed() throws {
        let (fish, rim) = (try marks(Self.fish), try marks(Self.rim))
        func refused(
            _ gravity: Gravity?,
            focalMpx: Int64? = 3_000_000,
            height: Int64 = 8000,
            widthPx: Int = 4032
        ) throws -> MeasuringRefusal {
            try refusal(
                .rectified,
                fish: fish,
                reference: rim,
                photo: PhotoFacts(
                    widthPx: widthPx,
                    heightPx: 3024,
                    gravity: gravity,
                    focalMpx: focalMpx
                ),
                height: height
            )
        }
        let level = Gravity(x: 0, y: 0, z: -1_000_000)
        typealias R = MeasuringRefusal
        #expect(try refused(nil) == R(.missing, .gravity))
        #expect(try refused(level, focalMpx: nil) == R(.missing, .focal))
        #expect(try refused(level, focalMpx: 0) == R(.outOfRange, .focal))
        #expect(try refused(Gravity(x: 0, y: 0, z: 0)) == R(.implausible, .gravity))
        #expect(try refused(Gravity(x: .max, y: .max, z: .max)) == R(.implausible, .gravity))
        // The screen down, the camera sees no table; upright, only what is below the horizon.
        #expect(try refused(Gravity(x: 0, y: 0, z: 1_000_000)) == R(.beyondHorizon, .reference))
        #expect(try refused(Gravity(x: 0, y: -1_000_000, z: 0)) == R(.beyondHorizon, .fish))
        #expect(try refused(level, height: 500_000) == R(.outOfRange, .fishHeight))
        #expect(try refused(level, height: -1) == R(.outOfRange, .fishHeight))
        #expect(try refused(level, widthPx: 0) == R(.outOfRange, .photo))
        #expect(try refused(level, widthPx: 20_001) == R(.outOfRange, .photo))
        let nothing = ReferenceObject.disc(diameterUm: 0, thicknessUm: 0)
        #expect(
            try refusal(.rectified, fish: fish, reference: rim, object: nothing)
                == R(.outOfRange, .object)
        )
    }

    // MARK: Warnings

    @Test func tiltIsDoubtedIfUnknownOrTooMuch() throws {
        let coin = try marks([(200, 1000), (303, 1000)])
        let fish = try marks([(100, 1200), (552, 1200)])
        func warnings(_ gravity: Gravity?) throws -> [MeasuringWarning] {
            let photo = PhotoFacts(widthPx: 4032, heightPx: 3024, gravity: gravity)
            return try measure(.pins2, fish: fish, reference: coin, photo: photo).warnings
        }
        #expect(try warnings(nil) == [.tiltUnknown])
        #expect(try warnings(Gravity(x: 0, y: 0, z: -1_000_000)) == [])
        #expect(try warnings(Gravity(x: 300_000, y: 0, z: -950_000)) == [.tiltOut])
    }

    @Test func marksOnAChordSetCircleAndEllipseApart() throws {
        // Five marks on a coin 200 pixels across, two of them 20 pixels inside of the rim.
        var points = (0..<6).map { index in
            let angle = Double(index) * Trigonometry.pi / 3
            let radius: Double = index % 3 == 0 ? 80 : 100
            return (
                1000 + radius * Trigonometry.cosine(angle),
                1000 + radius * Trigonometry.sine(angle)
            )
        }
        points.append((1000, 1100))
        let found = try measure(
            .conic,
            fish: marks([(700, 1300), (1500, 1300)]),
            reference: marks(points)
        )
        #expect(found.warnings.contains(.methodsApart))
        #expect(found.warnings.contains(.coinOblique))
    }

    @Test func measurementsBeyondTheirErrorsAreApart() throws {
        let (fish, rim) = (try marks(Self.fish), try marks(Self.rim))
        let found = try measure(.rectified, fish: fish, reference: rim)
        #expect(!found.isApart(from: found))
        let coin = try marks([(2657.14, 2531.62), (2586.74, 2434.72)])
        #expect(try found.isApart(from: measure(.pins2, fish: fish, reference: coin)))
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
            let found = try measure(.pins2, fish: fish, reference: coin, photo: photo)
            #expect(abs(found.markingSigmaUm - Int64(sigmaUm)) <= 3)
            // The height of 8 mm, less the coin's 2.2, is not allowed for.
            let height =
                Double(found.lengthUm) / 400_000 * (5800.0 * 5800 + 3000 * 3000).squareRoot()
            let sigma = (Double(sigmaUm * sigmaUm) + height * height).squareRoot()
            #expect(abs(Double(found.sigmaUm) - sigma) < 10)
        }
    }

    // MARK: Properties

    @Test(arguments: MeasuringMethod.allCases, UInt64(0)..<40)
    func turningMovingAndEnlargingThePhotoChangesNoLength(
        method: MeasuringMethod,
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
        let found = try measure(
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

@Suite struct GestureTests {
    private let frame = MarkFrame(xMpx: 100, yMpx: 100, widthMpx: 200, heightMpx: 400).times(1000)

    @Test(
        arguments: [
            (Corner.upLeft, (90, 120), (90, 120, 210, 380)),
            (.upRight, (310, 90), (100, 90, 210, 410)),
            (.downLeft, (110, 520), (110, 100, 190, 420)),
            (.downRight, (290, 480), (100, 100, 190, 380)),
        ] as [(Corner, (Int64, Int64), (Int64, Int64, Int64, Int64))]
    )
    func aCornerIsDraggedAndTheOppositeOneStays(
        corner: Corner,
        to: (Int64, Int64),
        result: (Int64, Int64, Int64, Int64)
    ) throws {
        let moved = try frame.moving(corner, to: MarkPoint(xMpx: to.0 * 1000, yMpx: to.1 * 1000))
        let (x, y, width, height) = result
        #expect(
            moved
                == MarkFrame(xMpx: x, yMpx: y, widthMpx: width, heightMpx: height).times(1000)
        )
    }

    @Test func aCornerNeverCrossesTheOppositeOne() throws {
        let closest = try frame.moving(.upLeft, to: MarkPoint(xMpx: 299_000, yMpx: 499_000))
        #expect(closest.widthMpx == 1000)
        for (x, y): (Int64, Int64) in [(299_001, 100_000), (100_000, 499_001), (400_000, 600_000)] {
            #expect(throws: GestureRefusal.crossing) {
                try frame.moving(.upLeft, to: MarkPoint(xMpx: x, yMpx: y))
            }
        }
        #expect(throws: GestureRefusal.outOfRange) {
            try frame.moving(.downRight, to: MarkPoint(xMpx: .max, yMpx: 0))
        }
    }

    @Test func aNudgeMovesOneSide() throws {
        let step = MarkFrame.nudgeMpx
        let results: [(Side, MarkFrame)] = [
            (.up, MarkFrame(xMpx: 100_000, yMpx: 99_500, widthMpx: 200_000, heightMpx: 400_500)),
            (.down, MarkFrame(xMpx: 100_000, yMpx: 100_000, widthMpx: 200_000, heightMpx: 400_500)),
            (.left, MarkFrame(xMpx: 99_500, yMpx: 100_000, widthMpx: 200_500, heightMpx: 400_000)),
            (
                .right,
                MarkFrame(xMpx: 100_000, yMpx: 100_000, widthMpx: 200_500, heightMpx: 400_000)
            ),
        ]
        for (side, result) in results {
            #expect(try frame.nudging(side, byMpx: step) == result)
            #expect(try result.nudging(side, byMpx: -step) == frame)
        }
        #expect(throws: GestureRefusal.empty) { try frame.nudging(.left, byMpx: -200_000) }
        #expect(try frame.nudging(.left, byMpx: -199_999).widthMpx == 1)
        #expect(throws: GestureRefusal.outOfRange) { try frame.nudging(.up, byMpx: .min) }
    }

    @Test func aNudgedEllipseKeepsItsOppositeEnd() throws {
        let ellipse = MarkEllipse(
            xMpx: 10_000,
            yMpx: 20_000,
            widthMpx: 6000,
            heightMpx: 4000,
            angleMdeg: 0
        )
        let right = try ellipse.nudging(.right, byMpx: 500)
        #expect((right.xMpx, right.yMpx, right.widthMpx) == (10_250, 20_000, 6500))
        let up = try ellipse.nudging(.up, byMpx: 500)
        #expect((up.xMpx, up.yMpx, up.heightMpx) == (10_000, 19_750, 4500))
        let turned = MarkEllipse(
            xMpx: 0,
            yMpx: 0,
            widthMpx: 6000,
            heightMpx: 4000,
            angleMdeg: 90_000
        )
        #expect(try turned.nudging(.left, byMpx: 1000).yMpx == -500)
        #expect(throws: GestureRefusal.empty) { try ellipse.nudging(.down, byMpx: -4000) }
        #expect(throws: GestureRefusal.outOfRange) { try ellipse.nudging(.down, byMpx: .max) }
    }
}

extension MarkFrame {
    fileprivate func times(_ factor: Int64) -> MarkFrame {
        MarkFrame(
            xMpx: xMpx * factor,
            yMpx: yMpx * factor,
            widthMpx: widthMpx * factor,
            heightMpx: heightMpx * factor
        )
    }
}
