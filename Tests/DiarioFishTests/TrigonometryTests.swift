import DiarioCore
import DiarioFish
import DiarioFishLab
import Testing

@Suite struct TrigonometryTests {
    /// Computed with 60 digits and rounded once.
    static let angles: [(angle: Double, sine: Double, cosine: Double)] = [
        (1e-300, 1e-300, 1.0),
        (1e-09, 1e-09, 1.0),
        (0.001, 0.0009999998333333417, 0.9999995000000417),
        (0.1, 0.09983341664682815, 0.9950041652780258),
        (0.5, 0.479425538604203, 0.8775825618903728),
        (0.7853981633974483, 0.7071067811865475, 0.7071067811865476),
        (0.7853981633974484, 0.7071067811865476, 0.7071067811865475),
        (1.0, 0.8414709848078965, 0.5403023058681398),
        (1.5707963267948966, 1.0, 6.123233995736766e-17),
        (2.0, 0.9092974268256817, -0.4161468365471424),
        (3.0, 0.1411200080598672, -0.9899924966004454),
        (3.141592653589793, 1.2246467991473532e-16, -1.0),
        (3.9269908169872414, -0.7071067811865475, -0.7071067811865477),
        (5.5, -0.7055403255703919, 0.70866977429126),
        (6.283185307179586, -2.4492935982947064e-16, 1.0),
        (22.0, -0.008851309290403876, -0.9999608263946371),
        (355.0, -3.014435335948845e-05, -0.999999999545659),
        (-1.0, -0.8414709848078965, 0.5403023058681398),
        (-0.3, -0.29552020666133955, 0.955336489125606),
        (-2.5, -0.5984721441039565, -0.8011436155469337),
        (-100.25, 0.2772828564548513, 0.9607883312760612),
        (103993.0, -1.9129335778423752e-05, 0.9999999998170342),
        (999999.5, -0.756251087561678, 0.654281508650351),
        (0.13421772657, 0.133815114121871, 0.9910063144261749),
        (-710.0, -6.0288706691585265e-05, 0.999999998182636),
    ]
    static let points: [(y: Double, x: Double, angle: Double)] = [
        (0.0, 1.0, 0.0),
        (1e-300, 1.0, 1e-300),
        (1.0, 0.0, 1.5707963267948966),
        (1.0, 1.0, 0.7853981633974483),
        (1.0, -1.0, 2.356194490192345),
        (-1.0, -1.0, -2.356194490192345),
        (-1.0, 1.0, -0.7853981633974483),
        (0.0, -1.0, 3.141592653589793),
        (0.1, 1.0, 0.09966865249116204),
        (0.125, 1.0, 0.12435499454676144),
        (0.37499, 1.0, 0.35876190311846123),
        (0.375, 1.0, 0.35877067027057225),
        (0.62, 1.0, 0.5549957273385867),
        (0.9, 1.0, 0.7328151017865066),
        (1.0, 0.99, 0.7904232467282607),
        (3.0, 1.0, 1.2490457723982544),
        (5.0, -0.001, 1.57099632679223),
        (-1e-09, -1.0, -3.141592652589793),
        (-7.0, 2.0, -1.2924966677897853),
        (1e+200, 1e+199, 1.4711276743037345),
        (2016.0, 1512.0, 0.9272952180016122),
        (-0.3, -0.7, -2.7367008673047097),
        (1e-200, -1e-201, 1.6704649792860586),
    ]
    static let cosines: [(cosine: Double, angle: Double)] = [
        (1.0, 0.0),
        (-1.0, 3.141592653589793),
        (0.0, 1.5707963267948966),
        (0.5, 1.0471975511965979),
        (-0.5, 2.0943951023931957),
        (0.991, 0.13426490601813668),
        (0.999, 0.044725087168733454),
        (0.9999999, 0.00044721359910904126),
        (1e-12, 1.5707963267938967),
        (-0.999999999999, 3.1415912393918735),
        (0.7071067811865476, 0.7853981633974483),
        (-0.3, 1.8754889808102941),
    ]

    @Test(arguments: angles)
    func sineAndCosineAreWithinTheirBound(angle: Double, sine: Double, cosine: Double) {
        let both = Trigonometry.sineAndCosine(angle)
        #expect(isNear(both.sine, sine), "sine \(both.sine)")
        #expect(isNear(both.cosine, cosine), "cosine \(both.cosine)")
        #expect(Trigonometry.sine(angle) == both.sine)
        #expect(Trigonometry.cosine(angle) == both.cosine)
    }

    @Test(arguments: points)
    func arcTangentIsWithinItsBound(y: Double, x: Double, angle: Double) {
        let ours = Trigonometry.arcTangent(y: y, x: x)
        #expect(isNear(ours, angle), "\(ours)")
    }

    @Test(arguments: cosines) func arcCosineIsWithinItsBound(cosine: Double, angle: Double) {
        let ours = Trigonometry.arcCosine(cosine)
        #expect(isNear(ours, angle), "\(ours)")
    }

    @Test(arguments: UInt64(0)..<20) func theInversesUndoThem(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<1000 {
            let angle = random.uniform(-Trigonometry.pi...Trigonometry.pi)
            let (sine, cosine) = Trigonometry.sineAndCosine(angle)
            #expect(abs(sine * sine + cosine * cosine - 1) < 1e-15)
            #expect(abs(Trigonometry.arcTangent(y: sine, x: cosine) - angle) < 1e-15 * 4)
            #expect(abs(Trigonometry.arcCosine(cosine) - abs(angle)) < 1e-9)
        }
    }

    @Test func whatIsNoAngleHasNoSine() {
        for angle in [Double.nan, .infinity, -.infinity, 1.1e6] {
            #expect(Trigonometry.sine(angle).isNaN)
            #expect(Trigonometry.cosine(angle).isNaN)
        }
        #expect(Trigonometry.arcCosine(1.0000001).isNaN)
        #expect(Trigonometry.arcTangent(y: .nan, x: 1).isNaN)
        #expect(Trigonometry.arcTangent(y: 1, x: .nan).isNaN)
        #expect(Trigonometry.arcTangent(y: 0, x: 0) == 0)
    }

    @Test func halvesAreRoundedAwayFromZero() {
        let cases: [(Double, Int64)] = [
            (0, 0), (0.49999999999999994, 0), (0.5, 1), (-0.5, -1), (1.5, 2), (2.5, 3),
            (-2.5, -3), (112.4999, 112), (9007199254740992, 9_007_199_254_740_992),
            (4503599627370495.5, 4_503_599_627_370_496),
        ]
        for (number, integer) in cases { #expect(number.nearestInteger == integer) }
        for number in [Double.nan, .infinity, -.infinity, 1e16, -1e300] {
            #expect(number.nearestInteger == nil)
        }
    }

    @Test func normalDrawsHaveTheirMomentsAndAreTheSameForASeed() {
        var random = SeededRandom(seed: 1)
        let draws: [Double] = (0..<20_000).map { _ in random.normal() }
        let mean = draws.reduce(0, +) / 20_000
        let variance = draws.reduce(0.0) { sum, draw in sum + draw * draw } / 20_000 - mean * mean
        #expect(abs(mean) < 0.02)
        #expect(abs(variance - 1) < 0.03)
        var again = SeededRandom(seed: 1)
        #expect(draws[0] == again.normal())
    }

    private func isNear(_ ours: Double, _ truth: Double) -> Bool {
        abs(ours - truth) <= max(1e-15 * abs(truth), 1e-24)
    }
}
