/// Lays rows out in columns that fit a width; pure, so that it can be tested.
package struct Table: Sendable {
    package struct Column: Sendable {
        package let title: String
        /// True for numbers, which line up at their ends.
        package let isRight: Bool
        /// It is squeezed below that only if all others are at theirs.
        package let widthMin: Int

        package init(_ title: String, isRight: Bool = false, widthMin: Int = 4) {
            self.title = title
            self.isRight = isRight
            self.widthMin = widthMin
        }
    }

    private let columns: [Column]
    private let width: Int
    private var widths: [Int] = []

    private static let gap = 2
    /// Room for one letter and `...`.
    private static let widthMin = 4

    /// A table at most `width` columns wide; with the greatest number nothing is cut.
    package init(_ columns: [Column], width: Int) {
        self.columns = columns
        self.width = width
    }

    /// Settles how wide the columns are, from the first rows; later ones are cut to that.
    ///
    /// If all of it does not fit, the widest column gives way first, down to its `widthMin`.
    package mutating func fit(_ rows: [[String]]) {
        widths = columns.indices.map { index in
            rows.reduce(CellText.width(columns[index].title)) {
                max($0, CellText.width($1[index]))
            }
        }
        squeeze(to: columns.map(\.widthMin))
        // On a narrow terminal even that is too much.
        squeeze(to: columns.map { _ in Self.widthMin })
    }

    /// Takes width away, from the widest column first, but from none below its own minimum.
    private mutating func squeeze(to minimums: [Int]) {
        let room = width - Self.gap * (columns.count - 1)
        while widths.reduce(0, +) > room {
            let squeezable = widths.indices.filter { widths[$0] > minimums[$0] }
            guard let widest = squeezable.max(by: { widths[$0] < widths[$1] }) else { return }
            let second = squeezable.filter { $0 != widest }.map { widths[$0] }.max() ?? 0
            let excess = widths.reduce(0, +) - room
            let target = max(second, minimums[widest], widths[widest] - excess)
            widths[widest] = min(widths[widest] - 1, target)
        }
    }

    package var heading: String { line(columns.map(\.title)) }

    /// One row as a line without its line feed.
    package func line(_ cells: [String]) -> String {
        precondition(widths.count == columns.count, "a table is fitted before it is printed")
        var result = ""
        for (index, cell) in cells.enumerated() {
            let text = width == .max ? cell : CellText.cut(cell, to: widths[index])
            let pad = String(repeating: " ", count: max(0, widths[index] - CellText.width(text)))
            if index > 0 { result += String(repeating: " ", count: Self.gap) }
            if columns[index].isRight {
                result += pad + text
            } else {
                result += text
                if index < cells.count - 1 { result += pad }
            }
        }
        while result.last == " " { result.removeLast() }
        return result
    }
}

/// Prints rows as a table while they come: the first ones settle how wide the columns are.
struct TablePrinter {
    private let output: Output
    private let isBold: Bool
    private var table: Table
    private var isFitted = false
    private var waiting: [[String]] = []

    private static let fittedCount = 200

    /// A table for `output`; `isBold` if its head may be, where the terminal can.
    init(_ columns: [Table.Column], on output: Output, isBold: Bool = false) {
        self.output = output
        let isPlain = EnvironmentVariable.noColor.isSet || EnvironmentVariable.isDumb
        self.isBold = isBold && !isPlain
        table = Table(columns, width: output.tableWidth)
    }

    mutating func add(_ row: [String]) throws {
        guard !isFitted else { return try output.line(table.line(row)) }
        waiting.append(row)
        if waiting.count >= Self.fittedCount { try finish() }
    }

    /// Prints the rows that wait; more may follow.
    mutating func finish() throws {
        guard !waiting.isEmpty else { return }
        table.fit(waiting)
        isFitted = true
        try output.line(isBold ? "\u{1b}[1m\(table.heading)\u{1b}[0m" : table.heading)
        for row in waiting { try output.line(table.line(row)) }
        waiting = []
    }
}

extension Output {
    /// Prints a whole table.
    func table(_ columns: [Table.Column], _ rows: [[String]]) throws {
        var printer = TablePrinter(columns, on: self)
        for row in rows { try printer.add(row) }
        try printer.finish()
    }
}
