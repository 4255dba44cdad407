package import DiarioSchema

/// A row of a file of reports, as it was written.
package struct ReportRow: Equatable, Sendable {
    /// Where it begins, counted from 1.
    package let line: Int
    /// The cells that are not empty, in the order of the columns.
    private let cells: [Cell]

    package struct Cell: Equatable, Sendable {
        package let column: ReportColumn
        package let text: String
    }

    /// A row of cells, of which those that an import does not take are left out.
    ///
    /// - Throws: `BrokenRule` if a cell is longer than any that is taken.
    init(line: Int, _ cells: [Cell]) throws(BrokenRule) {
        for cell in cells where cell.column.isTaken {
            guard cell.text.unicodeScalars.count <= cell.column.sizeMax else {
                var shown = String.UnicodeScalarView()
                shown.append(contentsOf: cell.text.unicodeScalars.prefix(40))
                throw Fish.Rule.cell(cell.column.rawValue, String(shown))
            }
        }
        self.line = line
        self.cells = ReportColumn.allCases.compactMap { column in
            guard column.isTaken else { return nil }
            return cells.first { $0.column == column && !$0.text.isEmpty }
        }
    }

    package subscript(column: ReportColumn) -> String? {
        cells.first { $0.column == column }?.text
    }

    /// What its hash is made of: the cells as an object of JSON in the form of RFC 8785.
    package var hashedBytes: [UInt8] {
        var values = CommandValues()
        for cell in cells { values.set(cell.column.rawValue, cell.text) }
        return values.json
    }

    /// The row as the command `report.import` takes it.
    package func values(sha256: [UInt8], ordinal: Int64) -> JSON {
        var values = CommandValues()
        values.set("line", Int64(line))
        values.set("rowSha256", sha256)
        values.set("ordinal", ordinal)
        for cell in cells { values.set(cell.column.fieldName, cell.text) }
        return .object(values.members)
    }
}
