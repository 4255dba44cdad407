/// Many byte strings in one piece of memory.
package struct ByteStrings: Equatable, Sendable {
    package private(set) var bytes: [UInt8] = []
    /// Where each string ends, behind a zero: string i lies from `bounds[i]` to `bounds[i + 1]`.
    package private(set) var bounds: [UInt32] = [0]

    package init() {}

    /// Strings that lie one after the other; `bounds` ascend from 0 to the end of the bytes.
    init(bytes: [UInt8], bounds: [UInt32]) {
        self.bytes = bytes
        self.bounds = bounds
    }

    package var count: Int { bounds.count - 1 }
    package var isEmpty: Bool { bounds.count == 1 }

    /// Where a string lies in `bytes`.
    package func range(_ index: Int) -> Range<Int> {
        Int(bounds[index])..<Int(bounds[index + 1])
    }

    /// The bytes of a string.
    package subscript(index: Int) -> Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.span.extracting(range(index)) }
    }

    /// Takes memory for strings of `size` bytes in all.
    mutating func reserveCapacity(_ count: Int, size: Int) {
        bytes.reserveCapacity(size)
        bounds.reserveCapacity(count + 1)
    }

    @inline(__always)
    mutating func append(_ string: RawSpan) {
        bytes.append(contentsOf: string)
        bounds.append(UInt32(truncatingIfNeeded: bytes.count))
    }

    /// A string of two parts.
    mutating func append(_ head: RawSpan, _ tail: RawSpan) {
        bytes.append(contentsOf: head)
        append(tail)
    }

    mutating func append(_ string: [UInt8]) {
        bytes += string
        bounds.append(UInt32(bytes.count))
    }

    /// A string of others.
    mutating func append(_ strings: ByteStrings, _ index: Int) {
        bytes.append(contentsOf: strings.bytes.span.raw.extracting(strings.range(index)))
        bounds.append(UInt32(bytes.count))
    }

    /// All strings of others.
    mutating func append(_ strings: ByteStrings) {
        let start = UInt32(truncatingIfNeeded: bytes.count)
        bytes += strings.bytes
        bounds.reserveCapacity(bounds.count + strings.count)
        for bound in strings.bounds.dropFirst() { bounds.append(start &+ bound) }
    }

    /// Strings that lie at these places of `source`.
    mutating func append(_ places: Span<Range<Int>>, of source: Span<UInt8>) {
        var size = 0
        bounds.reserveCapacity(bounds.count + places.count)
        var end = bytes.count
        for index in places.indices {
            let place = places[index]
            precondition(
                place.lowerBound >= 0 && place.upperBound <= source.count,
                "a string lies in its source"
            )
            size += place.count
            end += place.count
            bounds.append(UInt32(truncatingIfNeeded: end))
        }
        bytes.append(addingCapacity: size + ShortCopy.slack) { output in
            // Safe: the places were checked just now, and the room has the slack.
            unsafe output.withUnsafeMutableBufferPointer { buffer, written in
                guard let target = buffer.baseAddress else { return }
                _ = unsafe source.withAddress { address in
                    for index in places.indices {
                        let place = unsafe places[unchecked: index]
                        unsafe ShortCopy.copy(
                            address,
                            place.lowerBound,
                            place.count,
                            of: source.count,
                            to: target + written
                        )
                        written &+= place.count
                    }
                }
            }
        }
    }

    /// Whether all strings are valid UTF-8 without U+0000.
    var areTexts: Bool {
        let content = bytes.span
        if content.isPlainASCII { return true }
        guard Text.isValid(content.raw, 0..<content.count) else { return false }
        // All of it is text; so is each string that starts where a scalar does.
        let bounds = bounds.span
        for index in 1..<bounds.count {
            let start = Int(bounds[index])
            if start < content.count, content[start] & 0xc0 == 0x80 { return false }
        }
        return true
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        bounds.removeAll(keepingCapacity: true)
        bounds.append(0)
    }
}

extension Span where Element == UInt8 {
    /// Whether all bytes are ASCII and none is zero: text, wherever it is cut.
    fileprivate var isPlainASCII: Bool {
        let raw = raw
        var offset = 0
        var others: UInt64 = 0
        while offset + 8 <= count {
            // Safe: eight bytes are left, and an integer has no invalid bit pattern.
            let word = unsafe raw.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            // Has a high bit if a byte has one or is zero.
            others |= word | (word &- 0x0101_0101_0101_0101)
            offset += 8
        }
        while offset < count {
            let byte = self[offset]
            others |= byte == 0 ? 0x80 : UInt64(byte)
            offset += 1
        }
        return others & 0x8080_8080_8080_8080 == 0
    }
}

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
