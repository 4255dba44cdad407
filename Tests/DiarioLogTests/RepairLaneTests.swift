import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// Pending events in private segments are kept by a repair like all others.
@Suite struct RepairLaneTests {
    /// Sequences 1 to 16 sealed with positions, 17 to 23 promoted, 24 to 40 pending in private
    /// segments, and 41 to 45 in the log.
    private static func lane(mergedCount: Int = 8) throws -> LaneLog {
        var lane = try LaneLog(mergedCount: mergedCount)
        for _ in 0..<5 { try lane.append(9, textSize: 20) }
        _ = try lane.seal()
        try lane.promote(20)
        _ = try lane.seal()
        try lane.promote(3)
        return lane
    }

    /// The same, with a log of which nothing is left that is not needed.
    private static func recycled(mergedCount: Int = 8) throws -> RepairSample {
        let lane = try lane(mergedCount: mergedCount)
        try turnOver(lane)
        return try RepairSample(lane)
    }

    /// Fills the log with events of another space and lets go of them, until its files were used
    /// again.
    private static func turnOver(_ lane: LaneLog) throws {
        let other = try lane.store.makeSpace(isAuthority: true).space
        for _ in 0..<40 {
            _ = try lane.store.append(lane.log.append(20, textSize: 1000, to: other))
            try lane.store.release(other, upTo: lane.store.status(of: other).head)
        }
    }

    private func expectMended(
        _ log: RepairSample,
        _ rows: [RepairRow],
        _ what: String
    ) throws -> RepairReport {
        let before = try log.bytes()
        let rehearsed = try log.repair().rehearse()
        #expect(try log.bytes() == before, "a rehearsal changes nothing: \(what)")
        let report = try log.run()
        #expect(report.isMended, "\(what): \(report.findings) \(report.remaining)")
        #expect(report.losses == rehearsed.losses, "\(what)")
        #expect(report.findings.map(\.fault) == rehearsed.findings.map(\.fault), "\(what)")
        do { try log.expectWhole(rows, report, what) } catch {
            Issue.record("\(what): \(error)")
        }
        let again = try log.run()
        #expect(again.isClean, "\(what): \(again.findings) \(again.remaining)")
        #expect(again.losses == [], "\(what)")
        return report
    }

    // MARK: While the log has all rows

