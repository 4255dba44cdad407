import Diario
import DiarioCore
import DiarioEngine
import DiarioFormat
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioTestSupport
import Testing

/// The times that an event may say it happened at, where it is recorded: schema/limits.md.
@Suite struct EventTimeTests {
    private static let beyond = [
        Timestamp(milliseconds: -1), Timestamp(milliseconds: 32_503_680_000_000),
    ]

    private static func line(_ at: Timestamp, _ more: String = "") -> String {
        #"{"type":"meals.weight.recorded","payload":{"day":"2026-01-01","source":"manual"},"#
            + #""at":\#(at.milliseconds)\#(more)}"#
    }

    private static func make(_ folder: borrowing TemporaryFolder) throws -> Space {
        try Space.create(at: folder.path + "/space", packs: PackSource.builtIn())
    }

    @Test func aLineBeyondThemIsRefused() throws {
        let folder = try TemporaryFolder()
        let space = try Self.make(folder)
        let head = space.head
        for at in Self.beyond {
            let error = #expect(throws: DiarioError.self) { try space.record([Self.line(at)]) }
            #expect(error?.kind == .invalid && error?.rule == "event-time" && error?.line == 1)
            #expect(error?.message.contains("from 1970 to a year from now") == true)
        }
        let year = space.now.milliseconds + Limits.eventLeadMillisecondsMax
        try space.record([
            Self.line(Timestamp(milliseconds: Limits.eventTimeMillisecondsMin)),
            Self.line(Timestamp(milliseconds: year)),
        ])
        #expect(space.head == head + 2)
    }

    /// The batch that a bad line ends was complete, if the line belongs to another.
    @Test func aLineBeyondThemEndsABatchAsAnyBadLineDoes() throws {
        let folder = try TemporaryFolder()
        let space = try Self.make(folder)
        let head = space.head
        for (batch, count) in [("a", UInt64(0)), ("b", 1)] {
            var recorder = LineRecorder(space)
            let now = space.now
            try recorder.add(Array(Self.line(now, #","batch":"a""#).utf8).span)
            let bad = Self.line(Self.beyond[1], #","batch":"\#(batch)""#)
            #expect(throws: DiarioError.self) { try recorder.add(Array(bad.utf8).span) }
            recorder.finish()
            #expect(try recorder.commit().count == count)
        }
        #expect(space.head == head + 1)
    }

    /// The first import fills an empty space, and the second one adds to it.
    @Test func anImportAndABatchBeyondThemAreRefused() async throws {
        let folder = try TemporaryFolder()
        let space = try Self.make(folder)
        for (number, at) in Self.beyond.enumerated() {
            if number == 1 { try space.record([Self.line(space.now)]) }
            let file = try SampleSpace.file(
                Array(Self.line(at, #","origin":"7zk3m9q2c1f4a-1""#).utf8),
                in: folder
            )
            let error = #expect(throws: DiarioError.self) {
                try space.importEvents(of: file, as: .lines) { _, _ in }
            }
            #expect(error?.rule == "event-time" && error?.line == 1)
        }
        let diary = Diary(space: space)
        for at in Self.beyond {
            var batch = diary.makeBatch()
            try batch.add(
                "meals.weight.recorded",
                json: #"{"day":"2026-01-01","source":"manual"}"#,
                at: at
            )
            let error = await #expect(throws: DiarioError.self) { try await diary.append(batch) }
            #expect(error?.rule == "event-time")
        }
        try await diary.close()
    }

    /// What an older program recorded stays: it is read, rebuilt, exported and brought back.
    @Test func whatWasRecordedBeyondThemStays() throws {
        let folder = try TemporaryFolder()
        let space = try Self.make(folder)
        var reader = EventLineReader(catalog: space.catalog, options: [])
        for at in Self.beyond {
            var (line, batch) = (EventLine(), space.types.draft)
            try reader.read(Array(Self.line(at).utf8).span, into: &line)
            try batch.append(line)
            _ = try space.store.append(Append(space: space.id, content: .new([batch])))
        }
        let models = try ReadModels(space)
        try models.update(["meals"])
        #expect(try models.rows("SELECT count(*) > 0 FROM weight") == [[.integer(1)]])
        let lines = try SampleSpace.lines(space, EventFilter(types: ["meals."]))
        let other = try Space.create(at: folder.path + "/other", packs: PackSource.builtIn())
        let summary = try other.importEvents(
            of: SampleSpace.file(try SampleSpace.lines(space), in: folder),
            as: .lines
        ) { _, _ in }
        #expect(try SampleSpace.lines(summary.space, EventFilter(types: ["meals."])) == lines)
    }
}
