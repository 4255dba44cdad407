import DiarioCore
import DiarioFish
import DiarioSchema
import Testing

/// What the old app says: schema/fish/README.md, "The old interface".
@Suite struct OldAppTests {
    private static func form(_ text: String) throws -> OldForm {
        try #require(OldForm(Array(text.utf8)))
    }

    @Test func valuesNeedNotBeEncoded() throws {
        let form = try Self.form(
            "action=save_report&origin=Mar Mediterraneo"
                + "&townReport=Porto D'Ercole (Monte Argentario)&production=100% fresco"
                + "&a=b=c&=nothing&empty=&alone\r\n"
        )
        #expect(form["origin"] == "Mar Mediterraneo")
        #expect(form["townReport"] == "Porto D'Ercole (Monte Argentario)")
        #expect(form["production"] == "100% fresco" && form["a"] == "b=c")
        #expect(form["empty"] == "" && form["alone"] == "" && form[""] == nil)
        #expect(form["missing"] == nil)
    }

    @Test func valuesMayBeEncoded() throws {
        let form = try Self.form("townReport=Porto+D%27Ercole%20%28x%29&o=%zz%4&p=%C3%A8&p=%c3%a0")
        #expect(form["townReport"] == "Porto D'Ercole (x)" && form["o"] == "%zz%4")
        // Of two, PHP takes the last.
        #expect(form["p"] == "\u{e0}")
        #expect(OldForm(Array("a=%ff".utf8)) == nil && OldForm([0x61, 0x3d, 0xe8]) == nil)
    }

    @Test func monthsAreMatchedExactly() {
        for number in 1...12 {
            #expect(Month(named: "\(number)")?.number == number)
            #expect(Month(named: Month(number)?.italianName ?? "")?.number == number)
        }
        #expect(Month(named: "05")?.number == 5 && Month(named: "MAGGIO")?.number == 5)
        #expect(Month(named: " December ")?.number == 12 && Month(named: "may")?.number == 5)
        for text in ["", "0", "13", "1a", "+1", "-1", "maggi", "maggio'", "mag", "1 OR 1=1", "%"] {
            #expect(Month(named: text) == nil, "\(text)")
        }
    }

    @Test func originsAndProductionsAreThoseOfTheLists() {
        #expect(Fish.Origin(named: "mar mediterraneo") == .mediterranean)
        #expect(Fish.Origin(named: "Altro") == .other && Fish.Origin(named: "other") == .other)
        #expect(Fish.Origin(named: "") == nil && Fish.Origin(named: "Mare") == nil)
        #expect(Fish.Production(named: "Pescato  fresco") == .wildFresh)
        #expect(Fish.Production(named: "wild_fresh") == .wildFresh)
        #expect(
            Fish.Production(named: "sconosciuto") == .unknown && Fish.Production(named: "x") == nil
        )
    }
}
