import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// Repair keeps what verifies, sets the rest aside, and says what is lost.
@Suite struct RepairTests {
    enum Damage: CaseIterable {
        case flip, truncate, extend, zero, delete, folder
    }

    /// Whatever happens to whichever file, what was not damaged stays, and the log goes on.
    @Test(arguments: Damage.allCases) func everyFileIsMended(_ damage: Damage) throws {
        let sample = try RepairSample()
        for path in try sample.files() {
            let log = sample.copy()
            try log.damage(path, damage)
            let before = try log.bytes()
            let rehearsed = try log.repair().rehearse()
            #expect(try log.bytes() == before, "a rehearsal changes nothing: \(path)")
            let report = try log.run()
            #expect(report.isMended, "\(path) \(damage): \(report.findings) \(report.remaining)")
            #expect(report.lostCount == rehearsed.lostCount, "\(path)")
            #expect(report.findings.map(\.fault) == rehearsed.findings.map(\.fault), "\(path)")
            try log.expectWhole(sample.rows, report, "\(path) \(damage)")
            let again = try log.run()
            #expect(again.isClean, "\(path) \(damage): \(again.findings) \(again.remaining)")
        }
    }

    /// A reader stops at the length that the header names, and never saw what follows.
    @Test(arguments: ["dseg", "dper"]) func bytesBehindASegmentAreFound(suffix: String) throws {
        let log = try RepairSample()
        let path = try #require(try log.files().first { $0.hasSuffix(suffix) })
        let size = try log.log.disk.contents(of: path, sizeMax: .max).count
        try log.damage(path, .extend)
        let found = try log.log.open(access: .readOnly).verify(log.space) { _ in nil }
        #expect(found.faults.map(\.file) == [path])
        #expect(found.faults.first?.offset == size)
        let report = try log.run()
        #expect(report.isMended)
        #expect(report.findings.map(\.fault.file) == [path])
        #expect(report.lostCount == 0)
    }

    @Test func whatIsWholeIsLeftAlone() throws {
        let log = try RepairSample().copy()
        let before = try log.bytes()
        let report = try log.run()
        #expect(report.isClean, "\(report.findings) \(report.remaining)")
        #expect(report.setAside == nil)
        let after = try log.bytes()
        // These change whenever a log is opened.
        let small = [LogPaths.syncedMark, LogPaths.lock, LogPaths.reserve]
        for (path, bytes) in before where !small.contains(path) {
            #expect(after[path] == bytes, "\(path)")
        }
    }

    /// Wherever the power goes while it repairs, the next repair comes to the same end.
    @Test(arguments: ["dseg", "dwal", "manifest", "tiles/size", "replica"])
    func repairGoesOnAfterACrash(part: String) throws {
        let sample = try RepairSample()
        let path = try #require(try sample.files().first { $0.hasSuffix(part) })
        let damaged = sample.copy()
        try damaged.damage(path, .flip)
        let whole = damaged.copy()
        let expected = try whole.run()
        let rows = try whole.rowsNow()
        try damaged.runCut(from: 1, by: { 1 + $0 / 4 }) { log, cut in
            let found = try log.rowsNow()
            #expect(found == rows, "cut at \(cut)")
        }
        #expect(expected.isMended)
    }

