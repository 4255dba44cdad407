import DiarioSchema

extension ColumnEncoder {
    /// Writes the columns of a block of fields.
    ///
    /// `pools` says by the place of a column how it uses a pool.
    mutating func encode(
        _ fields: GatheredFields,
        of entry: TypeEntry,
        _ pools: [Int: PoolUse],
        _ replicas: inout ReplicaTable
    ) throws(FormatError) {
        writer.removeAll()
        let keys = KeyColumns(rowCount: fields.rowCount)
        for (place, column) in fields.columns.enumerated() {
            try column.checkTexts()
            let present = column.presentRows(of: fields.rowCount)
            try encodePresence(column, present, entry, keys)
            guard column.valueCount > 0 else { continue }
            let name = ColumnName.field(entry, column.field.index)
            let scope = ColumnScope(keys, present: present)
            var codes: [Int64]?
            var distinctCount = 0
            switch column.field.kind {
            case .string, .nested, .bytes, .uuid:
                if let use = pools[place] {
                    try encode(use, name, scope)
                    (codes, distinctCount) = (use.codes, use.textCount)
                } else if let found = try encode(column.strings, name, scope, &replicas) {
                    (codes, distinctCount) = found
                }
            case .boolean, .enumeration:
                try encode(column.numbers, name, .choices, scope)
                codes = column.numbers
                distinctCount = column.field.kind == .boolean ? 2 : column.field.valueCount
            case .integer, .date, .dateTime: try encode(column.numbers, name, .numbers, scope)
            case .number: try encode(numbers: column.numbers, name, scope)
            }
            if let codes {
                keys.add(
                    column.field.index,
                    codes.map { UInt32(truncatingIfNeeded: $0) },
                    present: present,
                    distinctCount: distinctCount
                )
            }
        }
    }

    private mutating func encodePresence(
        _ column: GatheredColumn,
        _ present: [Int32]?,
        _ entry: TypeEntry,
        _ keys: KeyColumns
    ) throws(FormatError) {
        guard column.valueCount > 0 else { return writer.put(0) }
        guard let present else { return writer.put(1) }
        writer.put(2)
        var presence = [Int64](repeating: 0, count: keys.rowCount)
        for row in present { presence[Int(row)] = 1 }
        let name = ColumnName.presence(entry, column.field.index)
        try encode(presence, name, .choices, ColumnScope(keys))
    }

    /// Floating-point numbers, as decimals where all of them are some.
    private mutating func encode(
        numbers bits: [Int64],
        _ name: ColumnName,
        _ scope: ColumnScope
    ) throws(FormatError) {
        if let (scale, integers) = Decimals.find(bits) {
            writer.put(UInt8(scale))
            try encode(integers, name, .numbers, scope)
        } else {
            writer.put(Decimals.none)
            try encode(bits, name, .numbers, scope)
        }
    }

    private mutating func encode(
        _ use: PoolUse,
        _ name: ColumnName,
        _ scope: ColumnScope
    ) throws(FormatError) {
        writer.put((use.isShared ? TextMethod.shared : .pool).rawValue)
        writer.put(varint: use.pool)
        guard !use.isShared else { return }
        try encode(use.codes, name, .indices(start: use.start), scope)
    }

    /// Texts of one column; gives the codes by which they can be keys, if most come again.
    mutating func encode(
        _ strings: ByteStrings,
        _ name: ColumnName,
        _ scope: ColumnScope,
        _ replicas: inout ReplicaTable
    ) throws(FormatError) -> (codes: [Int64], distinctCount: Int)? {
        var table = StringTable()
        let codes = (0..<strings.count).map { Int64(table.index(adding: strings[$0])) }
        // Texts of which most are different gain nothing by a dictionary, and are no good keys.
        guard table.count * 4 <= strings.count * 3 else {
            writer.put(TextMethod.plain.rawValue)
            try writer.put(strings: strings, &replicas)
            return nil
        }
        writer.put(TextMethod.dictionary.rawValue)
        writer.put(varint: table.count)
        try writer.put(strings: table.strings, &replicas)
        try encode(codes, name, .indices(start: 0), scope)
        return (codes, table.count)
    }
}
