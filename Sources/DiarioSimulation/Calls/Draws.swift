import DiarioCore

/// Choices, by bytes as long as there are any, and by a seed from then on: so a fuzzer can change
/// one of them and leave the others.
package final class Draws {
    private var bytes: ArraySlice<UInt8>
    private var random: SeededRandom

    package init(_ bytes: [UInt8] = [], seed: UInt64) {
        self.bytes = bytes[...]
        random = SeededRandom(seed: seed)
    }

    /// A number from 0 to `bound - 1`.
    func below(_ bound: Int) -> Int {
        if bound <= 256, let byte = bytes.popFirst() { return Int(byte) % bound }
        return random.below(bound)
    }

    func oneIn(_ bound: Int) -> Bool { below(bound) == 0 }

    func pick<Choice>(_ choices: [Choice]) -> Choice { choices[below(choices.count)] }

    /// A number of a range, its ends and those next to 0 more often than others.
    func integer(_ range: ClosedRange<Int64>) -> Int64 {
        switch below(8) {
        case 0: return range.lowerBound
        case 1: return range.upperBound
        case 2: return min(max(Int64(below(5)) - 2, range.lowerBound), range.upperBound)
        default: return number(from: range.lowerBound, to: range.upperBound)
        }
    }

    private func number(from low: Int64, to high: Int64) -> Int64 {
        let (width, isFull) = high.subtractingReportingOverflow(low)
        guard !isFull, width < .max else {
            return min(max(Int64(truncatingIfNeeded: random.next()), low), high)
        }
        return low + Int64(random.next() % UInt64(width + 1))
    }

    /// Numbers at which arithmetic goes wrong.
    func extreme() -> Int64 {
        let numbers: [Int64] = [
            .min, .min + 1, .max, .max - 1, -1, 0, 1, 0x8000_0000, -0x8000_0001,
            0x20_0000_0000_0000,
        ]
        return pick(numbers)
    }
}
