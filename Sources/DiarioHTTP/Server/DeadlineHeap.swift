/// Times with numbers, the earliest at hand.
package struct DeadlineHeap: Sendable {
    package struct Entry: Sendable {
        package let time: ContinuousClock.Instant
        package let number: UInt64

        package init(time: ContinuousClock.Instant, number: UInt64) {
            self.time = time
            self.number = number
        }
    }

    private var entries: [Entry] = []

    package init() {}

    package var first: Entry? { entries.first }
    package var count: Int { entries.count }

    /// Takes logarithmic time.
    package mutating func add(_ entry: Entry) {
        entries.append(entry)
        var index = entries.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard entries[index].time < entries[parent].time else { return }
            entries.swapAt(index, parent)
            index = parent
        }
    }

    /// Takes the earliest one, in logarithmic time.
    package mutating func removeFirst() -> Entry? {
        guard let first = entries.first, let last = entries.popLast() else { return nil }
        guard !entries.isEmpty else { return first }
        entries[0] = last
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < entries.count && entries[child].time < entries[least].time {
                least = child
            }
            guard least != index else { return first }
            entries.swapAt(index, least)
            index = least
        }
    }
}
