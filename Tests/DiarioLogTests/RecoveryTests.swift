import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioLog
import DiarioSimulation
import DiarioStorage
import DiarioTestSupport
import Testing

/// What is found after crashes and damage: schema/format/frames.md, "Recovery".
@Suite struct RecoveryTests {
    private func make(_ count: Int = 3) throws -> (TestLog, LogStore, SpaceID) {
        let log = try TestLog()
        log.sizes = TestLog.small
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        for _ in 0..<count { _ = try store.append(log.append(1, to: space)) }
        return (log, store, space)
    }

    /// As `make`, and then the process dies, so that there is no clean stop.
    private func makeKilled(_ count: Int) throws -> (TestLog, SpaceID) {
        let (log, store, space) = try make(count)
        log.disk.kill(0)
        #expect(throws: LogError.storage(.cut)) { try store.close() }
        return (log, space)
    }

    /// The newest file of the log.
    private func newest(_ log: TestLog) throws -> RawLog.File {
        try #require(try RawLog(log.disk).files.last)
    }

    /// Checks that the log is damaged in `file` at `offset`, shows `numbers`, and takes no events.
    private func expectFault(
        _ log: TestLog,
        _ space: SpaceID,
        file: String,
        offset: Int?,
        shows numbers: [Int64]
    ) throws {
        let store = try log.open()
        let fault = try #require(store.fault)
        #expect(fault.file == file)
        if let offset { #expect(fault.offset == offset) }
        #expect(store.cut == nil)
        #expect(try log.numbers(space, in: store) == numbers)
        #expect(throws: LogError.corrupt(fault)) { try store.append(log.append(1, to: space)) }
        try store.close()
    }

    @Test func damageInFrontOfALaterFrameIsCorruption() throws {
        let (log, _, space) = try make(3)
        let file = try newest(log)
        let path = FramePaths.file(1)
        let second = LogFileHeader.size + file.frames[0].frameSize
        try log.disk.flipBit(3, at: second + 50, of: path)
        try expectFault(log, space, file: path, offset: second, shows: [1])
    }

    @Test func damageBelowTheMarkOfACleanStopIsCorruption() throws {
        let (log, store, space) = try make(2)
        try store.close()
        let file = try newest(log)
        let path = FramePaths.file(1)
        let second = LogFileHeader.size + file.frames[0].frameSize
        for offset in [second, second + 8, second + 16, second + 41, file.length - 1] {
            try log.disk.flipBit(0, at: offset, of: path)
            try expectFault(log, space, file: path, offset: second, shows: [1])
            try log.disk.flipBit(0, at: offset, of: path)
        }
        #expect(try log.numbers(space, in: log.open()) == [1, 2])
    }

    /// Only the bytes of the mark were synced, not its name: the first one could get lost.
    @Test(arguments: UInt64(0)..<10) func theMarkOfACleanStopSurvivesAPowerCut(seed: UInt64) throws
    {
        let (log, store, space) = try make(2)
        log.random = SeededRandom(seed: seed)
        let file = try newest(log)
        try store.close()
        log.disk.crash(using: &log.random)
        let second = LogFileHeader.size + file.frames[0].frameSize
        let path = FramePaths.file(1)
        try log.disk.flipBit(0, at: file.length - 1, of: path)
        try expectFault(log, space, file: path, offset: second, shows: [1])
    }

    @Test func damageInAnOlderFileIsCorruption() throws {
        let (log, store, space) = try make(2)
        for _ in 0..<4 { _ = try store.append(log.append(1, textSize: 25_000, to: space)) }
        let files = try RawLog(log.disk).files
        #expect(files.count > 1)
        let last = files[0].length - (files[0].frames.last?.frameSize ?? 0)
        let path = FramePaths.file(1)
        try log.disk.flipBit(7, at: last + 60, of: path)
        try expectFault(log, space, file: path, offset: last, shows: [1, 2, 3])
        try log.disk.flipBit(7, at: last + 60, of: path)
        try log.disk.flipBit(7, at: 17, of: path)
        try expectFault(log, space, file: path, offset: 0, shows: [])
    }

    /// A newest file whose header was damaged counted as not begun, and its events were gone.
    @Test(arguments: [true, false])
    func aDamagedHeaderOfTheNewestFileIsCorruption(isOnlyFile: Bool) throws {
        let (log, store, space) = try make(2)
        if !isOnlyFile {
            for _ in 0..<3 { _ = try store.append(log.append(1, textSize: 25_000, to: space)) }
        }
        let path = FramePaths.file(try newest(log).header.number)
        #expect((path == FramePaths.file(1)) == isOnlyFile)
        try log.disk.flipBit(1, at: 20, of: path)
        try expectFault(
            log,
            space,
            file: path,
            offset: 0,
            shows: isOnlyFile ? [] : [1, 2, 3, 4]
        )
    }

    @Test func aTornFrameIsCutKeptAndReported() throws {
        let (log, space) = try makeKilled(2)
        let file = try newest(log)
        let path = FramePaths.file(1)
        let last = file.length - (file.frames.last?.frameSize ?? 0)
        try log.disk.flipBit(2, at: file.length - 9, of: path)
        var kept: [UInt8] = []
        try log.disk.open(path, .read).read(at: Int64(last), count: file.length - last, into: &kept)
        let store = try log.open()
        let cut = try #require(store.cut)
        #expect(store.fault == nil)
        #expect(cut.file == path)
        #expect(cut.offset == last)
        #expect(cut.size == file.length - last)
        let keptIn = try #require(cut.keptIn)
        #expect(try store.cuts() == [keptIn])
        #expect(try log.disk.open(keptIn, .read).allBytes() == kept)
        #expect(try log.numbers(space, in: store) == [1])
        _ = try store.append(log.append(1, to: space))
        #expect(try log.numbers(space, in: store) == [1, 3])
        #expect(try log.open(process: 2).cut == nil)
    }

    /// Until something was written in its place, each start cut it and reported it again.
    @Test func aTornFrameIsReportedOnce() throws {
        let (log, space) = try makeKilled(2)
        let file = try newest(log)
        try log.disk.flipBit(2, at: file.length - 9, of: FramePaths.file(1))
        #expect(try log.open(process: 2).cut != nil)
        let again = try log.open(process: 3)
        #expect(again.cut == nil)
        #expect(try log.numbers(space, in: again) == [1])
        #expect(try again.cuts().count == 1)
    }

    @Test func aReaderReportsATornFrameAndLeavesIt() throws {
        let (log, space) = try makeKilled(2)
        let file = try newest(log)
        try log.disk.flipBit(2, at: file.length - 9, of: FramePaths.file(1))
        let reader = try log.open(process: 2, access: .readOnly)
        #expect(reader.cut != nil)
        #expect(reader.cut?.keptIn == nil)
        #expect(try log.numbers(space, in: reader) == [1])
        #expect(try log.disk.list("wal").filter { $0.hasPrefix("cut") } == [])
    }

    /// Each step of beginning a file is cut, in a file that is new and in one that is used again.
    @Test(arguments: CrashDisk.CutMoment.allCases, [false, true])
    func everyCutWhileAFileIsBegunIsRecovered(
        moment: CrashDisk.CutMoment,
        hasSpare: Bool
    ) throws {
        var count = 0
        var isCut = true
        while isCut {
            count += 1
            for seed in 0..<UInt64(2) {
                let (log, store, space) = try make(0)
                log.random = SeededRandom(seed: seed)
                for _ in 0..<(hasSpare ? 12 : 2) {
                    _ = try store.append(log.append(1, textSize: 25_000, to: space))
                }
                if hasSpare { try store[space].release(upTo: 11) }
                while try newest(log).length < 50_000 {
                    _ = try store.append(log.append(1, textSize: 20_000, to: space))
                }
                let known = try log.numbers(space, in: store)
                log.disk.cutAfter(operations: count, moment)
                isCut = false
                do {
                    _ = try store.append(log.append(1, textSize: 25_000, to: space))
                } catch {
                    isCut = true
                }
                log.disk.crash(using: &log.random)
                let reopened = try log.open()
                #expect(reopened.fault == nil, "operation \(count), seed \(seed)")
                let numbers = try log.numbers(space, in: reopened)
                #expect(Array(numbers.prefix(known.count)) == known)
                _ = try reopened.append(log.append(1, textSize: 25_000, to: space))
                #expect(reopened.validate() == [])
            }
        }
        #expect(count > 5)
    }

    /// Beside a file that a crash left without a header, a refresh read the whole log each time.
    @Test func aRefreshBesideAFileThatWasNotBegunFindsNothing() throws {
        let (log, store, space) = try make(2)
        let file = try log.disk.open(FramePaths.file(2), .createNew)
        try file.write([UInt8](repeating: 0, count: 100), at: 0)
        _ = try store.refresh()
        #expect(try !store.refresh())
        #expect(try log.numbers(space, in: store) == [1, 2])
        let other = try log.open(process: 2)
        for _ in 0..<3 { _ = try other.append(log.append(1, textSize: 25_000, to: space)) }
        #expect(try store.refresh())
        #expect(try log.numbers(space, in: store) == [1, 2, 3, 4, 5])
        #expect(try !store.refresh())
    }

    // MARK: The format

    private func write(format: String, to disk: CrashDisk) throws {
        try Files.replace(LogPaths.format, with: Array(format.utf8), in: disk)
    }

    @Test func aFormatThatIsNotKnownIsRefused() throws {
        let (log, store, _) = try make(2)
        try store.close()
        try write(format: "diario directory 99\n", to: log.disk)
        #expect(throws: LogError.newerFormat(version: 99)) { try log.open() }
        try write(format: "diario format 3 readable by 3\n", to: log.disk)
        #expect(throws: LogError.beforeFirstRelease) { try log.open() }
        for text in ["", "diario directory 1", "diario directory 0\n", "x\n"] {
            try write(format: text, to: log.disk)
            let error = #expect(throws: LogError.self) { try log.open() }
            guard case .corrupt = error else {
                Issue.record("\(text): \(String(describing: error))")
                continue
            }
        }
    }

    @Test func aDirectoryWithoutALogIsNoLog() {
        let log = TestLog(disk: CrashDisk(machineID: "test"), seed: 1)
        #expect(throws: LogError.notALog) { try log.open() }
    }
}