    /// The subtrees of a lost run are in the tiles, so the root stays what it was.
    @Test func theRootStaysIfTheTilesKnowIt() throws {
        // The write-ahead log is recycled, so that no other copy is left.
        let sample = try RepairSample(
            segmentCount: 256,
            mergedCount: 256,
            count: 2000,
            quietMax: 0
        )
        let path = try #require(
            try sample.files().filter { $0.hasSuffix("dseg") }.dropFirst().first
        )
        let log = sample.copy()
        try log.damage(path, .zero)
        let report = try log.run()
        #expect(report.losses.map(\.numbers) == [257...512])
        #expect(report.remarks == [])
        let store = try log.log.open()
        #expect(try store.root(of: log.space) == sample.root)
        let result = try store.verify(log.space) { _ in nil }
        #expect(result.faults == [])
        #expect(result.root == sample.root)
        #expect(result.lost.map(\.positions) == [257...512])
        #expect(try store.inclusion(of: 700, in: log.space) != nil)
        #expect(throws: LogError.self) { try store.inclusion(of: 300, in: log.space) }
        #expect(try store.status(of: log.space).manifest.lineage == sample.lineage)
    }

    /// Rows that were not recycled in the write-ahead log make a segment again.
    @Test func aSegmentIsMadeAgainFromTheLog() throws {
        let sample = try RepairSample()
        for path in try sample.files() where path.hasSuffix("dper") || path.hasSuffix("dseg") {
            let log = sample.copy()
            try log.damage(path, .delete)
            let report = try log.run()
            #expect(report.lostCount == 0)
            #expect(report.remarks == [])
            #expect(try log.rowsNow() == sample.rows)
            #expect(try log.log.open().root(of: log.space) == sample.root)
        }
    }

    /// With the manifest gone everything but its own ids is found again.
    @Test(arguments: [false, true], [false, true]) func aManifestIsMadeAgain(
        isSealed: Bool,
        hasReplica: Bool
    ) throws {
        let sample = try RepairSample(sealed: isSealed)
        let log = sample.copy()
        try log.damage(LogPaths.manifest(log.space), .delete)
        if !hasReplica { try log.damage(LogPaths.replica(log.space), .delete) }
        let report = try log.run()
        #expect(report.isMended)
        #expect(report.lostCount == 0)
        #expect(try log.rowsNow() == sample.rows)
        let store = try log.log.open()
        #expect(try store.root(of: log.space) == sample.root)
        #expect(try store.status(of: log.space).manifest.lineage != sample.lineage)
    }

    /// A removal that was cut short looks like a manifest that is gone, but for its name.
    @Test func aSpaceThatWasRemovedIsNotBroughtBack() throws {
        let log = try RepairSample().copy()
        let manifest = LogPaths.manifest(log.space)
        try log.log.disk.rename(manifest, to: LogPaths.removed(log.space))
        let report = try log.run()
        #expect(report.findings.isEmpty, "\(report.findings)")
        let store = try log.log.open()
        #expect(try !store.hasSpace(log.space))
        try store.removeRemains()
        #expect(try !log.log.disk.exists(LogPaths.space(log.space)))
    }

    /// A frame in the middle is gone: its positions stay empty, and nothing else changes.
    @Test func aLostFrameLeavesAGap() throws {
        let sample = try RepairSample(sealed: false)
        let path = try #require(try sample.files().first { $0.hasSuffix("dwal") })
        let log = sample.copy()
        try log.log.disk.flipBit(1, at: 4096 + 1200, of: path)
        let report = try log.run()
        #expect(report.isMended)
        #expect(report.lostCount > 0)
        #expect(report.lostCount < 40)
        try log.expectWhole(sample.rows, report, "a lost frame")
        let kept = try log.bytes().keys.filter { $0.hasPrefix("set-aside/1/wal/") }
        #expect(kept.count == 1)
    }

    /// A seed of salts that a lost frame held is in a sidecar as well, so the root stays.
    @Test func aLostSeedIsFoundInASidecar() throws {
        let sample = try RepairSample()
        let tail = sample.rows.suffix(9)
        #expect(tail.contains { !$0.personalPart.isEmpty }, "it needs the seed")
        let log = sample.copy()
        try log.damageSeed()
        let report = try log.run()
        #expect(report.isMended)
        #expect(report.lostCount == 0)
        #expect(report.remarks == ["1 frame of the write-ahead log"])
        let store = try log.log.open()
        #expect(try store.root(of: log.space) == sample.root)
        #expect(try store.status(of: log.space).manifest.lineage == sample.lineage)
        try store.close()
        try log.expectWhole(sample.rows, report, "a lost seed")
        #expect(try log.run().isClean)
    }

    /// A seed of a sidecar is believed only if the tree is what the log says that it was.
    @Test func aSeedOfAnotherTreeCostsTheLineage() throws {
        var lane = try LaneLog()
        try lane.reopen()
        // Nothing shows that there are two, and each draws a seed of its own.
        let copy = TestLog(disk: lane.log.disk.snapshot(), seed: 9)
        copy.sizes = lane.log.sizes
        var other = lane
        other.move(to: copy, try copy.open())
        try Self.fill(&lane)
        try Self.fill(&other)
        let sample = try RepairSample(lane)
        try other.store.close()
        let folder = LogPaths.segments(lane.space)
        let paths = try copy.disk.list(folder).map { folder + "/" + $0 }
        for path in paths + [LogPaths.manifest(lane.space)] {
            let bytes = try copy.disk.contents(of: path, sizeMax: .max)
            try sample.log.disk.replace(path, with: bytes)
        }
        try sample.damageSeed()
        let report = try sample.run()
        #expect(report.isMended, "\(report.findings) \(report.remaining)")
        #expect(report.remarks.contains { $0.hasPrefix("the lineage of space") })
        #expect(!report.remarks.contains { $0.hasPrefix("the salts") })
        let store = try sample.log.open()
        #expect(try store.status(of: sample.space).manifest.lineage != sample.lineage)
        #expect(try store.verify(sample.space) { _ in nil }.faults == [])
        try store.close()
    }

    private static func fill(_ lane: inout LaneLog) throws {
        try lane.append(8)
        try lane.promote(8)
        _ = try lane.seal()
        try lane.append(2)
        try lane.promote(2)
    }

    /// Without a sidecar that has it, a seed is drawn anew, and the space is another one.
    @Test func aLostSeedThatNoSidecarHasIsDrawnAnew() throws {
        let sample = try RepairSample(sealed: false)
        let log = sample.copy()
        try log.damageSeed()
        let report = try log.run()
        #expect(report.isMended)
        #expect(report.remarks.contains { $0.hasPrefix("the salts of 1 groups") })
        let store = try log.log.open()
        #expect(try store.status(of: log.space).manifest.lineage != sample.lineage)
        try store.close()
        try log.expectWhole(sample.rows, report, "a drawn seed")
    }
}

