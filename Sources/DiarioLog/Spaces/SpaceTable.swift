import DiarioCore

/// The index of each space.
///
/// For repeated look-ups of one space, as most frames make, it does not hash the id again.
struct SpaceTable: Sendable {
    private var numbers: [SpaceID: Int] = [:]
    private var entries: [Entry] = []
    private var last = 0

    private struct Entry: Sendable {
        let id: SpaceID
        var index: SpaceIndex
    }

    subscript(id: SpaceID) -> SpaceIndex? { number(of: id).map { entries[$0].index } }

    var ids: [SpaceID] { entries.map { $0.id } }

    var indices: some Collection<SpaceIndex> { entries.lazy.map { $0.index } }

    /// Looks at all spaces, in no order.
    func forEach(_ body: (SpaceID, borrowing SpaceIndex) -> Void) {
        let span = entries.span
        for index in span.indices { body(span[index].id, span[index].index) }
    }

    /// Looks at a space where it is: a copy would count references to all its lists, which of ten
    /// thousand spaces are in no cache.
    ///
    /// Changes nothing; but what may be changed is passed on without a copy, also by a compiler
    /// that makes one of what is only read.
    mutating func read<Value>(_ id: SpaceID, _ body: (inout SpaceIndex) -> Value) -> Value? {
        guard let number = number(of: id) else { return nil }
        return body(&entries[number].index)
    }

    /// Changes a space, which is there from now on.
    mutating func update<Failure: Error>(
        _ id: SpaceID,
        _ body: (inout SpaceIndex) throws(Failure) -> Void
    ) throws(Failure) {
        if let known = number(of: id) {
            last = known
        } else {
            last = entries.count
            numbers[id] = last
            entries.append(Entry(id: id, index: SpaceIndex()))
        }
        try body(&entries[last].index)
    }

    /// Takes a space out; nil if it is not there.
    mutating func remove(_ id: SpaceID) -> SpaceIndex? {
        guard let number = numbers.removeValue(forKey: id) else { return nil }
        let index = entries[number].index
        let moved = entries.removeLast()
        if number < entries.count {
            entries[number] = moved
            numbers[moved.id] = number
        }
        last = 0
        return index
    }

    private func number(of id: SpaceID) -> Int? {
        if last < entries.count, entries[last].id == id { return last }
        return numbers[id]
    }
}
