import DiarioCore
import DiarioSchema

/// The payloads of some rows of one type, gathered by field.
struct GatheredFields {
    /// The fields of this part, in order.
    let fields: [PlannedField]
    /// One for each field of the part.
    private(set) var columns: [GatheredColumn]
    private(set) var rowCount = 0

    init(_ fields: [PlannedField]) {
        self.fields = fields
        columns = fields.map { GatheredColumn($0) }
    }

    /// The values of a column that are bytes.
    func strings(at place: Int) -> ByteStrings { columns[place].strings }

    /// Adds the part of a payload that lies at `range`; checks it as far as columns need it.
    ///
    /// When it throws, what was gathered is of no use any more.
    mutating func append(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(FormatError) {
        var reader = ByteReader(bytes.raw, range: range)
        let bitmap = try reader.nextRange(count: PayloadCodec.bitmapSize(columns.count))
        let row = Int32(truncatingIfNeeded: rowCount)
        var targets = columns.mutableSpan
        for place in targets.indices
        where bytes[bitmap.lowerBound + place >> 3] >> UInt8(place & 7) & 1 == 1 {
            try targets[place].append(row, &reader, bytes.raw)
        }
        if columns.count & 7 != 0, bytes[bitmap.upperBound - 1] >> UInt8(columns.count & 7) != 0 {
            throw .malformed(.presence, at: bitmap.upperBound - 1)
        }
        guard reader.isAtEnd else { throw .trailingBytes(at: reader.offset) }
        rowCount += 1
    }
}

/// The values of one field.
struct GatheredColumn {
    let field: PlannedField
    /// Values so far.
    private(set) var valueCount = 0
    /// The rows that have a value, once one has none; until then those are the first ones.
    private var rows: [Int32] = []
    private var isListed = false
    /// The values that are numbers; a `number` by its bits.
    private(set) var numbers: [Int64] = []
    /// The values that are bytes.
    private(set) var strings = ByteStrings()

    init(_ field: PlannedField) { self.field = field }

    /// The rows that have a value; nil if all of `rowCount` rows have one.
    func presentRows(of rowCount: Int) -> [Int32]? {
        guard valueCount < rowCount else { return nil }
        return isListed ? rows : firstRows
    }

    /// As many rows as there are values, from the first on.
    private var firstRows: [Int32] {
        (0..<valueCount).map { Int32(truncatingIfNeeded: $0) }
    }

    /// For each of `rowCount` rows 1 if it has a value.
    func presence(of rowCount: Int) -> [Int64] {
        var presence = [Int64](repeating: 0, count: rowCount)
        for row in isListed ? rows : firstRows { presence[Int(row)] = 1 }
        return presence
    }

    /// Throws unless all values are text that have to be.
    func checkTexts() throws(FormatError) {
        guard field.kind == .string || field.kind == .nested else { return }
        guard strings.areTexts else { throw .malformed(.text, at: 0) }
    }

    mutating func append(
        _ row: Int32,
        _ reader: inout ByteReader,
        _ bytes: RawSpan
    ) throws(FormatError) {
        if valueCount == 0 { reserve() }
        if !isListed, Int(row) != valueCount {
            rows = firstRows
            isListed = true
        }
        if isListed { rows.append(row) }
        valueCount += 1
        try append(&reader, bytes)
    }

    /// Takes memory for a few values at once: short segments have hundreds of columns with no more.
    private mutating func reserve() {
        switch field.kind {
        case .integer, .number, .boolean, .enumeration, .date, .dateTime:
            numbers.reserveCapacity(Self.fewCount)
        case .string, .nested, .bytes, .uuid:
            strings.reserveCapacity(Self.fewCount, size: Self.fewCount * 16)
        }
    }

    private static let fewCount = 32

    private mutating func append(_ reader: inout ByteReader, _ bytes: RawSpan) throws(FormatError) {
        let start = reader.offset
        switch field.kind {
        case .integer: numbers.append(try reader.nextZigzag())
        case .number:
            let bits = try reader.next(UInt64.self)
            let value = Double(bitPattern: bits)
            guard value.isFinite, value != 0 || value.sign == .plus else {
                throw .malformed(.number, at: start)
            }
            numbers.append(Int64(bitPattern: bits))
        case .boolean:
            let value = try reader.next(UInt8.self)
            guard value <= 1 else { throw .malformed(.boolean, at: start) }
            numbers.append(Int64(value))
        case .enumeration:
            let value = try reader.nextVarint()
            guard value < field.valueCount else { throw .malformed(.enumIndex, at: start) }
            numbers.append(Int64(value))
        case .date:
            let days = try reader.nextZigzag()
            guard CivilTime.daysMin...CivilTime.daysMax ~= days else {
                throw .malformed(.date, at: start)
            }
            numbers.append(days)
        case .dateTime:
            let time = Timestamp(milliseconds: try reader.nextZigzag())
            guard CivilTime.contains(time) else { throw .malformed(.dateTime, at: start) }
            numbers.append(time.milliseconds)
        case .string, .nested, .bytes: strings.append(bytes.extracting(try reader.nextBytes()))
        case .uuid: strings.append(bytes.extracting(try reader.nextRange(count: 16)))
        }
    }
}