    @Test(arguments: RepairTests.Damage.allCases)
    func everyFileWithALaneIsMended(_ damage: RepairTests.Damage) throws {
        let sample = try RepairSample(Self.lane())
        for path in try sample.files() {
            let log = sample.copy()
            try log.damage(path, damage)
            let report = try expectMended(log, sample.rows, "\(path) \(damage)")
            if !path.hasSuffix("dwal") { #expect(report.lostCount == 0, "\(path) \(damage)") }
            // Whatever the log forgot, private segments have it still.
            let origins = Set(try log.rowsNow().map(\.origin))
            let held = sample.rows.filter { row in
                (1...40).contains(UInt64(row.origin.split(separator: "-")[1]) ?? 0)
            }
            #expect(held.allSatisfy { origins.contains($0.origin) }, "\(path) \(damage)")
        }
    }

    /// The manifest is gone, and sealing, which removes what no manifest names, takes nothing away.
    @Test(arguments: [8, 32]) func aLostManifestLosesNoPrivateSegment(mergedCount: Int) throws {
        let sample = try Self.recycled(mergedCount: mergedCount)
        for damage in RepairTests.Damage.allCases {
            let log = sample.copy()
            try log.damage(LogPaths.manifest(log.space), damage)
            let report = try expectMended(log, sample.rows, "\(damage)")
            #expect(report.lostCount == 0)
            let store = try log.log.open()
            #expect(try store.status(of: log.space).manifest.authority == nil)
            log.log.clock.advance(milliseconds: 2_000_000)
            _ = try store.seal(log.space, all: true)
            #expect(try RepairRow.all(log.space, in: store).count == sample.rows.count + 3)
            #expect(try store.verify(log.space) { _ in nil }.faults == [])
        }
    }

    // MARK: While the private segments are all there is

    /// What is lost with a private segment is said, by replica and sequence, and stays said.
    @Test(arguments: [RepairTests.Damage.zero, .delete, .flip])
    func aLostPrivateSegmentIsTold(_ damage: RepairTests.Damage) throws {
        let sample = try Self.recycled()
        let replica = try sample.log.open().status(of: sample.space).replica
        let paths = try sample.files().filter { $0.contains("/segments/") }
        for path in paths {
            let log = sample.copy()
            try log.damage(path, damage)
            let report = try expectMended(log, sample.rows, "\(path) \(damage)")
            let lost = report.losses.filter { $0.place != .positions }
            #expect(lost.allSatisfy { $0.place == .sequences(replica) })
            let store = try log.log.open()
            let verified = try store.verify(log.space) { _ in nil }
            #expect(verified.lostPending.map(\.sequences) == lost.map(\.numbers), "\(path)")
            #expect(verified.lost.reduce(0) { $0 + $1.count } <= 8, "\(path)")
            #expect(store.validate() == [])
            if !lost.isEmpty { try expectPromotable(log, store) }
        }
    }

    /// All that is pending can be given positions, in as many runs as it lies in.
    private func expectPromotable(_ log: RepairSample, _ store: LogStore) throws {
        let pending = try RepairRow.all(log.space, in: store).filter { $0.position == nil }
        var head = try store.status(of: log.space).head
        for row in pending {
            let text = row.origin.split(separator: "-")
            let run = PromotedRun(
                replica: try #require(ReplicaID(text: String(text[0]))),
                firstSequence: try #require(UInt64(text[1])),
                count: 1,
                firstPosition: head + 1,
                acceptedAt: Timestamp(milliseconds: 1 << 47)
            )
            try store.promote([run], in: log.space)
            head += 1
        }
        _ = try store.seal(log.space, all: true)
        #expect(try store.verify(log.space) { _ in nil }.faults == [])
        #expect(try store.laneSegments(of: log.space) == [])
        #expect(
            try RepairRow.all(log.space, in: store).map(\.origin).suffix(pending.count)
                == pending.map(\.origin)[...]
        )
    }

    /// The second of three private segments is gone: a lane with a gap goes on.
    @Test func aGapInTheMiddleOfALane() throws {
        let lane = try LaneLog(mergedCount: 8)
        try lane.append(24)
        _ = try lane.seal()
        let entry = try lane.store.laneSegments(of: lane.space)[1]
        try Self.turnOver(lane)
        let log = try RepairSample(lane)
        try log.damage(LogPaths.segment(entry.name, of: log.space), .zero)
        let report = try expectMended(log, log.rows, "a gap")
        #expect(report.losses.map(\.numbers) == [9...16])
        #expect(report.losses.map(\.place) == [.sequences(lane.replica)])
        let store = try log.log.open()
        #expect(try store.status(of: log.space).replica == lane.replica)
        #expect(try store.status(of: log.space).pending == 16 + 3)
        try expectPromotable(log, store)
        // The list lasts, however often the log is used again.
        let other = try store.makeSpace(isAuthority: true).space
        for _ in 0..<40 {
            _ = try store.append(log.log.append(20, textSize: 1000, to: other))
            try store.release(other, upTo: store.status(of: other).head)
        }
        try store.close()
        let again = try log.log.open()
        let lost = try again.verify(log.space) { _ in nil }.lostPending
        #expect(lost.map(\.sequences) == [9...16])
        #expect(again.validate() == [])
    }

