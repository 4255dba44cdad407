import DiarioCore
import DiarioSchema
import Testing

@Suite struct PayloadTests {
    /// Everything at once, in no order; what is written has one form.
    private static let full = #"""
        { "list" : [ "a", "\u00e8" ], "thingId":"x", "count":1.0e1, "name":"\u0061\ud83d\udc1f",
          "code":"ab12", "share":0.50, "any":-0.0, "big":-9223372036854775808, "isNew":true,
          "colour":"\u00e8\"x", "day":"2026-02-28", "moment":"2026-02-28T12:00:00.5+01:00",
          "key":"0B8A1D1E-5c7f-4d3a-9b57-2f6c1a9e4d10", "blob":"AQI=", "parentId":"y",
          "note":"", "place":{ "title":"y", "b":9, "a":[ 1, 2.50, 1e21 ],
          "Z":"0B8A1D1E-5C7F-4D3A-9B57-2F6C1A9E4D10" } }
        """#
    private static let written = #"""
        {"any":0,"big":-9223372036854775808,"blob":"AQI=","code":"ab12","colour":"\#u{e8}\"x",\#
        "count":10,"day":"2026-02-28","isNew":true,"key":"0b8a1d1e-5c7f-4d3a-9b57-2f6c1a9e4d10",\#
        "list":["a","\#u{e8}"],"moment":"2026-02-28T11:00:00.500Z","name":"a\#u{1f41f}",\#
        "note":"","parentId":"y","place":{"Z":"0B8A1D1E-5C7F-4D3A-9B57-2F6C1A9E4D10",\#
        "a":[1,2.5,1e+21],"b":9,\#
        "title":"y"},"share":0.5,"thingId":"x"}
        """#

    @Test func everyFormIsReadAndWrittenInOneForm() throws {
        let type = try makeType()
        #expect(rewritten(Self.full, as: type) == Self.written)
        #expect(rewritten(Self.written, as: type) == Self.written)
    }

    @Test func slotsHoldWhatTheKindSays() throws {
        let type = try makeType()
        var reader = PayloadReader()
        var payload = Payload()
        let bytes = Array(Self.full.utf8)
        try reader.read(bytes.span, as: type, into: &payload)
        func slot(_ name: String) throws -> Slot {
            payload.slots[try #require(type.fieldIndex(name))]
        }
        #expect(try slot("count") == .integer(10))
        #expect(try slot("share") == .number(0.5))
        #expect(try slot("isNew") == .integer(1))
        #expect(try slot("colour") == .integer(2))
        #expect(try slot("day") == .integer(20_512))
        #expect(try slot("moment") == .integer(1_772_276_400_500))
        #expect(payload.bytes(at: try #require(type.fieldIndex("blob"))) == [1, 2])
        #expect(payload.bytes(at: try #require(type.fieldIndex("key")))?.count == 16)
        #expect(payload.bytes(at: try #require(type.fieldIndex("key")))?.first == 0x0b)
        #expect(payload.bytes(at: try #require(type.fieldIndex("count"))) == nil)
    }

    @Test func aPayloadIsMadeForUsingAgain() throws {
        let type = try makeType()
        var reader = PayloadReader()
        var payload = Payload()
        let first = Array(Self.full.utf8)
        let second = Array(#"{"count":1,"name":"b"}"#.utf8)
        try reader.read(first.span, as: type, into: &payload)
        let capacity = payload.arena.capacity
        try reader.read(second.span, as: type, into: &payload)
        #expect(payload.slots.filter { $0 != .absent }.count == 2)
        #expect(payload.arena == Array("b".utf8))
        #expect(payload.arena.capacity == capacity)
    }

    @Test func bytesCanBeReplaced() throws {
        let type = try makeType(schema(withField: #"{"type":"string"}"#))
        var payload = Payload()
        payload.reset(fieldCount: 1)
        let origin = Array("7zk3m9q2c1f4a-17".utf8)
        payload.setBytes(origin.span, at: 0)
        var output: [UInt8] = []
        PayloadWriter.append(payload, of: type, to: &output)
        #expect(text(output) == #"{"f":"7zk3m9q2c1f4a-17"}"#)
    }

    /// One payload with one fault for each rule of a schema: path, value and sentence.
    @Test(
        arguments: [
            ("[]", .wrongType, "", "[] is not an object; write an object"),
            ("null", .explicitNull, "", "null is not taken; leave out what is absent"),
            (#"{"count":1}"#, .missingField, "name", "required, but absent; add it"),
            (
                #"{"count":null}"#, .explicitNull, "count",
                "null is not taken; leave out what is absent"
            ),
            (#"{"count":"1"}"#, .wrongType, "count", #""1" is not an integer; write an integer"#),
            (#"{"count":1.5}"#, .wrongType, "count", "1.5 is not an integer; write an integer"),
            (
                #"{"count":-6}"#, .belowMinimum, "count",
                "-6 is below the minimum -5; give a value from -5 to 5000"
            ),
            (
                #"{"count":99999}"#, .aboveMaximum, "count",
                "99999 is above the maximum 5000; give a value from -5 to 5000"
            ),
            (
                #"{"share":1.75}"#, .aboveMaximum, "share",
                "1.75 is above the maximum 1.5; give a value from 0 to 1.5"
            ),
            (
                #"{"big":1e30}"#, .beyondInteger, "big",
                "1e30 does not fit into 64 bits; use at most 9223372036854775807, or a string"
            ),
            (
                #"{"any":1e999}"#, .beyondNumber, "any",
                "1e999 is too large for binary64; use less than 1.8e308"
            ),
            (#"{"any":true}"#, .wrongType, "any", "true is not a number; write a number"),
            (
                #"{"name":""}"#, .tooShort, "name",
                #""" is shorter than 1 characters; make it longer"#
            ),
            (
                #"{"name":"\u00e8\u00e8\u00e8\u00e8\u00e8x"}"#, .tooLong, "name",
                #""\u00e8\u00e8\u00e8\u00e8\u00e8x" is longer than 5 characters; shorten it"#
            ),
            (
                #"{"code":"a1"}"#, .patternMismatch, "code",
                #""a1" does not match the pattern ^[a-z]{2}[0-9]*$; write it that way"#
            ),
            (#"{"isNew":1}"#, .wrongType, "isNew", "1 is not true or false; write true or false"),
            (
                #"{"colour":"gren"}"#, .notInEnumeration, "colour",
                #""gren" is none of the values; did you mean green?"#
            ),
            (
                #"{"day":"2026-02-30"}"#, .invalidDate, "day",
                #""2026-02-30" is no date; write it like 2026-05-04"#
            ),
            (
                #"{"moment":"2026-02-28T12:00:00"}"#, .invalidDateTime, "moment",
                #""2026-02-28T12:00:00" is no time with an offset; write it like "#
                    + "2026-05-04T07:30:00Z"
            ),
            (
                #"{"key":"0b8a"}"#, .invalidUUID, "key",
                #""0b8a" is no uuid; write it like 0b8a1d1e-5c7f-4d3a-9b57-2f6c1a9e4d10"#
            ),
            (
                #"{"blob":"AQJ="}"#, .invalidBase64, "blob",
                #""AQJ=" is not base64; use A-Z a-z 0-9 + / and = to fill up the last four"#
            ),
            (
                #"{"blob":"AQ"}"#, .tooShort, "blob",
                #""AQ" is shorter than 4 characters; make it longer"#
            ),
            (#"{"cuont":1}"#, .unknownField, "cuont", "unknown; did you mean count?"),
            (
                #"{"zzzzz":1}"#, .unknownField, "zzzzz",
                "unknown; remove it, or add it to a new version of the type"
            ),
            (
                #"{"\u001b[31m\#(String(repeating: "z", count: 7000))":1}"#, .unknownField,
                "\u{fffd}[31m\(String(repeating: "z", count: 53))...",
                "unknown; remove it, or add it to a new version of the type"
            ),
            (
                #"{"count":1,"c\u006funt":1}"#, .duplicateKey, "count",
                "count comes twice; keep one of them"
            ),
            (#"{"place":{}}"#, .missingField, "place.b", "required, but absent; add it"),
            (
                #"{"place":{"b":10}}"#, .aboveMaximum, "place.b",
                "10 is above the maximum 9; give at most 9"
            ),
            (
                #"{"place":{"a":[1,2,"x"],"b":1}}"#, .wrongType, "place.a[2]",
                #""x" is not a number; write a number"#
            ),
            (
                #"{"place":{"b":1,"a":[]}}"#, .tooFewItems, "place.a",
                "[] has fewer than 1 items; add some"
            ),
            (
                #"{"place":{"b":1,"a":[1,2,3,4]}}"#, .tooManyItems, "place.a",
                "[1,2,3,4] has more than 3 items; remove some"
            ),
            (
                #"{"place":{"b":1,"tilte":"x"}}"#, .unknownField, "place.tilte",
                "unknown; did you mean title?"
            ),
            (
                #"{"place":{"b":1,"a":[1],"b":1}}"#, .duplicateKey, "place.b",
                "b comes twice; keep one of them"
            ),
            (#"{"list":{}}"#, .wrongType, "list", "{} is not an array; write an array"),
            (
                #"{"list":["a",null]}"#, .explicitNull, "list[1]",
                "null is not taken; leave out what is absent"
            ),
            (
                #"{"thingId":""}"#, .invalidSubject, "thingId",
                #""" cannot be a subject; use 1 to 256 bytes"#
            ),
        ] as [(String, SchemaError.Kind, String, String)]
    )
    func faultsAreExplained(
        payload: String,
        kind: SchemaError.Kind,
        path: String,
        text: String
    )
        throws
    {
        let error = try #require(fault(in: payload, as: try makeType()))
        #expect(error.kind == kind)
        #expect(error.path == path)
        #expect(error.typeName == "test.thing.made")
        let place = path.isEmpty ? "" : "field \(path): "
        #expect(error.message == "test.thing.made: \(place)\(text)")
    }

    @Test(arguments: [
        (#"{"count":1"#, SchemaError.Kind.unexpectedEnd, 10), (#"{"count" 1}"#, .unexpectedByte, 9),
        (#"{"count":}"#, .unexpectedByte, 9), (#"{"count":1,}"#, .unexpectedByte, 11),
        (#"{"count":1 "name":"a"}"#, .unexpectedByte, 11), (#"{"count":1;"#, .unexpectedByte, 10),
        (#"{"name":"a"#, .unexpectedEnd, 10), (#"{"count":01}"#, .unexpectedByte, 10),
        (#"{"count":1,"name":"a"}}"#, .trailingBytes, 22), (#"{"isNew":trye}"#, .unexpectedByte, 9),
        (#"{"name":"\ud800"}"#, .loneSurrogate, 9), (#"{"name":"\u0000"}"#, .zeroCharacter, 9),
        (#"{"place":{"b":1]}"#, .unexpectedByte, 15), (#"{"list":["a"}"#, .unexpectedByte, 12),
        ("{\"name\":\"\t\"}", .controlCharacter, 9), (#"{name:1}"#, .unexpectedByte, 1),
    ])
    func brokenTextIsRefused(payload: String, kind: SchemaError.Kind, offset: Int) throws {
        let error = try #require(fault(in: payload, as: try makeType()))
        #expect(error.kind == kind)
        #expect(error.byteOffset == offset)
    }

    @Test func invalidUTF8IsRefusedAndShownAsText() throws {
        let type = try makeType()
        let error = try #require(
            fault(in: Array(#"{"name":""#.utf8) + [0xc0, 0x80, 0x22, 0x7d], as: type)
        )
        #expect(error.kind == .invalidUTF8)
        #expect(error.byteOffset == 9)
    }

    @Test func longValuesAreShortened() throws {
        let type = try makeType(schema(withField: #"{"type":"string","maxLength":9}"#))
        let long = String(repeating: "\u{1f41f}", count: 100)
        let error = try #require(fault(in: "{\"f\":\"\(long)\"}", as: type))
        #expect(error.value.utf8.count <= 63)
        #expect(error.value.hasSuffix("\u{1f41f}..."))
    }

    /// Lengths count scalars, whatever the bytes and escapes.
    @Test(arguments: ["\u{1f41f}", "\\ud83d\\udc1f", "e\u{301}", "\\n", "\u{e8}", "x", "\\u20ac"])
    func lengthsCountScalars(piece: String) throws {
        let type = try makeType(
            schema(withField: #"{"type":"string","minLength":2,"maxLength":4}"#)
        )
        let width = piece == "e\u{301}" ? 2 : 1
        for count in 0..<8 {
            let payload = "{\"f\":\"\(String(repeating: piece, count: count))\"}"
            let length = count * width
            let expected: SchemaError.Kind? = length < 2 ? .tooShort : length > 4 ? .tooLong : nil
            #expect(fault(in: payload, as: type)?.kind == expected)
        }
    }

    /// A pattern of thousands of states takes as many steps for each byte: what no event can hold
    /// is not matched.
    @Test func textsThatNoEventHoldsAreNotMatched() throws {
        let one = #"{"type":"string","pattern":"^[ab]*$"}"#
        let items = #"{"type":"array","maxItems":9,"items":\#(one)}"#
        for (form, count) in [(one, 1), (items, 4)] {
            let type = try makeType(schema(withField: form))
            for isTooLong in [false, true] {
                let size = Limits.eventSizeMax / count + (isTooLong ? 1 : 0)
                let text = "\"\(String(repeating: "a", count: size))\""
                let value = [String](repeating: text, count: count).joined(separator: ",")
                let payload = "{\"f\":\(count == 1 ? value : "[\(value)]")}"
                let found = fault(in: payload, as: type)
                #expect(found?.kind == (isTooLong ? .beyondEvent : nil), "\(count)")
                #expect(found?.message.contains("65536") != false)
            }
        }
    }

    @Test(arguments: [
        ("2016-12-31T23:59:60Z", "leap second"), ("0000-01-01T00:00:00Z", "years 1 to 9999"),
        ("9999-12-31T23:59:59-01:00", "years 1 to 9999"), ("2026-01-01T00:00:00", "offset"),
    ])
    func timesThatAreNotKeptAreToldWhy(time: String, word: String) throws {
        let type = try makeType(schema(withField: #"{"type":"string","format":"date-time"}"#))
        let found = fault(in: "{\"f\":\"\(time)\"}", as: type)
        #expect(found?.kind == .invalidDateTime)
        #expect(found?.message.contains(word) == true, "\(found?.message ?? "")")
    }

    @Test(arguments: ["", "AA==", "AAA=", "AAAA", "+/+/", "AQIDBA=="])
    func base64IsReadAndWritten(content: String) throws {
        let type = try makeType(
            schema(withField: #"{"type":"string","contentEncoding":"base64"}"#)
        )
        let payload = "{\"f\":\"\(content)\"}"
        #expect(rewritten(payload, as: type) == payload)
        let escaped = "{\"f\":\"\(content.replacing("/", with: "\\/"))\"}"
        #expect(rewritten(escaped, as: type) == payload)
    }

    @Test(arguments: [
        "A", "AA", "AAA", "AB==", "AAB=", "A===", "====", "AA==AAAA", "AA=A", "-_-_", "A A=",
    ])
    func otherBase64IsRefused(content: String) throws {
        let type = try makeType(
            schema(withField: #"{"type":"string","contentEncoding":"base64"}"#)
        )
        #expect(fault(in: "{\"f\":\"\(content)\"}", as: type)?.kind == .invalidBase64)
    }

    @Test(arguments: [
        "0b8a1d1e5c7f4d3a9b572f6c1a9e4d10", "0b8a1d1e-5c7f-4d3a-9b57-2f6c1a9e4d1",
        "0b8a1d1e-5c7f-4d3a-9b57-2f6c1a9e4d1g", "0b8a1d1e-5c7f-4d3a-9b572-f6c1a9e4d10",
        "{0b8a1d1e-5c7f-4d3a-9b57-2f6c1a9e4d10}", "0b8a1d1e-5c7f-4d3a-9b57-2f6c1a9e4d100",
    ])
    func otherUUIDsAreRefused(content: String) throws {
        let type = try makeType(schema(withField: #"{"type":"string","format":"uuid"}"#))
        #expect(fault(in: "{\"f\":\"\(content)\"}", as: type)?.kind == .invalidUUID)
    }

    /// Every value of a large enumeration is found, and nothing between.
    @Test func everyValueOfAnEnumerationIsFound() throws {
        let values = (0..<300).map { "v\($0 * 7)" }
        let list = values.map { "\"\($0)\"" }.joined(separator: ",")
        let type = try makeType(schema(withField: "{\"enum\":[\(list)]}"))
        for value in values { #expect(rewritten("{\"f\":\"\(value)\"}", as: type) != nil) }
        for value in ["", "v", "v1", "v2094", "w0", "v00"] {
            #expect(rewritten("{\"f\":\"\(value)\"}", as: type) == nil)
        }
        #expect(rewritten(#"{"f":"v\u0037"}"#, as: type) == #"{"f":"v7"}"#)
    }

    @Test func referencesToTheBatchAreListed() throws {
        let type = try makeType()
        var reader = PayloadReader()
        var payload = Payload()
        let bytes = Array(##"{"parentId":"#17","count":1,"name":"#2"}"##.utf8)
        try reader.read(bytes.span, as: type, options: .batchReferences, into: &payload)
        let index = try #require(type.fieldIndex("parentId"))
        #expect(payload.references.map(\.fieldIndex) == [index])
        #expect(payload.references.map(\.number) == [17])
        try reader.read(bytes.span, as: type, into: &payload)
        #expect(payload.references.isEmpty)
        #expect(payload.bytes(at: index).map { text($0) } == "#17")
    }

    @Test(arguments: [
        ("#0", false), ("#1001", false), ("#01", false), ("#99999999999999999999", false),
        ("#1000", true), ("#", true), ("#1a", true), ("1", true),
    ])
    func otherReferencesAreRefused(content: String, isTaken: Bool) throws {
        let bytes = Array("{\"parentId\":\"\(content)\",\"count\":1,\"name\":\"a\"}".utf8)
        let error = fault(in: bytes, as: try makeType(), options: .batchReferences)
        #expect(error?.kind == (isTaken ? nil : .invalidReference))
        #expect(error == nil || error?.path == "parentId")
    }

    @Test(arguments: [("ab1", true), ("", false), ("b-1", false), ("ab12345", false)])
    func anIdIsCheckedOnceItIsKnown(id: String, isTaken: Bool) throws {
        let type = try makeType(
            schema(withField: #"{"type":"string","maxLength":6,"pattern":"^[a-z]+[0-9]*$"}"#)
        )
        let bytes = Array(id.utf8)
        #expect(type.takes(bytes.span, at: 0) == isTaken)
    }

    @Test func subjectsAreLimited() throws {
        let type = try makeType(
            schema(withField: #"{"type":"string"}"#, required: #"["f"]"#)
                .replacing(
                    "\"type\":\"object\"",
                    with: "\"type\":\"object\",\"x-diario-subject\":\"f\""
                )
        )
        let limit = Limits.subjectSizeMax
        func payload(_ size: Int) -> String { "{\"f\":\"\(String(repeating: "x", count: size))\"}" }
        #expect(fault(in: payload(limit), as: type) == nil)
        #expect(fault(in: payload(limit + 1), as: type)?.kind == .invalidSubject)
    }

    @Test func nestedObjectsAreSortedAtEveryLevel() throws {
        let inner =
            #"{"type":"object","additionalProperties":false,"#
            + #""properties":{"y":{"type":"integer"},"x":{"type":"integer"}}}"#
        let type = try makeType(
            schema(
                withField: #"{"type":"object","additionalProperties":false,"properties":{"#
                    + "\"d\":\(inner),\"c\":\(inner),"
                    + "\"b\":{\"type\":\"array\",\"items\":\(inner)}}}"
            )
        )
        let payload = #"{"f":{"d":{"y":1,"x":2},"b":[{"y":3,"x":4},{"x":5}],"c":{"y":6}}}"#
        #expect(
            rewritten(payload, as: type)
                == #"{"f":{"b":[{"x":4,"y":3},{"x":5}],"c":{"y":6},"d":{"x":2,"y":1}}}"#
        )
    }
}
