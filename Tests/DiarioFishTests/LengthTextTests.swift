import DiarioCore
import DiarioFish
import DiarioSchema
import Testing

@Suite struct LengthTextTests {
    @Test(
        arguments: [
            ("11,5 cm", Int64(115_000)), ("115 mm", 115_000), ("0.115 m", 115_000),
            ("115", 115_000), ("11.5cm", 115_000), ("  11,5\u{a0}CM ", 115_000),
            ("11,5\u{202f}cm", 115_000), ("0,113456 m", 113_456),
            ("113456 \u{b5}m", 113_456), ("113456 um", 113_456), ("1", 1000), ("5 m", 5_000_000),
            ("5,000000000000 m", 5_000_000), ("00000000000000000000000115", 115_000),
            ("109,999", 109_999),
        ]
    )
    func lengthsAreReadToTheMicrometre(text: String, lengthUm: Int64) throws {
        #expect(try LengthText.parse(text, unit: .millimetre) == lengthUm)
    }

    @Test func aNumberAloneIsInTheUnitGiven() throws {
        #expect(try LengthText.parse("11,5", unit: .centimetre) == 115_000)
        #expect(try LengthText.parse("0,115", unit: .metre) == 115_000)
        #expect(try LengthText.parse("115000", unit: .micrometre) == 115_000)
    }

    @Test(
        arguments: [
            ("", LengthRefusal.notANumber), ("cm", .notANumber), ("abc", .notANumber),
            (",", .notANumber), (",5 cm", .notANumber), ("11, cm", .notANumber),
            ("-5 cm", .notANumber), ("+5 cm", .notANumber), ("1e3", .notANumber),
            ("11 5 cm", .notANumber), ("11,5 cm 3", .notANumber), ("\u{663}", .notANumber),
            ("1.234,5", .ambiguous), ("1,234.5 mm", .ambiguous), ("1..5", .ambiguous),
            ("11 inches", .unknownUnit), ("11\"", .unknownUnit), ("11 km", .unknownUnit),
            ("113,4567 mm", .tooFine), ("1,1 um", .tooFine), ("0,1134567 m", .tooFine),
            ("0", .outOfRange), ("0,999", .outOfRange), ("5,000001 m", .outOfRange),
            ("99999999999999999999999999", .outOfRange), ("9223372036854775807 m", .outOfRange),
        ]
    )
    func whatIsNoLengthIsRefused(text: String, refusal: LengthRefusal) {
        #expect(throws: refusal) { try LengthText.parse(text, unit: .millimetre) }
    }

    @Test func lengthsAreShownInBothLanguagesAndRoundedOnce() {
        func show(_ um: Int64, _ unit: LengthUnit, _ decimals: Int) -> String {
            LengthText.show(um: um, in: unit, decimals: decimals, language: .italian)
        }
        #expect(LengthText.show(um: 115_000, language: .italian) == "11,5 cm")
        #expect(LengthText.show(um: 115_000, language: .english) == "11.5 cm")
        #expect(show(109_999, .centimetre, 1) == "11,0 cm")
        #expect(show(109_999, .millimetre, 3) == "109,999 mm")
        #expect(show(114_499, .centimetre, 1) == "11,4 cm")
        #expect(show(114_500, .centimetre, 1) == "11,5 cm")
        #expect(show(-114_500, .centimetre, 1) == "-11,5 cm")
        #expect(show(-400, .centimetre, 1) == "0,0 cm")
        #expect(show(115_000, .millimetre, 0) == "115 mm")
        #expect(show(115_000, .metre, 3) == "0,115 m")
        #expect(show(7, .micrometre, 5) == "7 \u{b5}m")
        #expect(show(1_005_000, .metre, 99) == "1,005000 m")
        #expect(show(.min, .micrometre, 0) == "-9223372036854775808 \u{b5}m")
    }

    @Test(arguments: UInt64(0)..<20) func whatIsShownWithAllDigitsIsReadTheSame(seed: UInt64) throws
    {
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            let um = Int64(1000 + random.below(4_999_001))
            for (unit, language) in zip(
                LengthUnit.allCases,
                [Language.italian, .english, .italian]
            ) {
                let text = LengthText.show(um: um, in: unit, decimals: 6, language: language)
                #expect(try LengthText.parse(text, unit: .micrometre) == um, "\(text)")
            }
        }
    }
}
