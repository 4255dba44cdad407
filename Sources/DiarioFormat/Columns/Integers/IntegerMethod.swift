/// How a column of numbers is written: schema/format/segments.md, section 5.
enum IntegerMethod: Hashable, Sendable {
    case simple(SimpleMethod)
    case same(key: Int, SimpleMethod)

    static let sameTag: UInt8 = 4

    /// The column that says which rows belong together.
    var key: Int? {
        switch self {
        case .same(let key, _): key
        case .simple: nil
        }
    }
}

/// The methods that need nothing but the numbers themselves.
enum SimpleMethod: UInt8, Hashable, Sendable {
    case plain = 1
    case delta
    case new
}

/// A column whose values can be keys: which rows have the same value.
struct KeyColumn {
    /// For each row the index of its value among the distinct ones; if a row has none, then 0 for
    /// that, and for the others 1 more.
    let codes: [UInt32]
    /// All codes are below it.
    let cardinality: Int

    /// The values of some rows.
    func picked(_ rows: [Int32]) -> KeyColumn {
        KeyColumn(codes: codes.picked(rows), cardinality: cardinality)
    }
}

/// The columns of a block, or of the envelope, that can be keys of later ones.
final class KeyColumns {
    let rowCount: Int
    /// They are few, so that one is looked for by going through them.
    private var columns: [(name: Int, column: KeyColumn)] = []

    /// The names of columns of the envelope; a field is named by its index.
    static let types = 0
    static let replicas = 1

    init(rowCount: Int) { self.rowCount = rowCount }

    var names: [Int] { columns.map { $0.name } }

    /// Adds indices of distinct values, of the rows that have one: `present`, or all if nil.
    func add(_ name: Int, _ codes: [UInt32], present: [Int32]? = nil, distinctCount: Int) {
        var spread = codes
        if let present {
            spread = [UInt32](repeating: 0, count: rowCount)
            for (index, row) in present.enumerated() { spread[Int(row)] = codes[index] &+ 1 }
        }
        columns.append((name, KeyColumn(codes: spread, cardinality: distinctCount + 1)))
    }

    /// The column of this name for some rows, or for all if nil; nil if there is none.
    func column(_ name: Int, _ rows: [Int32]?) -> KeyColumn? {
        guard let found = columns.first(where: { $0.name == name })?.column else { return nil }
        return rows.map { found.picked($0) } ?? found
    }
}

/// What a column of numbers may refer to.
struct ColumnScope {
    let keys: KeyColumns
    /// The rows that the column at hand has values for; nil if all.
    var present: [Int32]?

    init(_ keys: KeyColumns, present: [Int32]? = nil) {
        self.keys = keys
        self.present = present
    }

    /// A column as a key, for the rows that have a value.
    func key(_ name: Int) -> KeyColumn? { keys.column(name, present) }
}
