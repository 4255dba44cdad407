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

    /// `count` strings of one size, one after the other.
    init(bytes: [UInt8], sizes size: Int, count: Int) {
        precondition(bytes.count == count * size, "the strings fill their bytes")
        self.bytes = bytes
        bounds = (0...count).map { UInt32(truncatingIfNeeded: $0 * size) }
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

    mutating func append(_ string: [UInt8]) {
        bytes += string
        bounds.append(UInt32(bytes.count))
    }

    /// A string of others.
    mutating func append(_ strings: ByteStrings, _ index: Int) {
        bytes.append(contentsOf: strings.bytes.span.raw.extracting(strings.range(index)))
        bounds.append(UInt32(bytes.count))
    }

    /// Strings that lie at these places of `source`.
    mutating func append(_ places: Span<Range<Int>>, of source: Span<UInt8>) {
        for index in places.indices { append(source.raw.extracting(places[index])) }
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
