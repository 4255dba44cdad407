import DiarioSchema
import Testing

@Suite struct JudgeTests {
    private func answer(_ request: String) throws -> String {
        var reader = EventLineReader(catalog: try TypeCatalog([makeType()]), options: [])
        var output: [UInt8] = []
        let bytes = Array(request.utf8)
        Judge.answer(bytes.span, reader: &reader, to: &output)
        return text(output)
    }

    @Test(arguments: [
        (
            #"{"judge":{"type":"test.thing.made","version":1,"payload":{"count":1,"name":"a"}}}"#,
            #"{"ok":true}"#
        ),
        (
            #" { "judge" : {"type":"test.thing.made","version":1,"payload":{"count":1}}} "#,
            #"{"ok":false,"message":"test.thing.made: field name: required, but absent; add it","#
                + #""field":"name","rule":"required"}"#
        ),
        (
            #"{"judge":{"type":"test.thing.made","version":1,"payload":{"name":"\x"}}}"#,
            #"{"ok":false,"message":"test.thing.made: field name: \\x at byte 58 is no "#
                + #"escape of JSON; write \\\\ for a backslash","field":"name","rule":"escape"}"#
        ),
    ])
    func oneLineAnswersAnother(request: String, expected: String) throws {
        #expect(try answer(request) == expected)
    }

    @Test(arguments: ["", "{", "{}", "[]", #"{"judge":}"#, #"{"judge":1"#, #"{"jugde":{}}"#])
    func otherRequestsAreRefused(request: String) throws {
        #expect(try answer(request).hasPrefix(#"{"ok":false,"#))
    }
}
