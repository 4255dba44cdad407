import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioStorage
import Testing

/// What becomes of a log of which no other copy is left.
@Suite struct RepairLossTests {
    /// A log of several files of which only the tail and the seeds are left, sealed otherwise.
    private func recycled() throws -> RepairSample {
        try RepairSample(segmentCount: 256, mergedCount: 256, count: 2000, quietMax: 0)
    }

    /// A program that had the log open went on behind its old end, and left a gap in front.
    @Test func whoHasTheLogOpenGoesOnWhereARepairLeftIt() throws {
        let log = try RepairSample().copy()
        let running = try log.log.open(process: 7)
        for _ in 0..<4 { _ = try running.append(log.log.append(1, to: log.space)) }
        let name = try #require(try log.log.disk.list(LogPaths.log).last { $0.hasSuffix(".dwal") })
        let path = LogPaths.log + "/" + name
        let bytes = try log.log.disk.contents(of: path, sizeMax: .max)
        let frames = bytes.indices.filter { bytes[$0...].starts(with: Array("DFRM".utf8)) }
        for frame in frames.suffix(2) { try log.log.disk.flipBit(0, at: frame + 60, of: path) }
        #expect(try log.run().isMended)
        _ = try running.append(log.log.append(1, to: log.space))
        let store = try log.log.open(process: 8)
        #expect(store.report.fault == nil)
        #expect(try log.run().isClean)
    }

    /// A bit that changed in the only copy costs nothing.
    @Test func aBitOfALastCopyIsPutRight() throws {
        let sample = try recycled()
        let paths = try sample.files().filter { $0.contains("/segments/") }
        for path in [paths[2], paths[3]] {
            let size = try sample.bytes()[path]?.count ?? 0
            for offset in [10, 33, 62, 70, size / 2, size - 1] {
                let log = sample.copy()
                try log.log.disk.flipBit(5, at: offset, of: path)
                let report = try log.run()
                #expect(report.isMended, "\(path): \(report.findings) \(report.remaining)")
                #expect(report.lostCount == 0, "\(path) \(offset)")
                #expect(!report.findings.isEmpty)
                let store = try log.log.open()
                #expect(try store.root(of: log.space) == sample.root)
                #expect(try store.status(of: log.space).manifest.lineage == sample.lineage)
                try store.close()
                try log.expectWhole(sample.rows, report, "\(path) \(offset)")
                #expect(try log.run().isClean, "\(path)")
            }
        }
    }

    /// Wherever a stretch of the only copy is damaged: what is in other blocks stays, under the
    /// same root, and can be repaired again.
    @Test(arguments: 0..<4) func aDamagedBlockCostsItsOwnEvents(part: Int) throws {
        let sample = try recycled()
        let paths = try sample.files().filter { $0.hasSuffix("dseg") }
        let size = try sample.bytes()[paths[1]]?.count ?? 0
        var (least, most): (UInt64, UInt64) = (.max, 0)
        let offsets = stride(from: 64 + part * 37, to: size - 8, by: 4 * 37)
        for (number, offset) in offsets.enumerated() {
            let log = sample.copy()
            let what = "at \(offset) of \(size)"
            try log.scramble(paths[1], at: offset, count: 8)
            let report = try log.run()
            #expect(report.isMended, "\(what): \(report.findings) \(report.remaining)")
            (least, most) = (min(least, report.lostCount), max(most, report.lostCount))
            let store = try log.log.open()
            #expect(try store.root(of: log.space) == sample.root, "\(what)")
            #expect(try store.status(of: log.space).manifest.lineage == sample.lineage, "\(what)")
            let found = try store.verify(log.space) { _ in nil }
            #expect(found.faults == [], "\(what)")
            #expect(found.root == sample.root, "\(what)")
            #expect(found.lost.reduce(0) { $0 + $1.count } == report.lostCount, "\(what)")
            try store.close()
            #expect(try log.run().isClean, "\(what)")
            // The second loss is the same each time, and what came before it differs little.
            guard number.isMultiple(of: 4) else { continue }
            try log.scramble(paths[2], at: size / 2, count: 8)
            let second = try log.run()
            #expect(second.isMended, "\(what): \(second.findings) \(second.remaining)")
            try log.expectWhole(sample.rows, second, what, after: report)
            #expect(try log.run().isClean, "\(what)")
        }
        #expect(least == 0, "schemas are known elsewhere")
        #expect(most <= 256)
    }

