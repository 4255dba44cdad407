import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// The mark of a clean stop tells which file was the newest: schema/format/frames.md.
@Suite struct NewestFileTests {
    /// A log of several files after a clean stop.
    private func make() throws -> (TestLog, SpaceID, UInt64) {
        let log = try TestLog()
        log.sizes = TestLog.small
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        for _ in 0..<6 { _ = try store.append(log.append(1, textSize: 25_000, to: space)) }
        try store.close()
        let newest = try #require(try RawLog(log.disk).files.last)
        #expect(newest.header.number > 2)
        return (log, space, newest.header.number)
    }

    private func zero(_ path: String, on disk: CrashDisk) throws {
        let file = try disk.open(path, .readWrite)
        try file.write([UInt8](repeating: 0, count: Int(try file.size())).span, at: 0)
        try file.sync()
    }

    private func delete(_ path: String, on disk: CrashDisk) throws {
        try disk.remove(path)
        try disk.syncDirectory(FramePaths.folder)
    }

    /// Without it the log was shorter, and nobody said so.
    @Test(arguments: [true, false]) func aMissingNewestFileIsCorruption(isDeleted: Bool) throws {
        let (log, space, number) = try make()
        let path = FramePaths.file(number)
        if isDeleted { try delete(path, on: log.disk) } else { try zero(path, on: log.disk) }
        // As often as it is opened and closed.
        for _ in 0..<2 {
            let store = try log.open()
            let fault = try #require(store.fault)
            #expect(fault.file == path)
            #expect(try log.numbers(space, in: store) == [1, 2, 3, 4])
            #expect(try store.verify(space) { _ in nil }.faults.contains(fault))
            #expect(throws: LogError.corrupt(fault)) { try store.append(log.append(1, to: space)) }
            try store.close()
        }
        let reader = try log.open(process: 1, access: .readOnly)
        #expect(reader.fault?.file == path)
    }

    /// Two files are gone, or the last but one is and the last is not begun.
    @Test func severalMissingFilesAreCorruption() throws {
        let (log, _, number) = try make()
        try delete(FramePaths.file(number), on: log.disk)
        try zero(FramePaths.file(number - 1), on: log.disk)
        #expect(try log.open().fault?.file == FramePaths.file(number))
        try log.disk.rename(FramePaths.file(number - 1), to: FramePaths.file(number + 1))
        #expect(try log.open().fault?.file == FramePaths.file(number))
    }

    /// After a crash the mark is older than the newest file, and nothing is wrong.
    @Test func anOlderMarkIsNoFault() throws {
        let (log, space, number) = try make()
        let store = try log.open()
        for _ in 0..<8 { _ = try store.append(log.append(1, textSize: 25_000, to: space)) }
        log.disk.crash(using: &log.random)
        #expect(try #require(try RawLog(log.disk).files.last).header.number > number)
        let again = try log.open()
        #expect(again.fault == nil)
        #expect(try log.numbers(space, in: again).count == 14)
    }

    /// Also if the file of the mark was used again since.
    @Test func aMarkOfAFileThatIsGoneIsNoFault() throws {
        let (log, space, number) = try make()
        let store = try log.open()
        for _ in 0..<40 {
            _ = try store.append(log.append(1, textSize: 25_000, to: space))
            try store[space].release(upTo: store[space].status().head)
        }
        log.disk.crash(using: &log.random)
        #expect(try !log.disk.exists(FramePaths.file(number)))
        #expect(try log.open().fault == nil)
    }
}
