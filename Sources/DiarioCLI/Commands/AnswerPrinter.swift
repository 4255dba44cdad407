import Diario
import DiarioSchema
import DiarioSQLite

/// Prints the rows of an answer: a table, lines with tabs, JSON or comma-separated values.
final class AnswerPrinter {
    private enum Form { case table, lines, json, csv }

    private let form: Form
    private let output: Output
    private var columns: [String] = []
    private var table: Table?
    /// Rows that settle how wide the table's columns are.
    private var first: [[String]] = []
    private var count = 0
    /// Why nothing more can be printed.
    var failure: Failure?

    private static let firstCount = 200

    init(_ call: Invocation) {
        output = call.output
        form =
            call.arguments.has("json")
            ? .json
            : call.arguments.has("csv") ? .csv : call.output.isTerminal ? .table : .lines
    }

    func begin(_ columns: [String]) throws(Failure) {
        self.columns = columns
        switch form {
        case .json: try output.append { $0.append(0x5b) }
        case .csv:
            try output.append { bytes in
                for (index, name) in columns.enumerated() {
                    if index > 0 { bytes.append(0x2c) }
                    Self.cells.append(text: name.utf8, to: &bytes)
                }
                bytes += [0x0d, 0x0a]
            }
        case .table, .lines: break
        }
    }

    func add(_ row: [Value]) throws(Failure) {
        defer { count += 1 }
        switch form {
        case .json: try addJSON(row)
        case .csv:
            try output.append { bytes in
                for (index, value) in row.enumerated() {
                    if index > 0 { bytes.append(0x2c) }
                    if value != .null { Self.cells.append(text: value.shown.utf8, to: &bytes) }
                }
                bytes += [0x0d, 0x0a]
            }
        case .lines:
            let cells = row.map { $0 == .null ? "-" : CellText.oneLine($0.shown) }
            try output.line(cells.joined(separator: "\t"))
        case .table:
            let cells = row.map { $0 == .null ? "-" : CellText.oneLine($0.shown) }
            guard let table else {
                first.append(cells)
                if first.count == Self.firstCount { try showFirst() }
                return
            }
            try output.line(table.line(cells))
        }
    }

    func end() throws(Failure) {
        switch form {
        case .json: try output.append { $0 += [0x5d, 0x0a] }
        case .csv, .lines: break
        case .table:
            if table == nil { try showFirst() }
            if count == 0 { try output.line("no rows") }
        }
    }

    private func showFirst() throws(Failure) {
        var table = Table(
            columns.map { Table.Column(CellText.oneLine($0), widthMin: 8) },
            width: output.width
        )
        table.fit(first)
        if !first.isEmpty { try output.line(table.heading) }
        for row in first { try output.line(table.line(row)) }
        self.table = table
        first = []
    }

    private func addJSON(_ row: [Value]) throws(Failure) {
        let object = JSONObjectWriter.row(columns, row)
        let isFirst = count == 0
        try output.append { bytes in
            if !isFirst { bytes += Array(",\n ".utf8) }
            bytes += object
        }
    }

    private static let cells = CellWriter(guardsFormulas: false)
}

extension Output {
    /// Prints a list of values that are JSON already, each on a line.
    func jsonList(_ items: [[UInt8]]) throws(Failure) {
        try append { bytes in
            bytes.append(0x5b)
            for (index, item) in items.enumerated() {
                if index > 0 { bytes += Array(",\n ".utf8) }
                bytes += item
            }
            bytes += [0x5d, 0x0a]
        }
    }
}
