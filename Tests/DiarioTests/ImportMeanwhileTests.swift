import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Synchronization
import Testing

/// What others do to a space while events are imported into it.
@Suite struct ImportMeanwhileTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/space"
    }

    /// A file of events in which somebody acts when it is read for the first few times, or behind
    /// those.
    private final class BusyFile: LogFile {
        private let file: any LogFile
        private let reads = Mutex(0)
        private let acting: Range<Int>
        private let act: @Sendable () throws -> Void

        init(
            _ file: any LogFile,
            behind skipped: Int = 0,
            times: Int = 1,
            _ act: @escaping @Sendable () throws -> Void
        ) {
            self.file = file
            acting = skipped..<skipped + times
            self.act = act
        }

        var identity: FileIdentity? { get throws(StorageError) { try file.identity } }

        var modifiedNanoseconds: Int64? {
            get throws(StorageError) { try file.modifiedNanoseconds }
        }

        func size() throws(StorageError) -> Int64 { try file.size() }

        func read(at offset: Int64, count: Int, into bytes: inout [UInt8]) throws(StorageError) {
            try file.read(at: offset, count: count, into: &bytes)
            let acts = reads.withLock { reads in
                defer { reads += 1 }
                return acting.contains(reads)
            }
            if acts { #expect(throws: Never.self) { try act() } }
        }

        func write(_ bytes: Span<UInt8>, at offset: Int64) throws(StorageError) {
            try file.write(bytes, at: offset)
        }

        func truncate(to size: Int64) throws(StorageError) { try file.truncate(to: size) }

        func sync() throws(StorageError) { try file.sync() }

        func checkName() throws(StorageError) { try file.checkName() }
    }

    private static let weight =
        #"{"type":"meals.weight.recorded","payload":{"day":"2026-03-02","source":"manual"}}"#

    private func spaceCount() throws -> Int {
        try POSIXDirectory(path: path + "/.diario/spaces", access: .read).list("").count
    }

    /// The space with the imported events took the place of one that had an event by then: it was
    /// acknowledged, and gone.
    @Test(arguments: [EventForm.lines, .cloudEvents], [false, true])
    func whatIsRecordedMeanwhileStays(form: EventForm, isOtherProcess: Bool) throws {
        let source = try SampleSpace.make(folder.path + "/source")
        let count = try source.stats().state.events
        let text =
            form == .lines ? try SampleSpace.lines(source) : try SampleSpace.cloudEvents(source)
        let file = try SampleSpace.file(text, in: folder)
        let space = try Space.create(at: path, packs: PackSource.builtIn())
        let (id, path) = (space.id, path)
        let recorded = Mutex<[Origin]>([])
        // The first event of CloudEvents is looked at before the space is.
        let busy = BusyFile(file, times: 3) {
            let recorder = isOtherProcess ? try Space.open(at: path, access: .readWrite) : space
            let origins = try recorder.record([Self.weight])
            recorded.withLock { $0 += origins }
            if isOtherProcess { try recorder.close() }
        }
        let summary = try space.importEvents(of: busy, as: form) { _, _ in }
        #expect(summary.space.id == id)
        #expect(summary.imported == count)
        let origins = recorded.withLock { $0 }
        #expect(origins.count == 3)
        let lines = String(decoding: try SampleSpace.lines(space), as: UTF8.self)
        for origin in origins { #expect(lines.contains(#""origin":"\#(origin.text)""#)) }
        #expect(try space.stats().state.events == count + 3)
        #expect(try space.verify { _ in }.isOK)
        #expect(try spaceCount() == 1)
        let again = try space.importEvents(of: file, as: form) { _, _ in }
        #expect((again.imported, again.known) == (0, count))
    }

    /// A server and an import do not hold one lock: each looks at what the other recorded.
    @Test(arguments: 0..<5, [false, true])
    func aCloudEventThatIsSentMeanwhileIsRecordedOnce(
        behind reads: Int,
        isOtherProcess: Bool
    )
        throws
    {
        let space = try Space.create(at: path, packs: PackSource.builtIn())
        try space.record([Self.weight])
        let count = try space.stats().state.events
        let text = Array(
            """
            {"specversion":"1.0","id":"a-1","source":"/scales/7","type":"meals.weight.recorded",
            "data":{"day":"2026-03-02","weightG":70000,"source":"manual"}}
            """.utf8
        )
        let path = path
        let busy = BusyFile(try SampleSpace.file(text, in: folder), behind: reads) {
            let other = isOtherProcess ? try Space.open(at: path, access: .readWrite) : space
            let policy = ActorPolicy(own: nil, mayNameOthers: true)
            var origins = ImportedOrigins()
            _ = try EventBody(text, .cloudEvents, by: policy, to: other).importOnce(&origins)
            if isOtherProcess { try other.close() }
        }
        _ = try space.importEvents(of: busy, as: .cloudEvents) { _, _ in }
        #expect(try space.stats().state.events == count + 1)
    }

    /// The new space knew only the packs that were there when the import began.
    @Test func aPackThatIsAdoptedMeanwhileStays() throws {
        let packs = try PackSource.builtIn()
        let meals = try #require(packs.first { $0.name == "meals" })
        let music = try #require(packs.first { $0.name == "music" })
        let space = try Space.create(at: path, packs: [meals])
        let line = Self.weight.dropLast() + #","origin":"7zk3m9q2c1f4a-1"}"#
        let file = BusyFile(try SampleSpace.file(Array(line.utf8), in: folder)) {
            var other = space
            _ = try other.adopt([music]) { _, _ in }
        }
        let restored = try space.importEvents(of: file, as: .lines) { _, _ in }.space
        #expect(restored.id != space.id)
        #expect(restored.catalog.newest("music.playlist.created") != nil)
        #expect(
            String(decoding: try SampleSpace.lines(restored), as: UTF8.self)
                .contains(#""origin":"7zk3m9q2c1f4a-1""#)
        )
        #expect(try restored.verify { _ in }.isOK)
        #expect(try spaceCount() == 1)
    }

    /// The second one was told that there is no such space.
    @Test func anImportGoesOnInTheSpaceThatAnotherOneMade() throws {
        let source = try SampleSpace.make(folder.path + "/source")
        let events = try source.stats().state.events
        let file = try SampleSpace.file(SampleSpace.lines(source), in: folder)
        try Space.create(at: path, packs: PackSource.builtIn()).close()
        let first = try Space.open(at: path, access: .readWrite)
        let second = try Space.open(at: path, access: .readWrite)
        let made = try first.importEvents(of: file, as: .lines) { _, _ in }.space
        let again = try second.importEvents(of: file, as: .lines) { _, _ in }
        #expect((again.imported, again.known) == (0, events))
        #expect(again.space.id == made.id)
        #expect(try again.space.verify { _ in }.isOK)
        #expect(try spaceCount() == 1)
        for space in [first, second] { try space.close() }
    }

    /// The old space could not be removed, as it cannot while somebody holds its lock; then the new
    /// one was removed too, which had taken its place: nothing was left.
    @Test func aSpaceThatCannotBeRemovedIsClearedAwayLater() throws {
        let source = try SampleSpace.make(folder.path + "/source")
        let text = try SampleSpace.lines(source)
        let space = try Space.create(at: path, packs: PackSource.builtIn())
        let files = try POSIXDirectory(path: path + "/.diario", access: .readWrite)
        let lock = LogPaths.space(space.id) + "/sealing"
        try Files.removeTree(lock, in: files)
        // No lock can be taken on a directory.
        try files.makeDirectory(lock)
        let summary = try space.importEvents(of: SampleSpace.file(text, in: folder), as: .lines) {
            _,
            _ in
        }
        #expect(try SampleSpace.lines(summary.space) == text)
        try summary.space.close()
        #expect(try spaceCount() == 2)
        let again = try Space.open(at: path, access: .readWrite)
        #expect(again.id == summary.space.id)
        #expect(try SampleSpace.lines(again) == text)
        #expect(try again.verify { _ in }.isOK)
        try again.close()
        // A replaced space whose removal was cut short stayed for ever.
        try Files.removeTree(lock, in: files)
        try Space.open(at: path, access: .readOnly).close()
        #expect(try spaceCount() == 2)
        try Space.open(at: path, access: .readWrite).close()
        #expect(try spaceCount() == 1)
        let last = try Space.open(at: path, access: .readOnly)
        #expect(try SampleSpace.lines(last) == text)
    }
}
