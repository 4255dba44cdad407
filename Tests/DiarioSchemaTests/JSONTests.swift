import DiarioCore
import DiarioSchema
import Testing

@Suite struct JSONTests {
    private func canonical(_ text: String) -> String? { canonical(Array(text.utf8)) }

    private func canonical(_ bytes: [UInt8]) -> String? {
        guard let item = try? JSON.parse(bytes) else { return nil }
        var output: [UInt8] = []
        item.value.appendCanonical(to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    private func refusal(_ bytes: [UInt8]) -> SchemaError? {
        do throws(SchemaError) {
            _ = try JSON.parse(bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("null", "null"), (" true ", "true"), ("\r\n\tfalse", "false"), ("[]", "[]"),
        ("{ }", "{}"), ("[1 , 2]", "[1,2]"), (#"{"b":1,"a":[{}]}"#, #"{"a":[{}],"b":1}"#),
        (#""\u0061\/\"\\\b\f\n\r\t\u001F\u00e8""#, #""a/\"\\\b\f\n\r\t\u001f\#u{e8}""#),
        (#""\ud83d\udc1f""#, "\"\u{1f41f}\""), ("\"\u{7f}\u{2028}\"", "\"\u{7f}\u{2028}\""),
        ("-0", "0"), ("-0.0", "0"), ("1.0", "1"), ("1e3", "1000"), ("10E-1", "1"),
        ("0.5", "0.5"), ("9007199254740993", "9007199254740993"),
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"), ("1e400000000000e", nil),
        ("0e400000000000", "0"), ("1e-400000000000", "0"),
    ])
    func textBecomesItsCanonicalForm(text: String, expected: String?) {
        #expect(canonical(text) == expected)
    }

    /// The example of RFC 8785, section 3.2.3: UTF-16 code units decide, not code points.
    @Test func keysAreSortedByCodeUnits() {
        let text = #"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#
        let keys = ["\\r", "1", "\u{80}", "\u{f6}", "\u{20ac}", "\u{1f600}", "\u{fb33}"]
        let values = [2, 4, 6, 7, 1, 5, 3]
        let members = zip(keys, values).map { "\"\($0)\":\($1)" }
        #expect(canonical(text) == "{\(members.joined(separator: ","))}")
    }

    @Test(arguments: [
        ("", SchemaError.Kind.unexpectedEnd, 0), ("  ", .unexpectedEnd, 2),
        ("nul", .unexpectedEnd, 3), ("nulL", .unexpectedByte, 0), ("tru e", .unexpectedByte, 0),
        ("[1,]", .unexpectedByte, 3), ("[1 2]", .unexpectedByte, 3), ("[", .unexpectedEnd, 1),
        ("{1:2}", .unexpectedByte, 1), (#"{"a" 1}"#, .unexpectedByte, 5),
        (#"{"a":1,}"#, .unexpectedByte, 7), (#"{"a":1"#, .unexpectedEnd, 6),
        ("01", .unexpectedByte, 1), ("-", .unexpectedEnd, 1), ("-a", .unexpectedByte, 1),
        ("1.", .unexpectedEnd, 2), (".5", .unexpectedByte, 0), ("+1", .unexpectedByte, 0),
        ("1e", .unexpectedEnd, 2), ("1e+", .unexpectedEnd, 3), ("1.e1", .unexpectedByte, 2),
        ("12345678901234567890.", .unexpectedEnd, 21),
        ("1234567890123456789012.3.4", .trailingBytes, 24), ("-01", .unexpectedByte, 2),
        ("NaN", .unexpectedByte, 0), ("'a'", .unexpectedByte, 0), ("1 1", .trailingBytes, 2),
        ("\"a", .unexpectedEnd, 2), ("\"a\\", .unexpectedEnd, 3), (#""\x""#, .invalidEscape, 1),
        (#""\u00""#, .invalidEscape, 1), (#""\u00g0""#, .invalidEscape, 1),
        (#""\u0000""#, .zeroCharacter, 1), (#""\ud800""#, .loneSurrogate, 1),
        (#""\ud800\u0041""#, .loneSurrogate, 1), (#""\udc00""#, .loneSurrogate, 1),
        (#""\ud800\ud800""#, .loneSurrogate, 1), ("\"\u{1f}\"", .controlCharacter, 1),
        ("\"abcdefgh\u{0}\"", .controlCharacter, 9), ("\"\n\"", .controlCharacter, 1),
        (#"{"a":1,"b":2,"\u0061":3}"#, .duplicateKey, 13), ("1e400", .beyondNumber, 0),
        ("\u{feff}1", .unexpectedByte, 0), ("[1]]", .trailingBytes, 3), ("]", .unexpectedByte, 0),
    ])
    func otherTextIsRefused(text: String, kind: SchemaError.Kind, offset: Int) {
        let error = refusal(Array(text.utf8))
        #expect(error?.kind == kind)
        #expect(error?.byteOffset == offset)
    }

    /// Strings that compare equal in Swift are different keys in JSON.
    @Test func keysAreComparedByTheirBytes() {
        #expect(canonical("{\"\u{e9}\":1,\"e\u{301}\":2}") != nil)
    }

    /// Keys are compared in another way if there are many.
    @Test(arguments: [1, 15, 16, 17, 40]) func noKeyComesTwice(count: Int) {
        let members = (0..<count).map { "\"key\($0)\":0" }
        let text = members.joined(separator: ",")
        #expect(refusal(Array("{\(text)}".utf8)) == nil)
        for repeated in [0, count / 2, count - 1] {
            let error = refusal(Array("{\(text),\(members[repeated])}".utf8))
            #expect(error?.kind == .duplicateKey)
            #expect(error?.byteOffset == text.utf8.count + 2)
        }
    }

    @Test func depthIsLimited() {
        let limit = Limits.jsonDepthMax
        func nested(_ depth: Int) -> [UInt8] {
            Array(repeating: 0x5b, count: depth) + Array(repeating: 0x5d, count: depth)
        }
        #expect(refusal(nested(limit)) == nil)
        #expect(refusal(nested(limit + 1))?.kind == .tooDeep)
        #expect(refusal(Array(repeating: 0x5b, count: 100_000))?.kind == .tooDeep)
    }

    @Test func linesAreRememberedAndCounted() throws {
        let item = try JSON.parse(Array("\n{\n\"a\":\n[1,\n2],\"b\":{}}".utf8))
        #expect(item.line == 2)
        #expect(item.value.member("a")?.line == 3)
        #expect(item.value.member("a")?.item.line == 4)
        #expect(item.value.member("b")?.line == 5)
        #expect(refusal(Array("[1,\n2,\n\nx]".utf8))?.line == 4)
    }

    /// Every sequence of two bytes, and every third byte behind the lead bytes of three.
    @Test func exactlyWellFormedUTF8IsTaken() {
        var wrong: [[UInt8]] = []
        func check(_ bytes: [UInt8]) {
            let isText = String(validating: bytes, as: UTF8.self) != nil
            if (refusal([0x22] + bytes + [0x22]) == nil) != isText { wrong.append(bytes) }
        }
        for first in UInt8(0x80)...0xff {
            check([first])
            for second in stride(from: UInt8(0x70), through: 0xff, by: 1) {
                check([first, second])
            }
        }
        let edges: [UInt8] = [0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0]
        for first in UInt8(0xe0)...0xf5 {
            for second in edges {
                for third in edges {
                    check([first, second, third])
                    for fourth in edges { check([first, second, third, fourth]) }
                }
            }
        }
        #expect(wrong.isEmpty)
    }

    /// A special byte at every place of a string is found, whichever way it is scanned.
    @Test func specialBytesAreFoundAtEveryPlace() {
        for length in 0..<20 {
            for place in 0...length {
                for special in ["\\n", "\u{e8}", "\u{1f41f}", "\\u0041", "\u{7f}"] {
                    var text = String(repeating: "x", count: length)
                    text.insert(
                        contentsOf: special,
                        at: text.index(text.startIndex, offsetBy: place)
                    )
                    let decoded = text.replacing("\\u0041", with: "A")
                    #expect(canonical("\"\(text)\"") == "\"\(decoded)\"")
                    var broken = Array(text.utf8)
                    broken.insert(0x01, at: 0)
                    #expect(refusal([0x22] + broken + [0x22])?.kind == .controlCharacter)
                }
            }
        }
    }

    /// A tree written in canonical form and read again is written the same.
    @Test(arguments: UInt64(0)..<32) func canonicalFormIsStable(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            var generator = JSONGenerator(random: random)
            let text = generator.value(depth: 4)
            random = generator.random
            let first = try #require(canonical(text))
            #expect(canonical(first) == first)
        }
    }

    @Test(arguments: UInt64(0)..<32) func mutilatedTextIsReadOrRefused(seed: UInt64) {
        var generator = JSONGenerator(random: SeededRandom(seed: seed))
        for _ in 0..<50 {
            let bytes = generator.mutilated(Array(generator.value(depth: 4).utf8))
            if let error = refusal(bytes) {
                #expect(0...bytes.count ~= error.byteOffset)
                #expect(!error.message.isEmpty)
            }
        }
    }
}

/// Makes JSON of all kinds, and breaks it.
struct JSONGenerator {
    var random: SeededRandom

    mutating func value(depth: Int) -> String {
        switch random.below(depth > 0 ? 9 : 6) {
        case 0: return ["null", "true", "false"][random.below(3)]
        case 1: return "\(Int64(bitPattern: random.next()) >> Int64(random.below(64)))"
        case 2: return number()
        case 3...5: return string()
        case 6, 7:
            var keys: Set<String> = []
            let members = (0..<random.below(5)).compactMap { _ -> String? in
                let key = "\"\(random.below(6))\""
                return keys.insert(key).inserted ? "\(key):\(value(depth: depth - 1))" : nil
            }
            return "{\(members.joined(separator: " , "))}"
        default:
            let items = (0..<random.below(5)).map { _ in value(depth: depth - 1) }
            return "[\(items.joined(separator: ","))]"
        }
    }

    mutating func number() -> String {
        let double = Double(bitPattern: random.next())
        return double.isFinite ? "\(double)" : "1e\(random.below(600) - 300)"
    }

    mutating func string() -> String {
        let pieces = [
            "a", "\u{e8}", "\u{1f41f}", "\\n", "\\u00e8", "\\ud83d\\udc1f", "\u{20ac}", "\\\"",
            "abcdefgh", "\u{7f}", "\\u001f", " ",
        ]
        let chosen = (0..<random.below(8)).map { _ in pieces[random.below(pieces.count)] }
        return "\"\(chosen.joined())\""
    }

    /// Changes, inserts, removes, doubles or cuts some bytes.
    mutating func mutilated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        let syntax = Array("{}[]\",:\\0-1.eE \u{0}".utf8)
        for _ in 0...random.below(4) {
            guard !bytes.isEmpty else { return [UInt8(truncatingIfNeeded: random.next())] }
            let place = random.below(bytes.count)
            switch random.below(5) {
            case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
            case 1: bytes.insert(syntax[random.below(syntax.count)], at: place)
            case 2: bytes.remove(at: place)
            case 3: bytes.insert(contentsOf: bytes[place..<min(place + 9, bytes.count)], at: place)
            default: bytes.removeLast(bytes.count - place)
            }
        }
        return bytes
    }
}
