import Diario
import DiarioCore
import DiarioTestSupport
import Testing

/// Reading and following the events of a diary.
@Suite struct EventSequenceTests {
    private let folder: TemporaryFolder
    private let diary: Diary

    init() throws {
        folder = try TemporaryFolder()
        diary = try Diary.open(at: folder.path, packs: [Shapes.pack])
    }

    private func record(_ diary: Diary, _ numbers: ClosedRange<Int>) async throws {
        var batch = diary.makeBatch()
        for number in numbers {
            try batch.add(
                Shapes.ShapeMovedV1(shape: number),
                actor: number.isMultiple(of: 2) ? "even" : nil
            )
        }
        try await diary.append(batch)
    }

    private func subjects(
        _ events: EventSequence,
        atMost count: Int = .max
    ) async throws -> [String] {
        var subjects: [String] = []
        for try await event in events {
            subjects.append(event.subject ?? "")
            if subjects.count == count { break }
        }
        return subjects
    }

    private func numbers(_ numbers: some Sequence<Int>) -> [String] { numbers.map { String($0) } }

    private let moved = EventFilter(types: ["shapes.shape.moved"])

    @Test func eventsComeInOrderAndInReverse() async throws {
        // More than are read ahead.
        try await record(diary, 1...900)
        let forward = try await subjects(diary.events(moved))
        #expect(forward == numbers(1...900))
        let reverse = try await subjects(diary.events(moved, order: .newestFirst))
        #expect(reverse == numbers((1...900).reversed()))
        // Each iterator reads for itself.
        let events = diary.events(moved)
        #expect(try await subjects(events, atMost: 3) == numbers(1...3))
        #expect(try await subjects(events, atMost: 2) == numbers(1...2))
        try await diary.close()
    }

    @Test func eventsAreFiltered() async throws {
        try await record(diary, 1...10)
        var filter = moved
        filter.actor = "even"
        #expect(try await subjects(diary.events(filter)) == numbers([2, 4, 6, 8, 10]))
        filter.subject = "4"
        #expect(try await subjects(diary.events(filter)) == ["4"])
        var last: RecordedEvent?
        for try await event in diary.events(moved) { last = event }
        let position = try #require(last?.position)
        filter = moved
        filter.positions = position - 1...position
        #expect(try await subjects(diary.events(filter)) == ["9", "10"])
        filter = moved
        filter.since = last?.acceptedAt
        #expect(try await !subjects(diary.events(filter)).isEmpty)
        filter.until = try #require(last?.acceptedAt)
        #expect(try await subjects(diary.events(filter)).isEmpty)
        try await diary.close()
    }

    @Test func whatIsFollowedComesOnceAndInOrder() async throws {
        try await record(diary, 1...3)
        let seen = try await subjects(diary.follow(after: 0, moved), atMost: 3)
        #expect(seen == numbers(1...3))
        let new = diary.follow(moved)
        try await record(diary, 4...5)
        let other = try Diary(path: folder.path)
        try await record(other, 6...7)
        #expect(try await subjects(new, atMost: 4) == numbers(4...7))
        try await withThrowingTaskGroup(of: [String].self) { group in
            let diary = diary
            let new = diary.follow(moved)
            group.addTask { try await subjects(new, atMost: 300) }
            for number in 8..<308 { try await record(diary, number...number) }
            let found = try await group.next()
            #expect(found == numbers(8..<308))
        }
        try await other.close()
        try await diary.close()
    }

    /// There is no position behind the last one that can be said; looking for it trapped.
    @Test func nothingIsBehindTheLastPosition() async throws {
        let diary = diary
        let none = diary.follow(after: .max, moved)
        try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                var count = 0
                // It ends with the diary.
                do { for try await _ in none { count += 1 } } catch is DiarioError {}
                return count
            }
            // Meanwhile it looks.
            for number in 1...5 {
                try await record(diary, number...number)
                #expect(try await subjects(diary.events(moved)).count == number)
            }
            try await diary.close()
            #expect(try await group.next() == 0)
        }
    }

    @Test func cancellingEndsWhatHasNoEnd() async throws {
        try await record(diary, 1...3)
        let diary = diary
        let all = diary.follow(after: 0, moved)
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                var count = 0
                for try await _ in all { count += 1 }
                return count
            }
            // It has read what there is before it is told to end, or not; both are well.
            group.cancelAll()
            return try await group.next() ?? -1
        }
        #expect(0...3 ~= count)
        await #expect(throws: CancellationError.self) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.cancelAll()
                group.addTask { for try await _ in diary.events() {} }
                try await group.waitForAll()
            }
        }
        try await diary.close()
    }

    /// A type that another process brought along is known as soon as its events come.
    @Test func packsOfOthersAreTakenUp() async throws {
        let new = diary.follow()
        let pages = EmbeddedPack(
            files: [
                ("pack.json", #"{"name":"pages","version":1}"#),
                (
                    "events/turned.1.json",
                    #"{"title":"pages.turned","x-diario-version":1,"type":"object","#
                        + #""additionalProperties":false,"properties":{"to":{"type":"integer"}}}"#
                ),
            ]
        )
        let other = try Diary.open(at: folder.path, packs: [Shapes.pack, pages])
        var batch = other.makeBatch()
        try batch.add("pages.turned", json: #"{"to":3}"#)
        try await other.append(batch)
        for try await event in new where event.type == "pages.turned" {
            #expect(event.json == #"{"to":3}"#)
            break
        }
        try await other.close()
        try await diary.close()
    }

    @Test func daysAndIdsAreWrittenAsTheyAreRead() throws {
        let day = try #require(CivilDay(text: "2024-02-29"))
        #expect(day == CivilDay(year: 2024, month: 2, day: 29))
        #expect((day.year, day.month, day.day) == (2024, 2, 29))
        #expect(day.text == "2024-02-29")
        #expect(CivilDay(text: "2023-02-29") == nil)
        #expect(CivilDay(year: 10_000, month: 1, day: 1) == nil)
        #expect(CivilDay(daysSince1970: .max) == nil)
        let text = "0b8a1d1e-5c7f-4d3a-9b57-2f6c1a9e4d10"
        #expect(UniqueID(text: text)?.text == text)
        #expect(UniqueID(text: text.uppercased())?.text == text)
        #expect(UniqueID(text: "0b8a") == nil)
    }
}
