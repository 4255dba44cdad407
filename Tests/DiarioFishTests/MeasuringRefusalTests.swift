import DiarioFish
import Testing

@Suite struct MeasuringRefusalTests {
    // MARK: Refusals

    @Test func degenerateMarksAreRefused() throws {
        let fish = try marks([(500, 500), (952, 500)])
        let coin = try marks([(200, 1000), (303, 1000)])
        let spot = MarkPoint(xMpx: 500_000, yMpx: 500_000)
        let same = MarkShape.points([spot, spot])
        let line = try marks([(100, 100), (200, 200), (300, 300)])
        let longLine = try marks((1...6).map { (Double($0) * 100, Double($0) * 50) })
        typealias R = MeasuringRefusal
        #expect(
            try MeasuringSample.refusal(.pins2, fish: same, reference: coin)
                == R(.coincident, .fish)
        )
        #expect(
            try MeasuringSample.refusal(.pins2, fish: fish, reference: same)
                == R(.coincident, .reference)
        )
        #expect(
            try MeasuringSample.refusal(.circle3, fish: fish, reference: line)
                == R(.collinear, .reference)
        )
        #expect(
            try MeasuringSample.refusal(.conic, fish: fish, reference: longLine)
                == R(.collinear, .reference)
        )
        #expect(
            try MeasuringSample.refusal(.rectified, fish: fish, reference: line)
                == R(.collinear, .reference)
        )
        #expect(
            try MeasuringSample.refusal(.circle3, fish: fish, reference: coin)
                == R(.pointCount, .reference)
        )
        #expect(
            try MeasuringSample.refusal(.conic, fish: fish, reference: line)
                == R(.pointCount, .reference)
        )
        #expect(
            try MeasuringSample.refusal(.views, fish: fish, reference: coin)
                == R(.wrongShape, .reference)
        )
        #expect(
            try MeasuringSample.refusal(.pins2, fish: .points([spot]), reference: coin)
                == R(.pointCount, .fish)
        )
        #expect(
            try MeasuringSample.refusal(.card, fish: fish, reference: coin, object: .card)
                == R(.pointCount, .reference)
        )
        #expect(
            try MeasuringSample.refusal(.card, fish: fish, reference: coin)
                == R(.wrongReference, .object)
        )
        #expect(
            try MeasuringSample.refusal(.pins2, fish: fish, reference: coin, object: .card)
                == R(.wrongReference, .object)
        )
        let dented = try marks([(0, 0), (800, 0), (200, 100), (0, 500)])
        #expect(
            try MeasuringSample.refusal(.card, fish: fish, reference: dented, object: .card)
                == R(.notAQuadrangle, .reference)
        )
        let branches = try marks([(100, 100), (110, 200), (100, 300), (400, 100), (390, 200)])
        let strange = try? MeasuringSample.measure(.conic, fish: fish, reference: branches)
        #expect(strange?.lengthUm != 0)
    }

    @Test func aCoinOfFewPixelsIsRefusedAndASmallOneDoubted() throws {
        let fish = try marks([(500, 500), (952, 500)])
        func coin(_ pixels: Double) throws -> MarkShape {
            try marks([(700, 900), (700 + pixels, 900)])
        }
        for pixels in [0.001, 1, 19.999] {
            #expect(
                try MeasuringSample.refusal(.pins2, fish: fish, reference: coin(pixels))
                    == MeasuringRefusal(.tooSmall, .reference)
            )
        }
        #expect(
            try MeasuringSample.measure(.pins2, fish: fish, reference: coin(20)).warnings == [
                .referenceSmall
            ]
        )
        #expect(try MeasuringSample.measure(.pins2, fish: fish, reference: coin(60)).warnings == [])
    }

    @Test func lengthsOfNoFishAreRefused() throws {
        let coin = try marks([(200, 1000), (303, 1000)])
        let refused = MeasuringRefusal(.outOfRange, .length)
        #expect(
            try MeasuringSample.refusal(.pins2, fish: marks([(5, 5), (8.99, 5)]), reference: coin)
                == refused
        )
        let small = try MeasuringSample.measure(
            .pins2,
            fish: marks([(5, 900), (9, 900)]),
            reference: coin
        )
        #expect(small.lengthUm == 1000)
        #expect(small.warnings == [.coinFarFromMiddle, .markAtEdge, .referenceLongerThanFish])
        let huge = PhotoFacts(widthPx: 20_000, heightPx: 20_000)
        let tiny = try marks([(9000, 9000), (9020, 9000)])
        let far = try marks([(0, 0), (20_000, 20_000)])
        #expect(
            try MeasuringSample.refusal(.pins2, fish: far, reference: tiny, photo: huge) == refused
        )
        let wide = try marks([(0, 10_000), (3883, 10_000)])
        #expect(
            try MeasuringSample.measure(.pins2, fish: wide, reference: tiny, photo: huge).lengthUm
                == 4_999_363
        )
    }

    @Test func marksOutsideThePhotoAreRefused() throws {
        let coin = try marks([(200, 1000), (303, 1000)])
        let outside = MeasuringRefusal(.outsideImage, .fish)
        func fish(_ x: Double) throws -> MarkShape { try marks([(500, 500), (x, 500)]) }
        #expect(
            try MeasuringSample.measure(.pins2, fish: fish(4233.6), reference: coin).warnings
                .contains(.markAtEdge)
        )
        #expect(try MeasuringSample.refusal(.pins2, fish: fish(4233.7), reference: coin) == outside)
        #expect(try MeasuringSample.refusal(.pins2, fish: fish(-201.7), reference: coin) == outside)
        let extreme = MarkPoint(xMpx: .max, yMpx: .min)
        for method in Fish.Method.allCases {
            let object: ReferenceObject = method == .card ? .card : .eur2
            let far = MarkShape.points([extreme, MarkPoint(xMpx: .min, yMpx: .max)])
            #expect(
                try MeasuringSample.refusal(method, fish: far, reference: coin, object: object)
                    == outside
            )
            #expect(
                try MeasuringSample.refusal(method, fish: fish(900), reference: far, object: object)
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
            try MeasuringSample.refusal(.ellipse, fish: fish(900), reference: .ellipse(ellipse))
                == MeasuringRefusal(.outsideImage, .reference)
        )
        let frame = MarkFrame(xMpx: .max, yMpx: .max, widthMpx: .max, heightMpx: .max)
        #expect(
            try MeasuringSample.refusal(.views, fish: .frame(frame), reference: coin) == outside
        )
    }

    @Test func factsOfThePhotoThatAreWrongAreNamed() throws {
        let (fish, rim) = (try marks(MeasuringSample.fish), try marks(MeasuringSample.rim))
        func refused(
            _ gravity: Gravity?,
            focalMpx: Int64? = 3_000_000,
            height: Int64 = 8000,
            widthPx: Int = 4032
        ) throws -> MeasuringRefusal {
            try MeasuringSample.refusal(
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
            try MeasuringSample.refusal(.rectified, fish: fish, reference: rim, object: nothing)
                == R(.outOfRange, .object)
        )
    }

    // MARK: Warnings

    @Test func tiltIsDoubtedIfUnknownOrTooMuch() throws {
        let coin = try marks([(200, 1000), (303, 1000)])
        let fish = try marks([(100, 1200), (552, 1200)])
        func warnings(_ gravity: Gravity?) throws -> [MeasuringWarning] {
            let photo = PhotoFacts(widthPx: 4032, heightPx: 3024, gravity: gravity)
            return try MeasuringSample.measure(.pins2, fish: fish, reference: coin, photo: photo)
                .warnings
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
        let found = try MeasuringSample.measure(
            .conic,
            fish: marks([(700, 1300), (1500, 1300)]),
            reference: marks(points)
        )
        #expect(found.warnings.contains(.methodsApart))
        #expect(found.warnings.contains(.coinOblique))
    }
}
