package import DiarioCore
package import DiarioStorage

/// `count` random bytes, none of them zero, so that they differ from a gap in a file.
package func makeBytes(_ count: Int, using random: inout SeededRandom) -> [UInt8] {
    var word: UInt64 = 0
    return (0..<count).map { index in
        if index.isMultiple(of: 8) { word = random.next() }
        word = word << 8 | word >> 56
        return UInt8(truncatingIfNeeded: word) | 1
    }
}

extension LogFile {
    /// All bytes of the file.
    package func allBytes() throws(StorageError) -> [UInt8] {
        var bytes: [UInt8] = []
        try read(at: 0, count: Int(size()), into: &bytes)
        return bytes
    }

    package func write(_ bytes: [UInt8], at offset: Int64) throws(StorageError) {
        try write(bytes.span, at: offset)
    }
}
