import DiarioCore
import DiarioSchema

/// The payloads of some rows of one type, by field.
struct GatheredFields {
    /// The fields of this part, in order.
    let fields: [PlannedField]
    /// One for each field of the part.
    private(set) var columns: [GatheredColumn]
    let rowCount: Int

    /// Reads one part of payloads, each of which is one of `rows`; checks it as far as columns need
    /// it.
    ///
    /// Offsets of errors count from the start of a part.
    init(_ fields: [PlannedField], _ rows: ByteStrings) throws(FormatError) {
        self.fields = fields
        rowCount = rows.count
        columns = fields.map { GatheredColumn($0) }
        var cursor = try PartsCursor(rows, fieldCount: fields.count)
        for place in columns.indices {
            columns[place].reserve(cursor.isEverywhere(place) ? rowCount : 0)
        }
        while cursor.advance() {
            for place in columns.indices where cursor.isAnywhere(place) {
                try columns[place].append(place, &cursor)
            }
            try cursor.checkEnds()
        }
    }

    /// The values of a column that are bytes.
    func strings(at place: Int) -> ByteStrings { columns[place].strings }
}

/// The values of one field.
struct GatheredColumn {
    let field: PlannedField
    /// Values so far.
    private(set) var valueCount = 0
    /// The rows that have a value, unless all have one.
    private var rows: [Int32] = []
    /// The values that are numbers; a `number` by its bits.
    private(set) var numbers: [Int64] = []
    /// The values that are bytes.
    private(set) var strings = ByteStrings()

    init(_ field: PlannedField) { self.field = field }

    /// The rows that have a value; nil if all of `rowCount` rows have one.
    func presentRows(of rowCount: Int) -> [Int32]? { valueCount < rowCount ? rows : nil }

    /// For each of `rowCount` rows 1 if it has a value.
    func presence(of rowCount: Int) -> [Int64] {
        guard let rows = presentRows(of: rowCount) else {
            return [Int64](repeating: 1, count: rowCount)
        }
        var presence = [Int64](repeating: 0, count: rowCount)
        for row in rows { presence[Int(row)] = 1 }
        return presence
    }

    /// Throws unless all values are text that have to be.
    func checkTexts() throws(FormatError) {
        guard field.kind == .string || field.kind == .nested else { return }
        guard strings.areTexts else { throw .malformed(.text, at: 0) }
    }

    /// Takes memory for so many values.
    fileprivate mutating func reserve(_ count: Int) {
        guard count > 0 else { return }
        switch field.kind {
        case .integer, .number, .boolean, .enumeration, .date, .dateTime:
            numbers.reserveCapacity(count)
        case .string, .nested, .bytes, .uuid:
            strings.reserveCapacity(count, size: count * 16)
        }
    }

    /// Adds the values of the rows at hand, of which this is the field at `place`.
    fileprivate mutating func append(
        _ place: Int,
        _ cursor: inout PartsCursor
    ) throws(FormatError) {
        if !cursor.isEverywhere(place) { cursor.appendRows(with: place, to: &rows) }
        switch field.kind {
        case .string, .nested, .bytes:
            try cursor.readStrings(place) { (reader) throws(FormatError) in try reader.nextBytes() }
        case .uuid:
            try cursor.readStrings(place) { (reader) throws(FormatError) in
                try reader.nextRange(count: 16)
            }
        case .integer:
            try cursor.readNumbers(place) { (reader) throws(FormatError) in
                try reader.nextZigzag()
            }
        case .number:
            try cursor.readNumbers(place) { (reader) throws(FormatError) in
                let bits = try reader.next(UInt64.self)
                let value = Double(bitPattern: bits)
                guard value.isFinite, value != 0 || value.sign == .plus else {
                    throw .malformed(.number, at: reader.offset - 8)
                }
                return Int64(bitPattern: bits)
            }
        case .boolean:
            try cursor.readNumbers(place) { (reader) throws(FormatError) in
                let value = try reader.next(UInt8.self)
                guard value <= 1 else { throw .malformed(.boolean, at: reader.offset - 1) }
                return Int64(value)
            }
        case .enumeration:
            let count = field.valueCount
            try cursor.readNumbers(place) { (reader) throws(FormatError) in
                let start = reader.offset
                let value = try reader.nextVarint()
                guard value < count else { throw .malformed(.enumIndex, at: start) }
                return Int64(value)
            }
        case .date:
            try cursor.readNumbers(place) { (reader) throws(FormatError) in
                let start = reader.offset
                let days = try reader.nextZigzag()
                guard CivilTime.daysMin...CivilTime.daysMax ~= days else {
                    throw .malformed(.date, at: start)
                }
                return days
            }
        case .dateTime:
            try cursor.readNumbers(place) { (reader) throws(FormatError) in
                let start = reader.offset
                let time = Timestamp(milliseconds: try reader.nextZigzag())
                guard CivilTime.contains(time) else { throw .malformed(.dateTime, at: start) }
                return time.milliseconds
            }
        }
        valueCount += cursor.valueCount
        cursor.append(to: &numbers, &strings)
    }
}
