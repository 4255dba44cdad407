import Diario
import DiarioCore
import DiarioCrypto
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Testing

/// Imports into spaces that get their positions from a server, where only a note beside the log
/// can say what was imported: schema/format/sync.md, section 12.
@Suite struct ImportIntoReplicaTests {
    private func pack() throws -> Pack {
        try #require(PackSource.builtIn().first { $0.name == "music" })
    }

    /// A playlist and what was added to it, as another space exports them.
    private func linkedLines() throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let source = try Space.create(at: folder.path, packs: [pack()])
        try source.record(ImportTests.linkedLines)
        return try SampleSpace.lines(source)
    }

    private func added(_ numbers: ClosedRange<Int>, replica: String = "7zk3m9q2c1f4a") -> String {
        numbers.map { number in
            #"{"type":"tasks.task.added","#
                + #""payload":{"id":"\#(number)","list":"l","place":1,"title":"t"},"#
                + #""at":"2026-01-01T00:00:00.000Z","origin":"\#(replica)-\#(number)"}"# + "\n"
        }.joined()
    }

    private func run(_ text: String, _ lane: borrowing LaneSpace) throws -> ImportSummary {
        let file = try SampleSpace.file(Array(text.utf8), in: lane.folder)
        return try lane.space.importEvents(of: file, as: .lines) { _, _ in }
    }

    private func directory(_ lane: borrowing LaneSpace) throws -> POSIXDirectory {
        try POSIXDirectory(path: lane.folder.path + "/.diario", access: .readWrite)
    }

    private func files(_ lane: borrowing LaneSpace) throws -> [String] {
        let folder = LogPaths.imports(lane.space.id)
        return try directory(lane).list(folder).filter(LogPaths.isImportNote).sorted()
    }

    @Test func linesAreRecordedOnceWithNewReferences() throws {
        let lane = try LaneSpace(pack())
        let file = try SampleSpace.file(linkedLines(), in: lane.folder)
        let first = try lane.space.importEvents(of: file, as: .lines) { _, _ in }
        #expect((first.imported, first.known) == (2, 0))
        #expect(lane.pendingCount == 2)
        let again = try lane.space.importEvents(of: file, as: .lines) { _, _ in }
        #expect((again.imported, again.known) == (0, 2))
        #expect(try files(lane) == ["known.dimp"])
        let text = String(decoding: try SampleSpace.lines(lane.space), as: UTF8.self)
        let mine = text.split(separator: "\n").suffix(2)
        let created = try #require(mine.first { $0.contains("playlist.created") })
        let start = try #require(created.firstRange(of: "\"playlistId\":\"")?.upperBound)
        let id = created[start...].prefix { $0 != "\"" }
        #expect(mine.allSatisfy { $0.contains(id) })
        #expect(try lane.space.verify { _ in }.isOK)
    }

    /// What this replica recorded itself is not recorded again, pending or not.
    @Test func ownEventsAreKnown() throws {
        var lane = try LaneSpace(TasksPack.make())
        try lane.record("tasks.task.removed", #"{"id":"1"}"#)
        try lane.record("tasks.task.removed", #"{"id":"2"}"#)
        try lane.promote(1)
        let text = String(decoding: try SampleSpace.lines(lane.space), as: UTF8.self)
        let summary = try run(text, lane)
        #expect((summary.imported, summary.known) == (0, 2))
    }

    /// As a stop between the note and the events leaves it, when others record next.
    @Test func aNoteOfEventsThatOthersRecordedMeansNothing() throws {
        var lane = try LaneSpace(TasksPack.make())
        let (space, store) = (lane.space, lane.space.store)
        let author = try store[space.id].author().0
        let first = Origin(replica: author, sequence: 1)
        let other = try #require(ReplicaID(text: "7zk3m9q2c1f4a"))
        let run = ImportedRun(
            first: Origin(replica: other, sequence: 1),
            count: 2,
            newFirst: first
        )
        let group = ImportNote.Group(first: first, count: 2, digest: .zero)
        for isRecorded in [false, true] {
            try store[space.id].imports.keep(ImportNote(group: group, runs: [run]))
            guard isRecorded else {
                #expect(try self.run("", lane).imported == 0)
                #expect(try files(lane) == [])
                continue
            }
            try lane.record("tasks.task.removed", #"{"id":"1"}"#)
            try lane.record("tasks.task.removed", #"{"id":"2"}"#)
            let summary = try self.run(added(1...2), lane)
            #expect((summary.imported, summary.known) == (2, 0))
        }
    }

    /// As a stop behind the events leaves it: the notes are there and not yet put into one.
    @Test(arguments: [1, 3, 700]) func aNoteOfEventsThatWereRecordedCounts(count: Int) throws {
        let lane = try LaneSpace(TasksPack.make())
        let blocker = LogPaths.knownImports(lane.space.id) + ".new"
        try Files.makeDirectoryDurably(blocker, in: directory(lane))
        #expect(throws: DiarioError.self) { try run(added(1...count), lane) }
        #expect(lane.pendingCount == count)
        #expect(try files(lane).count == (count + 499) / 500)
        try Files.removeTree(blocker, in: directory(lane))
        let summary = try run(added(1...count + 1), lane)
        #expect((summary.imported, summary.known) == (1, count))
        #expect(try files(lane) == ["known.dimp"])
    }

    /// Without knowing what was imported it would come a second time.
    @Test func aDamagedNoteStopsAnImport() throws {
        let lane = try LaneSpace(TasksPack.make())
        _ = try run(added(1...1), lane)
        let path = LogPaths.knownImports(lane.space.id)
        try Files.replace(path, with: [1], in: directory(lane))
        let error = #expect(throws: DiarioError.self) { try run(added(1...2), lane) }
        #expect(error?.message.contains("damaged") == true)
        #expect(lane.pendingCount == 1)
    }

    /// Each origin of many replicas is a stretch of its own, in any order of the lines.
    @Test(arguments: [true, false]) func manyStretchesAreKnown(isLane: Bool) throws {
        let lane = try LaneSpace(TasksPack.make())
        let folder = try TemporaryFolder()
        let space =
            isLane ? lane.space : try Space.create(at: folder.path, packs: [TasksPack.make()])
        if !isLane { try space.record([TasksPack.line("removed", #"{"id":"x"}"#)]) }
        // One batch of as many events as it may have, and each origin leaves a gap.
        let numbers = Array(stride(from: 2000, to: 0, by: -2))
        let text = numbers.map { number in
            added(number...number).replacing("}\n", with: #","batch":"b"}"# + "\n")
        }.joined()
        let file = try SampleSpace.file(Array(text.utf8), in: folder)
        for expected in [(1000, 0), (0, 1000)] {
            let summary = try space.importEvents(of: file, as: .lines) { _, _ in }
            #expect((summary.imported, summary.known) == expected)
        }
        #expect(try space.verify { _ in }.isOK)
    }
}
