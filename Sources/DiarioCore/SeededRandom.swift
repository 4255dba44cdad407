/// A small generator whose sequence is fixed for ever by its seed (xorshift-multiply of a counter).
///
/// Own, because the standard library does not promise that its bounded draw keeps its algorithm.
/// Not for secrets.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    /// A number from 0 to `bound - 1`, each as likely as the others.
    public mutating func below(_ bound: Int) -> Int {
        precondition(bound > 0, "a draw needs at least one outcome")
        let (high, low) = next().multipliedFullWidth(by: UInt64(bound))
        guard low < UInt64(bound) else { return Int(high) }
        // The few draws that would favour small numbers are drawn again.
        let rejected = (0 &- UInt64(bound)) % UInt64(bound)
        var (result, remainder) = (high, low)
        while remainder < rejected {
            (result, remainder) = next().multipliedFullWidth(by: UInt64(bound))
        }
        return Int(result)
    }

    /// True once in `bound` draws.
    public mutating func oneIn(_ bound: Int) -> Bool { below(bound) == 0 }

    /// A number from 0 up to but not including 1.
    public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
