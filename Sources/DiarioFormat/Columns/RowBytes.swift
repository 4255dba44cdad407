/// How rows are written where the room was counted before.
enum RowBytes {
    /// Writes an unsigned LEB128 number; gives the place behind it.
    ///
    /// The caller has counted `Varint.size` bytes from `place` on.
    @unsafe
    @inline(__always)
    static func put(
        varint value: UInt64,
        _ bytes: UnsafeMutablePointer<UInt8>,
        at place: Int
    ) -> Int {
        var rest = value
        var place = place
        // Safe: the loop writes as many bytes as `Varint.size` says.
        while rest >= 0x80 {
            unsafe bytes[place] = UInt8(truncatingIfNeeded: rest) | 0x80
            rest &>>= 7
            place &+= 1
        }
        unsafe bytes[place] = UInt8(truncatingIfNeeded: rest)
        return place &+ 1
    }

    /// Writes eight bytes, the lowest first; the caller has counted them.
    @unsafe
    @inline(__always)
    static func put(_ word: UInt64, _ bytes: UnsafeMutablePointer<UInt8>, at place: Int) {
        // Safe: there is room for eight bytes.
        unsafe UnsafeMutableRawPointer(bytes + place).storeBytes(
            of: word.littleEndian,
            as: UInt64.self
        )
    }
}