    /// All that an own replica wrote is gone, and the next event has a sequence of its own.
    @Test func noSequenceIsUsedAgain() throws {
        let lane = try LaneLog(mergedCount: 8)
        try lane.append(16)
        _ = try lane.seal()
        try Self.turnOver(lane)
        let log = try RepairSample(lane)
        for path in try log.files() where path.hasSuffix("dseg") { try log.damage(path, .zero) }
        let report = try log.run()
        #expect(report.losses.map(\.numbers) == [1...16])
        let store = try log.log.open()
        let batches = try store.append(log.log.append(1, to: log.space))
        #expect(batches.first?.firstOrigin == Origin(replica: lane.replica, sequence: 17))
    }

    /// Wherever the power goes while lanes are mended, the next repair comes to the same end.
    @Test(arguments: ["manifest", "dseg", "dwal"]) func mendingLanesGoesOn(part: String) throws {
        let sample = part == "dwal" ? try RepairSample(Self.lane()) : try Self.recycled()
        let path = try #require(try sample.files().last { $0.hasSuffix(part) })
        let damaged = sample.copy()
        try damaged.damage(path, .flip)
        let whole = damaged.copy()
        let expected = try whole.run()
        let rows = try whole.rowsNow()
        try damaged.runCut(from: 1, by: { 1 + $0 / 8 }) { log, cut in
            let found = try log.rowsNow()
            #expect(found == rows, "cut at \(cut)")
        }
        #expect(expected.isMended)
    }

    // MARK: Several replicas

    @Test func lanesOfSeveralReplicasAreMended() throws {
        let lane = try LaneLog(mergedCount: 8)
        try lane.append(20)
        _ = try lane.seal()
        try lane.store.close()
        let copy = TestLog(disk: lane.log.disk.copy(), seed: 9)
        copy.sizes = lane.log.sizes
        var second = lane
        second.move(to: copy, try copy.open())
        try second.append(19)
        _ = try second.seal(all: true)
        try Self.turnOver(second)
        let entries = try second.store.laneSegments(of: lane.space)
        #expect(Set(entries.compactMap(\.replica)).count == 2)
        let sample = try RepairSample(second)
        let names = entries.flatMap {
            [LogPaths.segment($0.name, of: lane.space), LogPaths.sidecar($0.name, of: lane.space)]
        }
        for path in names + [LogPaths.manifest(lane.space)] {
            let log = sample.copy()
            try log.damage(path, .flip)
            let report = try expectMended(log, sample.rows, path)
            #expect(report.losses.allSatisfy { $0.place == report.losses[0].place }, "\(path)")
            #expect(report.lostCount <= 8, "\(path)")
        }
        // The manifest and one of each replica's segments at once.
        let log = sample.copy()
        for path in names where path.hasSuffix("dseg") && path != names[0] {
            guard path.contains("/0000000000000009-") else { continue }
            try log.damage(path, .zero)
        }
        try log.damage(LogPaths.manifest(lane.space), .delete)
        let report = try expectMended(log, sample.rows, "several at once")
        #expect(report.losses.map(\.numbers) == [9...16, 9...16])
    }

    @Test func aRecordOfWhatIsGoneIsReadAsItWasWritten() throws {
        let rows = GoneRows(
            replica: try #require(ReplicaID(rawValue: 77)),
            firstSequence: 9,
            count: 4,
            reason: .lost,
            since: Timestamp(milliseconds: 12)
        )
        var bytes: [UInt8] = []
        rows.append(to: &bytes)
        #expect(bytes.count + Record.headerSize == GoneRows.recordSize)
        #expect(GoneRows(bytes.span) == rows)
        for count in bytes.indices { #expect(GoneRows(bytes.span.extracting(first: count)) == nil) }
        // No replica, no sequence, no events, too many, and an unknown reason.
        for (offset, value) in [(0, UInt8(0)), (8, 0), (16, 0), (20, 1), (24, 4), (24, 0)] {
            var changed = bytes
            changed[offset] = value
            #expect(GoneRows(changed.span) == nil, "offset \(offset)")
        }
    }
}
