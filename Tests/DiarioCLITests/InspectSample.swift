import DiarioFormat

/// A small file of the write-ahead log, put together from the document.
enum InspectSample {
    /// Bytes of each of its frames.
    static let frameSize = 40 + 16 + 32

    private static let generation: UInt64 = 0x0123_4567_89ab_cdef

    /// A header, three frames with a seed each, and zeros.
    static func logFile() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes += Array("DWAL".utf8) + [1, 0, 0, 0]
        for value: UInt64 in [1, generation, 0, 0, 1, 1_700_000_000_000] {
            bytes.append(littleEndian: value)
        }
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        bytes += [UInt8](repeating: 0, count: 4096 - bytes.count)
        for number: UInt64 in 1...3 { bytes += frame(number, at: UInt64(bytes.count)) }
        return bytes + [UInt8](repeating: 0, count: 256)
    }

    private static func frame(_ number: UInt64, at offset: UInt64) -> [UInt8] {
        var rest: [UInt8] = []
        rest.append(littleEndian: generation)
        rest.append(littleEndian: number)
        rest.append(littleEndian: offset)
        rest.append(littleEndian: UInt32(48))
        rest.append(littleEndian: UInt32(1))
        // A record: the kind, its length, the space, and the seed of a group.
        rest.append(littleEndian: UInt32(2))
        rest.append(littleEndian: UInt32(32))
        for value: UInt64 in [7, 9, number - 1, 11, 12] { rest.append(littleEndian: value) }
        var bytes = Array("DFRM".utf8)
        bytes.append(littleEndian: Checksum.crc32c(rest.span.raw))
        return bytes + rest
    }
}
