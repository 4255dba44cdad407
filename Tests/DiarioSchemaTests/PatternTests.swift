import DiarioCore
import DiarioSchema
import Testing

@Suite struct PatternTests {
    private func matches(_ pattern: String, _ text: String) throws -> Bool {
        let bytes = Array(text.utf8)
        let pattern = try Pattern(pattern)
        let isMatch = pattern.matches(bytes.span)
        #expect(pattern.simulate(bytes.span) == isMatch)
        return isMatch
    }

    @Test(arguments: [
        ("", "", true), ("", "x", true), ("a", "bab", true), ("a", "bb", false),
        ("^a", "ba", false), ("^a", "ab", true), ("a$", "ab", false), ("a$", "ba", true),
        ("^$", "", true), ("^$", "\n", false), ("$^", "", true), ("$^", "a", false),
        ("a$b", "ab", false), ("a^b", "ab", false), ("(^|b)a", "ba", true), ("(^|b)a", "ca", false),
        ("a(b|$)", "a", true), ("a(b|$)", "ac", false), ("^a$", "a\n", false),
        (".", "\n", false), (".", "\u{2028}", false), (".", "\u{2029}", false), (".", "\r", false),
        ("^.$", "\u{1f41f}", true), ("^..$", "\u{1f41f}", false), ("^.$", "e\u{301}", false),
        ("^[^a]$", "\n", true), ("^[]$", "", false), ("^[^]$", "x", true), ("[a-c-]", "-", true),
        ("^[\\]\\-x]+$", "]-x", true), ("^[.$^*]+$", ".$^*", true), ("^[^\\d]+$", "a1", false),
        ("^\\d+$", "\u{661}", false), ("^\\w+$", "aZ_9", true), ("^\\w$", "\u{e8}", false),
        ("^\\s+$", " \t\u{a0}\u{feff}\u{3000}\u{2029}", true), ("\\s", "\u{85}", false),
        ("^\\S\\D\\W$", "ab-", true), ("^a{0}b$", "b", true), ("^a{2}$", "aaa", false),
        ("^a{2,}$", "aaaaa", true), ("^a{2,3}$", "aaaa", false), ("^(ab){1,2}$", "abab", true),
        ("^(?:a|bc)*$", "abcbca", true), ("^(a*)*$", "aab", false), ("^(a|)+b$", "aab", true),
        ("^(a?){3}$", "aaaa", false), ("^\\.\\/\\{\\}\\|\\(\\)$", "./{}|()", true),
        ("^\\u00e8\\u{1f41f}\\ud83d\\udc1f$", "\u{e8}\u{1f41f}\u{1f41f}", true),
        ("^\\t\\n\\v\\f\\r$", "\t\n\u{b}\u{c}\r", true), ("a|b|", "x", true), ("^a|b$", "ac", true),
        ("^(a|b)c(d|e)$", "bce", true), ("^[\\s\\d]*$", "1 2", true), ("-", "a-b", true),
        ("^[a\\u{1f41f}-\\u{1f420}]$", "\u{1f420}", true), ("\u{e8}+$", "x\u{e8}\u{e8}", true),
    ])
    func patternsMatchAsInECMAScript(pattern: String, text: String, expected: Bool) throws {
        #expect(try matches(pattern, text) == expected)
    }

