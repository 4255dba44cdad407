// The rule on the tables of limits in schema/limits.md.

enum DocumentRules {
    /// schema/limits.md has a row `| name | value |` for each limit of `Limits.swift`, no others.
    static func limits(_ source: SourceFile, document: SourceFile) -> [Finding] {
        let limits = declaredLimits(source)
        let rows = documentedLimits(document)
        let missing = limits.compactMap { limit -> Finding? in
            let row = "`| \(limit.name) | \(limit.text) |`"
            guard let line = rows[limit.name] else {
                return Finding(
                    document,
                    1,
                    "no row for the limit of \(source.path):\(limit.line): \(row)"
                )
            }
            guard line.text != limit.text else { return nil }
            return Finding(document, line.number, "says \(line.text), and the code says \(row)")
        }
        let names = Set(limits.map(\.name))
        let stale = rows.filter { !names.contains($0.key) }.sorted {
            $0.value.number < $1.value.number
        }
        return missing
            + stale.map {
                Finding(document, $0.value.number, "there is no limit `\($0.key)`: remove the row")
            }
    }

    private struct Limit {
        let name: String
        /// The value as the table shows it.
        let text: String
        let line: Int
    }

    /// Each `static let ...Max = ...` whose value is a product of whole numbers.
    private static func declaredLimits(_ file: SourceFile) -> [Limit] {
        let tokens = file.tokens
        return tokens.indices.compactMap { index in
            guard tokens[index].isWord("let"), index + 3 < tokens.count,
                tokens[index + 1].text.hasSuffix("Max")
            else { return nil }
            let (name, line) = (tokens[index + 1].text, tokens[index].line)
            let value = tokens[index...].prefix { $0.line == line }.drop { !$0.isSign("=") }
                .dropFirst()
            return Limit(name: name, text: shown(value, name: name), line: line)
        }
    }

    private static func shown(_ expression: ArraySlice<Token>, name: String) -> String {
        var product = 1
        for (index, token) in expression.enumerated() {
            if index % 2 == 1, token.isSign("*") { continue }
            guard index % 2 == 0, let factor = Int(token.text.filter { $0 != "_" }) else {
                return "(no product of whole numbers on one line)"
            }
            product *= factor
        }
        return shown(product, name: name)
    }

    /// Bytes in their largest whole unit, times in seconds if those are whole, counts as they are.
    private static func shown(_ value: Int, name: String) -> String {
        if name.hasSuffix("SizeMax") {
            for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
            where value % size == 0 {
                return "\(grouped(value / size)) \(unit)"
            }
            return "\(grouped(value)) bytes"
        }
        if name.hasSuffix("MillisecondsMax") {
            return value % 1000 == 0 ? "\(grouped(value / 1000)) s" : "\(grouped(value)) ms"
        }
        if name.hasSuffix("SecondsMax") { return "\(grouped(value)) s" }
        return grouped(value)
    }

    /// 65536 as 65,536.
    private static func grouped(_ value: Int) -> String {
        let digits = String(value)
        return digits.enumerated().map { index, digit in
            let rest = digits.count - index
            return rest % 3 == 0 && index > 0 ? ",\(digit)" : "\(digit)"
        }.joined()
    }

    /// The rows whose first cell is a name that ends with `Max`, with or without back quotes.
    private static func documentedLimits(
        _ file: SourceFile
    ) -> [String: (text: String, number: Int)] {
        var rows: [String: (text: String, number: Int)] = [:]
        for (index, line) in file.lines.enumerated() where line.first == UInt8(ascii: "|") {
            let cells = String(decoding: line, as: UTF8.self)
                .split(separator: "|", omittingEmptySubsequences: true)
                .map { $0.filter { $0 != "`" }.trimmingBlanks }
            guard cells.count >= 2, cells[0].hasSuffix("Max") else { continue }
            rows[cells[0]] = (cells[1], index + 1)
        }
        return rows
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        let tail = drop { $0 == " " }
        return String(tail.reversed().drop { $0 == " " }.reversed())
    }
}
