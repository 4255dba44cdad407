/// Tells that a type of a segment has no event with a subject, but for one chance in 16:
/// schema/format/segments.md, section 9.
package struct SubjectFilter: Equatable, Sendable {
    /// In ascending order.
    private var values: [UInt32] = []
    private let count: UInt64
    private let rate: UInt8

    private static let rateMax: UInt8 = 16
    private static let writtenRate: UInt8 = 4

    /// The filter of these checksums of subjects, which may come more than once.
    init(checksums: [UInt32]) {
        var distinct: [UInt32] = []
        for checksum in checksums.sorted() where checksum != distinct.last {
            distinct.append(checksum)
        }
        (count, rate) = (UInt64(distinct.count), Self.writtenRate)
        values = distinct.map { Self.value($0, count: count, rate: rate) }
    }

    /// False if certainly no event of the type has this subject.
    package func mayContain(_ subject: Span<UInt8>) -> Bool {
        let value = Self.value(Checksum.crc32c(subject.raw), count: count, rate: rate)
        var (low, high) = (0, values.count)
        while low < high {
            let middle = (low + high) / 2
            if values[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low < values.count && values[low] == value
    }

    private static func value(_ checksum: UInt32, count: UInt64, rate: UInt8) -> UInt32 {
        UInt32(truncatingIfNeeded: (UInt64(checksum) &* (count << UInt64(rate))) >> 32)
    }

    func write(into writer: inout ColumnWriter) throws(FormatError) {
        writer.put(varint: count)
        writer.put(rate)
        var bits = BitWriter()
        var last: UInt32 = 0
        for value in values {
            let gap = value - last
            bits.put(ones: Int(gap >> UInt32(rate)))
            bits.put(gap & (1 << UInt32(rate) - 1), count: Int(rate))
            last = value
        }
        let content = bits.finish()
        try writer.put(stream: content.span)
    }

    /// Reads a filter of at most `countMax` subjects, whose stream has `size` bytes.
    init(_ reader: inout ColumnReader, size: Int, countMax: Int) throws(FormatError) {
        let start = reader.offset
        let count = try reader.nextCount(1...countMax)
        let rate = try reader.nextByte()
        guard rate <= Self.rateMax else { throw .malformed(.body, at: start) }
        let content = try reader.nextStreams(size: size)
        var bits = BitReader(bytes: content)
        var values: [UInt32] = []
        var last: UInt64 = 0
        for _ in 0..<count {
            // No gap is larger than all of them together.
            guard let high = bits.nextOnes(max: count), let low = bits.next(Int(rate)) else {
                throw .malformed(.body, at: start)
            }
            last += UInt64(high) << UInt64(rate) | low
            guard last < UInt64(count) << UInt64(rate) else {
                throw .malformed(.body, at: start)
            }
            values.append(UInt32(last))
        }
        guard bits.isAtEnd else { throw .malformed(.body, at: start) }
        self.values = values
        self.count = UInt64(count)
        self.rate = rate
    }
}

/// Puts bits into bytes, from the lowest on.
private struct BitWriter {
    private var bytes: [UInt8] = []
    /// Bits that are in no byte yet, and how many: fewer than eight between calls.
    private var rest: UInt64 = 0
    private var restCount = 0

    mutating func put(ones count: Int) {
        var left = count
        while left > 32 {
            put(UInt32.max, count: 32)
            left -= 32
        }
        put(UInt32(truncatingIfNeeded: 1 << UInt64(left) &- 1), count: left)
        put(0, count: 1)
    }

    /// The lowest `count` bits of a value, at most 32, which has no others.
    mutating func put(_ value: UInt32, count: Int) {
        rest |= UInt64(value) << UInt64(restCount)
        restCount += count
        while restCount >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
            restCount -= 8
        }
    }

    /// All of it, with zeros up to a full byte.
    consuming func finish() -> [UInt8] {
        if restCount > 0 { bytes.append(UInt8(truncatingIfNeeded: rest)) }
        return bytes
    }
}

/// Takes bits out of bytes, from the lowest on.
private struct BitReader {
    let bytes: [UInt8]
    private var place = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Whether only zeros are left, in the last byte.
    var isAtEnd: Bool {
        guard (place + 7) / 8 == bytes.count else { return false }
        return place & 7 == 0 || bytes[place >> 3] >> UInt8(place & 7) == 0
    }

    mutating func nextOnes(max most: Int) -> Int? {
        var count = 0
        while count <= most, let bit = next(1) {
            guard bit == 1 else { return count }
            count += 1
        }
        return nil
    }

    mutating func next(_ count: Int) -> UInt64? {
        guard place + count <= bytes.count * 8 else { return nil }
        var value: UInt64 = 0
        for index in 0..<count {
            let bit = bytes[(place + index) >> 3] >> UInt8((place + index) & 7) & 1
            value |= UInt64(bit) << UInt64(index)
        }
        place += count
        return value
    }
}
