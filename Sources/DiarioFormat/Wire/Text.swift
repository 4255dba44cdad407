/// Text as the format defines it: valid UTF-8 without U+0000.
package enum Text {
    /// True if the bytes of `range`, which must be within `bytes`, are text.
    package static func isValid(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
        var offset = range.lowerBound
        let end = range.upperBound
        precondition(offset >= 0 && end <= bytes.byteCount, "the range lies in the bytes")
        while offset < end {
            if end - offset >= 8 {
                // Safe: eight bytes are left, and an integer has no invalid bit pattern.
                let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
                // No byte has its high bit, and none is zero.
                let borrow = word &- 0x0101_0101_0101_0101
                if (word | borrow) & 0x8080_8080_8080_8080 == 0 {
                    offset += 8
                    continue
                }
            }
            let size = scalarSize(bytes, at: offset, end: end)
            guard size > 0 else { return false }
            offset += size
        }
        return true
    }

    /// The size of the scalar at `offset`, or 0 if there is none that text may have.
    private static func scalarSize(_ bytes: RawSpan, at offset: Int, end: Int) -> Int {
        let first = byte(bytes, offset)
        switch first {
        case 0x01...0x7f: return 1
        case 0xc2...0xdf: return continues(bytes, offset, 2, end) ? 2 : 0
        case 0xe0...0xef:
            guard continues(bytes, offset, 3, end) else { return 0 }
            let second = byte(bytes, offset + 1)
            // Neither a longer form than needed nor half of a surrogate pair.
            guard first != 0xe0 || second >= 0xa0, first != 0xed || second < 0xa0 else { return 0 }
            return 3
        case 0xf0...0xf4:
            guard continues(bytes, offset, 4, end) else { return 0 }
            let second = byte(bytes, offset + 1)
            guard first != 0xf0 || second >= 0x90, first != 0xf4 || second < 0x90 else { return 0 }
            return 4
        default: return 0
        }
    }

    private static func continues(_ bytes: RawSpan, _ offset: Int, _ size: Int, _ end: Int) -> Bool
    {
        guard end - offset >= size else { return false }
        for index in offset + 1..<offset + size where byte(bytes, index) & 0xc0 != 0x80 {
            return false
        }
        return true
    }

    private static func byte(_ bytes: RawSpan, _ offset: Int) -> UInt8 {
        // Safe: the load checks its offset, and an integer has no invalid bit pattern.
        unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }
}
