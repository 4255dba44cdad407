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
                throw FileRule.cell.broken(cell.column.rawValue, String(shown))
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
    package func values(sha256: [UInt8]) -> JSON {
        var values = CommandValues()
        values.set("line", Int64(line))
        values.set("rowSha256", sha256)
        for cell in cells { values.set(cell.column.fieldName, cell.text) }
        return .object(values.members)
    }
}

/// Why a file, or a row of it, cannot be read.
enum FileRule: String {
    case file
    case columns
    case row
    case cell
    case encoding

    func broken(
        _ field: String? = nil,
        _ value: String? = nil,
        because reason: String? = nil
    ) -> BrokenRule {
        let (message, remedy) = texts
        let more = reason.map { ": \($0)" } ?? ""
        return BrokenRule(
            rawValue,
            field: field,
            value: value,
            Texts("\(message.english)\(more).", it: "\(message.italian)\(more)."),
            remedy: remedy
        )
    }

    private var texts: (message: Texts, remedy: Texts) {
        switch self {
        case .file:
            (
                Texts(
                    "This is no list of objects",
                    it: "Questo non \u{e8} un elenco di oggetti"
                ),
                Texts(
                    "Give JSON as `fish export --json` writes it, or CSV.",
                    it: "Indica JSON come lo scrive `fish export --json`, o CSV."
                )
            )
        case .columns:
            (
                Texts(
                    "The first line does not name the columns of reports",
                    it: "La prima riga non nomina le colonne delle segnalazioni"
                ),
                Texts(
                    "Begin with the line \(Self.header)",
                    it: "Comincia con la riga \(Self.header)"
                )
            )
        case .row:
            (
                Texts("The row cannot be read", it: "La riga non si legge"),
                Texts("Correct it, and import again.", it: "Correggila e importa di nuovo.")
            )
        case .cell:
            (
                Texts("A cell is too long", it: "Una cella \u{e8} troppo lunga"),
                Texts("Shorten it, and import again.", it: "Accorciala e importa di nuovo.")
            )
        case .encoding:
            (
                Texts("A cell is not in UTF-8", it: "Una cella non \u{e8} in UTF-8"),
                Texts("Save the file in UTF-8.", it: "Salva il file in UTF-8.")
            )
        }
    }

    private static var header: String {
        ReportColumn.old.map { $0.rawValue }.joined(separator: ",")
    }
}
