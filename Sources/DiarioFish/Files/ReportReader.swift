package import DiarioSchema

/// Reads a file of reports as it comes: CSV with a line of column names, or objects of JSON.
///
/// Bytes are added as they are read, and rows are taken out until there is none. It never holds
/// more than a row and what was added, whatever the bytes are.
package struct ReportReader: Sendable {
    /// The longest row in bytes.
    package static let rowSizeMax = 64 * 1024

    private var bytes: [UInt8] = []
    /// Where the next row begins, and how far its end was looked for.
    private var start = 0
    private var searched = 0
    /// Where the last row began, while its bytes are there.
    private var lastStart = 0
    private var hasBegun = false
    private var isAtEnd = false
    /// The line on which the next row begins.
    private var line = 1
    private var form = Form.unknown
    private var isInString = false
    /// In JSON: after a backslash, and braces that are open.
    private var isEscaped = false
    private var depth = 0
    /// True if the row is too long, and its bytes are thrown away up to its end.
    private var isSkipping = false
    /// Names of columns that nobody here knows, as far as they were seen.
    package private(set) var unknownNames: [String] = []

    private enum Form {
        case unknown
        case csv(separator: UInt8, columns: [ReportColumn?])
        case json
    }

    /// What comes next in a file.
    package enum Found: Equatable, Sendable {
        case row(ReportRow)
        case refused(line: Int, BrokenRule)
    }

    package init() {}

    /// Takes the next bytes of the file.
    package mutating func add(_ more: [UInt8]) {
        bytes.removeSubrange(..<start)
        searched -= start
        start = 0
        bytes += more
    }

    /// Says that nothing follows.
    package mutating func finish() { isAtEnd = true }

    /// The next row; nil if more bytes have to come first, or none will.
    ///
    /// - Throws: `BrokenRule` if the file is none that is read here.
    package mutating func next() throws(BrokenRule) -> Found? {
        while true {
            switch form {
            case .unknown:
                guard try readForm() else { return nil }
            case .csv(let separator, let columns):
                guard let found = nextLine() else { return nil }
                switch found {
                case .failure(let refused): return .refused(line: refused.line, refused.rule)
                case .success(let row):
                    if let found = read(row, separator, columns) { return found }
                }
            case .json:
                guard let object = try nextObject() else { return nil }
                return read(object)
            }
        }
    }

    /// The bytes of a row, and the line on which it begins.
    private struct Row {
        let bytes: [UInt8]
        let line: Int
    }

    private struct Refused: Error {
        let line: Int
        let rule: BrokenRule
    }

    // MARK: The beginning

    /// Finds out the form by the first bytes; false if they are not there yet.
    private mutating func readForm() throws(BrokenRule) -> Bool {
        if !hasBegun {
            if bytes.count < 3, !isAtEnd { return false }
            hasBegun = true
            if bytes.starts(with: [0xef, 0xbb, 0xbf]) { (start, searched) = (3, 3) }
        }
        while start < bytes.count, Self.isBlank(bytes[start]) { skipByte() }
        guard start < bytes.count else {
            if isAtEnd { throw Fish.Rule.columns(reason: "the file is empty", header: Self.header) }
            return false
        }
        if bytes[start] == 0x5b || bytes[start] == 0x7b {
            form = .json
            return true
        }
        guard let found = nextLine() else { return false }
        switch found {
        case .failure(let refused): throw refused.rule
        case .success(let row): form = try header(of: row)
        }
        return true
    }

    /// The columns of a first line; the separator is what it has, since spreadsheets differ.
    private mutating func header(of row: Row) throws(BrokenRule) -> Form {
        let separator =
            ([0x2c, 0x3b, 0x09] as [UInt8]).max { one, two in
                row.bytes.count { $0 == one } < row.bytes.count { $0 == two }
            } ?? 0x2c
        var columns: [ReportColumn?] = []
        let cells: [[UInt8]]
        do throws(CSVReader.Failure) {
            var reader = CSVReader(row.bytes, separator: separator)
            cells = try reader.next() ?? []
        } catch {
            throw Fish.Rule.columns(reason: error.message, header: Self.header)
        }
        for cell in cells {
            let name = String(decoding: Self.trimmed(cell), as: UTF8.self)
            let column = ReportColumn(rawValue: name)
            if let column, columns.contains(where: { $0 == column }) {
                throw Fish.Rule.columnTwice(name, name: name)
            }
            if column == nil { noteUnknown(name) }
            columns.append(column)
        }
        for column in ReportColumn.old where !columns.contains(where: { $0 == column }) {
            let name = column.rawValue
            throw Fish.Rule.columnMissing(name, name: name, header: Self.header)
        }
        return .csv(separator: separator, columns: columns)
    }

    private mutating func noteUnknown(_ name: String) {
        guard unknownNames.count < 20, !name.isEmpty, name.utf8.count <= 64,
            !unknownNames.contains(name)
        else { return }
        unknownNames.append(name)
    }

    // MARK: Lines of CSV

    /// The next line with what is quoted over several; nil if its end is not there yet.
    private mutating func nextLine() -> Result<Row, Refused>? {
        while searched < bytes.count {
            let byte = bytes[searched]
            if byte == 0x22, !isSkipping { isInString.toggle() }
            if byte == 0x0a, !isInString { return endLine(at: searched, next: searched + 1) }
            searched += 1
            if !isSkipping, searched - start > Self.rowSizeMax {
                if let refused = giveUpQuotes() { return .failure(refused) }
                isSkipping = true
            }
            if isSkipping { start = searched }
        }
        guard isAtEnd, start < bytes.count || isSkipping else { return nil }
        if isInString, let refused = giveUpQuotes() { return .failure(refused) }
        return endLine(at: bytes.count, next: bytes.count)
    }

    /// Ends the row before `end`, and begins the next one at `next`.
    private mutating func endLine(at end: Int, next: Int) -> Result<Row, Refused> {
        let row = Row(bytes: Array(bytes[start..<end]), line: line)
        line += 1 + row.bytes.count { $0 == 0x0a }
        let wasSkipping = isSkipping
        lastStart = start
        (start, searched, isInString, isSkipping) = (next, next, false, false)
        guard wasSkipping else { return .success(row) }
        let reason = "it has more than \(Self.rowSizeMax) bytes"
        return .failure(Refused(line: row.line, rule: Fish.Rule.row(reason: reason)))
    }

    /// A quote that is never closed takes its line away, and no others; nil if there is no other.
    private mutating func giveUpQuotes() -> Refused? {
        guard let end = bytes[start..<searched].firstIndex(of: 0x0a) else {
            isInString = false
            return nil
        }
        defer { line += 1 }
        (start, searched, isInString) = (end + 1, end + 1, false)
        let reason = "a quoted cell is never closed; add its quote"
        return Refused(line: line, rule: Fish.Rule.row(reason: reason))
    }

    /// The row of a line; nil if there is nothing on it.
    private mutating func read(_ row: Row, _ separator: UInt8, _ columns: [ReportColumn?]) -> Found?
    {
        guard !row.bytes.allSatisfy({ Self.isBlank($0) }) else { return nil }
        let cells: [[UInt8]]
        do throws(CSVReader.Failure) {
            var reader = CSVReader(row.bytes, separator: separator)
            cells = try reader.next() ?? []
        } catch {
            // A quote that is out of place takes its line away, and none of those after it.
            if let feed = row.bytes.firstIndex(of: 0x0a) {
                start = lastStart + feed + 1
                (searched, line) = (start, row.line + 1)
            }
            return .refused(line: row.line, Fish.Rule.row(reason: error.message))
        }
        guard cells.count <= columns.count else {
            let reason = "it has \(cells.count) cells, and there are \(columns.count) columns"
            return .refused(line: row.line, Fish.Rule.row(reason: reason))
        }
        var found: [ReportRow.Cell] = []
        for (cell, column) in zip(cells, columns) {
            guard let column else { continue }
            // No text that is recorded holds a byte of zero.
            guard !cell.contains(0),
                let text = String(validating: FormulaGuard.undone(cell), as: UTF8.self)
            else { return .refused(line: row.line, Fish.Rule.encoding(column.rawValue)) }
            found.append(ReportRow.Cell(column: column, text: text))
        }
        return Self.row(row.line, found)
    }

    private static var header: String {
        ReportColumn.old.map { $0.rawValue }.joined(separator: ",")
    }

    // MARK: Objects of JSON

    /// The next object; nil if its end is not there yet.
    private mutating func nextObject() throws(BrokenRule) -> Result<Row, Refused>? {
        while searched < bytes.count {
            let byte = bytes[searched]
            guard depth > 0 else {
                guard
                    byte == 0x7b || byte == 0x5b || byte == 0x5d || byte == 0x2c
                        || Self.isBlank(byte)
                else { throw Fish.Rule.file(reason: "line \(line) has something else") }
                if byte == 0x7b {
                    depth = 1
                    searched += 1
                } else {
                    skipByte()
                }
                continue
            }
            searched += 1
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == 0x5c {
                    isEscaped = true
                } else if byte == 0x22 {
                    isInString = false
                }
            } else if byte == 0x22 {
                isInString = true
            } else if byte == 0x7b {
                depth += 1
            } else if byte == 0x7d {
                depth -= 1
                if depth == 0 { return endObject() }
            }
            if searched - start > Self.rowSizeMax { isSkipping = true }
            if isSkipping {
                line += bytes[start..<searched].count { $0 == 0x0a }
                start = searched
            }
        }
        guard isAtEnd, depth > 0 else { return nil }
        throw Fish.Rule.file(reason: "the file ends inside an object")
    }

    private mutating func endObject() -> Result<Row, Refused> {
        let row = Row(bytes: Array(bytes[start..<searched]), line: line)
        line += row.bytes.count { $0 == 0x0a }
        let wasSkipping = isSkipping
        (start, isSkipping) = (searched, false)
        guard wasSkipping else { return .success(row) }
        let reason = "it has more than \(Self.rowSizeMax) bytes"
        return .failure(Refused(line: row.line, rule: Fish.Rule.row(reason: reason)))
    }

    private mutating func read(_ object: Result<Row, Refused>) -> Found {
        let row: Row
        switch object {
        case .failure(let refused): return .refused(line: refused.line, refused.rule)
        case .success(let found): row = found
        }
        let value: JSON
        do throws(SchemaError) { value = try JSON.parse(row.bytes).value } catch {
            return .refused(line: row.line, Fish.Rule.row(reason: error.message))
        }
        guard case .object(let members) = value else {
            return .refused(line: row.line, Fish.Rule.row(reason: "it is no object"))
        }
        var cells: [ReportRow.Cell] = []
        for member in members {
            guard let column = ReportColumn(rawValue: member.key) else {
                noteUnknown(member.key)
                continue
            }
            let text: String
            switch member.item.value {
            case .null: continue
            case .string(let value): text = value
            case .boolean(let value): text = value ? "1" : "0"
            case .integer, .number:
                text = String(decoding: member.item.value.asWritten, as: UTF8.self)
            case .array, .object:
                return .refused(line: row.line, Fish.Rule.row(member.key, reason: "it is no text"))
            }
            cells.append(ReportRow.Cell(column: column, text: text))
        }
        return Self.row(row.line, cells)
    }

    // MARK: Bytes

    private static func row(_ line: Int, _ cells: [ReportRow.Cell]) -> Found {
        do throws(BrokenRule) { return .row(try ReportRow(line: line, cells)) } catch {
            return .refused(line: line, error)
        }
    }

    /// Passes over a byte between rows.
    private mutating func skipByte() {
        if bytes[start] == 0x0a { line += 1 }
        start += 1
        searched = start
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d
    }

    private static func trimmed(_ cell: [UInt8]) -> ArraySlice<UInt8> {
        let rest = cell.drop { isBlank($0) }
        guard let last = rest.lastIndex(where: { !isBlank($0) }) else { return [] }
        return rest[...last]
    }
}

/// Texts that a spreadsheet would run: an export puts an apostrophe before them.
enum FormulaGuard {
    /// The text without the apostrophe that was put before it.
    static func undone(_ cell: [UInt8]) -> [UInt8] {
        guard cell.first == 0x27, let first = cell.first(where: { $0 != 0x27 }),
            first == 0x3d || first == 0x2b || first == 0x2d || first == 0x40 || first == 0x09
                || first == 0x0d || first == 0x0a
        else { return cell }
        return Array(cell.dropFirst())
    }
}
