import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioServer
import DiarioStorage
import DiarioSync
import DiarioTestSupport
import Testing

/// A clock that ran far ahead makes no other one wrong: schema/format/frames.md, F5.
struct WrongClockTests {
    private static let dayMilliseconds: Int64 = 86_400_000

    /// A replica's clock was a day ahead for one event, which the authority has.
    private static func pairWithAnEventOfTomorrow() throws -> Pair {
        var pair = try Pair()
        try pair.sync()
        pair.clock.advance(milliseconds: dayMilliseconds)
        try pair.replica.record("tomorrow")
        pair.clock.advance(milliseconds: -dayMilliseconds)
        try pair.sync()
        return pair
    }

    /// An authority whose clock is out of bounds takes nothing, and goes on once that is right.
    @Test func anAuthorityWithoutAUsableClockTakesNothing() throws {
        var pair = try Pair()
        try pair.sync()
        try pair.replica.record("today")
        let (head, right) = (pair.authorityStore[pair.replica.space].head(), pair.now)
        let request = try pair.replica.request(at: right)
        pair.clock.set(milliseconds: CivilTime.millisecondsMax + 1)
        let answer = pair.authority.answer(request, from: Pair.anyone)
        guard case .refusal = try SyncMessage(answer.span) else {
            return #expect(Bool(false), "this is no refusal")
        }
        #expect(pair.authorityStore[pair.replica.space].head() == head)
        pair.clock.set(milliseconds: right.milliseconds)
        pair.replica.lose(at: right)
        try pair.sync()
        #expect(pair.replica.pendingCount == 0)
    }

    /// A clock further ahead than 5 minutes was not merged: no change won against it for those.
    @Test(arguments: [0, 60_000, 299_999, 300_000, 300_001, dayMilliseconds])
    func whatFollowsAnEventThatWasSeenIsLater(lead: Int64) throws {
        var pair = try Pair()
        try pair.sync()
        var other = try pair.makeReplica()
        for number in 0..<3 {
            pair.clock.advance(milliseconds: lead)
            try pair.replica.record("change \(2 * number)")
            pair.clock.advance(milliseconds: -lead)
            try pair.sync()
            try pair.sync(&other)
            try other.record("change \(2 * number + 1)")
            try pair.sync(&other)
            try pair.sync()
        }
        let texts = try pair.replica.texts
        #expect(texts == (0..<6).map { "change \($0)" })
        let clocks = try pair.replica.believedClocks
        #expect(clocks == clocks.sorted() && Set(clocks).count == 6, "\(clocks)")
        #expect(try other.believedClocks == clocks)
    }

    /// The authority's clock was set back, so all was accepted at one time, and ids decided.
    @Test func whatFollowsIsLaterWhileTheAuthoritysClockStandsStill() throws {
        var pair = try Pair()
        try pair.sync()
        var other = try pair.makeReplica()
        try pair.sync(&other)
        let hour: Int64 = 3_600_000
        for number in 0..<3 {
            pair.clock.advance(milliseconds: hour)
            try pair.replica.record("change \(2 * number)")
            pair.clock.advance(milliseconds: -hour)
            try pair.sync()
            try pair.sync(&other)
            pair.clock.advance(milliseconds: hour)
            try other.record("change \(2 * number + 1)")
            pair.clock.advance(milliseconds: -hour)
            try pair.sync(&other)
            try pair.sync()
        }
        let clocks = try pair.replica.believedClocks
        #expect(clocks == clocks.sorted() && Set(clocks).count == 6, "\(clocks)")
    }

    /// Its own clock went back by the events that had made its counter run over.
    @Test func anAuthorityGoesOnFromItsOwnClock() throws {
        let pair = try Self.pairWithAnEventOfTomorrow()
        let space = pair.replica.space
        var clocks: [HybridTime] = []
        for round in 0..<4 {
            try pair.besideAuthority { (store) throws in
                // What is read anew is what the process before went on with.
                let clock = try store[space].status().clock
                #expect(clocks.last == nil || clock == clocks.last, "round \(round)")
                try store.recordNotes(["a", "b", "c"], in: space)
                clocks.append(try store[space].status().clock)
            }
        }
        #expect(clocks == clocks.sorted() && Set(clocks).count == 4)
        try pair.besideAuthority { (store) throws in
            #expect(try store.verify(space) { _ in nil }.faults == [])
        }
    }
}
