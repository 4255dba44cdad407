extension Invocation {
    /// Prints the result: the object with --json, else the line.
    func answer(_ line: String, _ fields: Fields) throws {
        if isJSON { try output.json(fields) } else { try output.line(line) }
    }

    /// Prints a list: objects with --json, else what `print` makes of it, or the line `none`.
    func answer<Item>(
        _ items: [Item],
        none: String? = nil,
        _ fields: (Item) -> Fields,
        print: ([Item]) throws -> Void
    ) throws {
        if isJSON { return try output.json(items.map(fields)) }
        if items.isEmpty, let none { return try output.line(none) }
        try print(items)
    }

    /// Refuses two options of which each says how to print.
    func refuseBoth(_ first: String, _ second: String) throws {
        guard has(first), has(second) else { return }
        throw Failure.usage("--\(first) and --\(second) are two ways to print; choose one")
    }

    /// Prints a list: objects with --json, else a table, or the line `none`.
    func answer<Item>(
        _ items: [Item],
        none: String,
        _ columns: [Table.Column],
        _ fields: (Item) -> Fields,
        row: (Item) -> [String]
    ) throws {
        try answer(items, none: none, fields) { try output.table(columns, $0.map(row)) }
    }
}
