/// The queue of things to come in a world, in order of time.
struct Agenda<Item> {
    private var entries: [(time: Int64, number: Int, item: Item)] = []
    private var lastNumber = 0

    var count: Int { entries.count }
    var nextTime: Int64? { entries.first?.time }

    /// Adds an item at a time; items of one time come in the order in which they were added.
    mutating func add(_ item: Item, at time: Int64) {
        lastNumber += 1
        let index = entries.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
        entries.insert((time, lastNumber, item), at: index)
    }

    /// Takes the next one out, with its time, if that is not after `time`.
    mutating func next(until time: Int64) -> (time: Int64, item: Item)? {
        guard let first = entries.first, first.time <= time else { return nil }
        entries.removeFirst()
        return (first.time, first.item)
    }

    func contains(where isWanted: (Item) -> Bool) -> Bool {
        entries.contains { isWanted($0.item) }
    }

    mutating func removeAll(where isUnwanted: (Item) -> Bool) {
        entries.removeAll { isUnwanted($0.item) }
    }
}
