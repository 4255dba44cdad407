import DiarioCLI
import Testing

@Suite struct ProgressTests {
    private func line(_ done: UInt64, _ total: UInt64?, seconds: Double = 3.9) -> ProgressLine {
        ProgressLine(label: "Verifying", unit: "events", done: done, total: total, seconds: seconds)
    }

    @Test func aLineShowsAShareATotalTheTimeLeftAndABar() {
        #expect(
            line(50_000, 100_000).text(width: 85)
                == "Verifying: 50,000 of 100,000 events, 50 %, 3 s, 4 s left "
                + "[#############-------------]"
        )
    }

    @Test func whatHasNoTotalIsCounted() {
        #expect(line(7, nil).text(width: 80) == "Verifying: 7 events, 3 s")
        #expect(line(9, 0).text(width: 80) == "Verifying: 9 events, 3 s")
    }

    @Test func aWrongTotalNeverShowsMoreThanAll() {
        #expect(line(2, 1).text(width: 200).contains("100 %"))
        #expect(!line(2, 1).text(width: 200).contains("left"))
        #expect(line(.max, 1).text(width: 200).contains("100 %"))
    }

    @Test(arguments: 0...120) func noLineIsWiderThanItsTerminal(width: Int) {
        for done: UInt64 in [0, 1, 50_000, 100_000, .max] {
            #expect(CellText.width(line(done, 100_000).text(width: width)) <= width)
            #expect(CellText.width(line(done, nil).text(width: width)) <= width)
        }
    }

    @Test func theBarGoesFirstWhereThereIsNoRoomThenTheTimeLeft() {
        let whole = "Verifying: 1 of 4 events, 25 %, 3 s, 12 s left"
        #expect(line(1, 4).text(width: whole.utf8.count + 11) == whole + " [##------]")
        #expect(line(1, 4).text(width: whole.utf8.count + 10) == whole)
        #expect(
            line(1, 4).text(width: whole.utf8.count - 1) == "Verifying: 1 of 4 events, 25 %, 3 s"
        )
        #expect(line(1, 4).text(width: 20) == "Verifying: 1 of 4...")
    }

    @Test(arguments: [
        (-1, "0 s"), (0, "0 s"), (59.9, "59 s"), (60, "1 min 0 s"), (3599, "59 min 59 s"),
        (3600, "1 h 0 min"), (.infinity, "87600 h 0 min"), (1e300, "87600 h 0 min"),
    ])
    func timesAreShownInTheirLargestUnits(seconds: Double, text: String) {
        #expect(ProgressLine.duration(seconds) == text)
    }

    @Test func nothingIsShownOfWhatTakesNoSecond() {
        var pace = ProgressPace(label: "Importing", unit: "bytes")
        let line = pace.update(done: 1, total: 2, at: .milliseconds(999))
        #expect(line == nil)
        #expect(!pace.isShown)
        let isToBeCleared = pace.finish()
        #expect(!isToBeCleared)
    }

    @Test func aLineIsDrawnTenTimesASecondAtMostAndTakenAwayOnce() {
        var pace = ProgressPace(label: "Importing", unit: "bytes")
        var drawn: [Int] = []
        for milliseconds in stride(from: 0, through: 1500, by: 7)
        where pace.update(done: 1, total: 2, at: .milliseconds(milliseconds)) != nil {
            drawn.append(milliseconds)
        }
        #expect(drawn == [1001, 1106, 1211, 1316, 1421])
        #expect(pace.isShown)
        let ends = [pace.finish(), pace.finish()]
        #expect(ends == [true, false])
    }

    @Test func digitsAreGroupedByThousands() {
        #expect(ProgressLine.grouped(0) == "0")
        #expect(ProgressLine.grouped(999) == "999")
        #expect(ProgressLine.grouped(1_234_567) == "1,234,567")
        #expect(ProgressLine.grouped(.max) == "18,446,744,073,709,551,615")
    }
}
