import DiarioCore
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import DiarioTestSupport
import Testing

/// The table of blobs: schema/format/models.md, section 2.
@Suite struct BlobModelTests {
    private static let blobs = #"""
        "photo":{"type":"object","x-diario-blob":{"maxSize":9,"types":["image/png"]}},
        "tile":{"type":"object","x-diario-blob":{"maxSize":9,"types":["a/b"],"public":true}}
        """#

    /// A payload with a blob whose id is full of one byte; `key` is not the real one.
    private static func payload(
        _ id: String,
        photo: Character? = nil,
        hasKey: Bool = true,
        tile: Character? = nil
    ) -> String {
        func hash(_ letter: Character) -> String { String(repeating: letter, count: 42) + "A=" }
        var members = [#""id":"\#(id)","day":"2026-01-01""#]
        if let photo {
            members.append(#""photoId":"\#(hash(photo))","photoSize":9,"photoType":"image/png""#)
            if hasKey { members.append(#""photoKey":"\#(hash("k"))""#) }
        }
        if let tile {
            members.append(#""tileId":"\#(hash(tile))","tileSize":1,"tileType":"a/b""#)
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    private static func pack(_ changes: [String: String] = [:]) throws -> Pack {
        let files = ["events/thing.made.1.json": PackSample.schema(blobs)]
        return try PackSample.pack(files.merging(changes) { $1 })
    }

    /// The rows of the table, with the first byte of each id.
    private func rows(_ path: String) throws -> [String] {
        let reader = try ModelReader(
            ModelReader.Source(pack: "test", path: path, isImmutable: false)
        )
        let answer = try reader.answer(
            "SELECT substr(origin, 15), field, hex(substr(id, 1, 1)), length(id), isErased "
                + "FROM diario_blob ORDER BY origin, field",
            [:],
            ModelReader.Bounds()
        )
        var rows: [String] = []
        while let row = try answer.next() {
            rows.append(
                row.map { value in
                    switch value {
                    case .text(let text): text
                    case .integer(let number): "\(number)"
                    default: "?"
                    }
                }.joined(separator: " ")
            )
        }
        return rows
    }

    @Test func eachBlobOfAnEventHasARow() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/test.sqlite"
        let run = try ModelRun(try Self.pack(), path: path)
        try run.apply(Self.payload("a"))
        try run.apply(Self.payload("b", photo: "B", tile: "E"))
        try run.apply(Self.payload("c", photo: "I", hasKey: false))
        try run.apply(Self.payload("d", tile: "E"))
        #expect(try run.quarantined().isEmpty)
        #expect(
            try rows(path) == [
                "2 photo 04 32 0", "2 tile 10 32 0", "3 photo 20 32 1", "4 tile 10 32 0",
            ]
        )
    }

    @Test func undoneAndRebuiltItIsTheSame() throws {
        let (run, other) = (try ModelRun(try Self.pack()), try ModelRun(try Self.pack()))
        for run in [run, other] { try run.apply(Self.payload("a", photo: "B")) }
        let before = try run.file.digest(of: "diario_blob")
        #expect(before.rows == 1)
        try run.applyPending(Self.payload("b", photo: "E", tile: "I"))
        #expect(try run.file.digest(of: "diario_blob").rows == 3)
        try run.undo()
        #expect(try run.file.digest(of: "diario_blob") == before)
        try other.apply(Self.payload("b", photo: "E", tile: "I"))
        let rebuilt = try ModelRun(try Self.pack())
        try rebuilt.apply(Self.payload("a", photo: "B"))
        try rebuilt.apply(Self.payload("b", photo: "E", tile: "I"))
        #expect(
            try rebuilt.file.digest(of: "diario_blob") == other.file.digest(of: "diario_blob")
        )
    }

    @Test func theChecksOfAPackTakeIt() throws {
        let lines = [("x", true), ("y", false)].map { id, hasKey in
            let payload = Self.payload(id, photo: "B", hasKey: hasKey, tile: "E")
            return #"{"type":"test.thing.made","payload":\#(payload)}"#
        }
        let pack = try Self.pack(["examples/a.jsonl": lines.joined(separator: "\n")])
        #expect(pack.sql.readModels.map { $0.name } == ["things", "diario_blob"])
        #expect(PackCheck.problems(of: pack).isEmpty)
        #expect(ExampleCheck.problems(of: pack).isEmpty)
        let plain = try PackSample.pack()
        #expect(plain.sql.readModels.map { $0.name } == ["things"])
    }

    @Test func theViewOfReleasedBlobsHasItsColumns() throws {
        func rules(_ columns: String) throws -> [String] {
            let view = "CREATE VIEW released_blob AS SELECT \(columns) FROM thing;"
            let files = [
                "pack.json": #"{"name":"test","version":1,"stays":["test.thing.made.photo"]}"#,
                "events/thing.made.1.json": PackSample.schema(Self.blobs),
                "readmodel/things.sql": PackSample.model(definitions: view),
            ]
            return try PackSample.problems(files).map { $0.rule }
        }
        #expect(try rules("id, day") == ["stays-view"])
        #expect(try rules("id, note AS actor").isEmpty)
    }

    @Test func itsNameIsTheEngines() throws {
        let model = PackSample.model().replacing("readmodel things", with: "readmodel diario_blob")
        #expect(throws: PackError.self) {
            try Self.pack(["readmodel/diario_blob.sql": model])
        }
        let definition = "CREATE TABLE diario_blob (a INT PRIMARY KEY) STRICT;"
        let problems = try PackSample.problems(definitions: definition)
        #expect(problems.map { $0.rule } == ["sql-name"])
    }
}
