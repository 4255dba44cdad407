import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// What the log itself lost of a lane: blocks, sealed records, promotions and states.
@Suite struct RepairLaneFrameTests {
    /// A lane that was sealed and promoted in several steps, some of which a lost frame held.
    private func sample(recycles: Bool) throws -> RepairSample {
        var lane = try LaneLog(mergedCount: 8)
        for round in 0..<4 {
            try lane.append(9, textSize: 20)
            _ = try lane.seal()
            if round > 0 { try lane.promote(UInt64(3 + round)) }
        }
        if recycles {
            let other = try lane.store.makeSpace(isAuthority: true).space
            for _ in 0..<40 {
                _ = try lane.store.append(lane.log.append(20, textSize: 1000, to: other))
                try lane.store.release(other, upTo: lane.store.status(of: other).head)
            }
        }
        try lane.append(2)
        return try RepairSample(lane)
    }

    /// Each frame in turn is damaged: no event is shown twice, and what is gone is said.
    @Test(arguments: [false, true]) func everyFrameOfALaneIsMended(recycles: Bool) throws {
        let sample = try sample(recycles: recycles)
        let raw = try RawLog(sample.log.disk)
        let spaces = raw.entries.filter { $0.space == sample.space }
        var kinds: Set<RecordKind> = []
        var places: Set<[Int]> = []
        for entry in spaces where places.insert([Int(entry.file), entry.offset / 64]).inserted {
            kinds.insert(entry.kind)
            let log = sample.copy()
            try log.log.disk.flipBit(3, at: entry.offset, of: LogPaths.logFile(entry.file))
            let what = "\(entry.kind) in file \(entry.file) at \(entry.offset)"
            let rehearsed = try log.repair().rehearse()
            let report = try log.run()
            #expect(report.isMended, "\(what): \(report.findings) \(report.remaining)")
            #expect(report.losses == rehearsed.losses, "\(what)")
            try expectTold(log, sample.rows, report, what)
            let again = try log.run()
            #expect(again.isClean && again.losses == [], "\(what): \(again.findings)")
        }
        #expect(kinds.isSuperset(of: recycles ? [.sealed, .rows] : [.sealed, .promotion, .rows]))
    }

    /// Pending events keep their hashes, which the authority may know, if a sidecar has the seed.
    @Test func aLostSeedOfALaneIsFoundInASidecar() throws {
        let lane = try LaneLog()
        try lane.append(8)
        _ = try lane.seal()
        try lane.append(2)
        let pending = PendingEvents(replica: lane.replica, sequences: 9...10)
        let hash = try #require(try lane.store.pendingHash(of: pending, in: lane.space))
        let sample = try RepairSample(lane)
        try sample.damageSeed()
        let report = try sample.run()
        #expect(report.isMended)
        #expect(report.remarks == ["1 frame of the write-ahead log"])
        #expect(try sample.rowsNow() == sample.rows)
        let store = try sample.log.open()
        #expect(try store.pendingHash(of: pending, in: sample.space) == hash)
        try store.close()
    }

    /// What is there is as it was, and what is not is said to be lost.
    private func expectTold(
        _ log: RepairSample,
        _ before: [RepairRow],
        _ report: RepairReport,
        _ what: String
    ) throws {
        let store = try log.log.open()
        #expect(store.report.fault == nil, "\(what)")
        let after = try RepairRow.all(log.space, in: store)
        let byOrigin = Dictionary(after.map { ($0.origin, $0) }) { first, _ in first }
        #expect(byOrigin.count == after.count, "\(what): an event is there twice")
        let hasLostEnd = report.remarks.contains { $0.hasPrefix("the end of") }
        var positions: Set<UInt64> = []
        var origins: Set<String> = []
        for loss in report.losses {
            switch loss.place {
            case .positions: positions.formUnion(loss.numbers)
            case .sequences(let replica):
                origins.formUnion(loss.numbers.map { Origin(replica: replica, sequence: $0).text })
            }
        }
        for row in before {
            if let found = byOrigin[row.origin] {
                #expect(found.publicPart == row.publicPart, "\(what): \(row.origin)")
                #expect(found.personalPart == row.personalPart, "\(what): \(row.origin)")
                #expect(!origins.contains(row.origin), "\(what): \(row.origin) is not lost")
                // Of a promotion at the end nothing may tell any more.
                if let position = found.position { #expect(position == row.position, "\(what)") }
            } else {
                let isTold =
                    origins.contains(row.origin) || hasLostEnd
                    || row.position.map { positions.contains($0) } ?? false
                #expect(isTold, "\(what): \(row.origin) at \(row.position ?? 0) is gone")
            }
        }
        let batches = try store.append(log.log.append(3, to: log.space))
        let origin = try #require(batches.first).firstOrigin.text
        #expect(!before.contains { $0.origin == origin }, "\(what): an origin is used again")
        _ = try store.seal(log.space, all: true)
        let result = try store.verify(log.space) { _ in nil }
        #expect(result.faults == [], "\(what)")
        #expect(store.validate() == [], "\(what)")
        #expect(try RepairRow.all(log.space, in: store).count == after.count + 3, "\(what)")
        try store.close()
    }
}
