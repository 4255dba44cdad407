import Diario
import DiarioCore
import DiarioCrypto
import DiarioHost
import DiarioLog
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Testing

/// Read models hold the same, whether their events come from columns of segments or from rows.
@Suite struct SealedModelTests {
    private static func digests(
        _ space: Space,
        _ counts: [Int] = [7, 50_000]
    ) throws -> [[String]] {
        try counts.map { count in
            try ReadModels(space, chunkCount: count).rebuild().flatMap { report in
                report.models.map { model in
                    "\(report.pack).\(model.name): \(model.digest.text), \(model.rows) rows, "
                        + "\(model.events) events, \(model.quarantined) in quarantine"
                }
            }
        }
    }

    /// The events are sealed a few at a time, so that a rebuild finds segments, and rows behind
    /// them.
    @Test(arguments: [1, 2, 3]) func sealedEqualsUnsealedForAllPacks(parts: Int) throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: PackSource.builtIn())
        let examples = SampleSpace.examples
        let count = examples.count
        for part in 0..<parts {
            for lines in examples[count * part / parts..<count * (part + 1) / parts] {
                try space.record(lines)
            }
            let before = try Self.digests(space, [50_000])
            #expect(before[0].count > 10)
            _ = try space.store.seal(space.id, all: true, waitSeconds: 600)
            let blocks = space.store.segmentCounters.blocks
            let after = try Self.digests(space)
            #expect(after.allSatisfy { $0 == before[0] }, "part \(part)")
            #expect(space.store.segmentCounters.blocks > blocks)
        }
        let models = try ReadModels(space)
        try models.update()
        #expect(try models.compare(space.packs).allSatisfy { $0.table.isEmpty })
        try space.close()
    }

    /// What a read model cannot take is set aside from columns as it is from rows.
    @Test func quarantineIsTheSame() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path, packs: [TasksPack.make()])
        for id in 1...60 {
            let title = id % 7 == 0 ? "refused" : "title \(id % 5)"
            try space.record([TasksPack.line("added", TasksPack.added(id, id % 40, title))])
            guard id % 3 == 0 else { continue }
            try space.record([TasksPack.line("renamed", #"{"id":"t\#(id)","title":"other"}"#)])
        }
        let before = try Self.digests(space, [1, 50_000])
        let listed = try Self.quarantined(space)
        #expect(!listed.isEmpty)
        _ = try space.store.seal(space.id, all: true, waitSeconds: 600)
        #expect(try Self.digests(space, [1, 50_000]) == before)
        #expect(try Self.quarantined(space) == listed)
    }

    /// Events of an older version of their type are upcast in both cases.
    @Test func olderVersionsAreTheSame() throws {
        let folder = try TemporaryFolder()
        var space = try Space.create(at: folder.path, packs: [Self.versions(1)])
        try Self.record(space, (1...20).map { #"{"id":"n\#($0)","grams":\#($0)}"# })
        _ = try space.adopt([Self.versions(2)]) { _, _ in }
        try Self.record(space, (21...40).map { #"{"id":"n\#($0)","amountMg":\#($0)}"# })
        let before = try Self.digests(space)
        let models = try ReadModels(space)
        try models.update()
        let sum = try models.rows("SELECT sum(amountMg), count(*) FROM note")
        #expect(sum == [[.integer(210_000 + 610), .integer(40)]])
        _ = try space.store.seal(space.id, all: true, waitSeconds: 600)
        #expect(try Self.digests(space) == before)
    }

    /// Events without a version were of the newest ever known, which that pack cannot take.
    @Test func aPackThatWasTakenBackSaysWhichVersionIsUsed() throws {
        let folder = try TemporaryFolder()
        var space = try Space.create(at: folder.path, packs: [Self.versions(1)])
        _ = try space.adopt([Self.versions(2)]) { _, _ in }
        try Self.record(space, [#"{"id":"n1","amountMg":1}"#])
        _ = try space.adopt([Self.versions(1)]) { _, _ in }
        for number in 2...3 {
            try Self.record(space, [#"{"id":"n\#(number)","grams":1}"#])
            try space.close()
            space = try Space.open(at: folder.path, access: .readWrite)
        }
        let models = try ReadModels(space)
        try models.update()
        #expect(try models.rows("SELECT count(*) FROM note") == [[.integer(2)]])
        // The one that the newer pack described.
        #expect(try Self.quarantined(space).count == 1)
        try space.close()
    }

    /// Bytes of a segment that were changed are an error, never other tables and never a trap.
    @Test func aDamagedSegmentIsAnError() throws {
        let folder = try TemporaryFolder()
        var space = try SampleSpace.make(folder.path + "/space")
        _ = try space.store.seal(space.id, all: true, waitSeconds: 600)
        let expected = try Self.digests(space, [50_000])
        let path = "space/\(LogPaths.directoryName)/" + LogPaths.segments(space.id)
        try space.close()
        let directory = try folder.directory()
        var random = SeededRandom(seed: 5)
        for name in try directory.list(path) {
            let file = try directory.open(path + "/" + name, .readWrite)
            let size = try file.size()
            for _ in 0..<12 {
                let place = random.below(Int(size))
                var byte: [UInt8] = []
                try file.read(at: Int64(place), count: 1, into: &byte)
                try file.write([byte[0] ^ 0x10].span, at: Int64(place))
                space = try Space.open(at: folder.path + "/space", access: .readOnly)
                do {
                    #expect(try Self.digests(space, [50_000]) == expected)
                } catch let error as DiarioError {
                    #expect(error.kind == .corrupt)
                }
                try space.close()
                try file.write(byte.span, at: Int64(place))
            }
        }
    }

    /// A pack that nothing concerns is not written to, and is right all the same when it is opened.
    @Test func eventsOfOtherPacksArePassedOver() throws {
        let folder = try TemporaryFolder()
        let packs = [try TasksPack.make(), try Self.versions(1)]
        let space = try Space.create(at: folder.path, packs: packs)
        var models = try ReadModels(space)
        try models.update()
        for id in 1...5 {
            try space.record([TasksPack.line("added", TasksPack.added(id, id))])
            try models.update()
        }
        func applied(_ pack: String) throws -> SQLValue? {
            let source = try #require(models.source(of: pack))
            let connection = try Connection(path: source.path, .readOnly)
            return try connection.value("SELECT max(applied) FROM diario_model")
        }
        let head = Int64(space.store[space.id].standing().head)
        #expect(try applied("tasks") == .integer(head))
        #expect(try applied("notes") == .integer(head - 5))
        // Who opens it later goes on from there.
        models = try ReadModels(space)
        try Self.record(space, [#"{"id":"n1","grams":3}"#])
        try models.update()
        #expect(try applied("notes") == .integer(head + 1))
        #expect(try models.compare(space.packs).allSatisfy { $0.table.isEmpty })
    }

    /// Queries of the same diary are answered while it rebuilds, from what is live.
    @Test func queriesAreAnsweredDuringARebuild() async throws {
        let folder = try TemporaryFolder()
        let meals = SchemaFolder.path + "/meals"
        let diary = try Diary.create(at: folder.path + "/diary", schemas: [meals])
        var batch = diary.makeBatch()
        for day in 1...28 {
            try batch.add(
                "meals.weight.recorded",
                json: #"{"day":"2026-02-\#(day < 10 ? "0" : "")\#(day)","weightG":78400,"#
                    + #""source":"manual"}"#
            )
        }
        _ = try await diary.append(batch)
        async let rebuilt: Void = diary.rebuild()
        for _ in 0..<20 {
            let answer = try await diary.sql("SELECT count(*) AS n FROM weight")
            #expect(answer.rows == [[.integer(28)]])
        }
        try await rebuilt
        let answer = try await diary.sql("SELECT count(*) AS n FROM weight")
        #expect(answer.rows == [[.integer(28)]])
        try await diary.close()
    }

    // MARK: Events

    private static func record(_ space: Space, _ payloads: [String]) throws {
        try space.record(payloads.map { #"{"type":"notes.note.made","payload":\#($0)}"# })
    }

    private static func quarantined(_ space: Space) throws -> [String] {
        try ReadModels(space).quarantined().map {
            "\($0.event.model) \($0.event.origin.text) \($0.event.position ?? 0) "
                + "\($0.event.rule) \($0.event.message)"
        }
    }

    /// A pack whose one type has one or two versions.
    private static func versions(_ version: Int) throws -> Pack {
        func schema(_ version: Int, _ field: String) -> String {
            #"{"$schema":"https://json-schema.org/draft/2020-12/schema","#
                + #""title":"notes.note.made","x-diario-version":\#(version),"#
                + #""x-diario-subject":"id","type":"object","additionalProperties":false,"#
                + #""required":["id","\#(field)"],"properties":{"id":{"type":"string","#
                + #""maxLength":40},"\#(field)":{"type":"integer","minimum":0}}}"#
        }
        let field = version == 1 ? "grams" : "amountMg"
        var files = [
            "pack.json": #"{"name":"notes","version":\#(version)}"#,
            "events/note.made.1.json": schema(1, "grams"),
            "readmodel/notes.sql": """
            -- readmodel notes version \(version): what was noted, and by whom
            CREATE TABLE note (
                id TEXT NOT NULL PRIMARY KEY, amountMg INT NOT NULL, subject TEXT,
                origin TEXT NOT NULL, at INT NOT NULL, type TEXT NOT NULL
            ) STRICT, WITHOUT ROWID;
            -- on notes.note.made
            INSERT INTO note VALUES (:id, :\(field), :_subject, :_origin, :_at, :_type);
            """,
        ]
        if version == 2 {
            files["events/note.made.2.json"] = schema(2, "amountMg")
            files["events/note.made.1-2.sql"] = "SELECT :id AS id, :grams * 1000 AS amountMg;"
        }
        return try Pack(
            files: files.sorted { $0.key < $1.key }.map { path, text in
                PackFile(path: path, bytes: Array(text.utf8))
            }
        )
    }
}
