import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// Files with rows of many spaces, which the log has no room for.
@Suite struct RowFileTests {
    private func rowFiles(_ log: TestLog) throws -> [UInt32] { try RowFile.list(log.disk) }

    /// Looks after row files, as each does who moves rows.
    private func tidy(_ store: LogStore, _ space: SpaceID) throws {
        _ = try store.condense(space)
    }

    @Test func aFileGoesWhenItsRowsAreSealed() throws {
        let sealed = try SealedLog(segmentCount: 64, mergedCount: 256)
        try sealed.fill(0..<40)
        #expect(try sealed.store.condense(sealed.space) > 0)
        #expect(try rowFiles(sealed.log).count == 1)
        try sealed.fill(40..<60)
        _ = try sealed.store.seal(sealed.space, all: true)
        try tidy(sealed.store, sealed.space)
        #expect(try rowFiles(sealed.log) == [])
        #expect(try sealed.log.numbers(sealed.space, in: sealed.store) == Array(0..<60))
        #expect(sealed.store.validate() == [])
    }

    /// A crash leaves files that the log does not speak of.
    @Test func aFileThatNobodyNeedsGoes() throws {
        let sealed = try SealedLog()
        try sealed.fill(0..<30)
        try sealed.log.disk.makeDirectory(LogPaths.rows)
        try sealed.log.disk.replace(LogPaths.rowFile(77), with: [1, 2, 3])
        #expect(try sealed.store.condense(sealed.space) == 1)
        let files = try rowFiles(sealed.log)
        #expect(files.count == 1 && files != [77])
    }

    /// What little is needed of a file is put into another one.
    @Test(arguments: UInt64(0)..<4) func mostlyEmptyFilesArePutTogether(seed: UInt64) throws {
        let log = try TestLog(seed: seed)
        log.sizes = TestLog.small
        log.sizes.quietMax = 0
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        for _ in 0..<60 {
            let size = 100 + log.random.below(900)
            _ = try store.append(log.append(3, textSize: size, secret: true, to: space))
        }
        #expect(try store.condense(space) > 3)
        let root = try store.root(of: space)
        let first = try rowFiles(log)
        #expect(first.count == 1)
        for released in [UInt64(150), 171] {
            try store.release(space, upTo: released)
            try tidy(store, space)
            #expect(try rowFiles(log).count == 1)
            #expect(store.validate() == [])
            for reader in [store, try log.open(process: 1)] {
                #expect(try log.numbers(space, in: reader) == Array(Int64(released) + 1..<181))
                #expect(try reader.root(of: space) == root)
            }
        }
        #expect(try rowFiles(log) != first)
    }

    /// Records of moved rows are copied forward like others.
    @Test func movedRowsStayWhileTheLogTurnsOver() throws {
        let log = try TestLog()
        log.sizes = TestLog.small
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        let busy = try store.makeSpace(isAuthority: true).space
        for _ in 0..<30 { _ = try store.append(log.append(2, secret: true, to: space)) }
        #expect(try store.condense(space) > 0)
        let view = try log.kinds.view(of: space, in: store)
        let root = try store.root(of: space)
        let number = try #require(try RawLog(log.disk).files.last).header.number
        while try #require(try RawLog(log.disk).files.first).header.number <= number {
            _ = try store.append(log.append(1, textSize: 12_000, to: busy))
            try store.release(busy, upTo: store.status(of: busy).head)
        }
        #expect(store.validate() == [])
        let reopened = try log.open(process: 2)
        #expect(try log.kinds.view(of: space, in: reopened) == view)
        #expect(try reopened.root(of: space) == root)
        #expect(reopened.validate() == [])
        // Who wrote what is known without the rows.
        let origin = try store.append(log.append(1, to: space)).first?.firstOrigin
        #expect(origin?.sequence == 61)
    }

    /// Whoever read the log before looks where the rows are by now.
    @Test func othersFindRowsThatWereMoved() throws {
        let sealed = try SealedLog(segmentCount: 64, mergedCount: 256)
        try sealed.fill(0..<30)
        let reader = try sealed.log.open(process: 1, access: .readOnly)
        let writer = try sealed.log.open(process: 2)
        #expect(try sealed.store.condense(sealed.space) > 0)
        for store in [reader, writer] {
            #expect(try sealed.log.numbers(sealed.space, in: store) == Array(0..<30))
        }
        _ = try writer.seal(sealed.space, all: true)
        try tidy(writer, sealed.space)
        #expect(try rowFiles(sealed.log) == [])
        for store in [reader, sealed.store] {
            #expect(try sealed.log.numbers(sealed.space, in: store) == Array(0..<30))
        }
    }

    @Test func aMissingFileIsNamed() throws {
        let sealed = try SealedLog()
        try sealed.fill(0..<30)
        _ = try sealed.store.condense(sealed.space)
        try sealed.store.close()
        let number = try #require(try rowFiles(sealed.log).first)
        try sealed.log.disk.remove(LogPaths.rowFile(number))
        let store = try sealed.log.open()
        let result = try store.verify(sealed.space) { _ in nil }
        #expect(result.faults.map(\.file) == [LogPaths.rowFile(number)])
        #expect(throws: LogError.self) { try sealed.log.numbers(sealed.space, in: store) }
    }

    // MARK: Repair

    /// Rows of a damaged file are sealed from where else they are, or are said to be lost.
    @Test(arguments: RepairTests.Damage.allCases, [0, 1024 * 1024])
    func aRowFileIsMended(_ damage: RepairTests.Damage, quietMax: Int) throws {
        let sample = try RepairSample(
            segmentCount: 64,
            mergedCount: 256,
            quietMax: quietMax,
            isMoved: true
        )
        let number = try #require(try rowFiles(sample.log).first)
        let log = sample.copy()
        try log.damage(LogPaths.rowFile(number), damage)
        let report = try log.run()
        #expect(report.isMended, "\(report.findings) \(report.remaining)")
        // The log says where its blocks are: what follows them changes no answer.
        #expect(report.isClean == (damage == .extend))
        try log.expectWhole(sample.rows, report, "\(damage)")
        let again = try log.run()
        #expect(again.isClean, "\(again.findings) \(again.remaining)")
    }

    /// Each frame in turn is damaged: row files tell what the log does not tell any more.
    @Test func rowsAreFoundWithoutTheLog() throws {
        let sample = try RepairSample(segmentCount: 64, mergedCount: 256, isMoved: true)
        let raw = try RawLog(sample.log.disk)
        for entry in raw.entries where entry.space == sample.space {
            let log = sample.copy()
            try log.log.disk.flipBit(3, at: entry.offset, of: LogPaths.logFile(entry.file))
            let what = "\(entry.kind) at \(entry.offset)"
            let report = try log.run()
            #expect(report.isMended, "\(what): \(report.findings) \(report.remaining)")
            let first = report.losses.flatMap { Array($0.numbers) }.min() ?? .max
            #expect(first > 64, "\(what): what row files and segments hold is not lost")
            let again = try log.run()
            #expect(again.isClean, "\(what): \(again.findings) \(again.remaining)")
        }
    }
}
