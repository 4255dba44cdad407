import DiarioCore

/// Which questions and scans may run, and which come next: each space in turn, and in a space each
/// token.
package struct ReadGate: Sendable {
    /// The numbers that may run at once.
    package struct Bounds: Sendable {
        package var total: Int
        package var ofSpace = Limits.spaceReadCountMax
        package var ofToken = Limits.tokenReadCountMax

        package init(total: Int) { self.total = total }

        /// A processor is left for those who push, pull and wait for news, where there are more
        /// than three; and always a place for other spaces than the one that asks most.
        package init(processorCount: Int) { total = max(ofSpace + 1, processorCount - 1) }
    }

    /// Those of a token that wait, in the order in which they came.
    private struct Line: Sendable {
        let token: String
        var numbers: [UInt64]
    }

    /// A space with readings that wait; the token that comes next is the first.
    private struct Place: Sendable {
        let space: String
        var lines: [Line]
    }

    private let bounds: Bounds
    /// The space that comes next is the first.
    private var places: [Place] = []
    private var running: [ReadOwner: Int] = [:]
    private var runningInSpace: [String: Int] = [:]
    package private(set) var runningCount = 0

    package init(_ bounds: Bounds) { self.bounds = bounds }

    package var waitingCount: Int {
        places.reduce(0) { $0 + $1.lines.reduce(0) { $0 + $1.numbers.count } }
    }

    /// Queues a reading after the others of its token.
    package mutating func enter(_ number: UInt64, of owner: ReadOwner) {
        let place =
            places.firstIndex { $0.space == owner.space }
            ?? places.appendIndex(Place(space: owner.space, lines: []))
        let line =
            places[place].lines.firstIndex { $0.token == owner.token }
            ?? places[place].lines.appendIndex(Line(token: owner.token, numbers: []))
        places[place].lines[line].numbers.append(number)
    }

    /// Lets the next one run, which is over with `finish`; nil if none may.
    package mutating func next() -> UInt64? {
        guard runningCount < bounds.total else { return nil }
        for (index, place) in places.enumerated()
        where runningInSpace[place.space, default: 0] < bounds.ofSpace {
            for (lineIndex, line) in place.lines.enumerated() {
                let owner = ReadOwner(space: place.space, token: line.token)
                guard running[owner, default: 0] < bounds.ofToken else { continue }
                let number = line.numbers[0]
                // Both go to the end of those that come next.
                var place = places.remove(at: index)
                var line = place.lines.remove(at: lineIndex)
                line.numbers.removeFirst()
                if !line.numbers.isEmpty { place.lines.append(line) }
                if !place.lines.isEmpty { places.append(place) }
                running[owner, default: 0] += 1
                runningInSpace[owner.space, default: 0] += 1
                runningCount += 1
                return number
            }
        }
        return nil
    }

    /// Forgets a reading that waits; false if it does not wait, or not any more.
    package mutating func leave(_ number: UInt64, of owner: ReadOwner) -> Bool {
        guard let place = places.firstIndex(where: { $0.space == owner.space }),
            let line = places[place].lines.firstIndex(where: { $0.token == owner.token }),
            let index = places[place].lines[line].numbers.firstIndex(of: number)
        else { return false }
        places[place].lines[line].numbers.remove(at: index)
        if places[place].lines[line].numbers.isEmpty { places[place].lines.remove(at: line) }
        if places[place].lines.isEmpty { places.remove(at: place) }
        return true
    }

    /// One that ran has ended.
    package mutating func finish(of owner: ReadOwner) {
        runningCount -= 1
        running[owner] = running[owner].flatMap { $0 > 1 ? $0 - 1 : nil }
        runningInSpace[owner.space] = runningInSpace[owner.space].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
}

extension Array {
    /// The index that the element gets at the end.
    fileprivate mutating func appendIndex(_ element: Element) -> Int {
        append(element)
        return count - 1
    }
}
