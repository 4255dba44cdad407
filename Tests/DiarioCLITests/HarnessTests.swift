import DiarioCLI
import DiarioSchema
import Testing

@Suite struct HarnessTests {
    private static let files = [
        PackFile(path: "pack.json", bytes: Array(#"{"name":"plants","version":1}"#.utf8)),
        PackFile(
            path: "events/plant.watered.1.json",
            bytes: Array(
                """
                {"title":"plants.plant.watered","description":"Watered.","x-diario-version":1,
                "x-diario-subject":"plantId","type":"object","additionalProperties":false,
                "required":["plantId","amountMl"],"properties":{
                "plantId":{"type":"string","maxLength":40},
                "amountMl":{"type":"integer","minimum":1,"maximum":20000},
                "note":{"type":"string","maxLength":500,"x-diario-personal":true}}}
                """.utf8
            )
        ),
    ]

    private func answer(_ request: String) throws -> JSON {
        var harness = Harness(catalog: try TypeCatalog([try Pack(files: Self.files)]))
        var output: [UInt8] = []
        harness.answer(Array(request.utf8).span, to: &output)
        return try JSON.parse(output).value
    }

    private func text(_ json: JSON, _ key: String) -> String? {
        guard case .string(let text) = json.member(key)?.item.value else { return nil }
        return text
    }

    private func isOK(_ json: JSON) -> Bool {
        if case .boolean(true) = json.member("ok")?.item.value { true } else { false }
    }

    private func row(_ payload: String, sequence: Int = 1) -> String {
        """
        {"row":{"type":"plants.plant.watered","version":1,"payload":\(payload),\
        "replica":"0000000000001","sequence":\(sequence),"batchFirst":1,"batchCount":1,\
        "clock":"1000-2","at":1000,"base":0,"seed":"000102030405060708090a0b0c0d0e0f",\
        "acceptedAt":2000}}
        """
    }

    /// The bytes were put together by hand from schema/format/log.md, sections 3 and 4.
    @Test func aRowIsTheOneOfTheDocument() throws {
        let answer = try answer(row(#"{"plantId":"ficus","amountMl":150}"#))
        let name = "14" + "706c616e74732e706c616e742e77617465726564"
        let head = "01" + name + "01" + "0100000000000000" + "01"
        let publicPart = "00" + "01" + "0200e80300000000" + "00" + "00" + "00"
        let payload = "03" + "ac02" + "056669637573"
        #expect(isOK(answer))
        #expect(text(answer, "row") == head + publicPart + payload)
        #expect(text(answer, "eventHash")?.utf8.count == 64)
        #expect(text(answer, "leaf")?.utf8.count == 64)
        if case .null = answer.member("commitment")?.item.value {
        } else {
            Issue.record("a row without a personal part has no commitment")
        }
    }

    @Test func aPersonalPartGivesACommitmentAtTheEndOfTheRow() throws {
        let answer = try answer(row(#"{"plantId":"ficus","amountMl":150,"note":"dry"}"#))
        let commitment = try #require(text(answer, "commitment"))
        #expect(text(answer, "row")?.hasSuffix(commitment) == true)
    }

    @Test(arguments: [
        (
            #"{"judge":{"type":"plants.plant.watered","payload":{"plantId":"a","amountMl":0}}}"#,
            "minimum"
        ),
        (#"{"judge":{"type":"plants.none","payload":{}}}"#, "unknown-type"),
        (#"{"judge":"#, "unexpected-end"),
        (#"{"row":{}}"#, "request"),
        (#"{"row":5}"#, "request"),
        ("", "syntax"),
    ])
    func whatIsWrongIsAnsweredWithItsRule(request: String, rule: String) throws {
        let answer = try answer(request)
        #expect(!isOK(answer))
        #expect(text(answer, "message")?.isEmpty == false)
        if !request.isEmpty { #expect(text(answer, "rule") == rule) }
    }

    @Test func aPlaceOutsideTheBatchIsRefused() throws {
        let answer = try answer(row(#"{"plantId":"ficus","amountMl":150}"#, sequence: 2))
        #expect(text(answer, "message") == "the event does not lie in its batch")
    }

    @Test func aGoodEventIsJudgedGood() throws {
        let request =
            #"{"judge":{"type":"plants.plant.watered","version":1,"#
            + #""payload":{"plantId":"a","amountMl":1}}}"#
        #expect(isOK(try answer(request)))
    }
}
