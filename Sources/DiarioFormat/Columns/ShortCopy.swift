/// Copies of texts that are short as a rule, without a call for each of them.
enum ShortCopy {
    /// Bytes that the target must have behind what it is to hold.
    static let slack = 16

    /// Copies `size` bytes from `start` on of a source with `sourceSize` bytes.
    ///
    /// The caller knows that they lie in the source, and that the target has room for them and
    /// `slack` more; what is there may be overwritten.
    @unsafe
    @inline(__always)
    static func copy(
        _ source: UnsafePointer<UInt8>,
        _ start: Int,
        _ size: Int,
        of sourceSize: Int,
        to target: UnsafeMutablePointer<UInt8>
    ) {
        typealias Words = SIMD2<UInt64>
        // Longer ones too, as long as few steps do: a call costs as much as some of them.
        if size <= 6 * slack, start <= sourceSize &- (size &+ slack) {
            var place = 0
            repeat {
                // Safe: what lies behind the size is in the source, and the target has room for it.
                let words = unsafe UnsafeRawPointer(source + start + place).loadUnaligned(
                    as: Words.self
                )
                unsafe UnsafeMutableRawPointer(target + place).storeBytes(
                    of: words,
                    as: Words.self
                )
                place &+= slack
            } while place < size
        } else {
            // Safe: the caller knows that both have these bytes.
            unsafe target.update(from: source + start, count: size)
        }
    }

    /// Copies `size` bytes and writes no other.
    ///
    /// The caller knows that both have so many. Most texts are short: then it is two words that
    /// may overlap.
    @unsafe
    @inline(__always)
    static func exactly(
        _ source: UnsafePointer<UInt8>,
        _ size: Int,
        to target: UnsafeMutablePointer<UInt8>
    ) {
        // Safe: each word lies within the first and the last of the bytes.
        if size > 16 {
            unsafe target.update(from: source, count: size)
        } else if size >= 8 {
            unsafe copyEnds(source, size, to: target, as: UInt64.self)
        } else if size >= 4 {
            unsafe copyEnds(source, size, to: target, as: UInt32.self)
        } else {
            for place in 0..<size { unsafe target[place] = source[place] }
        }
    }

    @unsafe
    @inline(__always)
    private static func copyEnds<Word: FixedWidthInteger & BitwiseCopyable>(
        _ source: UnsafePointer<UInt8>,
        _ size: Int,
        to target: UnsafeMutablePointer<UInt8>,
        as type: Word.Type
    ) {
        let from = unsafe UnsafeRawPointer(source)
        let to = UnsafeMutableRawPointer(target)
        let last = size &- MemoryLayout<Word>.size
        // Safe: the caller knows that there are at least as many bytes as a word has.
        let head = unsafe from.loadUnaligned(as: Word.self)
        let tail = unsafe from.loadUnaligned(fromByteOffset: last, as: Word.self)
        unsafe to.storeBytes(of: head, as: Word.self)
        unsafe to.storeBytes(of: tail, toByteOffset: last, as: Word.self)
    }
}
