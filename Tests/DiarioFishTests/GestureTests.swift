import DiarioFish
import Testing

@Suite struct GestureTests {
    private let frame = MarkFrame(xMpx: 100, yMpx: 100, widthMpx: 200, heightMpx: 400).times(1000)

    @Test(
        arguments: [
            (Fish.Corner.upLeft, (90, 120), (90, 120, 210, 380)),
            (.upRight, (310, 90), (100, 90, 210, 410)),
            (.downLeft, (110, 520), (110, 100, 190, 420)),
            (.downRight, (290, 480), (100, 100, 190, 380)),
        ] as [(Fish.Corner, (Int64, Int64), (Int64, Int64, Int64, Int64))]
    )
    func aCornerIsDraggedAndTheOppositeOneStays(
        corner: Fish.Corner,
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
        let results: [(Fish.Side, MarkFrame)] = [
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
