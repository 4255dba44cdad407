import DiarioCore

/// Goes through one part of payloads, some hundred rows at a time, and through these field by
/// field: the loop over a field of many rows is about one kind of value.
struct PartsCursor {
    private let rows: ByteStrings
    private let bitmapSize: Int
    /// The bits of presence that all rows have, and those that some have.
    private var everywhere: [UInt8]
    private var anywhere: [UInt8]
    /// The rows at hand.
    private var window = 0..<0
    /// Where the next field of each of them starts, counted from the start of its part.
    private var places: [Int]
    /// The values that were read last; or where they lie in the bytes of all rows.
    private var numbers: [Int64]
    private var ranges: [Range<Int>]
    private var numberCount = 0
    private var stringCount = 0

    /// Few enough that a window lies in the nearest memory while its fields are read.
    private static let windowCount = 128

    /// Throws if a part is shorter than its bits of presence, or has more of them than fields.
    init(_ rows: ByteStrings, fieldCount: Int) throws(FormatError) {
        self.rows = rows
        let size = PayloadCodec.bitmapSize(fieldCount)
        bitmapSize = size
        // Types with a handful of rows are many in short segments.
        let count = min(Self.windowCount, rows.count)
        places = [Int](repeating: 0, count: count)
        numbers = [Int64](repeating: 0, count: count)
        ranges = [Range<Int>](repeating: 0..<0, count: count)
        everywhere = [UInt8](repeating: 0xff, count: size)
        anywhere = [UInt8](repeating: 0, count: size)
        let (bytes, bounds) = (rows.bytes.span, rows.bounds.span)
        for row in 0..<rows.count {
            let start = Int(bounds[row])
            guard Int(bounds[row + 1]) - start >= size else {
                throw .truncated(at: Int(bounds[row + 1]) - start)
            }
            for place in 0..<size {
                everywhere[place] &= bytes[start + place]
                anywhere[place] |= bytes[start + place]
            }
        }
        if fieldCount & 7 != 0, anywhere[size - 1] >> UInt8(fieldCount & 7) != 0 {
            throw .malformed(.presence, at: size - 1)
        }
    }

    /// Whether all rows have a value of the field at `place`.
    func isEverywhere(_ place: Int) -> Bool { everywhere[place >> 3] >> UInt8(place & 7) & 1 == 1 }

    /// Whether some have.
    func isAnywhere(_ place: Int) -> Bool { anywhere[place >> 3] >> UInt8(place & 7) & 1 == 1 }

    /// How many values were read last.
    var valueCount: Int { numberCount + stringCount }

    /// Goes on with the next rows; false if there are no more.
    mutating func advance() -> Bool {
        window = window.upperBound..<min(window.upperBound + Self.windowCount, rows.count)
        for index in 0..<window.count { places[index] = bitmapSize }
        return !window.isEmpty
    }

    /// Appends those of the rows at hand that have a value of the field at `place`.
    func appendRows(with place: Int, to found: inout [Int32]) {
        let (bytes, bounds) = (rows.bytes.span, rows.bounds.span)
        for row in window where bytes[Int(bounds[row]) + place >> 3] >> UInt8(place & 7) & 1 == 1 {
            found.append(Int32(truncatingIfNeeded: row))
        }
    }

    /// Throws unless all that the rows at hand have was read.
    func checkEnds() throws(FormatError) {
        for (index, row) in window.enumerated() where places[index] != rows.range(row).count {
            throw .trailingBytes(at: places[index])
        }
    }

    /// Reads the values of the field at `place`, which are numbers.
    @inline(__always)
    mutating func readNumbers(
        _ place: Int,
        _ body: (inout ByteReader) throws(FormatError) -> Int64
    ) throws(FormatError) {
        let fields = Fields(rows: rows, window: window, place: place, isAll: isEverywhere(place))
        numberCount = try fields.read(&places, into: &numbers) {
            (reader, _) throws(FormatError) in try body(&reader)
        }
        stringCount = 0
    }

    /// Reads the values of the field at `place`, which are bytes that lie where `body` says.
    @inline(__always)
    mutating func readStrings(
        _ place: Int,
        _ body: (inout ByteReader) throws(FormatError) -> Range<Int>
    ) throws(FormatError) {
        let fields = Fields(rows: rows, window: window, place: place, isAll: isEverywhere(place))
        stringCount = try fields.read(&places, into: &ranges) {
            (reader, start) throws(FormatError) in
            let range = try body(&reader)
            return start + range.lowerBound..<start + range.upperBound
        }
        numberCount = 0
    }

    /// Appends the values that were read last.
    func append(to numbers: inout [Int64], _ strings: inout ByteStrings) {
        if numberCount > 0 { numbers.append(contentsOf: self.numbers[..<numberCount]) }
        if stringCount > 0 {
            strings.append(ranges.span.extracting(..<stringCount), of: rows.bytes.span)
        }
    }
}

/// A field of some rows.
private struct Fields {
    let rows: ByteStrings
    let window: Range<Int>
    let place: Int
    /// Whether all rows have it.
    let isAll: Bool

    /// Reads it where it is there; gives how many values there are.
    ///
    /// `body` is told where the part of the row starts.
    @inline(__always)
    func read<Value>(
        _ places: inout [Int],
        into values: inout [Value],
        _ body: (inout ByteReader, _ start: Int) throws(FormatError) -> Value
    ) throws(FormatError) -> Int {
        let (bytes, bounds) = (rows.bytes.span, rows.bounds.span)
        var nextPlaces = places.mutableSpan
        var target = values.mutableSpan
        let (byte, bit) = (place >> 3, UInt8(place & 7))
        var count = 0
        var end = Int(bounds[window.lowerBound])
        for index in 0..<window.count {
            let start = end
            end = Int(bounds[window.lowerBound + index + 1])
            guard isAll || bytes[start + byte] >> bit & 1 == 1 else { continue }
            let part = bytes.extracting(start..<end).raw
            var reader = ByteReader(part, range: nextPlaces[index]..<part.byteCount)
            target[count] = try body(&reader, start)
            nextPlaces[index] = reader.offset
            count += 1
        }
        return count
    }
}
