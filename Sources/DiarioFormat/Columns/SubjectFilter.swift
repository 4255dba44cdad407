/// Tells that a type of a segment has no event with a subject, but for one chance in 64:
/// schema/format/segments.md, section 9.
package struct SubjectFilter: Equatable, Sendable {
    /// In ascending order; equal ones stand there as often as they came.
    private var values: [UInt32]
    private let count: UInt64
    private let rate: UInt8

    static let rateMax: UInt8 = 16
    static let writtenRate: UInt8 = 6

    /// The filter of these checksums of subjects, which may come more than once.
    init(checksums: [UInt32]) {
        let sorted = Self.distinct(checksums)
        count = UInt64(sorted.count)
        rate = Self.writtenRate
        values = sorted
        for index in values.indices {
            values[index] = Self.value(values[index], count: count, rate: rate)
        }
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

    /// Fewer are sorted by their highest bits first: to count all digits takes longer then.
    private static let countedMin = 512

    /// Sorts, and drops equal ones.
    private static func distinct(_ checksums: [UInt32]) -> [UInt32] {
        var sorted = checksums.count < countedMin ? sorted(checksums) : counted(checksums)
        var target = sorted.mutableSpan
        var count = min(1, target.count)
        for index in target.indices where target[index] != target[max(count, 1) - 1] {
            target[count] = target[index]
            count += 1
        }
        sorted.removeLast(sorted.count - count)
        return sorted
    }

    /// Sorts by the highest byte, and puts each in its place among those before it: checksums are
    /// spread evenly, and few have a place far from where that byte says.
    private static func sorted(_ checksums: [UInt32]) -> [UInt32] {
        var starts = [Int](repeating: 0, count: 257)
        for checksum in checksums { starts[Int(checksum >> 24) + 1] += 1 }
        for digit in 0..<256 { starts[digit + 1] += starts[digit] }
        var sorted = checksums
        for checksum in checksums {
            let digit = Int(checksum >> 24)
            sorted[starts[digit]] = checksum
            starts[digit] += 1
        }
        var target = sorted.mutableSpan
        for index in target.indices {
            let checksum = target[index]
            var place = index
            while place > 0, target[place - 1] > checksum {
                target[place] = target[place - 1]
                place -= 1
            }
            target[place] = checksum
        }
        return sorted
    }

    /// Sorts by three passes over eleven bits each.
    private static func counted(_ checksums: [UInt32]) -> [UInt32] {
        var sorted = checksums
        var other = checksums
        for pass in 0..<UInt32(3) {
            var starts = [Int](repeating: 0, count: 2049)
            for checksum in sorted { starts[Int(checksum >> (11 * pass) & 2047) + 1] += 1 }
            for digit in 0..<2048 { starts[digit + 1] += starts[digit] }
            for checksum in sorted {
                let digit = Int(checksum >> (11 * pass) & 2047)
                other[starts[digit]] = checksum
                starts[digit] += 1
            }
            swap(&sorted, &other)
        }
        return sorted
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

    /// Reads a filter of at most `countMax` subjects.
    static func read(
        _ block: Span<UInt8>,
        expandedSize: Int,
        countMax: Int,
        _ memory: inout ColumnMemory
    ) throws(FormatError) -> SubjectFilter {
        var reader = ColumnReader(block, expandedSize: expandedSize)
        let count = try reader.nextCount(1...countMax)
        let rate = try reader.nextByte()
        guard rate <= rateMax else { throw .malformed(.body, at: 0) }
        let content = try reader.nextBytes(size: expandedSize, &memory)
        try reader.finish()
        var bits = BitReader(bytes: content)
        var values: [UInt32] = []
        var last: UInt64 = 0
        for _ in 0..<count {
            // No gap is larger than all of them together.
            guard let high = bits.nextOnes(max: count), let low = bits.next(Int(rate)) else {
                throw .malformed(.body, at: block.count)
            }
            last += UInt64(high) << UInt64(rate) | low
            guard last < UInt64(count) << UInt64(rate) else {
                throw .malformed(.body, at: block.count)
            }
            values.append(UInt32(last))
        }
        guard bits.isAtEnd else { throw .malformed(.body, at: block.count) }
        return SubjectFilter(values: values, count: UInt64(count), rate: rate)
    }

    private init(values: [UInt32], count: UInt64, rate: UInt8) {
        self.values = values
        self.count = count
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
