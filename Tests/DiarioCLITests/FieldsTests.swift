import DiarioCLI
import Testing

@Suite struct FieldsTests {
    private func json(_ fields: Fields) -> String {
        var bytes: [UInt8] = []
        fields.append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func fieldsKeepTheirOrderAndEscapeTexts() {
        #expect(
            json(["b": 1, "a": "x\"\n", "list": [true, false], "inner": ["n": 1.5] as Fields])
                == #"{"b":1,"a":"x\"\n","list":[true,false],"inner":{"n":1.5}}"#
        )
        #expect(json([:]) == "{}")
    }

    @Test func nilIsNullUnlessTheFieldIsLeftOut() {
        #expect(
            json(["a": Int?.none, "b": ifKnown(Int?.none), "c": ifKnown(3)]) == #"{"a":null,"c":3}"#
        )
        #expect(
            json(["a": ifKnown(Int?.none)] + ["b": UInt64.max]) == #"{"b":9223372036854775807}"#
        )
    }
}
