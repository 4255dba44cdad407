import Diario
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Testing

/// Folders that lack what nothing works without.
@Suite struct SalvageFolderTests {
    private let folder: TemporaryFolder
    private let directory: POSIXDirectory
    private let lines: [UInt8]
    private let count: Int

    init() throws {
        folder = try TemporaryFolder()
        let space = try SampleSpace.make(folder.path + "/old")
        lines = try SampleSpace.lines(space)
        count = try space.stats().state.events
        try space.close()
        directory = try POSIXDirectory(path: folder.path + "/old/.diario", access: .readWrite)
    }

    private func salvage() throws -> (SalvageReport, Space) {
        let target = folder.path + "/new"
        let report = try Space.salvage(at: folder.path + "/old", to: target)
        let space = try Space.open(at: target, access: .readWrite)
        #expect(try space.verify { _ in }.isOK)
        return (report, space)
    }

    /// Each of these is made again, or not needed, and no event is lost with it.
    @Test(arguments: ["format", "packs", "spaces", "wal/synced", "manifest", "replica", ""])
    func whatHoldsNoEventsIsNotNeeded(name: String) throws {
        let id = try directory.list("spaces")[0]
        let path = ["manifest", "replica"].contains(name) ? "spaces/\(id)/\(name)" : name
        if !name.isEmpty { try Files.removeTree(path, in: directory) }
        let (report, space) = try salvage()
        #expect(try SampleSpace.lines(space) == lines)
        #expect(try space.stats().state.events == count)
        #expect(report.isWhole == ["", "format", "wal/synced"].contains(name), "\(report.faults)")
        // It goes on by itself.
        var again = space
        _ = try again.adopt(PackSource.builtIn()) { _, _ in }
        try SampleSpace.fill(again)
        #expect(try again.stats().state.events == 2 * count)
        #expect(try again.verify { _ in }.isOK)
        try again.close()
    }

    /// Without the log, what is sealed is left.
    @Test func aLogThatIsGoneCostsTheTail() throws {
        let old = try Space.open(at: folder.path + "/old", access: .readWrite)
        _ = try old.store.seal(old.id, all: true)
        let head = try old.stats().state.head
        try SampleSpace.fill(old)
        try old.close()
        try Files.removeTree("wal", in: directory)
        let (report, space) = try salvage()
        #expect(try SampleSpace.lines(space) == lines)
        #expect(try space.stats().state.head == head)
        #expect(!report.isWhole)
        try space.close()
    }

    /// A space that has some of the events gets the others, and each once.
    @Test func whatWasSalvagedIsImportedOnce() throws {
        let (_, space) = try salvage()
        let all = try SampleSpace.lines(space, EventFilter())
        try space.close()
        let other = try Space.create(at: folder.path + "/other", packs: PackSource.builtIn())
        let part = all.split(separator: UInt8(ascii: "\n")).prefix(count / 2)
        let some = part.flatMap { Array($0) + [UInt8(ascii: "\n")] }
        _ = try other.importEvents(of: SampleSpace.file(some, in: folder), as: .lines) { _, _ in }
        let file = try SampleSpace.file(all, in: folder)
        let summary = try other.importEvents(of: file, as: .lines) { _, _ in }
        #expect(summary.known == count / 2)
        #expect(summary.imported == count - count / 2)
        #expect(try other.stats().state.events == count)
    }

    /// Nothing is written where something is already.
    @Test func aFolderThatIsNotEmptyIsRefused() throws {
        let error = #expect(throws: DiarioError.self) {
            _ = try Space.salvage(at: folder.path + "/old", to: folder.path + "/old")
        }
        #expect(error?.kind == .exists)
    }
}
