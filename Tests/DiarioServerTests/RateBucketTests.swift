import DiarioCore
import DiarioServer
import Testing

struct RateBucketTests {
    private static func time(_ milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: milliseconds)
    }

    @Test func tenSecondsMayBeUsedAtOnce() {
        var bucket = RateBucket(perSecond: 3, at: Self.time(0))
        for _ in 0..<30 { #expect(bucket.take(1, at: Self.time(0)) == nil) }
        #expect(bucket.take(1, at: Self.time(0)) == 1)
        #expect(bucket.take(1, at: Self.time(333)) == 1)
        #expect(bucket.take(1, at: Self.time(334)) == nil)
    }

    @Test func whoWaitsAsLongAsItSaysIsLetThrough() {
        for count in 1...50 {
            var bucket = RateBucket(perSecond: 5, at: Self.time(0))
            #expect(bucket.take(50, at: Self.time(0)) == nil)
            guard let wait = bucket.take(count, at: Self.time(0)) else {
                #expect(Bool(false), "it is empty")
                continue
            }
            #expect(bucket.take(count, at: Self.time(Int64(wait) * 1000)) == nil)
        }
    }

    @Test func oneFullPushAlwaysFits() {
        var bucket = RateBucket(perSecond: 1, atOnceMin: 50_000, at: Self.time(0))
        #expect(bucket.take(50_000, at: Self.time(0)) == nil)
        #expect(bucket.take(50_000, at: Self.time(0)) == 50_000)
        #expect(bucket.take(50_000, at: Self.time(50_000_000)) == nil)
    }

    @Test func aClockThatGoesBackDoesNoHarm() {
        var bucket = RateBucket(perSecond: 1, at: Self.time(.max))
        #expect(bucket.take(10, at: Self.time(.max)) == nil)
        #expect(bucket.take(1, at: Self.time(.min)) == 1)
        #expect(bucket.take(1, at: Self.time(.min + 1000)) == nil)
        #expect(bucket.take(10, at: Self.time(.max)) == nil)
    }

    @Test(arguments: [0, -1, Int.max, Int.min]) func noRateTraps(perSecond: Int) {
        var bucket = RateBucket(perSecond: perSecond, at: Self.time(0))
        for milliseconds in [Int64.min, -1, 0, 1, .max] {
            for count in [0, 1, Int.max] {
                _ = bucket.take(count, at: Self.time(milliseconds))
            }
        }
    }
}
