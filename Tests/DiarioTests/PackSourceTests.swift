import Diario
import DiarioHost
import DiarioProjection
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Testing

@Suite struct PackSourceTests {
    /// Packs that come with the program are not tried again when they are loaded.
    @Test func ourOwnPacksHaveNoProblems() throws {
        let problems = try PackSource.problems(folder: SchemaFolder.path)
        #expect(problems.map(\.description) == [])
    }

    /// Each type is listened to, and has an example that says what it does to the tables.
    @Test func ourOwnPacksAreWholeAndHaveExamples() throws {
        for pack in try PackSource.builtIn() where pack.name != "engine" {
            let listened = Set(pack.sql.readModels.flatMap(\.blocks).flatMap(\.types))
            #expect(listened == Set(pack.types.map(\.name)))
            let folder = "\(pack.name)/examples"
            let examples = try SchemaFolder.files(folder).map {
                String(decoding: try SchemaFolder.contents($0), as: UTF8.self)
            }.joined()
            for type in listened {
                #expect(examples.contains(#"{"type":"\#(type)""#), "\(type) has no example")
            }
            #expect(pack.sql.queries.count >= 3 && 2...6 ~= pack.sql.readModels.count)
        }
    }

    /// Its types would be in the place of the program's own.
    @Test func thePackOfTheProgramIsNotReplaced() throws {
        let folder = try TemporaryFolder()
        let directory = try folder.directory()
        let event =
            #"{"$schema":"https://json-schema.org/draft/2020-12/schema","#
            + #""title":"engine.pack.adopted","x-diario-version":2,"type":"object","#
            + #""additionalProperties":false,"required":["zap"],"#
            + #""properties":{"zap":{"type":"string","maxLength":9}}}"#
        try directory.makeDirectory("events")
        for (path, text) in [
            ("pack.json", #"{"name":"engine","version":9}"#),
            ("events/pack.adopted.2.json", event),
        ] {
            try directory.open(path, .create).write(Array(text.utf8).span, at: 0)
        }
        let problems = try PackSource.problems(folder: folder.path)
        #expect(problems.map(\.rule) == ["reserved-name"])
        #expect(throws: DiarioError.self) { try PackSource.load(folder: folder.path) }
    }

    /// What lies in a folder of packs and is none of their files stops none of the others.
    @Test func whatIsNoFileOfAPackIsTold() throws {
        let folder = try TemporaryFolder()
        let disk = try folder.directory()
        func write(_ path: String, _ text: String) throws {
            try disk.open(path, .create).write(Array(text.utf8).span, at: 0)
        }
        for pack in ["one", "two", "three"] {
            try disk.makeDirectory("\(pack)/events")
            try write("\(pack)/pack.json", #"{"name":"\#(pack)","version":1}"#)
        }
        try disk.makeDirectory("one/events/old")
        // Of a file elsewhere the message of a mistake would show a piece.
        try disk.setLink("one/events/secret.json", to: "../../two/pack.json")
        try folder.makePipe("one/events/pipe.json")
        try write("two/pack.json", #"{"name":"three","version":1}"#)
        let problems = try PackSource.problems(folder: folder.path)
        let found = problems.map { "\($0.file) \($0.rule)" }
        for name in ["old", "secret.json", "pipe.json"] {
            #expect(found.contains("one/events/\(name) file-kind"), "\(found)")
        }
        let twice = problems.filter { $0.rule == "pack-twice" }
        #expect(twice.map(\.file) == ["two/pack.json"])
        #expect(twice.map(\.message).joined().contains("the pack in three is named three"))
        let error = #expect(throws: DiarioError.self) {
            try PackSource.load(folders: [folder.path + "/two", folder.path + "/three"])
        }
        let message = try #require(error?.message)
        #expect(message.contains(folder.path + "/two is named three"), "\(message)")
    }

    /// What passed once: an empty file, a mark that nobody sees, two rows about one thing.
    @Test func filesThatSayNothingOrTwoThingsAreTold() throws {
        let mark = "\u{feff}"
        let cases: [(String, String, String)] = [
            ("queries/none.sql", " \n", "sql-empty"), ("readmodel/none.sql", "", "sql-empty"),
            ("queries/marked.sql", mark + "-- query marked(): a\nSELECT 1;", "byte-order-mark"),
            ("reference/task.added.1.csv", mark + "id,title,list,place\n", "byte-order-mark"),
            (
                "reference/task.added.1.csv", "id,title,list,place\na,x,l,1\nb,x,l,1\na,y,l,1\n",
                "reference-twice"
            ),
        ]
        for (path, text, rule) in cases {
            let folder = try TemporaryFolder()
            let disk = try folder.directory()
            let pack = try TasksPack.make()
            for file in pack.files + [PackFile(path: path, bytes: Array(text.utf8))] {
                if let slash = file.path.firstIndex(of: "/") {
                    try disk.makeDirectory(String(file.path[..<slash]))
                }
                try disk.open(file.path, .create).write(file.bytes.span, at: 0)
            }
            let problems = try PackSource.problems(folder: folder.path)
            #expect(problems.contains { $0.rule == rule && $0.file == path }, "\(problems)")
            #expect(throws: DiarioError.self) { try PackSource.load(folder: folder.path) }
            if rule == "reference-twice" { #expect(problems.map(\.line) == [4]) }
        }
    }

    /// Every space has it already.
    @Test func theProgramsOwnPackIsNotAdopted() throws {
        let path = SchemaFolder.path + "/engine"
        #expect(try PackSource.problems(folder: path).isEmpty)
        #expect(throws: DiarioError.self) { try PackSource.load(folder: path) }
    }

    /// A program that reads problems gets this one, too.
    @Test func aFolderWithoutAPackIsAProblem() throws {
        let folder = try TemporaryFolder()
        #expect(try PackSource.problems(folder: folder.path).map(\.rule) == ["no-pack"])
        let error = #expect(throws: DiarioError.self) {
            try PackSource.load(folder: folder.path)
        }
        #expect(error?.message.contains("holds no pack") == true)
    }

    /// SQLite takes the statement, and refuses it for every event.
    @Test func aReadModelThatTakesNoExampleIsTold() throws {
        let pack = try TasksPack.make(
            model: TasksPack.model.replacing(
                "VALUES (:list, 1) ON CONFLICT",
                with: "VALUES (:list, :title) ON CONFLICT"
            ),
            extra: [
                "examples/a.jsonl":
                    #"{"type":"tasks.task.removed","payload":{"id":"x"}}"# + "\n"
                    + #"{"type":"tasks.task.added","payload":{"id":"t","title":"a","list":"l","#
                    + #""place":1}}"# + "\n"
            ]
        )
        let problems = ExampleCheck.problems(of: pack)
        #expect(problems.map(\.rule) == ["example-model"])
        #expect(problems.map(\.file) == ["examples/a.jsonl"])
        #expect(problems.map(\.line) == [2])
        #expect(ExampleCheck.problems(of: try TasksPack.make()) == [])
    }

    /// What `schema check` refuses is not adopted either.
    @Test func aPackWhoseSQLIsWrongIsNotLoaded() throws {
        let folder = try TemporaryFolder()
        let disk = try folder.directory()
        try disk.makeDirectory("plants/events")
        try disk.makeDirectory("plants/readmodel")
        let schema = #"""
            {"$schema":"https://json-schema.org/draft/2020-12/schema","title":"plants.plant.seen",
             "x-diario-version":1,"type":"object","additionalProperties":false,"required":["id"],
             "properties":{"id":{"type":"string","maxLength":40}}}
            """#
        let model = """
            -- readmodel plants version 1: all plants
            CREATE TABLE plant (id TEXT NOT NULL PRIMARY KEY) STRICT;
            -- on plants.plant.seen
            INSERT INTO plant VALUES (:id || random());
            """
        for (path, text) in [
            ("plants/pack.json", #"{"name":"plants","version":1}"#),
            ("plants/events/plant.seen.1.json", schema), ("plants/readmodel/plants.sql", model),
        ] {
            try Files.replace(path, with: Array(text.utf8), in: disk)
        }
        let problems = try PackSource.problems(folder: folder.path)
        #expect(problems.map(\.rule) == ["sql-function"])
        #expect(problems.map(\.file) == ["plants/readmodel/plants.sql"])
        #expect(problems.map(\.line) == [4])
        #expect(throws: DiarioError.self) { try PackSource.load(folder: folder.path) }
    }
}