/// A small directory with events of each kind: sealed, in the tail, and some with personal parts.
struct RepairSample {
    let log: TestLog
    let space: SpaceID
    let rows: [RepairRow]
    let root: Hash32
    let lineage: Lineage

    init(
        segmentCount: Int = 8,
        mergedCount: Int = 32,
        count: Int64 = 75,
        quietMax: Int = 1024 * 1024,
        sealed isSealed: Bool = true
    ) throws {
        var sizes = TestLog.small
        (sizes.reserve, sizes.quietMax) = (4096, quietMax)
        let sealed = try SealedLog(
            segmentCount: segmentCount,
            mergedCount: mergedCount,
            sizes: sizes
        )
        (log, space) = (sealed.log, sealed.space)
        try sealed.fill(0..<count)
        if isSealed { _ = try sealed.store.seal(space, all: false) }
        try sealed.fill(count..<count + 9)
        root = try sealed.store.root(of: space)
        lineage = try sealed.store.status(of: space).manifest.lineage
        rows = try RepairRow.all(space, in: sealed.store)
        try sealed.store.close()
    }

    /// All that a lane is, at rest.
    init(_ lane: LaneLog) throws {
        (log, space) = (lane.log, lane.space)
        root = try lane.store.root(of: space)
        lineage = try lane.store.status(of: space).manifest.lineage
        rows = try RepairRow.all(space, in: lane.store)
        try lane.store.close()
    }

    private init(_ other: RepairSample) {
        log = TestLog(disk: other.log.disk.copy(machineID: "test"), seed: 7)
        log.sizes = other.log.sizes
        (space, rows, root, lineage) = (other.space, other.rows, other.root, other.lineage)
    }

    func copy() -> RepairSample { RepairSample(self) }

    func repair() -> LogRepair {
        LogRepair(
            log.disk,
            time: log.clock,
            entropy: log.entropy,
            engine: log.kinds.engine,
            types: log.kinds.types,
            sizes: log.sizes
        )
    }

    func run() throws -> RepairReport {
        var repair = repair()
        return try repair.run()
    }

    /// Repairs copies, each cut off after more operations, and again; `check` looks at each.
    ///
    /// Ends with the cut that comes too late. `step` tells how far behind a cut the next one is.
    func runCut(
        from start: Int,
        by step: (Int) -> Int,
        check: (RepairSample, Int) throws -> Void
    ) throws {
        var cut = start
        while true {
            let log = copy()
            log.log.disk.cutAfter(operations: cut, CrashDisk.CutMoment.allCases[cut % 3])
            var random = SeededRandom(seed: UInt64(cut))
            let first = try? log.run()
            log.log.disk.crash(using: &random)
            let report = try log.run()
            #expect(report.isMended, "cut at \(cut): \(report.findings) \(report.remaining)")
            try check(log, cut)
            if first != nil { return }
            cut += step(cut)
        }
    }

    /// The paths of all files.
    func files(in folder: String = "") throws -> [String] {
        var found: [String] = []
        for name in try log.disk.list(folder) {
            let path = folder.isEmpty ? name : folder + "/" + name
            if (try? log.disk.list(path)) != nil {
                found += try files(in: path)
            } else {
                found.append(path)
            }
        }
        return found
    }

