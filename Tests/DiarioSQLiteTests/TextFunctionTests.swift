import DiarioCore
import DiarioSQLite
import DiarioTestSupport
import Testing

/// Our functions give what the library's own give.
@Suite struct TextFunctionTests {
    private func connection() throws -> Connection {
        let connection = try Connection(path: ":memory:", .create)
        try connection.addTextFunctions()
        return connection
    }

    private func value(
        _ call: String,
        _ values: [Value],
        _ connection: borrowing Connection
    ) throws -> Value {
        let statement = try connection.prepare("SELECT \(call)", isKept: false)
        for index in 1...statement.parameterCount {
            try statement.bind(values[index - 1], at: index)
        }
        _ = try statement.step()
        return statement.value(at: 0)
    }

    private static let calls = [
        "instr(?1, ?2)", "replace(?1, ?2, ?3)", "trim(?1, ?2)", "ltrim(?1, ?2)", "rtrim(?1, ?2)",
        "trim(?1)", "ltrim(?1)", "rtrim(?1)", "typeof(replace(?1, ?2, ?3))", "typeof(trim(?1))",
    ]

    /// Few letters, so that much is found, and characters of one to four bytes.
    @Test(arguments: UInt64(1)...8) func textsAreSearchedAlike(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let theirs = try Connection(path: ":memory:", .create)
        let ours = try connection()
        let letters = ["a", "b", " ", "\u{e8}", "\u{20ac}", "\u{1f41f}", "\u{0}"]
        for _ in 0..<400 {
            let values = [12, 3, 4].map { count in
                Self.value(of: letters, countMax: count, &random)
            }
            for call in Self.calls {
                let expected = try value(call, values, theirs)
                #expect(try value(call, values, ours) == expected, "\(call) of \(values)")
            }
        }
    }

    /// Directives of all kinds, with values of all kinds, and too few of them.
    @Test(arguments: UInt64(1)...8) func formatsAreWrittenAlike(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let theirs = try Connection(path: ":memory:", .create)
        let ours = try connection()
        for _ in 0..<1500 {
            let format = (0...random.below(3)).map { _ in Self.directive(&random) }.joined()
            var values: [Value] = [.text(format)]
            for _ in 0..<5 {
                values.append(
                    Self.value(
                        of: ["a", "'", "\"", "\u{e8}", "\u{1f41f}", "1", "%"],
                        countMax: 5,
                        &random
                    )
                )
            }
            let count = 1 + random.below(5)
            let call = "printf(" + (1...count).map { "?\($0)" }.joined(separator: ", ") + ")"
            let expected = try value(call, values, theirs)
            #expect(try value(call, values, ours) == expected, "\(format) of \(values)")
        }
    }

    private static func directive(_ random: inout SeededRandom) -> String {
        func one(_ choices: [String], _ random: inout SeededRandom) -> String {
            choices[random.below(choices.count)]
        }
        let flags = (0..<random.below(3)).map { _ in
            one(["-", "+", " ", "#", "!", "0", ","], &random)
        }.joined()
        let width = one(["", "", "1", "7", "12", "*"], &random)
        let precision = one(["", "", ".", ".0", ".3", ".*"], &random)
        let length = one(["", "", "l", "ll"], &random)
        let types = "d i u x X o r p e E f g G s z q Q w c %".split(separator: " ").map(String.init)
        let type = random.oneIn(20) ? one(["n", "y", "5", ""], &random) : one(types, &random)
        return one(["", "a", "\u{e8}"], &random) + "%" + flags + width + precision + length + type
    }

    /// As wide as this each was padded for seconds, and nothing ended it.
    @Test(arguments: ["%1000001d", "%.1000001f", "%.*c", "%*s", "%.2147483647c"])
    func whatIsTooWideIsRefused(format: String) throws {
        let connection = try connection()
        let values: [Value] = [.text(format), .integer(2_000_000_000), .text("x")]
        let error = #expect(throws: SQLiteError.self) {
            try value("printf(?1, ?2, ?3)", values, connection)
        }
        #expect(error?.kind == .tooLarge)
        let fits = try value("format('%.*c|%-5d|', 3, 'x', 7)||?1", [.text("")], connection)
        #expect(fits == .text("xxx|7    |"))
    }

    private static func value(
        of letters: [String],
        countMax: Int,
        _ random: inout SeededRandom
    ) -> Value {
        let count = random.below(countMax + 1)
        let text = (0..<count).map { _ in letters[random.below(7)] }.joined()
        return switch random.below(12) {
        case 0: .null
        case 1: .integer(Int64(random.below(241) - 120))
        case 2: .real(Double(random.below(81) - 40) / 4)
        case 3: .blob(Array(text.utf8))
        // Cut where it falls: characters that are no characters.
        case 4: .blob(Array(text.utf8.dropFirst().dropLast()))
        default: .text(text)
        }
    }

    /// The library's own take minutes for each of these.
    @Test func longTextsTakeNoProductOfTheirLengths() throws {
        let ours = try connection()
        let count = 1_000_000
        let text = Value.text(String(repeating: "a", count: count))
        let part = Value.text(String(repeating: "a", count: count / 2) + "b")
        #expect(try value("instr(?1, ?2)", [text, part], ours) == .integer(0))
        #expect(try value("replace(?1, ?2, '') = ?1", [text, part], ours) == .integer(1))
    }

    @Test func aTextHasRoomForWhatIsPutInOrIsRefused() throws {
        let ours = try connection()
        ours.setLimit(.length, to: 1000)
        let text = Value.text(String(repeating: "a", count: 500))
        #expect(
            try value("length(replace(?1, 'a', 'bb'))", [text], ours) == .integer(1000)
        )
        let error = #expect(throws: SQLiteError.self) {
            _ = try value("replace(?1, 'a', 'bbb')", [text], ours)
        }
        #expect(error?.kind == .tooLarge)
    }

    @Test func trimTakesACountedListOfCharacters() throws {
        let ours = try connection()
        let list = String(repeating: "\u{1f41f}", count: 256)
        #expect(
            try value("trim(?1, ?2)", [.text("\u{1f41f}x"), .text(list)], ours) == .text("x")
        )
        let error = #expect(throws: SQLiteError.self) {
            _ = try value("trim(?1, ?2)", [.text("x"), .text(list + "a")], ours)
        }
        #expect(error?.message == "trim takes up to 256 characters")
    }
}
