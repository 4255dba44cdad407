import Diario
import DiarioSchema

/// What people call the columns and values of an answer, by the texts of its pack.
struct AnswerWords {
    private let headings: [String: String]
    /// For each column with a named type, and those of 0 and 1, its values.
    private let values: [String: [String: String]]

    private static let truths = [
        "0": Texts("no", it: "no"), "1": Texts("yes", it: "s\u{ec}"),
    ]

    init(_ query: PackQuery, of pack: Pack, in language: Language) {
        var headings: [String: String] = [:]
        var values: [String: [String: String]] = [:]
        let types = pack.texts.names(in: "types")
        for column in query.columns ?? [] {
            let key = "fields/\(column.name)"
            headings[column.name] = (pack.texts["\(key)/title"] ?? pack.texts[key])?[language]
            if column.values.kind == .boolean {
                values[column.name] = Self.truths.mapValues { $0[language] }
            }
            guard let type = types.first(where: { $0.name == column.values.text }) else { continue }
            let words = type.entries.map { entry in
                (String(entry.key.dropFirst("types/\(type.name)/".count)), entry.texts[language])
            }
            values[column.name] = Dictionary(words) { $1 }
        }
        (self.headings, self.values) = (headings, values)
    }

    func heading(_ column: String) -> String { headings[column] ?? column }

    func value(_ text: String?, in column: String) -> String? {
        text.map { values[column]?[$0] ?? $0 }
    }
}

/// Prints the rows of an answer: a table, lines with tabs, JSON or comma-separated values.
///
/// On a terminal rows with a `text`, which are for reading, stand one below the other, uncut.
struct AnswerPrinter {
    private enum Form { case table, pages, lines, json, csv }

    private let form: Form
    private let output: Output
    private let columns: [String]
    private let words: AnswerWords?
    private var table: TablePrinter
    private var count = 0

    private static let cells = CellWriter(guardsFormulas: false)

    /// Tables and lines have `words` if they are given; programs read codes.
    init(_ columns: [String], _ words: AnswerWords? = nil, _ call: Invocation) throws {
        output = call.output
        self.columns = columns
        self.words = words
        form =
            call.isJSON
            ? .json
            : call.has("csv") ? .csv : Self.form(columns, call.output.isTerminal)
        table = TablePrinter(
            columns.map { column in
                Table.Column(CellText.oneLine(words?.heading(column) ?? column), widthMin: 8)
            },
            on: call.output
        )
        switch form {
        case .json: try output.append { $0.append(0x5b) }
        case .csv: try addValues(columns)
        case .table, .pages, .lines: break
        }
    }

    private static func form(_ columns: [String], _ isTerminal: Bool) -> Form {
        guard isTerminal else { return .lines }
        return columns.contains(text) ? .pages : .table
    }

    /// The column that makes an answer one for reading.
    private static let text = "text"

    mutating func add(_ row: AnswerRow) throws {
        defer { count += 1 }
        switch form {
        case .json:
            try output.append { bytes in
                if count > 0 { bytes += Array(",\n ".utf8) }
                bytes += row.json
            }
        case .csv: try addValues(row.texts)
        case .lines: try output.line(texts(row).joined(separator: "\t"))
        case .table: try table.add(texts(row))
        case .pages: try addPage(row)
        }
    }

    /// Adds a row: its values one a line, then its text.
    private func addPage(_ row: AnswerRow) throws {
        if count > 0 { try output.line("") }
        let headings = columns.map { CellText.oneLine(words?.heading($0) ?? $0) }
        let width = headings.map { CellText.width($0) }.max() ?? 0
        for (index, text) in texts(row).enumerated() where columns[index] != Self.text {
            let pad = width - CellText.width(headings[index]) + 2
            try output.line(headings[index] + String(repeating: " ", count: pad) + text)
        }
        for (column, text) in zip(columns, texts(row)) where column == Self.text {
            for line in CellText.lines(text, width: output.width) { try output.line(line) }
        }
    }

    mutating func end() throws {
        switch form {
        case .json: try output.append { $0 += [0x5d, 0x0a] }
        case .csv, .lines: break
        case .table, .pages:
            try table.finish()
            if count == 0 { try output.line("no rows") }
        }
    }

    private func texts(_ row: AnswerRow) -> [String] {
        zip(columns, row.texts).map { column, text in
            let shown = words.map { $0.value(text, in: column) } ?? text
            return shown.map { CellText.oneLine($0) } ?? "-"
        }
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
