/// A column whose values can be keys: what each row has, by number.
struct KeyColumn {
    /// For each row the index of its value among the distinct ones; if a row has none, then 0 for
    /// that, and for the others 1 more.
    private(set) var codes: [UInt32]
    /// All codes are below it.
    let cardinality: Int

    init(codes: [UInt32], cardinality: Int) {
        var signs: Int32 = 0
        let source = codes.span
        precondition(0...Int(Int32.max) ~= cardinality, "a code has 31 bits")
        let last = Int32(cardinality) &- 1
        for index in source.indices {
            // Safe: the loop goes through the indices.
            let code = Int32(bitPattern: unsafe source[unchecked: index])
            // Below zero once a code or its distance to the last is.
            signs |= code | (last &- code)
        }
        precondition(signs >= 0, "codes were held to their bound when they were read")
        self.init(known: codes, cardinality)
    }

    /// Codes that are known to be below the cardinality.
    private init(known codes: [UInt32], _ cardinality: Int) {
        self.codes = codes
        self.cardinality = cardinality
    }

    /// The first rows.
    func prefix(_ count: Int) -> KeyColumn {
        codes.count > count ? KeyColumn(known: Array(codes[..<count]), cardinality) : self
    }

    /// The values of some rows.
    func picked(_ rows: [Int32]) -> KeyColumn {
        let (source, places) = (codes.span, rows.span)
        // Safe: each code is written; the source checks the row.
        let picked = unsafe [UInt32](count: places.count) { target in
            for index in places.indices {
                unsafe target[index] = source[Int(places[unchecked: index])]
            }
        }
        return KeyColumn(known: picked, cardinality)
    }
}

/// The columns of a block that can be keys of later ones, and those around it.
///
/// Layers lie within each other: personal rows in the rows of a block of fields, those in the
/// events of the segment.
final class KeyLayer {
    let rowCount: Int
    private let outer: KeyLayer?
    /// For each row here, its row in the outer layer.
    private let rows: [Int32]
    /// The columns of this layer, and those further out that somebody asked for.
    private var columns: [Column] = []
    /// Chains over all rows, by the columns they are of.
    private var chains: [(names: [Int], links: [Int32])] = []

    /// There are few, so that they are looked for one by one.
    private struct Column {
        let name: Int
        /// Nil for one from further out.
        var source: KeySource?
        /// What was made of it when somebody asked.
        var made: KeyColumn?
    }

    init(rowCount: Int) {
        self.rowCount = rowCount
        outer = nil
        rows = []
    }

    init(in outer: KeyLayer, rows: [Int32]) {
        self.outer = outer
        self.rows = rows
        rowCount = rows.count
    }

    /// The columns of `inner`, with those of the envelope that were read since.
    init(merging inner: KeyLayer, in outer: KeyLayer, rows: [Int32]) {
        self.outer = outer
        self.rows = rows
        rowCount = rows.count
        columns = inner.columns.compactMap { column in
            column.source.map { Column(name: column.name, source: $0) }
        }
    }

    /// A column in which all rows are the same.
    func addConstant(_ name: Int) {
        let codes = [UInt32](repeating: 0, count: rowCount)
        add(name, KeySource(codes: .indices(codes), present: nil, distinctCount: 1))
    }

    /// The columns that are known here and further out, ascending.
    var allNames: [Int] {
        (columns.filter { $0.source != nil }.map(\.name) + (outer?.allNames ?? [])).sorted()
    }

    /// Whether a column is one further out, and a field.
    func isOuterField(_ name: Int) -> Bool {
        name >= ColumnNumber.presence(0) && outer?.isKnown(name) ?? false
    }

    /// Whether a column is known here or further out.
    private func isKnown(_ name: Int) -> Bool {
        columns.contains { $0.name == name && $0.source != nil } || outer?.isKnown(name) ?? false
    }

    func add(_ name: Int, _ source: KeySource) {
        columns.removeAll { $0.name == name }
        columns.append(Column(name: name, source: source))
    }

    /// A column of indices that all rows have.
    func add(_ name: Int, _ codes: [UInt32], distinctCount: Int) {
        add(name, KeySource(codes: .indices(codes), present: nil, distinctCount: distinctCount))
    }

    /// The column of this name, over the rows of this layer; nil if there is none.
    func column(_ name: Int) -> KeyColumn? {
        if let place = columns.firstIndex(where: { $0.name == name }) {
            if let made = columns[place].made { return made }
            let column = columns[place].source?.column(rowCount: rowCount)
            columns[place].made = column
            return column
        }
        guard let wide = outer?.column(name) else { return nil }
        let narrow = wide.picked(rows)
        columns.append(Column(name: name, source: nil, made: narrow))
        return narrow
    }

