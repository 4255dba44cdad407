import DiarioSchema

/// Which columns of a table a statement fills with which parameters, read from its words.
///
/// Understands `INSERT INTO t (a, b) VALUES (...)`, `INSERT INTO t (a, b) SELECT ...`, what follows
/// `DO UPDATE SET`, and `UPDATE t SET a = ..., b = ...`. What it cannot read it says so.
struct ColumnUse {
    /// A column, and the parameters in the expression that it is given.
    struct Assignment: Equatable {
        let column: String
        let parameters: [String]
    }

    private(set) var table: String?
    private(set) var assignments: [Assignment] = []
    /// Parameters that stand in a condition.
    private(set) var conditions: [String] = []
    /// Values without a list of columns: the n-th fills the n-th column.
    private(set) var unnamed: [[String]] = []

    private let words: [SQLWord]
    private var index = 0

    init(_ statement: SQLStatement) {
        words = statement.words
        read()
    }

    private var current: SQLWord? { index < words.count ? words[index] : nil }

    private func isWord(_ text: String) -> Bool { current?.isKeyword(text) ?? false }

    private func isSymbol(_ text: String) -> Bool {
        current.map { $0.kind == .symbol && $0.text == text } ?? false
    }

    private mutating func read() {
        while let word = current, !word.isKeyword("INTO"), !word.isKeyword("UPDATE"),
            !word.isKeyword("FROM")
        { index += 1 }
        if isWord("UPDATE") {
            index += 1
            if isWord("OR") { index += 2 }
        } else {
            index += 1
        }
        table = current?.name
        index += 1
        if isSymbol("(") {
            readInsert(columns: readList().compactMap(\.first?.name))
        } else if isWord("VALUES") || isWord("SELECT") {
            readInsert(columns: nil)
        }
        while current != nil {
            if isWord("SET") {
                index += 1
                readSet()
            } else if let word = current, word.kind == .parameter {
                conditions.append(word.text)
                index += 1
            } else {
                index += 1
            }
        }
    }

    private mutating func readInsert(columns: [String]?) {
        var rows: [[[SQLWord]]] = []
        if isWord("VALUES") {
            index += 1
            while isSymbol("(") {
                rows.append(readList())
                guard isSymbol(",") else { break }
                index += 1
            }
        } else if isWord("SELECT") {
            index += 1
            rows.append(
                readParts(until: ["FROM", "WHERE", "UNION", "EXCEPT", "INTERSECT", "ON", "LIMIT"])
            )
        }
        for row in rows {
            let values = row.map { $0.filter { $0.kind == .parameter }.map(\.text) }
            guard let columns else {
                for (place, value) in values.enumerated() {
                    while unnamed.count <= place { unnamed.append([]) }
                    unnamed[place] += value
                }
                continue
            }
            for (column, value) in zip(columns, values) where !value.isEmpty {
                assignments.append(Assignment(column: column, parameters: value))
            }
        }
    }

    private mutating func readSet() {
        for part in readParts(until: ["WHERE", "FROM", "RETURNING"]) {
            guard let equals = part.firstIndex(where: { $0.kind == .symbol && $0.text == "=" })
            else { continue }
            let parameters = part[equals...].filter { $0.kind == .parameter }.map(\.text)
            guard !parameters.isEmpty else { continue }
            for word in part[..<equals] {
                guard let column = word.name else { continue }
                assignments.append(Assignment(column: column, parameters: parameters))
            }
        }
    }

    /// The parts between commas of what stands in brackets here.
    private mutating func readList() -> [[SQLWord]] {
        index += 1
        let parts = readParts(until: [])
        if isSymbol(")") { index += 1 }
        return parts
    }

    /// The parts between commas, up to one of these words or a closing bracket.
    private mutating func readParts(until ends: [String]) -> [[SQLWord]] {
        var parts: [[SQLWord]] = [[]]
        var depth = 0
        while let word = current {
            if depth == 0, ends.contains(where: { word.isKeyword($0) }) { break }
            if word.kind == .symbol {
                if word.text == ")", depth == 0 { break }
                if word.text == "(" { depth += 1 }
                if word.text == ")" { depth -= 1 }
                if word.text == ",", depth == 0 {
                    parts.append([])
                    index += 1
                    continue
                }
            }
            parts[parts.count - 1].append(word)
            index += 1
        }
        return parts
    }
}