    @Test(arguments: [
        ("(a", 1), ("a)", 2), ("[a", 1), ("[b-a]", 2), ("[\\d-z]", 2), ("[[]", 2), ("*a", 1),
        ("a**", 3), ("a*?", 3), ("a{2}?", 5), ("a+{2}", 3), ("^*", 1), ("$?", 1), ("a{", 2),
        ("a{x}", 2), ("a{3,2}", 2), ("a}", 2), ("]", 1), ("{", 1), ("(?=a)", 1), ("(?!a)", 1),
        ("(?<=a)", 1), ("(?<n>a)", 1), ("(?i)a", 1), ("(a)\\1", 4), ("\\k<n>", 1), ("\\b", 1),
        ("\\p{L}", 1), ("\\", 1), ("\\a", 1), ("\\-", 1), ("\\u12", 1), ("\\u{110000}", 1),
        ("\\ud800", 1), ("\\u{d800}", 1), ("\\udc00", 1), ("\\x41", 1), ("\\0", 1), ("|*", 2),
        ("a{4096}", 1), ("(a{100}){100}", 1), ("((){9999}){9999}", 1), ("a{99999999999999}", 1),
        (String(repeating: "(", count: 40) + String(repeating: ")", count: 40), 33),
    ])
    func otherPatternsAreRefusedWithTheirPlace(pattern: String, position: Int) {
        do throws(PatternError) {
            _ = try Pattern(pattern)
            Issue.record("\(pattern) was taken")
        } catch {
            #expect(error.position == position)
            #expect(!error.message.isEmpty)
        }
    }

    /// What takes a backtracking matcher longer than the age of the universe.
    @Test(arguments: [
        "^(a*)*$", "^(a|a)*$", "^(a|aa)+$", "(.*)*x", "^(([a-z])+.)+[A-Z]([a-z])+$",
        "^(a?){30}a{30}$", "(a+a+)+y",
    ])
    func noPatternTakesLong(pattern: String) throws {
        let text = [UInt8](repeating: 0x61, count: 1500) + [0x21]
        #expect(try !Pattern(pattern).matches(text.span))
    }

    /// A large automaton is not built; the program gives the same answers.
    @Test func largePatternsAreMatchedWithoutAnAutomaton() throws {
        let pattern = "^(a|b)*a(a|b){12}$"
        #expect(try matches(pattern, "abbabbaabbaba" + "abababababab"))
        #expect(try !matches(pattern, "bbbbbbbbbbbbbbbbb"))
        #expect(try matches("^.{1,1500}$", "\u{1f41f}a"))
    }

    @Test func theBudgetIsSharedByThePatternsOfAPack() {
        var budget = PatternBudget()
        var count = 0
        while count < 1000, (try? Pattern("a{4000}", budget: &budget)) != nil { count += 1 }
        #expect(1..<1000 ~= count)
    }

    /// Each of many sets holds all of many intervals but one.
    @Test func setsThatTellTooMuchApartAreRefused() {
        func pattern(_ count: UInt32) -> String {
            (0..<count).map { "[^\\u{\(String(0x4e00 + 2 * $0, radix: 16))}]" }.joined()
        }
        let error = #expect(throws: PatternError.self) { _ = try Pattern(pattern(2000)) }
        #expect(error?.message.contains("too many characters apart") == true)
        #expect(throws: Never.self) { _ = try Pattern(pattern(100)) }
    }

    /// Random patterns on random texts against a matcher that tries everything.
    @Test(arguments: UInt64(0)..<64) func patternsMatchAsAnOracleSays(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<12 {
            let node = OracleNode.draw(depth: 3, using: &random)
            let pattern = try Pattern(node.text)
            for _ in 0..<12 {
                let text = (0..<random.below(7)).map { _ in
                    ["a", "b", "c", "\u{e8}", "\n"][random.below(5)] as Unicode.Scalar
                }
                let bytes = Array(String(String.UnicodeScalarView(text)).utf8)
                let expected = node.isFound(in: text)
                #expect(pattern.matches(bytes.span) == expected, "\(node.text) on \(text)")
                #expect(pattern.simulate(bytes.span) == expected, "\(node.text) on \(text)")
            }
        }
    }

    @Test(arguments: UInt64(0)..<32) func anyTextIsAPatternOrRefused(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let pieces = [
            "a", "(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "^", "$", ".", "\\", "-", "1",
            ",", "9", "\\d", "\\u", "(?:", "[^", "\u{1f41f}", "{2}", "{1,3}",
        ]
        for _ in 0..<100 {
            let text = (0..<random.below(14)).map { _ in pieces[random.below(pieces.count)] }
                .joined()
            if let pattern = try? Pattern(text) {
                let bytes = Array("a1\u{1f41f}-".utf8)
                #expect(pattern.matches(bytes.span) == pattern.simulate(bytes.span))
            }
        }
    }
}

