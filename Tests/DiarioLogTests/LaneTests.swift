import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// Lanes are sealed into private segments; nothing that a reader sees changes by that.
@Suite struct LaneTests {
    @Test func runsAreSealedAndMerged() throws {
        var lane = try LaneLog()
        for _ in 0..<3 {
            try lane.append(9)
            _ = try lane.seal()
        }
        #expect(try lane.segments() == [[1, 8], [9, 8], [17, 8]])
        try lane.append(9)
        _ = try lane.seal()
        // Four runs are one segment, and 4 events are in none.
        #expect(try lane.segments() == [[1, 32]])
        _ = try lane.seal(all: true)
        #expect(try lane.segments() == [[1, 32], [33, 4]])
        try lane.append(1)
        #expect(try lane.seal(all: true).replacedCount == 1)
        #expect(try lane.segments() == [[1, 32], [33, 5]])
        // Of what was short the first two are not needed any more.
        try lane.promote(34)
        #expect(try lane.seal(all: true).sealedEnd == 34)
        #expect(try lane.segments() == [[33, 5]])
        try lane.append(70)
        #expect(try lane.seal().segmentCount == 3)
        #expect(try lane.segments() == [[35, 32], [67, 32], [99, 8]])
        #expect(try lane.sequences() == Array(1...107))
        #expect(try lane.seal().segmentCount == 0)
    }

    /// What a lane needs of the log does not grow with it.
    @Test func theLogStaysBoundedWhileALaneGrows() throws {
        var lane = try LaneLog(segmentCount: 64, mergedCount: 1024)
        var largest = 0
        for round in 0..<30 {
            try lane.append(60, textSize: 300)
            if round.isMultiple(of: 3) { try lane.promote(10) }
            _ = try lane.seal()
            largest = max(largest, try lane.store.logBytes())
        }
        let status = try lane.store[lane.space].status()
        #expect(status.pending == 1700)
        #expect(status.liveBytes < 64 * 400 + 8000)
        #expect(largest <= TestLog.small.quietMax + TestLog.small.fileMax)
        let before = try lane.view()
        try lane.reopen()
        #expect(try lane.view() == before)
        #expect(before.events.map(\.origin.sequence) == Array(1...1800))
        #expect(lane.store.validate() == [])
    }

    /// A promotion is one small record, which has to last as long as the private segment is needed,
    /// whatever else turns the log over.
    @Test func promotionsOfSealedRowsSurviveATurnover() throws {
        var lane = try LaneLog(segmentCount: 8, mergedCount: 64)
        try lane.append(30)
        _ = try lane.seal(all: true)
        try lane.promote(3)
        try lane.promote(2)
        let before = try lane.view()
        let clock = try lane.store[lane.space].status().clock
        let other = try lane.store.makeSpace(isAuthority: true).space
        for _ in 0..<40 {
            _ = try lane.store.append(lane.log.append(20, textSize: 1000, to: other))
            let head = try lane.store[other].status().head
            try lane.store[other].release(upTo: head)
        }
        let raw = try RawLog(lane.log.disk)
        #expect(raw.entries.allSatisfy { $0.kind != .promotion })
        #expect(try lane.view() == before)
        #expect(lane.store.validate() == [])
        try lane.reopen()
        #expect(try lane.view() == before)
        try lane.promote(20)
        #expect(try lane.view().canonical.count == 25)
        // The clock that was highest is known still, though the rows were not read.
        #expect(try lane.store[lane.space].status().clock == clock)
        try lane.append(1)
        #expect(try lane.view().pending.last?.origin.sequence == 31)
    }

    // MARK: Reading

