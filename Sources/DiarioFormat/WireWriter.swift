import DiarioCore

// Rows and drafts are written through a pointer: an array that checks its bounds and its owner at
// each byte costs more than all else. Whoever makes a writer proves that there is room.

/// Writes fields of the format to memory that has room for them; checks nothing.
@unsafe struct WireWriter {
    private let target: UnsafeMutablePointer<UInt8>
    /// Where the next byte goes, from the start of the memory.
    private(set) var offset: Int
    /// What `place` adds: where the memory lies in something larger.
    private let start: Int

    init(_ target: UnsafeMutablePointer<UInt8>, offset: Int = 0, start: Int = 0) {
        unsafe self.target = unsafe target
        unsafe self.offset = offset
        unsafe self.start = start
    }

    /// Where the next byte goes, from the start of what the memory is a part of.
    var place: Int { unsafe start + offset }

    mutating func byte(_ value: UInt8) {
        unsafe target[offset] = value
        unsafe offset += 1
    }

    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            unsafe byte(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        unsafe byte(UInt8(truncatingIfNeeded: rest))
    }

    mutating func zigzag(_ value: Int64) { unsafe varint(Varint.zigzag(value)) }

    mutating func fixed(_ value: UInt64) {
        unsafe UnsafeMutableRawPointer(target + offset).storeBytes(
            of: value.littleEndian,
            as: UInt64.self
        )
        unsafe offset += 8
    }

    mutating func fixed(_ value: UInt32) {
        unsafe UnsafeMutableRawPointer(target + offset).storeBytes(
            of: value.littleEndian,
            as: UInt32.self
        )
        unsafe offset += 4
    }

    mutating func bytes(_ source: RawSpan) {
        unsafe source.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            unsafe UnsafeMutableRawPointer(target + offset).copyMemory(
                from: base,
                byteCount: buffer.count
            )
        }
        unsafe offset += source.byteCount
    }

    mutating func text(_ bytes: RawSpan) {
        unsafe varint(UInt64(bytes.byteCount))
        unsafe self.bytes(bytes)
    }

    /// The text of an origin, with its length in front.
    mutating func text(of origin: Origin) {
        let size = OriginText.size(origin.sequence)
        unsafe varint(UInt64(size))
        OriginText.write(origin) { index, character in
            unsafe target[offset + index] = character
        }
        unsafe offset += size
    }

    /// Changes a byte that was written before.
    mutating func set(_ offset: Int, _ value: UInt8) { unsafe target[offset] = value }
}
