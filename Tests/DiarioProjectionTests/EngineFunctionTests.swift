import DiarioCore
import DiarioProjection
import DiarioSQLite
import Testing

@Suite struct EngineFunctionTests {
    private typealias Case = (EngineFunction, [SQLValue], SQLValue)
    private static let longest = String(repeating: "a", count: 64 * 1024)
    private static let cases: [Case] = [
        (.dayOf, [.integer(0), .integer(0)], .text("1970-01-01")),
        (.dayOf, [.integer(-1), .integer(0)], .text("1969-12-31")),
        (.dayOf, [.integer(82_799_999), .integer(60)], .text("1970-01-01")),
        (.dayOf, [.integer(82_800_000), .integer(60)], .text("1970-01-02")),
        (.dayOf, [.integer(0), .integer(-1)], .text("1969-12-31")),
        (.dayOf, [.null, .integer(0)], .null),
        (.dayAdd, [.text("2024-02-28"), .integer(1)], .text("2024-02-29")),
        (.dayAdd, [.text("2023-03-01"), .integer(-1)], .text("2023-02-28")),
        (.dayDifference, [.text("2024-03-01"), .text("2024-02-28")], .integer(2)),
        (.weekdayOf, [.text("1970-01-01")], .integer(4)),
        (.weekdayOf, [.text("2026-11-22")], .integer(7)),
        (.weekdayOf, [.text("1969-12-29")], .integer(1)),
        (.textKey, [.text(" Porto  D\u{2019}Ercole "), .text("same")], .text("porto d'ercole")),
        (.textKey, [.text("Perch\u{e9}"), .text("search")], .text("perche")),
        (.textKey, [.text(longest), .text("same")], .text(longest)),
        (.textKey, [.null, .text("same")], .null), (.textKey, [.text("a"), .null], .null),
    ]
    private static let faults: [(EngineFunction, [SQLValue])] = [
        (.dayOf, [.real(0), .integer(0)]), (.dayOf, [.integer(.max), .integer(0)]),
        (.dayOf, [.integer(0), .integer(2000)]), (.dayAdd, [.text("2026-02-30"), .integer(1)]),
        (.dayAdd, [.text("9999-12-31"), .integer(1)]),
        (.dayAdd, [.text("2026-01-01"), .integer(.max)]), (.weekdayOf, [.text("monday")]),
        (.textKey, [.text("a"), .text("Same")]), (.textKey, [.text("a"), .integer(1)]),
        (.textKey, [.integer(1), .text("same")]), (.textKey, [.blob([97]), .text("same")]),
        (.textKey, [.text(longest + "a"), .text("same")]),
    ]

    @Test(arguments: cases)
    func daysAreComputed(function: EngineFunction, arguments: [SQLValue], expected: SQLValue) throws
    {
        #expect(try function(arguments) == expected)
    }

    @Test(arguments: faults)
    func otherArgumentsAreRefused(function: EngineFunction, arguments: [SQLValue]) {
        #expect(throws: FunctionError.self) { try function(arguments) }
    }
}
