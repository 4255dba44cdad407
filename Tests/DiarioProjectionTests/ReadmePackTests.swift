import DiarioProjection
import DiarioSchema
import DiarioTestSupport
import Testing

/// The pack that schema/README.md lets its readers type.
@Suite struct ReadmePackTests {
    /// The contents of the blocks in the document that begin with three back quotes and `language`.
    private func blocks(_ language: String) throws -> [String] {
        let text = String(decoding: try SchemaFolder.contents("README.md"), as: UTF8.self)
        return text.split(separator: "```\(language)\n").dropFirst().map { part in
            String(part[..<(part.firstRange(of: "```")?.lowerBound ?? part.endIndex)])
        }
    }

    private func file(_ path: String, _ text: String) -> PackFile {
        PackFile(path: path, bytes: Array(text.utf8))
    }

    @Test func itHasNoProblems() throws {
        let (json, sql) = (try blocks("json"), try blocks("sql"))
        try #require(json.count >= 3 && sql.count == 3)
        let pack = try Pack(
            files: [
                file("pack.json", json[0]), file("events/plant.watered.1.json", json[1]),
                file("examples/first.jsonl", json[2]), file("readmodel/plants.sql", sql[0]),
                file("queries/thirsty.sql", sql[1]),
            ]
        )
        #expect(pack.checkExamples().isEmpty)
        #expect(PackCheck.problems(of: pack).isEmpty)
        #expect(pack.sql.readModels.map(\.name) == ["plants"])
        #expect(pack.sql.queries.map(\.name) == ["thirsty"])
    }

    /// The document names every function that SQL may call, and no other.
    @Test func itNamesTheFunctionsThatAreAllowed() throws {
        let lines = String(decoding: try SchemaFolder.contents("README.md"), as: UTF8.self)
        let text = lines.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let list = try #require(text.split(separator: "Allowed functions are `").dropFirst().first)
        let names = list.prefix { $0 != "`" }.split(separator: " ").map(String.init)
        #expect(Set(names) == AllowList.functions)
        for function in EngineFunction.allCases { #expect(text.contains("`\(function.rawValue)(")) }
    }

    /// A second version with a new required field, and the upcast of the document.
    @Test func itsUpcastHasNoProblems() throws {
        let (json, sql) = (try blocks("json"), try blocks("sql"))
        let newer = json[1].replacing(#""x-diario-version": 1"#, with: #""x-diario-version": 2"#)
            .replacing(#""required": ["#, with: #""required": ["vessel", "#)
            .replacing(#""properties": {"#, with: #""properties": {"vessel": {"type": "string"},"#)
        let pack = try Pack(
            files: [
                file("pack.json", json[0]), file("events/plant.watered.1.json", json[1]),
                file("events/plant.watered.2.json", newer),
                file("events/plant.watered.1-2.sql", sql[2]),
            ]
        )
        #expect(PackCheck.problems(of: pack).isEmpty)
    }
}
