import DiarioCore
import DiarioFormat
import DiarioFrames
import DiarioLog
import DiarioSimulation
import DiarioStorage
import DiarioTestSupport
import Foundation
import Testing

/// The log on files of the operating system.
@Suite struct FolderTests {
    private let folder: TemporaryFolder
    private let log = TestLog(disk: CrashDisk(machineID: "unused"), seed: 3)

    init() throws {
        folder = try TemporaryFolder()
        try LogStore.create(in: folder.directory())
    }

    private func open(
        _ path: String? = nil,
        access: POSIXDirectory.Access = .readWrite
    ) throws -> LogStore {
        try LogStore(
            POSIXDirectory(path: path ?? folder.path, access: access),
            access: .readWrite,
            time: log.clock,
            entropy: SystemEntropy(),
            engine: log.kinds.engine,
            sizes: TestLog.small
        )
    }

    @Test func eventsAreThereAfterReopening() throws {
        let store = try open()
        let space = try store.makeSpace(isAuthority: true).space
        for _ in 0..<8 { _ = try store.append(log.append(3, textSize: 4000, to: space)) }
        let root = try store[space].root()
        try store.close()
        let reopened = try open()
        #expect(reopened.cut == nil)
        #expect(reopened.fault == nil)
        #expect(try log.numbers(space, in: reopened) == Array(1...24))
        #expect(try reopened[space].root() == root)
        #expect(try reopened[space].root() == log.plainRoot(space, in: reopened))
    }

    @Test func twoLogsOnOneFolderTakeTurns() throws {
        let (first, second) = (try open(), try open())
        let space = try first.makeSpace(isAuthority: true).space
        for step in 0..<30 {
            let batches = try (step % 3 == 0 ? first : second).append(log.append(2, to: space))
            #expect(batches.first?.firstPosition == UInt64(2 * step + 1))
        }
        _ = try first.refresh()
        #expect(try log.numbers(space, in: first) == Array(1...60))
        #expect(first.validate() == [])
    }

    /// They went to files without a name, and were acknowledged.
    @Test func whatIsAppendedToARemovedFolderIsRefused() throws {
        let store = try open()
        let space = try store.makeSpace(isAuthority: true).space
        _ = try store.append(log.append(2, to: space))
        try FileManager.default.removeItem(atPath: folder.path + "/wal")
        for _ in 0..<2 {
            let error = #expect(throws: LogError.self) {
                try store.append(log.append(3, to: space))
            }
            guard case .stopped(.removed)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.message.contains("was removed while it was open") == true)
        }
        // Nor is it shown here, where it could still be read.
        _ = try store.refresh()
        #expect(store[space].head() == 2)
        try store.close()
    }

    /// What was moved is where it was moved to.
    @Test func aFolderThatIsMovedIsWrittenOnTo() throws {
        let (old, new) = (folder.path + "/old", folder.path + "/new")
        try LogStore.create(in: POSIXDirectory(path: old, access: .create))
        let store = try open(old)
        let space = try store.makeSpace(isAuthority: true).space
        try FileManager.default.moveItem(atPath: old, toPath: new)
        _ = try store.append(log.append(2, to: space))
        try store.close()
        #expect(try open(new)[space].head() == 2)
    }

    @Test func aCopiedFolderTakesAnIdOfItsOwn() throws {
        let store = try open()
        let space = try store.makeSpace(isAuthority: false).space
        _ = try store.append(log.append(2, to: space))
        try store.close()
        let path = folder.path + "-copy"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default.copyItem(atPath: folder.path, toPath: path)
        let copy = try open(path)
        let old = try copy[space].status().replica
        let batch = try #require(try copy.append(log.append(1, to: space)).first)
        #expect(batch.firstOrigin.replica != old)
        let origins = try log.kinds.view(of: space, in: copy).pending.map(\.origin)
        #expect(origins.map(\.replica) == [old, old, batch.firstOrigin.replica])
        // Where nothing was copied, the id stays.
        let home = try open()
        #expect(try home.append(log.append(1, to: space)).first?.firstOrigin.replica == old)
    }
}