    func bytes() throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for path in try files() {
            found[path] = try log.disk.contents(of: path, sizeMax: .max)
        }
        return found
    }

    func damage(_ path: String, _ damage: RepairTests.Damage) throws {
        if damage == .folder {
            try log.disk.remove(path)
            try log.disk.makeDirectoryDurably(path + "/inner")
            return
        }
        let file = try log.disk.open(path, .readWrite)
        let size = try file.size()
        switch damage {
        case .flip: if size > 0 { try log.disk.flipBit(2, at: size / 3, of: path) }
        case .truncate: try file.truncate(to: size / 2)
        case .extend: try file.write([1, 2, 3, 4, 5].span, at: size)
        case .zero: try file.write([UInt8](repeating: 0, count: size).span, at: 0)
        case .delete, .folder: try log.disk.remove(path)
        }
        // For good, whatever crashes follow.
        try file.sync()
        try log.disk.syncDirectory(LogPaths.parent(of: path))
    }

    /// Changes some bytes in the middle of a file, so that no checksum tells what they were.
    func scramble(_ path: String, at offset: Int, count: Int) throws {
        let file = try log.disk.open(path, .readWrite)
        var bytes: [UInt8] = []
        try file.read(at: offset, count: count, into: &bytes)
        for index in bytes.indices { bytes[index] ^= UInt8(truncatingIfNeeded: 91 + index * 7) }
        try file.write(bytes.span, at: offset)
        try file.sync()
    }

    /// Damages the frame that holds the first seed of salts.
    func damageSeed() throws {
        let seed = try RawLog(log.disk).entries.first { $0.kind == .seed && $0.space == space }
        let entry = try #require(seed)
        try log.disk.flipBit(3, at: entry.offset, of: LogPaths.logFile(entry.file))
    }

    func rowsNow() throws -> [RepairRow] {
        let store = try log.open(access: .readOnly)
        return try RepairRow.all(space, in: store)
    }

    /// What is not said to be lost is as it was; and the log goes on.
    ///
    /// `first` is the report of a repair before.
    func expectWhole(
        _ before: [RepairRow],
        _ report: RepairReport,
        _ what: String,
        after first: RepairReport? = nil
    ) throws {
        let store = try log.open()
        #expect(store.report.fault == nil, "\(what)")
        let after = try RepairRow.all(space, in: store)
        let losses = (first?.losses ?? []) + report.losses
        let lost = losses.filter { $0.place == .positions }.map(\.numbers)
        let lostPending = losses.flatMap { loss -> [String] in
            guard case .sequences(let replica) = loss.place else { return [] }
            return loss.numbers.map { Origin(replica: replica, sequence: $0).text }
        }
        let end = after.last?.position ?? 0
        let hasLostEnd = report.remarks.contains { $0.hasPrefix("the end of") }
        let kept = before.filter { row in
            guard let position = row.position else { return !lostPending.contains(row.origin) }
            return !lost.contains { $0.contains(position) } && (!hasLostEnd || position <= end)
        }
        if hasLostEnd, before.contains(where: { $0.position == nil }) {
            expectPart(after, of: before, what)
        } else {
            #expect(after == kept, "\(what)")
            let status = try store.status(of: space)
            #expect(status.events == after.count + Int(status.released), "\(what)")
            let events = try store.manifests().reduce(0) {
                $0 + (try store.status(of: $1.space).events)
            }
            #expect(report.events == events, "\(what)")
        }
        let batches = try store.append(log.append(3, to: space))
        let origin = try #require(batches.first).firstOrigin.text
        #expect(!before.contains { $0.origin == origin }, "\(what): an origin is used again")
        _ = try store.seal(space, all: true)
        let result = try store.verify(space) { _ in nil }
        #expect(result.faults == [], "\(what)")
        #expect(store.validate() == [], "\(what)")
        #expect(try RepairRow.all(space, in: store).count == after.count + 3, "\(what)")
        try store.close()
    }
}

extension RepairSample {
    /// Where nobody knows how the log ended, what is left of a lane is as it was, or pending again.
    private func expectPart(
        _ after: [RepairRow],
        of before: [RepairRow],
        _ what: String
    ) {
        #expect(Set(after.map(\.origin)).count == after.count, "\(what): an event is there twice")
        for row in after {
            let old = before.first { $0.origin == row.origin }
            #expect(old?.publicPart == row.publicPart, "\(what): \(row.origin)")
            #expect(old?.personalPart == row.personalPart, "\(what): \(row.origin)")
            #expect(row.position == nil || row.position == old?.position, "\(what): \(row.origin)")
        }
        // What was in segments has its place still.
        #expect(after.count { $0.position != nil } >= 16, "\(what)")
    }
}

/// All that is known of an event.
struct RepairRow: Hashable {
    let origin: String
    let position: UInt64?
    let acceptedAt: Int64?
    let publicPart: [UInt8]
    let personalPart: [UInt8]

    static func all(_ space: SpaceID, in store: LogStore) throws -> [RepairRow] {
        var rows: [RepairRow] = []
        var cursor = try store.cursor(space)
        while let events = try cursor.next() {
            for stored in events.rows {
                var personal: [UInt8] = []
                if case .present(let range) = stored.row.personal {
                    personal = Array(events.bytes[range])
                }
                rows.append(
                    RepairRow(
                        origin: stored.row.origin.text,
                        position: stored.position,
                        acceptedAt: stored.acceptedAt?.milliseconds,
                        publicPart: Array(events.bytes[stored.row.publicPart]),
                        personalPart: personal
                    )
                )
            }
        }
        return rows
    }
}
