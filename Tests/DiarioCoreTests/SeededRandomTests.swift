import DiarioCore
import DiarioTestSupport
import Testing

@Suite struct SeededRandomTests {
    /// The published first numbers of SplitMix64; the sequence may never change.
    @Test func theSequenceIsFixed() {
        var random = SeededRandom(seed: 1_234_567)
        let numbers = (0..<5).map { _ in random.next() }
        #expect(
            numbers == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
            ]
        )
    }

    @Test(arguments: [1, 2, 3, 7, 100, 1 << 40, Int.max]) func drawsStayBelowTheirBound(bound: Int)
    {
        var random = SeededRandom(seed: UInt64(bound))
        for _ in 0..<1000 { #expect(0..<bound ~= random.below(bound)) }
    }

    @Test func everyOutcomeIsAboutAsLikely() {
        var random = SeededRandom(seed: 5)
        var counts = [Int](repeating: 0, count: 6)
        for _ in 0..<60_000 { counts[random.below(6)] += 1 }
        // Ten times the standard deviation of about 91 off would be no chance.
        for count in counts { #expect(9_000...11_000 ~= count) }
    }

    /// If none were drawn again, 2^64 numbers would fall on 3 * 2^61 outcomes as 3, 3, 2, 3, 3, 2.
    @Test func aBoundThatDoesNotDivideIsNotBiased() {
        var random = SeededRandom(seed: 6)
        var counts = [0, 0, 0]
        for _ in 0..<30_000 { counts[random.below(3 << 61) % 3] += 1 }
        for count in counts { #expect(9_500...10_500 ~= count) }
    }

    @Test func unitsFillTheRangeFromZeroToOne() {
        var random = SeededRandom(seed: 7)
        let units = (0..<10_000).map { _ in random.unit() }
        #expect(units.allSatisfy { 0..<1 ~= $0 })
        #expect(units.contains { $0 < 0.01 } && units.contains { $0 > 0.99 })
        let hits = (0..<10_000).count { _ in random.oneIn(10) }
        #expect(800...1200 ~= hits)
    }

    @Test(.waits) func aDrawWithoutOutcomesTraps() async {
        await #expect(processExitsWith: .failure) {
            var random = SeededRandom(seed: 1)
            _ = random.below(0)
        }
    }
}
