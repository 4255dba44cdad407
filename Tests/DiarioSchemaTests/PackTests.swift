import DiarioCore
import DiarioSchema
import Testing

@Suite struct PackTests {
    private static let manifest = #"{"name":"test","version":3,"title":"T","needs":{"day_of":1}}"#
    private static let csv = """
        thingId,count,name,isNew,share,note,place\r
        a,1,"x,y",true,0.5,"say ""hi""\r
        twice","{""b"":1}"\r
        b,-2,z,,,,\r

        """

    private func files(_ changes: [String: String?] = [:]) -> [PackFile] {
        var files = [
            "pack.json": Self.manifest,
            "events/thing.made.1.json": everyFormSchema,
            "reference/thing.made.1.csv": Self.csv,
            "examples/first.jsonl":
                "{\"type\":\"test.thing.made\",\"payload\":{\"count\":1,\"name\":\"a\"}}\n",
            "readmodel/things.sql": """
            -- readmodel things version 1: how many things there are of a name
            CREATE TABLE thing (name TEXT NOT NULL PRIMARY KEY, count INT NOT NULL) STRICT;
            -- on test.thing.made
            INSERT INTO thing VALUES (:name, 1) ON CONFLICT (name) DO UPDATE SET count = count + 1;
            """,
            "queries/things.sql": """
            -- query things(): all names
            SELECT name FROM thing;
            """,
        ]
        for (path, text) in changes { files[path] = text }
        return files.map { PackFile(path: $0.key, bytes: Array($0.value.utf8)) }
    }

    private func problems(_ changes: [String: String?]) -> [PackProblem] {
        problems(in: files(changes))
    }

    private func problems(in files: [PackFile]) -> [PackProblem] {
        do throws(PackError) {
            _ = try Pack(files: files)
            return []
        } catch {
            return error.problems
        }
    }

    @Test func aPackIsLoaded() throws {
        let pack = try Pack(files: files())
        #expect(pack.name == "test")
        #expect(pack.version == 3)
        #expect(pack.title == "T")
        #expect(pack.needs.map(\.name) == ["day_of"])
        #expect(pack.needs.map(\.version) == [1])
        #expect(pack.types.map(\.name) == ["test.thing.made"])
        #expect(pack.checkExamples().isEmpty)
    }

