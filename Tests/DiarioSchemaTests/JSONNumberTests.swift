import DiarioCore
import DiarioSchema
import Testing

@Suite struct JSONNumberTests {
    private func text(_ value: Double) -> String {
        var output: [UInt8] = []
        JSON.number(value).appendCanonical(to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// The number that the payload reader makes of `text`; nil if it refuses it.
    private func number(_ text: String, as type: EventType) -> Double? {
        var reader = PayloadReader()
        var payload = Payload()
        let bytes = Array("{\"f\":\(text)}".utf8)
        guard (try? reader.read(bytes.span, as: type, into: &payload)) != nil,
            case .number(let value) = payload.slots[0]
        else { return nil }
        return value
    }

    private func integer(_ text: String, as type: EventType) -> SchemaError.Kind? {
        fault(in: "{\"f\":\(text)}", as: type)?.kind
    }

    /// RFC 8785, appendix B, and the thresholds of ECMAScript.
    @Test(
        arguments: [
            (0x0000_0000_0000_0000, "0"), (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"), (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"), (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"), (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"), (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] as [(UInt64, String)]
    )
    func numbersAreWrittenAsECMAScriptDoes(bits: UInt64, expected: String) {
        #expect(text(Double(bitPattern: bits)) == expected)
    }

    @Test(arguments: [
        (0.1, "0.1"), (-0.25, "-0.25"), (1.5, "1.5"), (100.0, "100"),
        (1e20, "100000000000000000000"),
        (1e-5, "0.00001"), (1e-7, "1e-7"), (123.456, "123.456"), (0.001, "0.001"), (1.05, "1.05"),
        (1e15 + 0.5, "1000000000000000.5"), (0.0000001234, "1.234e-7"), (42.4372101, "42.4372101"),
        (99_999_999.999_999_9, "99999999.9999999"), (5e-7, "5e-7"), (10.000_000_1, "10.0000001"),
    ])
    func numbersWithFewDigitsAreWrittenPlainly(value: Double, expected: String) {
        #expect(text(value) == expected)
    }

    @Test(arguments: UInt64(0)..<16) func writtenNumbersAreReadBackExactly(seed: UInt64) throws {
        let type = try makeType(schema(withField: #"{"type":"number"}"#))
        var random = SeededRandom(seed: seed)
        for round in 0..<200 {
            var value = Double(bitPattern: random.next())
            if round % 2 == 0 {
                value = Double(random.below(1 << 40)) / [10, 1e3, 1e7, 3][random.below(4)]
            }
            guard value.isFinite else { continue }
            let text = text(value)
            #expect(number(text, as: type) == value)
            // No shorter than the digits that the standard library finds.
            let digits = text.prefix { $0 != "e" }.filter { $0.isNumber }.drop { $0 == "0" }
            let known = "\(value)".prefix { $0 != "e" }.filter { $0.isNumber }.drop { $0 == "0" }
            let trimmed = { (text: Substring) in
                String(text.reversed().drop { $0 == "0" }.reversed())
            }
            #expect(trimmed(digits[...]) == trimmed(known[...]))
        }
    }

    /// The quick ways to binary64 agree with the standard library's exact one.
    @Test(arguments: UInt64(0)..<16) func decimalsAreRoundedOnce(seed: UInt64) throws {
        let type = try makeType(schema(withField: #"{"type":"number"}"#))
        var random = SeededRandom(seed: seed)
        for _ in 0..<300 {
            var text = random.oneIn(2) ? "-" : ""
            let digitCount = 1 + random.below(22)
            text += "\(1 + random.below(9))"
            for _ in 1..<max(2, digitCount) { text += "\(random.below(10))" }
            if random.oneIn(2) {
                let place = text.index(text.endIndex, offsetBy: -(1 + random.below(digitCount)))
                if place > text.startIndex, text[text.index(before: place)] != "-" {
                    text.insert(".", at: place)
                }
            }
            if random.oneIn(3) { text += "e\(random.below(80) - 40)" }
            if random.oneIn(9) { text += "e\(random.below(700) - 350)" }
            guard text.filter({ $0 == "e" }).count < 2 else { continue }
            let expected = Double(text)
            #expect(
                number(text, as: type) == (expected?.isFinite == true ? expected : nil),
                "\(text)"
            )
        }
    }

    /// Halves between two neighbours, where one wrong bit or one digit too few would show.
    @Test(arguments: UInt64(0)..<16) func tiesGoToTheEvenNeighbour(seed: UInt64) throws {
        let type = try makeType(schema(withField: #"{"type":"number"}"#))
        var random = SeededRandom(seed: seed)
        for _ in 0..<100 {
            // An odd multiple of a half, quarter ... above 2^53, written with all its digits.
            let odd = (1 << 53 + UInt64(random.below(1 << 53))) * 2 + 1
            for shift in UInt64(0)...3 {
                let whole = odd >> shift
                let rest = odd & (1 << shift - 1)
                let fraction = "\(Double(rest) / Double(1 << shift))".dropFirst()
                for tail in ["", "0", "1", "000000000000000000001"] {
                    let text = "\(whole)\(fraction)\(tail)"
                    #expect(number(text, as: type) == Double(text), "\(text)")
                }
            }
        }
    }

    @Test func zeroHasNoSign() throws {
        let type = try makeType(schema(withField: #"{"type":"number"}"#))
        for text in ["-0", "-0.0", "-0e5", "-1e-400", "0.0000000000000000000000000"] {
            #expect(number(text, as: type)?.bitPattern == 0)
        }
    }

    @Test(arguments: [
        "0", "-0", "1.0", "1e3", "-1E+3", "10e-1", "1.50e1", "9223372036854775807",
        "-9223372036854775808", "9223372036854775807.000", "922337203685477580700e-2",
        "0.0000000000000000000000000000001e31", "0e999999999999", "0.0e-99999999",
        "100000000000000000000000000e-26", "9.223372036854775807e18", "1.0000000000000000000000000",
    ])
    func integersAreTakenInEveryForm(text: String) throws {
        let type = try makeType(schema(withField: #"{"type":"integer"}"#))
        #expect(integer(text, as: type) == nil)
    }

    @Test(arguments: [
        ("0.5", SchemaError.Kind.wrongType), ("1.5e0", .wrongType), ("1e-1", .wrongType),
        ("9223372036854775808", .beyondInteger), ("-9223372036854775809", .beyondInteger),
        ("9223372036854775807.5", .wrongType), ("1e19", .beyondInteger), ("1e999", .beyondInteger),
        ("123456789012345678901234567890", .beyondInteger), ("1e-999999999", .wrongType),
        ("12345678901234567890.1", .wrongType), ("10000000000000000000001e-1", .wrongType),
        ("1e99999999999999999999999999", .beyondInteger),
    ])
    func otherNumbersAreNoIntegers(text: String, kind: SchemaError.Kind) throws {
        let type = try makeType(schema(withField: #"{"type":"integer"}"#))
        #expect(integer(text, as: type) == kind)
    }

    @Test(arguments: UInt64(0)..<8) func integersKeepAllTheirDigits(seed: UInt64) throws {
        let type = try makeType(schema(withField: #"{"type":"integer"}"#))
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            let value = Int64(bitPattern: random.next()) >> Int64(random.below(64))
            #expect(rewritten("{\"f\":\(value)}", as: type) == "{\"f\":\(value)}")
        }
    }

    @Test func numbersBeyondBinary64AreRefused() throws {
        let type = try makeType(schema(withField: #"{"type":"number"}"#))
        #expect(number("1.7976931348623157e308", as: type) == Double.greatestFiniteMagnitude)
        #expect(integer("1.7976931348623159e308", as: type) == .beyondNumber)
        #expect(integer("-1e309", as: type) == .beyondNumber)
        #expect(number("5e-324", as: type) == Double.leastNonzeroMagnitude)
    }
}
