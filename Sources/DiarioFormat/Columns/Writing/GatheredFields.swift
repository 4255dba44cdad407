import DiarioCore
import DiarioSchema

/// One part of the payloads of some rows of a type, by field.
struct GatheredFields {
    /// One for each field of the part, in order.
    private(set) var columns: [GatheredColumn]
    private(set) var rowCount = 0

    init(_ fields: [PlannedField]) { columns = fields.map { GatheredColumn($0) } }

    /// Takes the part of the next row; checks it as far as columns need it.
    ///
    /// What was gathered is of no use after an error; its offset counts from the start of `bytes`.
    mutating func append(_ bytes: RawSpan, _ range: Range<Int>) throws(FormatError) {
        var reader = ByteReader(bytes, range: range)
        let bitmap = try reader.nextRange(count: PayloadCodec.bitmapSize(columns.count))
        let content = Span(bytes)
        if columns.count & 7 != 0,
            content[bitmap.upperBound - 1] >> UInt8(columns.count & 7) != 0
        {
            throw .malformed(.presence, at: bitmap.upperBound - 1)
        }
        for place in columns.indices
        where content[bitmap.lowerBound + place >> 3] >> UInt8(place & 7) & 1 == 1 {
            try columns[place].append(row: rowCount, bytes, &reader)
        }
        guard reader.isAtEnd else { throw .trailingBytes(at: reader.offset) }
        rowCount += 1
    }
}

/// The values of one field.
struct GatheredColumn {
    let field: PlannedField
    /// The rows that have a value.
    private var rows: [Int32] = []
    /// The values that are numbers; a `number` by its bits.
    private(set) var numbers: [Int64] = []
    /// The values that are bytes.
    private(set) var strings = ByteStrings()

    init(_ field: PlannedField) { self.field = field }

    var valueCount: Int { rows.count }

    /// The rows that have a value; nil if all of `rowCount` rows have one.
    func presentRows(of rowCount: Int) -> [Int32]? { rows.count < rowCount ? rows : nil }

    /// Throws unless all values are text that have to be.
    func checkTexts() throws(FormatError) {
        guard field.kind == .string || field.kind == .nested else { return }
        guard strings.areTexts else { throw .malformed(.text, at: 0) }
    }

    fileprivate mutating func append(
        row: Int,
        _ bytes: RawSpan,
        _ reader: inout ByteReader
    ) throws(FormatError) {
        rows.append(Int32(truncatingIfNeeded: row))
        switch field.kind {
        case .string, .nested, .bytes: strings.append(bytes.extracting(try reader.nextBytes()))
        case .uuid: strings.append(bytes.extracting(try reader.nextRange(count: 16)))
        case .integer, .number, .boolean, .enumeration, .date, .dateTime:
            numbers.append(try nextNumber(&reader))
        }
    }

    private func nextNumber(_ reader: inout ByteReader) throws(FormatError) -> Int64 {
        let start = reader.offset
        switch field.kind {
        case .string, .nested, .bytes, .uuid:
            preconditionFailure("the values of such a field are no numbers")
        case .integer: return try reader.nextZigzag()
        case .number:
            let value = Double(bitPattern: try reader.next(UInt64.self))
            guard value.isFinite, value != 0 || value.sign == .plus else {
                throw .malformed(.number, at: start)
            }
            return Int64(bitPattern: value.bitPattern)
        case .boolean:
            let value = try reader.next(UInt8.self)
            guard value <= 1 else { throw .malformed(.boolean, at: start) }
            return Int64(value)
        case .enumeration:
            let value = try reader.nextVarint()
            guard value < UInt64(field.valueCount) else { throw .malformed(.enumIndex, at: start) }
            return Int64(value)
        case .date:
            let days = try reader.nextZigzag()
            guard CivilTime.daysMin...CivilTime.daysMax ~= days else {
                throw .malformed(.date, at: start)
            }
            return days
        case .dateTime:
            let time = Timestamp(milliseconds: try reader.nextZigzag())
            guard CivilTime.contains(time) else { throw .malformed(.dateTime, at: start) }
            return time.milliseconds
        }
    }
}
