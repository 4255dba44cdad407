import DiarioCore
import Testing

@Suite struct TimeTests {
    @Test func aHybridTimeHoldsBothItsParts() {
        let time = HybridTime(milliseconds: 1_700_000_000_123, counter: 65_535)
        #expect(time.milliseconds == 1_700_000_000_123)
        #expect(time.counter == 65_535)
        #expect(HybridTime(rawValue: time.rawValue) == time)
    }

    @Test func timesOutOfRangeAreHeldAtItsEnds() {
        #expect(HybridTime.millisecondsMax == 140_737_488_355_327)
        #expect(HybridTime(milliseconds: -5, counter: 1).milliseconds == 0)
        let last = HybridTime(milliseconds: .max, counter: 0)
        #expect(last.milliseconds == HybridTime.millisecondsMax)
    }

    @Test func aLaterWallClockIsTaken() {
        let time = HybridTime(milliseconds: 1000, counter: 7)
        let next = time.next(at: Timestamp(milliseconds: 1001))
        #expect(next == HybridTime(milliseconds: 1001, counter: 0))
    }

    @Test(arguments: [Int64(1000), 999, 0, -1, .min]) func aClockThatDoesNotMoveOnIsOutrun(
        now: Int64
    ) {
        let time = HybridTime(milliseconds: 1000, counter: 7)
        let next = time.next(at: Timestamp(milliseconds: now))
        #expect(next == HybridTime(milliseconds: 1000, counter: 8))
    }

    @Test func aFullCounterRunsIntoTheNextMillisecond() {
        let time = HybridTime(milliseconds: 1000, counter: .max)
        let next = time.next(at: Timestamp(milliseconds: 1000))
        #expect(next == HybridTime(milliseconds: 1001, counter: 0))
    }

    @Test(arguments: UInt64(0)..<20) func timesOfAReplicaOnlyGrow(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let clock = ManualClock(milliseconds: 1_000_000)
        var time = HybridTime(rawValue: 0)
        for _ in 0..<200 {
            clock.advance(milliseconds: Int64(random.below(40)) - 20)
            let next = time.next(at: clock.now)
            #expect(next > time)
            #expect(next.milliseconds >= clock.now.milliseconds)
            time = next
        }
    }

    @Test func aTimeIsBelievedForFiveMinutes() {
        let accepted: Int64 = 1_700_000_000_000
        let last = HybridTime(milliseconds: accepted + 300_000, counter: .max)
        #expect(last.believed(acceptedAt: accepted) == last)
        let next = HybridTime(rawValue: last.rawValue + 1)
        #expect(next.believed(acceptedAt: accepted) == last)
        #expect(next.believed(acceptedAt: accepted + 1) == next)
        #expect(next.believed(acceptedAt: .max) == next)
        let far = HybridTime(milliseconds: .max, counter: 5)
        #expect(next.merged(with: far, acceptedAt: accepted) == next)
        #expect(HybridTime(rawValue: 3).merged(with: far, acceptedAt: accepted) == last)
        // Clocks on the wall before 1970 are told apart by the counter alone.
        #expect(HybridTime(rawValue: 3).believed(acceptedAt: .min) == HybridTime(rawValue: 3))
    }

    @Test func whatIsNotBelievedIsAcceptedLater() {
        func accepted(_ lead: Int64, at now: Int64, after last: Int64) -> Int64 {
            HybridTime(milliseconds: max(now, last) + 300_000 + lead, counter: 0)
                .accepted(at: now, after: last)
        }
        let time: Int64 = 1_700_000_000_000
        #expect(accepted(0, at: time, after: time - 5) == time)
        #expect(accepted(0, at: time - 5, after: time) == time)
        #expect(accepted(1, at: time, after: time) == time + 1)
        #expect(accepted(10, at: time - 5, after: time) == time + 10)
        #expect(accepted(11, at: time - 5, after: time) == time + 1)
        #expect(accepted(11, at: time, after: time - 1) == time)
        #expect(accepted(86_400_000, at: time, after: time) == time + 1)
        #expect(accepted(11, at: time, after: .min) == time)
        let last = CivilTime.millisecondsMax
        let far = HybridTime(milliseconds: .max, counter: 0)
        #expect(far.accepted(at: time, after: last) == last)
    }

    @Test func aManualClockStandsStillUntilMoved() {
        let clock = ManualClock(milliseconds: 5)
        #expect(clock.now == Timestamp(milliseconds: 5))
        #expect(clock.now == clock.now)
        clock.advance(milliseconds: -3)
        #expect(clock.now == Timestamp(milliseconds: 2))
        clock.set(milliseconds: 9)
        #expect(clock.now > Timestamp(milliseconds: 8))
    }

    @Test func seededEntropyRepeatsItself() {
        let first = SeededEntropy(seed: 3)
        let second = SeededEntropy(seed: 3)
        let numbers = (0..<10).map { _ in first.next() }
        #expect(numbers == (0..<10).map { _ in second.next() })
        #expect(Set(numbers).count == 10)
    }
}