    /// Without its sidecar, a segment still has the events that have nothing personal.
    @Test func aLostSidecarCostsPersonalEvents() throws {
        let sample = try recycled()
        let path = try #require(
            try sample.files().filter { $0.hasSuffix("dper") }.dropFirst().first
        )
        let log = sample.copy()
        try log.damage(path, .delete)
        let report = try log.run()
        #expect(report.isMended, "\(report.findings) \(report.remaining)")
        let personal = sample.rows.filter {
            !$0.personalPart.isEmpty && 257...512 ~= $0.position ?? 0
        }
        #expect(report.lostCount == UInt64(personal.count))
        #expect(0..<256 ~= personal.count)
        let store = try log.log.open()
        #expect(try store.root(of: log.space) == sample.root)
        try store.close()
        try log.expectWhole(sample.rows, report, "without \(path)")
        #expect(try log.run().isClean)
    }

    /// What was lost in a segment is lost for good, also if the list of that is gone.
    @Test func aSegmentTellsWhatWasLostOfIt() throws {
        let sample = try recycled()
        let path = try #require(try sample.files().filter { $0.hasSuffix("dper") }.first)
        let log = sample.copy()
        try log.damage(path, .delete)
        let report = try log.run()
        #expect(0..<256 ~= report.lostCount)
        let rows = try log.rowsNow()
        try log.damage(LogPaths.lost(log.space), .delete)
        let second = try log.run()
        #expect(second.isMended, "\(second.findings) \(second.remaining)")
        #expect(second.lostCount == 0)
        #expect(try log.rowsNow() == rows)
        let store = try log.log.open()
        let found = try store.verify(log.space) { _ in nil }
        #expect(found.faults == [])
        #expect(found.lost.reduce(0) { $0 + $1.count } == report.lostCount)
        try store.close()
    }

    /// Segments that lie within a tile, or over the edge of one.
    @Test func aBitOfAnySegmentIsPutRight() throws {
        let sample = try RepairSample(
            segmentCount: 100,
            mergedCount: 100,
            count: 1100,
            quietMax: 0
        )
        for path in try sample.files() where path.hasSuffix("dseg") {
            let log = sample.copy()
            try log.log.disk.flipBit(1, at: 50, of: path)
            let report = try log.run()
            #expect(report.isMended, "\(path): \(report.findings) \(report.remaining)")
            #expect(report.lostCount == 0, "\(path)")
            try log.expectWhole(sample.rows, report, path)
        }
    }

    /// Of each sealed file the events are lost that it alone had, and no others.
    @Test(arguments: [RepairTests.Damage.zero, .delete])
    func aLastCopyIsLost(_ damage: RepairTests.Damage) throws {
        let sample = try recycled()
        let paths = try sample.files().filter { $0.contains("/segments/") }
        for path in [paths[0], paths[3]] {
            let log = sample.copy()
            try log.damage(path, damage)
            let report = try log.run()
            #expect(report.isMended, "\(path): \(report.findings) \(report.remaining)")
            #expect(report.losses.allSatisfy { $0.count <= 256 }, "\(path)")
            try log.expectWhole(sample.rows, report, path)
            #expect(try log.run().isClean, "\(path)")
        }
    }

    /// Wherever the power goes while events are given up, the end is the same.
    @Test(arguments: 0..<2) func losingGoesOnAfterACrash(part: Int) throws {
        let sample = try recycled()
        let path = try #require(
            try sample.files().filter { $0.hasSuffix("dseg") }.dropFirst().first
        )
        let damaged = sample.copy()
        try damaged.damage(path, .truncate)
        let whole = damaged.copy()
        let expected = try whole.run()
        let (rows, root) = (try whole.rowsNow(), try whole.log.open().root(of: whole.space))
        #expect(expected.lostCount > 0)
        try damaged.runCut(from: 1 + part, by: { 6 + $0 / 2 }) { log, cut in
            let found = try log.rowsNow()
            #expect(found == rows, "cut at \(cut)")
            let store = try log.log.open()
            #expect(try store.root(of: log.space) == root, "cut at \(cut)")
        }
    }

    /// Without anything that tells of its hashes a lost run gets stand-ins, and a new lineage.
    @Test func unknownHashesGetStandIns() throws {
        // Runs of 64 are smaller than what a hash of a tile covers.
        let sample = try RepairSample(
            segmentCount: 64,
            mergedCount: 64,
            count: 1100,
            quietMax: 0
        )
        let path = try #require(
            try sample.files().filter { $0.hasSuffix("dseg") }.dropFirst(2).first
        )
        let log = sample.copy()
        try log.damage(path, .zero)
        // What the tile says of the run is not what the log says of its root.
        try log.log.disk.flipBit(3, at: 7, of: LogPaths.tiles(log.space, level: 1))
        let report = try log.run()
        #expect(report.losses.map(\.numbers) == [129...192])
        #expect(report.remarks.count == 1)
        let store = try log.log.open()
        #expect(try store.status(of: log.space).manifest.lineage != sample.lineage)
        let root = try store.root(of: log.space)
        #expect(root != sample.root)
        let result = try store.verify(log.space) { _ in nil }
        #expect(result.faults == [])
        #expect(result.root == root)
        #expect(try store.inclusion(of: 130, in: log.space) != nil)
        #expect(try store.inclusion(of: 1000, in: log.space) != nil)
        try log.expectWhole(sample.rows, report, "stand-ins")
    }

    /// Runs that are smaller than what a hash of a tile covers: the hash stays, and so the root
    /// and the lineage; of what is beside them nothing can be proven any more.
    @Test func aPartOfATileKeepsTheRoot() throws {
        let sample = try RepairSample(
            segmentCount: 64,
            mergedCount: 64,
            count: 1100,
            quietMax: 0
        )
        let paths = try sample.files().filter { $0.hasSuffix("dseg") }
        let log = sample.copy()
        try log.damage(paths[2], .zero)
        let report = try log.run()
        #expect(report.losses.map(\.numbers) == [129...192])
        #expect(report.remarks.isEmpty)
        let store = try log.log.open()
        #expect(try store.status(of: log.space).manifest.lineage == sample.lineage)
        #expect(try store.root(of: log.space) == sample.root)
        let result = try store.verify(log.space) { _ in nil }
        #expect(result.faults == [])
        #expect(result.root == sample.root)
        #expect(result.lost.map(\.positions) == [1...256])
        #expect(result.lost.map(\.kept) == [[1...128, 193...256]])
        for position: UInt64 in [20, 130, 256] {
            #expect(throws: LogError.self) {
                try store.inclusion(of: position, in: log.space)
            }
        }
        #expect(try store.inclusion(of: 257, in: log.space) != nil)
        #expect(try store.inclusion(of: 1000, in: log.space) != nil)
        // Others get news behind what was lost, but not over it.
        for (position, end) in [(192, 1109), (300, 1109)] as [(UInt64, UInt64)] {
            let news = try store.news(of: log.space, after: position, own: [:], countMax: 5000)
            #expect(news.end == end)
        }
        for position: UInt64 in [0, 100, 128, 150, 191] {
            let error = #expect(throws: LogError.self) {
                try store.news(of: log.space, after: position, own: [:], countMax: 5000)
            }
            if case .lost = error { continue }
            Issue.record("\(position): \(String(describing: error))")
        }
        try store.close()
        try log.expectWhole(sample.rows, report, "in a tile")
        #expect(try log.run().isClean)
        // Of what is left of the tile, more is lost; and the tile beside it.
        let rows = try log.rowsNow()
        try log.damage(paths[0], .zero)
        try log.damage(paths[4], .zero)
        let second = try log.run()
        #expect(second.losses.map(\.numbers) == [1...64, 257...320])
        try log.expectWhole(rows, second, "in a tile, again")
        let last = try log.log.open()
        #expect(throws: LogError.self) {
            try last.news(of: log.space, after: 256, own: [:], countMax: 5000)
        }
        let found = try last.verify(log.space) { _ in nil }
        #expect(found.lost.map(\.kept) == [[65...128, 193...256], [321...512]])
        #expect(try last.status(of: log.space).manifest.lineage == sample.lineage)
        try last.close()
    }

    /// A segment that is lost after another one was.
    @Test func aSecondLossAddsToTheFirst() throws {
        let sample = try recycled()
        let log = sample.copy()
        let paths = try sample.files().filter { $0.hasSuffix("dseg") }
        var all: [ClosedRange<UInt64>] = []
        for path in [paths[1], paths[0], paths[3]] {
            try log.damage(path, .zero)
            let report = try log.run()
            #expect(report.isMended, "\(report.findings) \(report.remaining)")
            all += report.losses.map(\.numbers)
            let store = try log.log.open()
            let lost = try store.verify(log.space) { _ in nil }.lost.map(\.positions)
            #expect(lost.reduce(0) { $0 + $1.count } == all.reduce(0) { $0 + $1.count })
            #expect(try store.root(of: log.space) == sample.root)
            try store.close()
        }
    }

    /// Each file of a log of several is damaged in each way.
    @Test(arguments: RepairTests.Damage.allCases)
    func everyFileOfALongLogIsMended(_ damage: RepairTests.Damage) throws {
        let sample = try RepairSample(count: 1500, sealed: false)
        let paths = try sample.files().filter { $0.hasSuffix("dwal") }
        #expect(paths.count > 2)
        for path in paths {
            let log = sample.copy()
            try log.damage(path, damage)
            let report = try log.run()
            #expect(report.isMended, "\(path): \(report.findings) \(report.remaining)")
            try log.expectWhole(sample.rows, report, "\(path) \(damage)")
            #expect(try log.run().isClean, "\(path)")
        }
    }

    @Test func aListOfLostPositionsIsReadAsItWasWritten() throws {
        var hasher = EventHasher()
        let leaf = hasher.leaf(.zero, acceptedAt: 1)
        let list = [
            LostPositions(1...3, since: Timestamp(milliseconds: 5)),
            LostPositions(9...12, since: Timestamp(milliseconds: 6), hashes: [leaf]),
            LostPositions(
                17...32,
                since: Timestamp(milliseconds: 7),
                hashes: [leaf],
                kept: [17...20, 22...22, 25...31]
            ),
        ]
        #expect(list.runs == [1...3, 9...12, 21...21, 23...24, 32...32])
        #expect(list.map(\.count) == [3, 4, 4])
        let bytes = LostFile.encoded(list)
        #expect(LostFile.read(bytes.span) == list)
        for index in bytes.indices {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[index] ^= 1 << UInt8(bit)
                #expect(LostFile.read(flipped.span) == nil, "byte \(index)")
            }
        }
        for count in bytes.indices {
            #expect(LostFile.read(bytes.span.extracting(0..<count)) == nil)
        }
    }

    /// A subtree gives the same tree as its leaves.
    @Test(arguments: UInt64(0)..<20) func subtreesMakeTheSameTree(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var hasher = EventHasher()
        let size = UInt64(1 + random.below(300))
        let start = UInt64(random.below(Int(size)))
        let end = start + 1 + UInt64(random.below(Int(size - start)))
        let leaves = (0..<size).map { hasher.leaf(.zero, acceptedAt: Int64($0)) }
        var plain = CompactRange()
        for leaf in leaves { plain.append(leaf, &hasher) }
        var range = CompactRange()
        for leaf in leaves[..<Int(start)] { range.append(leaf, &hasher) }
        for node in TreeNode.covering(start..<end) {
            var part = CompactRange()
            for leaf in leaves[Int(node.leaves.lowerBound)..<Int(node.leaves.upperBound)] {
                part.append(leaf, &hasher)
            }
            range.append(part.root(&hasher), level: node.level, &hasher)
        }
        for leaf in leaves[Int(end)...] { range.append(leaf, &hasher) }
        #expect(range == plain)
    }
}