    @Test func theFingerprintHasAllFilesButTheExamples() throws {
        let pack = try Pack(files: files())
        #expect(
            pack.fingerprintFiles.map(\.path) == [
                "events/thing.made.1.json", "pack.json", "queries/things.sql",
                "readmodel/things.sql", "reference/thing.made.1.csv",
            ]
        )
        #expect(pack.files.count == 6)
    }

    @Test func aTextForReadersIsNotLookedInto() throws {
        let pack = try Pack(files: files(["README.md": "\u{feff}# T"]))
        #expect(pack.files.contains { $0.path == "README.md" })
        #expect(!pack.fingerprintFiles.contains { $0.path == "README.md" })
    }

    @Test func referenceDataBecomesPayloads() throws {
        let table = try #require(try Pack(files: files()).references.first)
        #expect(table.path == "reference/thing.made.1.csv")
        #expect(table.rows.map(\.line) == [2, 4])
        let rows = table.rows.map { row in
            var output: [UInt8] = []
            PayloadWriter.append(row.payload, of: table.type, to: &output)
            return text(output)
        }
        #expect(
            rows == [
                #"{"count":1,"isNew":true,"name":"x,y","note":"say \"hi\"\r\ntwice","#
                    + #""place":{"b":1},"share":0.5,"thingId":"a"}"#,
                #"{"count":-2,"name":"z","thingId":"b"}"#,
            ]
        )
    }

    @Test(arguments: [
        ("", nil, "csv-header"), ("thingId,cuont", 1, "csv-header"), ("name,name", 1, "csv-header"),
        ("count,name\n1", 2, "csv-columns"), ("count,name\n1,a\n1,a,b", 3, "csv-columns"),
        ("count,name\n1,\"a", 2, "csv"), ("count,name\n1,a\"b", 2, "csv"),
        ("count,name\n1,\"a\"b", 2, "csv"), ("count,name\n1,a\rb", 2, "csv"),
        ("count,name\n9999,a", 2, "maximum"), ("count,name\nx,a", 2, "csv-value"),
        ("count,name\n\"1,\"\"big\"\":2\",a", 2, "csv-value"), ("count,name\n1,\n", 2, "required"),
        ("count,name\n\n", 2, "csv-columns"),
    ])
    func otherReferenceDataIsRefused(csv: String, line: Int?, rule: String) {
        let problems = problems(["reference/thing.made.1.csv": csv])
        #expect(problems.map(\.rule) == [rule])
        #expect(problems.map(\.line) == [line])
        #expect(problems.map(\.file) == ["reference/thing.made.1.csv"])
    }

    @Test(arguments: [
        ("pack.json", nil, "manifest-missing"), ("pack.json", "[]", "manifest"),
        ("pack.json", "{", "unexpected-end"),
        ("pack.json", #"{"version":1}"#, "pack-name"),
        ("pack.json", #"{"name":"Test","version":1}"#, "pack-name"),
        ("pack.json", #"{"name":"test"}"#, "pack-version"),
        ("pack.json", #"{"name":"test","version":"1"}"#, "pack-version"),
        ("pack.json", #"{"name":"test","version":1,"tilte":"x"}"#, "unknown-key"),
        ("pack.json", #"{"name":"test","version":1,"title":1}"#, "manifest"),
        ("pack.json", #"{"name":"test","version":1,"needs":["a"]}"#, "needs"),
        ("pack.json", #"{"name":"test","version":1,"needs":{"a":0}}"#, "pack-version"),
        ("notes.txt", "", "unknown-file"), ("queries/README.md", "", "unknown-file"),
        ("events/a/b.1.json", "", "file-name"),
        ("readmodel/a.txt", "", "unknown-file"), ("reference/a.csv", "", "unknown-file"),
        ("events/thing.made.1-x.sql", "", "unknown-file"), ("../pack.json", "", "unknown-file"),
        ("events/thing.made.2-1.sql", "", "upcast-order"),
        ("events/thing.made.1-2.sql", "", "upcast-type"),
        ("reference/thing.made.2.csv", "", "reference-type"),
    ])
    func otherFilesAreRefused(path: String, text: String?, rule: String) {
        let problems = problems([path: text])
        #expect(problems.map(\.rule).contains(rule), "\(problems)")
        #expect(problems.allSatisfy { $0.file == path })
    }

    @Test func filesMustBeNamedAfterTheirTypes() {
        let renamed: [(String, String)] = [
            ("events/thing.mad.1.json", "title-mismatch"),
            ("events/thing.made.01.json", "file-name"),
            ("events/thing.made.2.json", "version-mismatch"), ("events/thing.json", "file-name"),
            ("events/Thing.made.1.json", "file-name"),
        ]
        for (path, rule) in renamed {
            let changes: [String: String?] = [
                "events/thing.made.1.json": nil, "reference/thing.made.1.csv": nil,
                path: everyFormSchema,
            ]
            #expect(problems(changes).map(\.rule) == [rule], "\(path)")
        }
        let other = problems(["pack.json": #"{"name":"other","version":1}"#])
        #expect(other.map(\.rule).contains("type-pack"))
    }

    @Test func oneTypeInTwoFilesIsRefused() {
        let problems = problems(["events/thing.other.1.json": everyFormSchema])
        #expect(problems.map(\.rule) == ["title-mismatch", "type-twice"])
    }

    @Test func problemsAreSortedAndShown() throws {
        let problems = problems([
            "notes.txt": "", "pack.json": "{\n\"name\":\"test\",\"version\":1,\n\"x\":1,\"y\":2}",
            "events/a.b.1.json": "{",
        ])
        #expect(
            problems.map(\.file) == ["events/a.b.1.json", "notes.txt", "pack.json", "pack.json"]
        )
        #expect("\(problems[3])" == "pack.json:3: the key y is not known; remove it [unknown-key]")
    }

    @Test func versionsMayHaveGaps() throws {
        let third = everyFormSchema.replacing(
            "\"x-diario-version\": 1",
            with: "\"x-diario-version\": 3"
        )
        let pack = try Pack(
            files: files([
                "events/thing.made.3.json": third, "events/thing.made.1-3.sql": "SELECT 1;",
            ])
        )
        #expect(pack.types.map(\.version) == [1, 3])
    }

    @Test func packsAreLimited() {
        let many = (0...Limits.packFileCountMax).map {
            PackFile(path: "queries/q\($0).sql", bytes: [])
        }
        #expect(problems(in: many).map(\.rule) == ["file-count"])
        let large = PackFile(
            path: "queries/q.sql",
            bytes: [UInt8](repeating: 0x20, count: Limits.packSizeMax + 1)
        )
        #expect(problems(in: files() + [large]).map(\.rule) == ["pack-size"])
        let twice = files() + [PackFile(path: "queries/things.sql", bytes: [])]
        #expect(problems(in: twice).map(\.rule) == ["file-twice"])
    }

    @Test func examplesAreCheckedLineByLine() throws {
        let good = ##"{"type":"test.thing.made","payload":{"count":1,"name":"a","parentId":"#2"}}"##
        let pack = try Pack(
            files: files([
                "examples/first.jsonl": "\(good)\n{\"type\":\"x\"}\n\(good)",
                "examples/second.jsonl": "\(good)\n\n",
            ])
        )
        let problems = pack.checkExamples()
        #expect(problems.map(\.file) == ["examples/first.jsonl", "examples/second.jsonl"])
        #expect(problems.map(\.line) == [2, 2])
        #expect(problems.map(\.rule) == ["unknown-type", "unexpected-end"])
    }

    @Test(arguments: UInt64(0)..<32) func mutilatedPacksAreLoadedOrRefused(seed: UInt64) {
        var breaker = JSONGenerator(random: SeededRandom(seed: seed))
        for _ in 0..<4 {
            let broken = files().sorted { $0.path < $1.path }.map { file in
                PackFile(path: file.path, bytes: breaker.mutilated(file.bytes))
            }
            if let pack = try? Pack(files: broken) { _ = pack.checkExamples() }
        }
    }
}