    @Test func everyRangeIsReadInBothDirections() throws {
        var lane = try LaneLog()
        try lane.append(45)
        _ = try lane.seal()
        try lane.promote(21)
        try lane.promote(9)
        #expect(try lane.sequences() == Array(1...45))
        #expect(try lane.sequences(isReversed: true) == (1...45).reversed())
        #expect(try lane.sequences(.pending, isReversed: true) == (31...45).reversed())
        for first: UInt64 in 1...30 {
            for last in stride(from: first, through: 30, by: 3) {
                for isReversed in [false, true] {
                    var cursor = try lane.store.cursor(
                        lane.space,
                        positions: first...last,
                        .canonical,
                        isReversed: isReversed
                    )
                    var found: [UInt64?] = []
                    while let events = try cursor.next() { found += events.rows.map(\.position) }
                    let expected = (first...last).map(Optional.some)
                    #expect(found == (isReversed ? expected.reversed() : expected))
                }
            }
        }
    }

    @Test func filtersSkipPrivateSegments() throws {
        var lane = try LaneLog(mergedCount: 8)
        for _ in 0..<10 { try lane.append(8) }
        #expect(try lane.seal().segmentCount == 10)
        try lane.promote(20)
        var filter = LogFilter()
        filter.origin = Origin(replica: lane.replica, sequence: 50)
        _ = try lane.sequences()
        var before = lane.store.segmentCounters
        #expect(try lane.sequences(filter: filter) == [50])
        #expect(lane.store.segmentCounters.since(before).segments == 1)
        filter.origin = Origin(replica: lane.replica, sequence: 18)
        #expect(try lane.sequences(filter: filter) == [18])
        filter = LogFilter()
        filter.wantsType = { $0 == Array("sim.item.counted".utf8) }
        #expect(try lane.sequences(filter: filter) == [])
        filter = LogFilter()
        filter.since = Timestamp(milliseconds: lane.acceptedAt)
        before = lane.store.segmentCounters
        #expect(try lane.sequences(filter: filter) == Array(1...20))
        #expect(lane.store.segmentCounters.since(before).segments == 3)
        filter.since = Timestamp(milliseconds: lane.acceptedAt + 1)
        #expect(try lane.sequences(filter: filter) == [])
    }

    /// Another process, which has not heard of it, finds sealed events where they were, and where
    /// they are.
    @Test func staleReadersFindEventsThatMoved() throws {
        var lane = try LaneLog(mergedCount: 16)
        try lane.append(20)
        let reader = try lane.log.open(process: 1, access: .readOnly)
        let before = try lane.view(in: reader)
        var cursor = try reader.cursor(lane.space)
        _ = try lane.seal()
        #expect(try lane.view(in: reader) == before)
        #expect(try reader.refresh())
        #expect(try lane.view(in: reader) == before)
        // Promoted, sealed again, and the private segments are gone from the disk.
        try lane.promote(16)
        #expect(try lane.seal(all: true).sealedEnd == 16)
        lane.log.clock.advance(milliseconds: 601_000)
        _ = try lane.seal(all: true)
        #expect(try lane.view(in: lane.log.open(process: 2)).canonical.count == 16)
        let seen = try cursor.next()
        #expect(seen?.rows.count == 20)
        #expect(throws: LogError.self) { try lane.view(in: reader) }
        #expect(try lane.view(in: reader) == lane.view())
    }

    // MARK: Several writers

    /// The process that promotes knows private segments that others replaced long ago: they were
    /// looked for once, and then the log was taken for damaged.
    @Test func promotedEventsAreFoundWhereOthersSealedThemAgain() throws {
        var lane = try LaneLog()
        let other = try lane.log.open(process: 1)
        try lane.append(3)
        _ = try lane.seal(all: true)
        for _ in 0..<2 {
            _ = try other.append(lane.log.append(1, to: lane.space))
            _ = try other.seal(lane.space, all: true)
            lane.log.clock.advance(milliseconds: 601_000)
        }
        _ = try other.seal(lane.space, all: true)
        try lane.promote(4)
        let root = try lane.store[lane.space].root()
        #expect(try root == lane.log.plainRoot(lane.space, in: lane.store))
        #expect(lane.store.validate() == [])
    }
}
