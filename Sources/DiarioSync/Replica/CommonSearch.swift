import DiarioCore

/// Searches the largest size at which two logs are the same, asking about a few sizes at a time.
package struct CommonSearch: Equatable, Sendable {
    /// Up to here they are the same.
    package private(set) var low: UInt64 = 0
    /// Beyond this they are not.
    package private(set) var high: UInt64
    private var asked: [UInt64] = []
    private var isFirst = true

    /// `high` is how far they can be the same at most.
    package init(through high: UInt64) { self.high = high }

    package var isDone: Bool { low == high }

    /// The sizes to ask about next, in order; empty when it is done.
    package mutating func next() -> [UInt64] {
        asked = []
        guard !isDone else { return asked }
        // Mostly one of the logs is the beginning of the other.
        if isFirst {
            asked = [high]
        } else {
            let count = min(UInt64(Limits.comparedSizeCountMax), high - low)
            let (step, rest) = (high - low).quotientAndRemainder(dividingBy: count)
            asked = (1...count).map { low + step * $0 + min(rest, $0) }
        }
        isFirst = false
        return asked
    }

    /// Takes the answer: the largest of the sizes with the same root, 0 if there is none.
    ///
    /// False if it cannot be an answer to the question.
    package mutating func take(_ size: UInt64, head: UInt64) -> Bool {
        guard size == 0 || asked.contains(size) else { return false }
        low = max(low, size)
        if let next = asked.first(where: { $0 > size }) { high = min(high, next - 1) }
        high = max(low, min(high, head))
        return true
    }
}
