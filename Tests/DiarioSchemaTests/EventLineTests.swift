import DiarioCore
import DiarioSchema
import Testing

@Suite struct EventLineTests {
    private static let second = #"""
        {"title":"test.a.b","x-diario-version":2,"type":"object","additionalProperties":false,
        "properties":{"g":{"type":"integer"}}}
        """#

    /// Two versions of test.a.b, and test.thing.made.
    private func makeCatalog() throws -> TypeCatalog {
        try TypeCatalog([
            makeType(schema(withField: #"{"type":"integer","maximum":9}"#)),
            makeType(Self.second), makeType(),
        ])
    }

    private func rewritten(
        _ line: String,
        _ options: EventLineReader.Options = .exportKeys
    ) throws -> String {
        var reader = EventLineReader(catalog: try makeCatalog(), options: options)
        var result = EventLine()
        let bytes = Array(line.utf8)
        try reader.read(bytes.span, into: &result)
        var output: [UInt8] = []
        EventLineWriter.append(result, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    private static let full = #"""
        {"type":"test.a.b","version":1,"payload":{"f":3},"subject":"s\"\#u{e8}","actor":"user-1",\#
        "at":"2026-11-20T10:44:00.123Z","ifUnchanged":true,"origin":"7zk3m9q2c1f4a-17",\#
        "position":9,"base":0,"clock":"1763635440123-65535",\#
        "acceptedAt":"2026-11-20T10:44:01.000Z","batch":"b 1"}
        """#

    @Test func aFullLineIsReadAndWritten() throws {
        #expect(try rewritten(Self.full) == Self.full)
    }

    @Test func theLineHoldsWhatWasRead() throws {
        var reader = EventLineReader(catalog: try makeCatalog(), options: .exportKeys)
        var line = EventLine()
        let bytes = Array(Self.full.utf8)
        try reader.read(bytes.span, into: &line)
        #expect(line.type.name == "test.a.b")
        #expect(line.type.version == 1)
        #expect(line.payload.slots == [.integer(3)])
        #expect(line.subject.map { text(line.arena[$0]) } == "s\"\u{e8}")
        #expect(line.actor.map { text(line.arena[$0]) } == "user-1")
        #expect(line.batch.map { text(line.arena[$0]) } == "b 1")
        #expect(line.at?.milliseconds == 1_795_171_440_123)
        #expect(line.ifUnchanged)
        #expect(line.origin == Origin(text: "7zk3m9q2c1f4a-17"))
        #expect(line.position == 9)
        #expect(line.base == 0)
        #expect(line.clock == HybridTime(milliseconds: 1_763_635_440_123, counter: 65_535))
        #expect(line.acceptedAt?.milliseconds == 1_795_171_441_000)
    }

    @Test func nothingIsLeftOfTheLineBefore() throws {
        var reader = EventLineReader(catalog: try makeCatalog(), options: .exportKeys)
        var line = EventLine()
        let first = Array(Self.full.utf8)
        let second = Array(#"{"type":"test.a.b","payload":{}}"#.utf8)
        try reader.read(first.span, into: &line)
        try reader.read(second.span, into: &line)
        var output: [UInt8] = []
        EventLineWriter.append(line, to: &output)
        #expect(text(output) == #"{"type":"test.a.b","version":2,"payload":{}}"#)
    }

    /// Every order of the keys that matter to one another, with and without spaces.
    @Test func keysMayComeInAnyOrder() throws {
        let keys = [
            #""type":"test.a.b""#, #""version":1"#, #""payload":{"f":3}"#, #""actor" : "a""#,
        ]
        let expected = #"{"type":"test.a.b","version":1,"payload":{"f":3},"actor":"a"}"#
        for order in permutations(keys) {
            #expect(try rewritten("{\(order.joined(separator: ","))}") == expected)
            #expect(try rewritten(" { \(order.joined(separator: " , ")) } \r") == expected)
        }
    }

    private func permutations(_ keys: [String]) -> [[String]] {
        guard keys.count > 1 else { return [keys] }
        return keys.indices.flatMap { index in
            var rest = keys
            let key = rest.remove(at: index)
            return permutations(rest).map { [key] + $0 }
        }
    }

    @Test(arguments: [
        (#"{"type":"test.a.b","payload":{"g":1}}"#, 2),
        (#"{"payload":{"g":1},"type":"test.a.b"}"#, 2),
        (#"{"type":"test.a.b","payload":{"f":1},"version":1}"#, 1),
        (#"{"payload":{"f":1},"version":1,"type":"test.a.b"}"#, 1),
        (#"{"typ\u0065":"test.\u0061.b","payload":{"g":1}}"#, 2),
    ])
    func theVersionDefaultsToTheNewest(line: String, version: Int) throws {
        let field = version == 2 ? "g" : "f"
        #expect(
            try rewritten(line)
                == #"{"type":"test.a.b","version":\#(version),"payload":{"\#(field)":1}}"#
        )
    }

    @Test(arguments: [
        (#""2026-11-20T11:44:00+01:00""#, "2026-11-20T10:44:00.000Z"),
        ("0", "1970-01-01T00:00:00.000Z"), ("-1", "1969-12-31T23:59:59.999Z"),
        ("1.5e3", "1970-01-01T00:00:01.500Z"), (#""1970-01-01\u0054000000Z""#, nil),
    ])
    func timesMayBeTextOrMilliseconds(time: String, expected: String?) throws {
        let line = #"{"type":"test.a.b","payload":{},"at":\#(time)}"#
        guard let expected else {
            #expect(fault(inLine: line, try makeCatalog())?.kind == .invalidKey)
            return
        }
        #expect(try rewritten(line).contains("\"at\":\"\(expected)\""))
    }

    @Test(
        arguments: [
            ("{}", .missingKey, "type", "a line needs it; add it"),
            (#"{"type":"test.a.b"}"#, .missingKey, "payload", "a line needs it; add it"),
            (#"{"payload":{}}"#, .missingKey, "type", "a line needs it; add it"),
            (
                #"{"type":"test.thing.mad","payload":{}}"#, .unknownType, "type",
                #""test.thing.mad" is no known type; did you mean test.thing.made?"#
            ),
            (
                #"{"type":"other","payload":{}}"#, .unknownType, "type",
                #""other" is no known type; check its name, or let the space use its pack: "#
                    + "diario schema adopt DIR"
            ),
            (
                #"{"type":"plants.plant.watered","payload":{}}"#, .unknownType, "type",
                #""plants.plant.watered" is no known type; check its name, or let the space use "#
                    + "its pack: diario schema adopt --pack plants, or diario schema adopt DIR "
                    + "with its folder"
            ),
            (
                #"{"type":"test.a.b","version":3,"payload":{}}"#, .unknownVersion, "version",
                "version 3 is not known; leave it out to use the newest"
            ),
            (
                #"{"type":"test.a.b","payload":{},"version":0}"#, .invalidKey, "version",
                "0 is not a version; write an integer from 1 to 65535"
            ),
            (
                #"{"type":"test.a.b","payload":{},"actr":"x"}"#, .unknownKey, "actr",
                "unknown here; did you mean actor?"
            ),
            (
                #"{"type":"test.a.b","payload":{},"position":1}"#, .unknownKey, "position",
                "only an export has it; remove it, or import the line"
            ),
            (
                #"{"type":"test.a.b","actor":"x","payload":{},"actor":"x"}"#, .duplicateKey,
                "actor",
                "actor comes twice; keep one of them"
            ),
            (
                #"{"type":"test.a.b","payload":{},"actor":""}"#, .invalidKey, "actor",
                #""" is not an actor; use 1 to 128 bytes"#
            ),
            (
                #"{"type":"test.a.b","payload":{},"actor":5}"#, .invalidKey, "actor",
                "5 is not an actor; use 1 to 128 bytes"
            ),
            (
                #"{"type":5,"payload":{}}"#, .invalidKey, "type",
                "5 is not the name of a type; write it like meals.meal.logged, in quotes"
            ),
            (
                #"{"type":"test.a.b","payload":{},"ifUnchanged":"yes"}"#, .invalidKey,
                "ifUnchanged", #""yes" is not true or false; write true, or leave it out"#
            ),
            ("[]", .wrongType, "", "[] is not an object; write an object"),
            (
                "nonsense", .unexpectedByte, "",
                "nonsense at byte 1 is not expected in JSON; check quotes, commas and brackets"
            ),
            (
                #"{"type":"test.a.b","payload":{},"actor":null}"#, .explicitNull, "actor",
                "null is not taken; leave out what is absent"
            ),
            (
                #"{"type":"test.thing.made","payload":{"count":1,"name":"a"},"subject":"x"}"#,
                .subjectNotAllowed, "subject",
                "the type has a field for its subject; remove the key, and fill in the field"
            ),
            (
                #"{"type":"test.a.b","payload":{},"at":"now"}"#, .invalidKey, "at",
                #""now" is not a time; write it like 2026-05-04T07:30:00Z, or in "#
                    + "milliseconds since 1970"
            ),
            (
                #"{"type":"test.a.b","payload":{},"at":300000000000000}"#, .invalidKey, "at",
                "300000000000000 is not a time; write it like 2026-05-04T07:30:00Z, or in "
                    + "milliseconds since 1970"
            ),
            (
                #"{"type":"test.a.b","version":1,"payload":{"f":10}}"#, .aboveMaximum, "f",
                "10 is above the maximum 9; give at most 9"
            ),
            (
                #"{"payload":{"f":10},"version":1,"type":"test.a.b"}"#, .aboveMaximum, "f",
                "10 is above the maximum 9; give at most 9"
            ),
            (
                #"{"type":"test.a.b","payload":[]}"#, .wrongType, "payload",
                "[] is not an object; write an object"
            ),
            (
                #"{"type":"test.a.b","payload":{"g":1}"#, .unexpectedEnd, "",
                "the JSON ends too early; complete it"
            ),
        ] as [(String, SchemaError.Kind, String, String)]
    )
    func faultsAreExplained(line: String, kind: SchemaError.Kind, path: String, text: String) throws
    {
        let error = try #require(fault(inLine: line, try makeCatalog()))
        #expect(error.kind == kind)
        #expect(error.path == path)
        #expect(error.message.hasSuffix(text), "\(error.message)")
    }

    @Test(arguments: [
        ("origin", #""7zk3m9q2c1f4a""#), ("origin", #""7zk3m9q2c1f4a-0""#), ("origin", "1"),
        ("origin", #""7zk3m9q2c1f4a-01""#), ("origin", #""7ZK3M9Q2C1F4A-1""#),
        ("origin", #""0000000000000-1""#), ("origin", #""7zk3m9q2c1f4a-18446744073709551616""#),
        ("origin", #""7zk3m9q2c1f4a-1 ""#), ("origin", #""""#), ("position", "0"),
        ("position", "1.5"), ("position", #""1""#), ("position", "9223372036854775808"),
        ("base", "-1"), ("clock", #""1""#), ("clock", #""1-65536""#), ("clock", #""-1-0""#),
        ("clock", #""140737488355328-0""#), ("clock", #""01-0""#), ("clock", #""1-0-0""#),
        ("clock", "1"), ("acceptedAt", #""now""#), ("ifUnchanged", "1"), ("batch", "1"),
        ("subject", "1"),
    ])
    func otherExportsAreRefused(key: String, value: String) throws {
        let line = #"{"type":"test.a.b","payload":{},"\#(key)":\#(value)}"#
        let error = try #require(fault(inLine: line, try makeCatalog(), .exportKeys))
        #expect(error.path == key)
        #expect(error.kind == .invalidKey)
    }

    /// It only tells lines apart, so any text does.
    @Test(arguments: [0, 1, 200, 100_000]) func aBatchIsAnyText(size: Int) throws {
        let text = String(repeating: "\u{e8}", count: size)
        let line = #"{"type":"test.a.b","payload":{},"batch":"\#(text)"}"#
        #expect(fault(inLine: line, try makeCatalog()) == nil)
    }

    @Test func textsOfALineAreLimited() throws {
        for (key, limit) in [("actor", Limits.actorSizeMax), ("subject", Limits.subjectSizeMax)] {
            func line(_ size: Int) -> String {
                let text = String(repeating: "x", count: size)
                return #"{"type":"test.a.b","payload":{},"\#(key)":"\#(text)"}"#
            }
            #expect(fault(inLine: line(limit), try makeCatalog()) == nil)
            #expect(fault(inLine: line(limit + 1), try makeCatalog())?.kind == .invalidKey)
        }
    }

    @Test func longLinesAreRefusedUnread() throws {
        let catalog = try makeCatalog()
        let line = String(repeating: " ", count: Limits.lineSizeMax + 1)
        #expect(fault(inLine: line, catalog)?.kind == .tooLarge)
        #expect(fault(inLine: String(line.dropLast()), catalog)?.kind == .unexpectedEnd)
    }

    @Test func theLineIsTheCallersToAdd() throws {
        var error = try #require(fault(inLine: "{}", try makeCatalog()))
        #expect(error.line == nil)
        #expect("\(error)" == "key type: a line needs it; add it")
        error.line = 12
        #expect("\(error)" == "line 12: key type: a line needs it; add it")
    }

    @Test(arguments: UInt64(0)..<32) func linesAreReadBackAsWritten(seed: UInt64) throws {
        var generator = PayloadGenerator(random: SeededRandom(seed: seed))
        for _ in 0..<10 {
            var line = #"{"payload":\#(generator.payload()),"type":"test.thing.made""#
            if generator.random.oneIn(2) { line += #","actor":"a\u00e8""# }
            if generator.random.oneIn(2) { line += ",\"at\":\(generator.random.below(1 << 47))" }
            if generator.random.oneIn(2) { line += #","ifUnchanged":false"# }
            if generator.random.oneIn(2) {
                line += #","origin":"0000000000001-\#(1 + generator.random.below(1 << 60))""#
            }
            if generator.random.oneIn(2) { line += ",\"base\":\(generator.random.below(1 << 60))" }
            if generator.random.oneIn(2) {
                line +=
                    ",\"clock\":\"\(generator.random.below(1 << 47))-"
                    + "\(generator.random.below(1 << 16))\""
            }
            let written = try rewritten(line + "}")
            #expect(try rewritten(written) == written)
        }
    }

    @Test(arguments: UInt64(0)..<48) func mutilatedLinesAreReadOrRefused(seed: UInt64) throws {
        let catalog = try makeCatalog()
        var breaker = JSONGenerator(random: SeededRandom(seed: seed))
        var reader = EventLineReader(catalog: catalog, options: [.exportKeys, .batchReferences])
        var line = EventLine()
        for _ in 0..<40 {
            let bytes = breaker.mutilated(Array(Self.full.utf8))
            do throws(SchemaError) {
                try reader.read(bytes.span, into: &line)
                var output: [UInt8] = []
                EventLineWriter.append(line, to: &output)
                try reader.read(output.span, into: &line)
            } catch {
                #expect(0...bytes.count ~= error.byteOffset)
                #expect(!error.message.isEmpty)
            }
        }
    }
}
