import DiarioCore
import DiarioLog
import DiarioTestSupport
import Testing

/// Runs against the plainest model: which row of which block each value has.
@Suite struct RunListTests {
    private struct Place: Hashable {
        let offset: UInt32
        let row: UInt32
    }

    private func places(_ list: RunList) -> [UInt64: Place] {
        var places: [UInt64: Place] = [:]
        for run in list.runs {
            for index in 0..<run.count {
                places[run.first + UInt64(index)] = Place(offset: run.offset, row: run.skip + index)
            }
        }
        return places
    }

    @Test(arguments: UInt64(0)..<200) func aListHoldsWhatAModelHolds(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var list = RunList()
        var model: [UInt64: Place] = [:]
        var live = 0
        for step in 0..<40 {
            let first = UInt64(1 + random.below(60))
            let last = first + UInt64(random.below(12))
            var gone: [UInt64: Place] = [:]
            let take = { (run: Run) in
                live -= Int(run.liveBytes)
                for index in 0..<run.count {
                    gone[run.first + UInt64(index)] = Place(
                        offset: run.offset,
                        row: run.skip + index
                    )
                }
            }
            let expected = model.filter { first...last ~= $0.key }
            for value in expected.keys { model[value] = nil }
            if random.oneIn(3) {
                list.remove(from: first, through: last, removed: take)
            } else {
                let run = Run(
                    first: first,
                    count: UInt32(last - first + 1),
                    skip: UInt32(random.below(3)),
                    file: 1,
                    offset: UInt32(step),
                    blockSize: 50,
                    liveBytes: UInt32(random.below(100)),
                    promotedAt: nil
                )
                live += Int(run.liveBytes)
                list.insert(run, replaced: take)
                for value in first...last {
                    let row = run.skip + UInt32(value - first)
                    model[value] = Place(offset: run.offset, row: row)
                }
            }
            #expect(gone == expected, "step \(step)")
            check(list, model, live)
        }
    }

    private func run(_ first: UInt64, _ count: UInt32) -> Run {
        Run(
            first: first,
            count: count,
            skip: 0,
            file: 1,
            offset: UInt32(first),
            blockSize: 9,
            liveBytes: 25,
            promotedAt: nil
        )
    }

    /// Ten thousand spaces have a list each.
    @Test func aListTakesLittleMoreMemoryThanItsRuns() {
        var list = RunList()
        for first in UInt64(1)...1000 {
            list.insert(run(first, 1)) { _ in }
            #expect(list.runs.capacity <= max(32, 2 * list.runs.count))
        }
        list.remove(from: 1, through: 990) { _ in }
        #expect(list.runs.map(\.first) == Array(991...1000))
        #expect(list.runs.capacity <= 32)
    }

    /// Many at once are taken where they follow what is there, and refused elsewhere.
    @Test func runsAreAppendedBehindAllOthersOnly() {
        var list = RunList()
        func takes(_ others: ArraySlice<Run>) -> Bool { list.append(others) }
        let others = [run(1, 1), run(4, 2), run(6, 1), run(7, 3)]
        #expect(takes(others[1...2]))
        #expect(list.runs == Array(others[1...2]))
        for wrong in [others[...0], others[2...], others[1...]] {
            #expect(!takes(wrong))
            #expect(list.runs == Array(others[1...2]))
        }
        #expect(!takes([]))
        #expect(takes(others[3...]))
        for first in UInt64(10)..<10_000 { #expect(takes([run(first, 1)])) }
        #expect(list.runs.map(\.last) == [5, 6, 9] + Array(10..<10_000))
    }

    private func check(_ list: RunList, _ model: [UInt64: Place], _ live: Int) {
        #expect(places(list) == model)
        // Shares of a block's bytes are neither lost nor doubled by splitting.
        #expect(list.runs.reduce(0) { $0 + Int($1.liveBytes) } == live)
        #expect(list.eventCount == model.count)
        #expect(list.liveBytes == live)
        for (left, right) in zip(list.runs, list.runs.dropFirst()) {
            #expect(left.last < right.first)
        }
        for value in UInt64(0)..<80 {
            let index = list.runs.firstIndex { $0.last >= value } ?? list.runs.count
            #expect(list.firstIndex(endingFrom: value) == index)
        }
    }
}
