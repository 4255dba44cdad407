import Diario
import DiarioSchema

/// Prints the rows of an answer: a table, lines with tabs, JSON or comma-separated values.
struct AnswerPrinter {
    private enum Form { case table, lines, json, csv }

    private let form: Form
    private let output: Output
    private let columns: [String]
    private var table: TablePrinter
    private var count = 0

    private static let cells = CellWriter(guardsFormulas: false)

    init(_ columns: [String], _ call: Invocation) throws {
        output = call.output
        self.columns = columns
        form =
            call.isJSON
            ? .json
            : call.has("csv") ? .csv : call.output.isTerminal ? .table : .lines
        table = TablePrinter(
            columns.map { Table.Column(CellText.oneLine($0), widthMin: 8) },
            on: call.output
        )
        switch form {
        case .json: try output.append { $0.append(0x5b) }
        case .csv: try addValues(columns)
        case .table, .lines: break
        }
    }

    mutating func add(_ row: AnswerRow) throws {
        defer { count += 1 }
        switch form {
        case .json:
            try output.append { bytes in
                if count > 0 { bytes += Array(",\n ".utf8) }
                bytes += row.json
            }
        case .csv: try addValues(row.texts)
        case .lines: try output.line(Self.texts(row).joined(separator: "\t"))
        case .table: try table.add(Self.texts(row))
        }
    }

    mutating func end() throws {
        switch form {
        case .json: try output.append { $0 += [0x5d, 0x0a] }
        case .csv, .lines: break
        case .table:
            try table.finish()
            if count == 0 { try output.line("no rows") }
        }
    }

    private static func texts(_ row: AnswerRow) -> [String] {
        row.texts.map { $0.map { CellText.oneLine($0) } ?? "-" }
    }

    /// A line of comma-separated values, in which nil is a cell without anything.
    private func addValues(_ values: [String?]) throws {
        try output.append { bytes in
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(0x2c) }
                if let value { Self.cells.append(text: value.utf8, to: &bytes) }
            }
            bytes += [0x0d, 0x0a]
        }
    }
}
