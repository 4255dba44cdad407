import DiarioCLI
import DiarioCore
import Testing

@Suite struct ArgumentsTests {
    private func parse(_ words: String..., of name: String) throws -> Arguments {
        try Arguments(words, of: #require(Command.named(name)))
    }

    private func message(_ words: [String], of name: String) throws -> String? {
        let command = try #require(Command.named(name))
        do { _ = try Arguments(words, of: command) } catch { return Failure(error).message }
        return nil
    }

    @Test func optionsStandBeforeBetweenAndBehindOperands() throws {
        let arguments = try parse(
            "--actor",
            "a",
            "meals.weight.recorded",
            "--quiet",
            "{}",
            "--subject=s=t",
            of: "record"
        )
        #expect(arguments.operands == ["meals.weight.recorded", "{}"])
        #expect(arguments.value("actor") == "a")
        #expect(arguments.value("subject") == "s=t")
        #expect(arguments.has("quiet"))
        #expect(!arguments.has("version"))
    }

    @Test func aDashAloneIsAnOperandAndTwoEndTheOptions() throws {
        let arguments = try parse("-", "--", "--quiet", of: "record")
        #expect(arguments.operands == ["-", "--quiet"])
        #expect(!arguments.has("quiet"))
    }

    @Test func aRepeatableOptionKeepsItsValuesInOrder() throws {
        let arguments = try parse("--type", "fish.", "--type=a.b", of: "log")
        #expect(arguments.all("type") == ["fish.", "a.b"])
    }

    @Test(arguments: [
        (["--limits", "3"], "did you mean --limit?"),
        (["--rev"], "did you mean --reverse?"),
        (["--zzz"], "log has no option --zzz"),
        (["-x"], "log has no option -x"),
        (["-C", "a"], "before the command"),
        (["--space", "a"], "diario --space SPACE log"),
        (["--limit"], "--limit N needs its value"),
        (["--limit="], "--limit N needs its value"),
        (["--json=yes"], "--json takes no value"),
        (["--limit", "1", "--limit", "2"], "--limit is there twice"),
        (["events"], "log takes no operands; events is too much"),
    ])
    func wrongWordsAreNamedWithTheRemedy(words: [String], wanted: String) throws {
        let found = try message(words, of: "log")
        #expect(found?.contains(wanted) == true)
    }

    @Test func missingAndSurplusOperandsAreNamed() throws {
        #expect(try message([], of: "record")?.contains("record needs TYPE [JSON|-]") == true)
        #expect(try message(["a", "b", "c"], of: "record")?.contains("c is too much") == true)
        #expect(try message(["--help"], of: "record") == nil)
        #expect(try message(["-h"], of: "record") == nil)
    }

    @Test func commandsOfOneAndTwoWordsAreFound() throws {
        #expect(try Command.find(["log", "--json"]).command.name == "log")
        let found = try Command.find(["schema", "check", "DIR"])
        #expect(found.command.name == "schema check")
        #expect(found.rest == ["DIR"])
    }

    @Test(arguments: [
        (["lgo"], "did you mean log?"),
        (["schema", "chekc"], "did you mean schema check?"),
        (["schema"], "schema is one of: schema check, schema list, schema adopt"),
        (["frobnicate"], "there is no command frobnicate"),
        ([], "no command"),
    ])
    func unknownCommandsNameTheNearest(words: [String], wanted: String) {
        #expect {
            _ = try Command.find(words)
        } throws: { error in
            Failure(error).exitCode == .usage && Failure(error).message?.contains(wanted) == true
        }
    }

    @Test(arguments: [
        ("1970-01-02", Int64(86_400_000)), ("1970-01-01T00:00:01Z", 1000),
        ("1970-01-01T01:00:00+01:00", 0), ("1234", 1234), ("-5", -5),
    ])
    func timesAreDatesInstantsOrMilliseconds(text: String, milliseconds: Int64) throws {
        let arguments = try parse("--since", text, of: "log")
        #expect(try arguments.time("since") == Timestamp(milliseconds: milliseconds))
    }

    @Test(arguments: [
        "2026-02-30", "yesterday", "2026-05-04T07:30:00", "99999999999999999", "2026",
    ])
    func whatIsNoTimeIsRefused(text: String) throws {
        let arguments = try parse("--since", text, of: "log")
        #expect(throws: Failure.self) { try arguments.time("since") }
    }

    @Test(arguments: ["0", "-1", "1.5", "x", "9223372036854775808"])
    func countsAreWholeNumbersInRange(text: String) throws {
        let arguments = try parse("--from", text, of: "log")
        #expect(throws: Failure.self) { try arguments.count("from", from: 1) }
        #expect(try parse("--from", "7", of: "log").count("from", from: 1) == 7)
    }
}