    /// For each of the `present` rows (all if nil) the index of the last one before it with the
    /// same key, or -1; nil if a column does not exist.
    func chain(_ names: [Int], present: [Int32]?) -> [Int32]? {
        if present == nil, let known = chains.first(where: { $0.names == names }) {
            return known.links
        }
        guard let first = names.first.flatMap({ column($0) }) else { return nil }
        let chain: [Int32]
        if names.count > 1 {
            guard let second = column(names[1]) else { return nil }
            chain = Self.link(
                present.map(first.picked) ?? first,
                present.map(second.picked) ?? second
            )
        } else {
            chain = Self.link(first, present)
        }
        if present == nil { chains.append((names, chain)) }
        return chain
    }

    private static func link(_ column: KeyColumn, _ present: [Int32]?) -> [Int32] {
        var lastRows = [Int32](repeating: -1, count: column.cardinality)
        var last = lastRows.mutableSpan
        let codes = column.codes.span
        if let present {
            let rows = present.span
            // Safe: each link is written; the spans check what they are asked for.
            return unsafe [Int32](count: rows.count) { target in
                for index in rows.indices {
                    let code = Int(codes[Int(rows[index])])
                    unsafe target[index] = last[code]
                    last[code] = Int32(truncatingIfNeeded: index)
                }
            }
        }
        // Safe: each link is written; the span checks the code it is asked for.
        return unsafe [Int32](count: codes.count) { target in
            for index in codes.indices {
                let code = Int(unsafe codes[unchecked: index])
                unsafe target[index] = last[code]
                last[code] = Int32(truncatingIfNeeded: index)
            }
        }
    }

    /// Links rows with the same pair of codes, group by group of the first, so that the table is
    /// only as large as the second has values.
    private static func link(_ first: KeyColumn, _ second: KeyColumn) -> [Int32] {
        let count = first.codes.count
        var chain = [Int32](repeating: -1, count: count)
        var starts = [Int32](repeating: 0, count: first.cardinality + 1)
        var order = [Int32](repeating: 0, count: count)
        let codes = first.codes.span
        var places = starts.mutableSpan
        for index in 0..<count { places[Int(codes[index]) + 1] += 1 }
        for code in 0..<first.cardinality { places[code + 1] += places[code] }
        var sorted = order.mutableSpan
        for index in 0..<count {
            let code = Int(codes[index])
            sorted[Int(places[code])] = Int32(truncatingIfNeeded: index)
            places[code] += 1
        }
        // The last row with each code of the second; of another group if its first code differs.
        var lastRows = [Int32](repeating: -1, count: second.cardinality)
        var last = lastRows.mutableSpan
        var target = chain.mutableSpan
        let others = second.codes.span
        for place in 0..<count {
            let row = Int(sorted[place])
            let other = Int(others[row])
            let candidate = Int(last[other])
            if candidate >= 0, codes[candidate] == codes[row] {
                target[row] = Int32(truncatingIfNeeded: candidate)
            }
            last[other] = Int32(truncatingIfNeeded: row)
        }
        return chain
    }
}

/// Where the codes of a key column come from, expanded to rows only when somebody asks.
struct KeySource {
    /// Indices of distinct values, or values from 0 on.
    enum Codes {
        case indices([UInt32])
        case numbers([Int64])
    }

    var codes: Codes
    /// The rows that have a value; nil if all do.
    var present: [Int32]?
    /// Different values.
    var distinctCount: Int

    var cardinality: Int { distinctCount + 1 }

    func column(rowCount: Int) -> KeyColumn {
        KeyColumn(codes: present.map { spread($0, rowCount) } ?? whole, cardinality: cardinality)
    }

    /// The codes of rows that all have a value, so that none stands for "absent".
    private var whole: [UInt32] {
        switch codes {
        case .indices(let indices): return indices
        case .numbers(let numbers):
            let source = numbers.span
            // Safe: each code is written, out of the numbers that are there.
            return unsafe [UInt32](count: source.count) { target in
                for index in source.indices {
                    unsafe target[index] = UInt32(truncatingIfNeeded: source[unchecked: index])
                }
            }
        }
    }

    /// The codes of `rowCount` rows, of which only `rows` have a value.
    private func spread(_ rows: [Int32], _ rowCount: Int) -> [UInt32] {
        var spread = [UInt32](repeating: 0, count: rowCount)
        var target = spread.mutableSpan
        let rows = rows.span
        switch codes {
        case .indices(let indices):
            let source = indices.span
            for index in rows.indices { target[Int(rows[index])] = source[index] &+ 1 }
        case .numbers(let numbers):
            let source = numbers.span
            for index in rows.indices {
                target[Int(rows[index])] = UInt32(truncatingIfNeeded: source[index]) &+ 1
            }
        }
        return spread
    }
}
