import DiarioCore
import DiarioFormat
import DiarioHost
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// Files and records of private segments: schema/format/directory.md, section 8.
@Suite struct LaneFileTests {
    /// In whatever order, and however they overlap, private segments that are wrong are refused.
    @Test func privateSegmentsAreInOrder() throws {
        let (small, large) = (
            try #require(ReplicaID(rawValue: 3)), try #require(ReplicaID(rawValue: 9))
        )
        func isRead(_ entries: [(ReplicaID, UInt64, Int)]) throws -> Bool {
            var manifest = Manifest(
                space: try #require(SpaceID(rawValue: 1)),
                lineage: Lineage(high: 1, low: 2),
                epoch: 0,
                authority: nil,
                isStaging: false,
                replaces: nil
            )
            manifest.lanes = entries.map { replica, first, count in
                SegmentEntry(
                    name: SegmentName(first: first, number: 5),
                    count: count,
                    segmentSize: 1,
                    sidecarSize: 2,
                    rowSize: 3,
                    identity: SegmentIdentity(first: 4, second: 5),
                    sidecarChecksum: 6,
                    replica: replica
                )
            }
            let bytes = manifest.encoded()
            let read = Manifest(bytes.span)
            #expect(read == nil || read == manifest)
            return read != nil
        }
        #expect(try isRead([(small, 1, 8), (small, 20, 8), (large, 1, 3)]))
        #expect(try isRead([(large, 1, 8), (large, 9, 1)]))
        #expect(try !isRead([(large, 1, 8), (small, 1, 8)]))
        #expect(try !isRead([(small, 9, 8), (small, 1, 8)]))
        #expect(try !isRead([(small, 1, 8), (small, 8, 8)]))
    }

    @Test func aSealedRecordIsReadAsItWasWritten() throws {
        let replica = try #require(ReplicaID(rawValue: 77))
        let placed = SealedRows.Placed(firstPosition: 12, acceptedAt: -5)
        for rows in [
            SealedRows(
                replica: replica,
                firstSequence: 9,
                count: 4,
                placed: nil,
                clock: HybridTime(rawValue: 1 << 40)
            ),
            SealedRows(
                replica: replica,
                firstSequence: 1 << 40,
                count: .max,
                placed: placed,
                clock: HybridTime(rawValue: 0)
            ),
        ] {
            var bytes: [UInt8] = []
            rows.append(to: &bytes)
            #expect(bytes.count + Record.headerSize == SealedRows.recordSize)
            #expect(SealedRows(bytes.span) == rows)
            for count in bytes.indices {
                #expect(SealedRows(bytes.span.extracting(first: count)) == nil)
            }
            // No replica, no events, too many, and a clock with positions or a time without.
            for (offset, value) in [(0, UInt8(0)), (16, 0), (20, 1), (15, 0xff), (24, 1)] {
                var changed = bytes
                changed[offset] = value
                if offset == 16 {
                    changed.replaceSubrange(16..<24, with: [UInt8](repeating: 0, count: 8))
                }
                if offset == 24, rows.placed != nil { changed[40] = 1 }
                #expect(SealedRows(changed.span) == nil, "offset \(offset)")
            }
        }
    }

    /// A run of sealed rows knows the sequences of its parts, and is no larger than others.
    @Test func partsOfASealedRunKeepTheirSequences() {
        let start: UInt64 = 1 << 33 + 5
        var run = Run(
            sealed: 2,
            first: 100,
            count: 50,
            firstSequence: start,
            file: 3,
            promotedAt: nil
        )
        let rest = run.split(at: 120)
        #expect(run.sequences == start...start + 19)
        #expect(rest.sequences == start + 20...start + 49)
        #expect(run.liveBytes + rest.liveBytes == UInt32(SealedRows.recordSize))
        #expect(run.isSealed && rest.isSealed && rest.lane == 2)
        #expect(MemoryLayout<Run>.stride == 48)
    }

    // MARK: Files

    @Test func privateSegmentsThatAreNotNeededStayForTenMinutes() throws {
        var lane = try LaneLog()
        try lane.append(16)
        _ = try lane.seal()
        let entry = try #require(try lane.store[lane.space].laneSegments().first)
        let paths = [
            LogPaths.segment(entry.name, of: lane.space),
            LogPaths.sidecar(entry.name, of: lane.space),
        ]
        try lane.promote(15)
        _ = try lane.seal(all: true)
        // One event of it is pending still.
        #expect(try lane.segments() == [[1, 16]])
        try lane.promote(1)
        _ = try lane.seal(all: true)
        #expect(try lane.segments() == [])
        lane.log.clock.advance(milliseconds: 599_000)
        _ = try lane.seal()
        #expect(try paths.allSatisfy { try lane.log.disk.exists($0) })
        lane.log.clock.advance(milliseconds: 2000)
        _ = try lane.seal()
        #expect(try paths.allSatisfy { try !lane.log.disk.exists($0) })
        #expect(try lane.sequences() == Array(1...16))
    }

    /// Damage in a private segment is told with its place; all other events are read.
    @Test func damageIsToldWithItsPlace() throws {
        var lane = try LaneLog(mergedCount: 8)
        for _ in 0..<5 { try lane.append(8) }
        _ = try lane.seal()
        try lane.promote(12)
        let entry = try lane.store[lane.space].laneSegments()[1]
        let path = LogPaths.segment(entry.name, of: lane.space)
        try lane.log.disk.flipBit(3, at: entry.segmentSize - 3, of: path)
        let result = try lane.store.verify(lane.space) { _ in nil }
        #expect(result.faults.count == 1)
        let fault = try #require(result.faults.first)
        #expect(fault.file == path)
        #expect(fault.offset > 64 && fault.offset < entry.segmentSize)
        #expect(fault.what.contains("sequences of \(lane.replica.text), 9 to 16"))
        #expect(result.rowCount == 32)
        #expect(throws: LogError.self) { try lane.sequences() }
        try lane.log.disk.flipBit(3, at: entry.segmentSize - 3, of: path)
        #expect(try lane.store.verify(lane.space) { _ in nil }.faults == [])
        #expect(try lane.sequences() == Array(1...40))
    }

    // MARK: In the background

    @Test func longLanesAreSealedInTheBackground() throws {
        let lane = try LaneLog(sizes: .standard, helper: LogThreads())
        var count = 0
        // The thread seals while others append; at the latest it is done at some append.
        while try lane.store[lane.space].status().sealedPending < 64, count < 40_000 {
            try lane.append(4)
            count += 4
            #expect(try lane.sequences().count == count)
        }
        #expect(lane.store.sealFailure == nil)
        #expect(try lane.store[lane.space].status().sealedPending >= 64)
        try lane.store.close()
        let again = try lane.log.open(process: 1)
        #expect(try lane.view(in: again).pending.count == count)
    }

    /// When the log holds too much, lanes are sealed short.
    @Test func crowdedLanesAreSealedShort() throws {
        var sizes = TestLog.small
        sizes.liveMax = 100_000
        let lane = try LaneLog(
            segmentCount: 4096,
            mergedCount: 65_536,
            sizes: sizes,
            helper: LogThreads()
        )
        var count = 0
        while try lane.store[lane.space].status().sealedPending == 0, count < 40_000 {
            try lane.append(10, textSize: 500)
            count += 10
        }
        #expect(try lane.store[lane.space].status().sealedPending > 0)
        #expect(lane.store.sealFailure == nil)
        try lane.store.close()
    }
}