/// A pattern that a backtracking matcher can run and that can be written down.
private indirect enum OracleNode {
    case scalar(Unicode.Scalar)
    case any
    case set([Unicode.Scalar], isInverted: Bool)
    case start
    case end
    case sequence([OracleNode])
    case choice([OracleNode])
    case repeated(OracleNode, Int, Int?)

    static func draw(depth: Int, using random: inout SeededRandom) -> OracleNode {
        let scalars: [Unicode.Scalar] = ["a", "b", "c", "\u{e8}"]
        switch random.below(depth > 0 ? 10 : 5) {
        case 0, 1: return .scalar(scalars[random.below(4)])
        case 2: return .any
        case 3:
            let count = random.below(3)
            return .set((0..<count).map { scalars[$0] }, isInverted: random.oneIn(2))
        case 4: return random.oneIn(2) ? .start : .end
        case 5, 6:
            return .sequence(
                (0..<random.below(4)).map { _ in
                    OracleNode.draw(depth: depth - 1, using: &random)
                }
            )
        case 7:
            return .choice(
                (0...random.below(2)).map { _ in
                    OracleNode.draw(depth: depth - 1, using: &random)
                }
            )
        default:
            let low = random.below(3)
            let high = random.oneIn(2) ? nil : low + random.below(2)
            let body = OracleNode.draw(depth: depth - 1, using: &random)
            return .repeated(.sequence([body]), low, high)
        }
    }

    var text: String {
        switch self {
        case .scalar(let scalar): "\(scalar)"
        case .any: "."
        case .set(let scalars, let isInverted):
            "[\(isInverted ? "^" : "")\(scalars.map { "\($0)" }.joined())]"
        case .start: "^"
        case .end: "$"
        case .sequence(let parts): "(?:\(parts.map(\.text).joined()))"
        case .choice(let branches): "(\(branches.map(\.text).joined(separator: "|")))"
        case .repeated(let body, 0, nil): body.text + "*"
        case .repeated(let body, 1, nil): body.text + "+"
        case .repeated(let body, 0, 1): body.text + "?"
        case .repeated(let body, let low, nil): body.text + "{\(low),}"
        case .repeated(let body, let low, let high?): body.text + "{\(low),\(high)}"
        }
    }

    func isFound(in text: [Unicode.Scalar]) -> Bool {
        (0...text.count).contains { !ends(in: text, from: $0).isEmpty }
    }

    /// Every place where a match that begins at `start` may end.
    private func ends(in text: [Unicode.Scalar], from start: Int) -> Set<Int> {
        switch self {
        case .scalar(let scalar):
            return start < text.count && text[start] == scalar ? [start + 1] : []
        case .any: return start < text.count && text[start] != "\n" ? [start + 1] : []
        case .set(let scalars, let isInverted):
            guard start < text.count else { return [] }
            return scalars.contains(text[start]) != isInverted ? [start + 1] : []
        case .start: return start == 0 ? [start] : []
        case .end: return start == text.count ? [start] : []
        case .sequence(let parts):
            return parts.reduce([start]) { places, part in
                Set(places.flatMap { part.ends(in: text, from: $0) })
            }
        case .choice(let branches):
            return Set(branches.flatMap { $0.ends(in: text, from: start) })
        case .repeated(let body, let low, let high):
            var places: Set<Int> = [start]
            for _ in 0..<low { places = Set(places.flatMap { body.ends(in: text, from: $0) }) }
            var all = places
            // Beyond the length of the text another round finds nothing new.
            for _ in 0..<min((high ?? .max) - low, text.count + 1) {
                places = Set(places.flatMap { body.ends(in: text, from: $0) })
                all.formUnion(places)
            }
            return all
        }
    }
}
