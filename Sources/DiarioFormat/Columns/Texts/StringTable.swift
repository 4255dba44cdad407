/// Distinct byte strings by number, in order of first sight.
struct StringTable {
    private(set) var strings = ByteStrings()
    /// An open hash table of indices, or -1; its size is a power of two.
    private var slots = [Int32](repeating: -1, count: 64)
    private let multiplier = SecretMultiplier.value

    var count: Int { strings.count }

    /// The index of a string, which is added if it is new.
    mutating func index(adding string: Span<UInt8>) -> Int {
        if strings.count * 2 >= slots.count { grow() }
        let slot = slot(of: string)
        if slots[slot] >= 0 { return Int(slots[slot]) }
        slots[slot] = Int32(strings.count)
        strings.append(string.raw)
        return strings.count - 1
    }

    /// Whether a string is known; it is added if it is new.
    mutating func contains(adding string: Span<UInt8>) -> Bool {
        let count = count
        _ = index(adding: string)
        return self.count == count
    }

    /// The index of a string that is known.
    func index(of string: Span<UInt8>) -> Int? {
        let index = slots[slot(of: string)]
        return index >= 0 ? Int(index) : nil
    }

    /// Where the string stands, or would.
    @inline(__always)
    private func slot(of string: Span<UInt8>) -> Int {
        let (table, bytes, bounds) = (slots.span, strings.bytes.span, strings.bounds.span)
        let mask = table.count - 1
        var slot = hash(string) & mask
        while table[slot] >= 0 {
            let index = Int(table[slot])
            let known = bytes.extracting(Int(bounds[index])..<Int(bounds[index + 1]))
            if Self.equal(known, string) { break }
            slot = (slot + 1) & mask
        }
        return slot
    }

    private mutating func grow() {
        slots = [Int32](repeating: -1, count: slots.count * 4)
        let mask = slots.count - 1
        for index in 0..<strings.count {
            var slot = hash(strings[index]) & mask
            while slots[slot] >= 0 { slot = (slot + 1) & mask }
            slots[slot] = Int32(index)
        }
    }

    /// A hash for this table only, never written: words mixed by multiplication.
    @inline(__always)
    private func hash(_ string: Span<UInt8>) -> Int {
        let raw = string.raw
        let size = string.count
        var state = UInt64(truncatingIfNeeded: size) &* 0x9e37_79b9_7f4a_7c15
        var last: UInt64 = 0
        if size >= 8 {
            var offset = 0
            while offset &+ 8 < size {
                // Safe: more than eight bytes are left; an integer has no invalid bit pattern.
                let word = unsafe raw.unsafeLoadUnaligned(
                    fromUncheckedByteOffset: offset,
                    as: UInt64.self
                )
                state = (state ^ word) &* multiplier
                state ^= state >> 32
                offset &+= 8
            }
            // Safe: the last eight bytes, of which some may have had their turn.
            last = unsafe raw.unsafeLoadUnaligned(
                fromUncheckedByteOffset: size &- 8,
                as: UInt64.self
            )
        } else {
            for offset in 0..<size { last = last << 8 | UInt64(string[offset]) }
        }
        state = (state ^ last) &* multiplier
        // Both the middle and the highest bits count, on which all others have a say.
        state ^= state >> 15
        return Int(truncatingIfNeeded: state >> 33)
    }

    private static func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        let size = left.count
        let (left, right) = (left.raw, right.raw)
        guard size >= 8 else {
            for offset in 0..<size {
                // Safe: both have `size` bytes, and an integer has no invalid bit pattern.
                let isSame =
                    unsafe left.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
                    == right.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
                guard isSame else { return false }
            }
            return true
        }
        var offset = 0
        while true {
            // Safe: eight bytes are left in both, and an integer has no invalid bit pattern.
            let isSame =
                unsafe left.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
                == right.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
            guard isSame else { return false }
            guard offset &+ 8 < size else { return true }
            // The last eight may overlap those before.
            offset = min(offset &+ 8, size &- 8)
        }
    }
}
