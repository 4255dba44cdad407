import DiarioCore
import DiarioTestSupport
import Testing

@Suite struct CivilTimeTests {
    private func time(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        return CivilTime.parseDateTime(bytes.span)?.milliseconds
    }

    private func date(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        return CivilTime.parseDate(bytes.span)
    }

    private func text(_ milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        CivilTime.appendDateTime(Timestamp(milliseconds: milliseconds), to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func dateText(_ days: Int64) -> String {
        var bytes: [UInt8] = []
        CivilTime.appendDate(days, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func isLeap(_ year: Int) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }

    /// Counts the days month by month, the long way round.
    @Test func theFirstAndLastDayOfEveryMonthAreCountedRight() {
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        var days: Int64 = -719_162
        var wrong: [String] = []
        for year in 1...9999 {
            for month in 1...12 {
                let length = lengths[month - 1] + (month == 2 && isLeap(year) ? 1 : 0)
                for (day, number) in [(1, days), (length, days + Int64(length) - 1)] {
                    let civil = CivilTime.Day(year: year, month: month, day: day)
                    if CivilTime.days(of: civil) != number || CivilTime.day(at: number) != civil {
                        wrong.append("\(civil)")
                    }
                }
                days += Int64(length)
                let beyond = CivilTime.Day(year: year, month: month, day: length + 1)
                if CivilTime.days(of: beyond) != nil { wrong.append("\(beyond)") }
            }
        }
        #expect(wrong.isEmpty)
        #expect(days - 1 == CivilTime.daysMax)
    }

    @Test func everyDayOfFourCenturiesIsWrittenAndReadBack() {
        var wrong: [Int64] = []
        for days in Int64(-10_957)..<(-10_957 + 146_097) where date(dateText(days)) != days {
            wrong.append(days)
        }
        #expect(wrong.isEmpty)
    }

    @Test(arguments: [
        ("1970-01-01", 0), ("1969-12-31", -1), ("2000-02-29", 11_016), ("2026-11-20", 20_777),
        ("0001-01-01", CivilTime.daysMin), ("9999-12-31", CivilTime.daysMax),
    ])
    func knownDatesAreRead(text: String, days: Int64) {
        #expect(date(text) == days)
        #expect(dateText(days) == text)
    }

    @Test(arguments: [
        "", "2026-11-2", "2026-11-200", "2026-13-01", "2026-00-01", "2026-01-00", "2026-02-30",
        "1900-02-29", "0000-01-01", "2026/11/20", "2026-1-020", "+026-11-20", "2026-11-2a",
        "20261120", " 2026-11-20", "2026-11-20 ", "-026-11-20",
    ])
    func otherDatesAreRefused(text: String) { #expect(date(text) == nil) }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:00z", 0),
        ("1970-01-01T00:00:00.5Z", 500),
        ("1970-01-01T00:00:00.05Z", 50),
        ("1970-01-01T00:00:00.1239Z", 123),
        ("1970-01-01T00:00:00.123456789012345678901234567890Z", 123),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T19:00:00-05:00", 0),
        ("1969-12-31T23:59:59.999Z", -1),
        ("1970-01-01T00:00:00-00:00", 0),
        ("1970-01-01T23:59:59+23:59", 59_000),
        ("2026-11-20T10:44:00.123Z", 1_795_171_440_123),
        ("0001-01-01T00:00:00Z", CivilTime.millisecondsMin),
        ("9999-12-31T23:59:59.999Z", CivilTime.millisecondsMax),
        ("0001-01-01T00:01:00+00:01", CivilTime.millisecondsMin),
    ])
    func timesAreRead(text: String, milliseconds: Int64) { #expect(time(text) == milliseconds) }

    @Test(arguments: [
        "", "2026-11-20", "2026-11-20T10:44:00", "2026-11-20 10:44:00Z", "2026-11-20T24:00:00Z",
        "2026-11-20T10:60:00Z", "2026-11-20T10:44:60Z", "2026-11-20T10:44:00.Z",
        "2026-11-20T10:44:00ZZ", "2026-11-20T10:44:00+0100", "2026-11-20T10:44:00+01:0",
        "2026-11-20T10:44:00+24:00", "2026-11-20T10:44:00+01:60", "2026-11-20T10:44Z",
        "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "2026-02-29T00:00:00Z",
        "2026-11-20T10:44:00,5Z", "2026-11-20T1:44:00.5Z", "2026-11-20T10:44:00.5",
        "2026-11-20T10:44:00*01:00", "2026-11-20T10:44:00.123",
    ])
    func otherTimesAreRefused(text: String) { #expect(time(text) == nil) }

    /// Every prefix of a time and every byte of it changed is read or refused, and never traps.
    @Test func mutilatedTimesNeverTrap() {
        let whole = Array("2026-11-20T10:44:00.123+01:00".utf8)
        for length in 0...whole.count {
            let part = Array(whole[..<length])
            _ = CivilTime.parseDateTime(part.span)
            _ = CivilTime.parseDate(part.span)
        }
        for index in whole.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = whole
                changed[index] = byte
                _ = CivilTime.parseDateTime(changed.span)
            }
        }
    }

    @Test(arguments: UInt64(0)..<8) func timesAreWrittenAndReadBack(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let span = Int(CivilTime.millisecondsMax - CivilTime.millisecondsMin) + 1
        for _ in 0..<500 {
            let milliseconds = CivilTime.millisecondsMin + Int64(random.below(span))
            #expect(time(text(milliseconds)) == milliseconds)
        }
    }

    @Test func timesAreWrittenInOneForm() {
        #expect(text(0) == "1970-01-01T00:00:00.000Z")
        #expect(text(-1) == "1969-12-31T23:59:59.999Z")
        #expect(text(1_795_171_440_123) == "2026-11-20T10:44:00.123Z")
        #expect(text(CivilTime.millisecondsMin) == "0001-01-01T00:00:00.000Z")
    }

    @Test(.waits) func timesBeyondTheCalendarCannotBeWritten() async {
        #expect(!CivilTime.contains(Timestamp(milliseconds: CivilTime.millisecondsMax + 1)))
        #expect(!CivilTime.contains(Timestamp(milliseconds: CivilTime.millisecondsMin - 1)))
        await #expect(processExitsWith: .failure) {
            var bytes: [UInt8] = []
            let time = Timestamp(milliseconds: CivilTime.millisecondsMax + 1)
            CivilTime.appendDateTime(time, to: &bytes)
        }
    }
}
