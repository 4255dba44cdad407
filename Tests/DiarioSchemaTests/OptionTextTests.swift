import DiarioCore
import DiarioSchema
import Testing

/// Values of options, in the units that people use.
@Suite struct OptionTextTests {
    private static func option(_ field: String, _ schema: String) throws -> OptionText {
        OptionText(field, try JSON.parse(Array(schema.utf8)).value)
    }

    private static func shown(_ value: JSON?) -> String? {
        value.map { String(decoding: $0.asWritten, as: UTF8.self) }
    }

    @Test(arguments: [
        ("lengthUm", "115", "115000"), ("lengthUm", "11,5 cm", "115000"),
        ("lengthUm", "0.115 m", "115000"), ("lengthUm", "115mm", "115000"),
        ("lengthUm", "115000 um", "115000"), ("lengthUm", "0.0004", "0"),
        ("lengthUm", "0.0005", "1"), ("lengthUm", "-0,0005", "-1"),
        ("focalMpx", "3000.5", "3000500"), ("gravityMicroG", "-0.9961947", "-996195"),
        ("angleMdeg", "12.345", "12345"), ("latE7", "42.44", "424400000"),
        ("amountMg", "1.5", "1500"), ("amountMg", "2 kg", "2000000"),
        ("count", "12", "12"), ("lengthUm", ".5", "500"), ("lengthUm", "5.", "5000"),
    ])
    func numbersAreRoundedOnce(field: String, text: String, expected: String) throws {
        let option = try Self.option(field, #"{"type":"integer"}"#)
        #expect(Self.shown(option.value(text)) == expected)
    }

    @Test(arguments: [
        "", "x", "1.2.3", "1e3", "--1", ".", "9223372036854775807", "1 inch", "\u{661}",
    ])
    func whatIsNoNumberIsRefused(text: String) throws {
        #expect(try Self.option("lengthUm", #"{"type":"integer"}"#).value(text) == nil)
    }

    @Test func objectsOfNumbersAreWrittenWithCommas() throws {
        let members = #""xMpx":{"type":"integer"},"yMpx":{"type":"integer"}"#
        let point = #"{"type":"object","properties":{\#(members)}}"#
        let one = try Self.option("principal", point)
        #expect(one.name == "principal" && one.placeholder == "x,y")
        #expect(Self.shown(one.value("1.5,2")) == #"{"xMpx":1500,"yMpx":2000}"#)
        #expect(Self.shown(one.value("4032x3024")) == #"{"xMpx":4032000,"yMpx":3024000}"#)
        #expect(Self.shown(one.plainValue("15,20")) == #"{"xMpx":15,"yMpx":20}"#)
        #expect(one.value("1") == nil && one.value("1,2,3") == nil)
        let many = try Self.option("fish", #"{"type":"array","items":\#(point)}"#)
        let list = Self.shown(many.value("1,2 3,4"))
        #expect(list == #"[{"xMpx":1000,"yMpx":2000},{"xMpx":3000,"yMpx":4000}]"#)
    }

    @Test func listsTakeTheUnitOfTheirField() throws {
        let option = try Self.option(
            "gravityMicroG",
            #"{"type":"array","items":{"type":"integer"}}"#
        )
        #expect(option.name == "gravity-g" && option.shortName == "gravity")
        #expect(Self.shown(option.value("0,-0.5,-1")) == "[0,-500000,-1000000]")
    }

    @Test func namesAreThoseOfTheFields() throws {
        let length = try Self.option("lengthUm", #"{"type":"integer"}"#)
        #expect(length.name == "length-mm" && length.shortName == "length")
        let species = try Self.option("speciesId", #"{"type":"string"}"#)
        #expect(species.name == "species-id" && species.shortName == "species-id")
        #expect(try Self.option("isNew", #"{"type":"boolean"}"#).isFlag)
    }

    @Test func languagesAreChosenByWeight() {
        let texts = Texts("one", it: "uno")
        func text(_ header: String) -> String? { Language(accepted: header).map { texts[$0] } }
        #expect(text("it-IT, en;q=0.8") == "uno" && text("it;q=0.1, en;q=0.8") == "one")
        // Of those that are there, the one that is liked most.
        #expect(text("fr, en;q=0.2, it;q=0.1") == "one" && text("fr, it;q=0.2") == "uno")
        #expect(text("fr") == "one" && Language(accepted: "") == nil)
        #expect(text("it;q=0, *;q=0.1") == "one")
        #expect(Language(tag: "it_IT.UTF-8").map { texts[$0] } == "uno")
        #expect(Language(tag: "C") == nil)
    }
}
