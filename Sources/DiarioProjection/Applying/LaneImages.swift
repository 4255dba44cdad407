import DiarioCore
import DiarioSQLite

/// Keeps the before-images of rows: their values before pending events first changed them.
///
/// While it is on, SQLite's hook reports every row to it.
final class LaneImages {
    /// A row of a plain table, by its primary key.
    struct Key: Hashable {
        let table: String
        let key: [UInt8]
    }

    /// Plain tables by name.
    var shapes: [String: TableShape] = [:] {
        didSet { layouts = shapes.mapValues { Layout($0) } }
    }
    private var layouts: [String: Layout] = [:]
    private(set) var isOn = false
    /// The row that was there before, or nil; in order of `order`.
    private(set) var rows: [Key: [UInt8]?] = [:]
    /// The keys in the order in which they were touched.
    private(set) var order: [Key] = []
    /// Bytes of all keys and rows.
    private(set) var size = 0

    /// The columns of a table that make a key and an image.
    private struct Layout {
        let keys: [Int]
        let columns: [Int]

        init(_ shape: TableShape) {
            keys = shape.primaryKey.compactMap { name in
                shape.columns.firstIndex { $0.name == name }
            }
            columns = shape.columns.indices.filter { !shape.columns[$0].isGenerated }
        }
    }

    func begin(_ connection: borrowing Connection) {
        guard !isOn else { return }
        isOn = true
        connection.setChangeHook { [self] change in note(change) }
    }

    func end(_ connection: borrowing Connection) {
        guard isOn else { return }
        isOn = false
        connection.setChangeHook(nil)
    }

    func forget() {
        rows.removeAll(keepingCapacity: true)
        order.removeAll(keepingCapacity: true)
        size = 0
    }

    private func note(_ change: borrowing RowChange) {
        guard let layout = layouts[change.table] else { return }
        if change.operation != .insert {
            note(change, layout, isOld: true)
        }
        // A new key, also one that an update gives a row, was not there before.
        if change.operation != .delete {
            note(change, layout, isOld: false)
        }
    }

    private func note(_ change: borrowing RowChange, _ layout: Layout, isOld: Bool) {
        var bytes: [UInt8] = []
        for column in layout.keys {
            let value = isOld ? change.old(column) : change.new(column)
            bytes.append(value: (value ?? .null).asKey)
        }
        let key = Key(table: change.table, key: bytes)
        guard rows[key] == nil else { return }
        var image: [UInt8]?
        if isOld {
            var row: [UInt8] = []
            for column in layout.columns { row.append(value: change.old(column) ?? .null) }
            image = row
        }
        rows.updateValue(image, forKey: key)
        order.append(key)
        size += key.key.count + (image?.count ?? 0)
    }
}

extension SQLValue {
    /// One form for all numbers that are one key: a whole number comes into a column of REAL as an
    /// integer, and goes out as a real.
    fileprivate var asKey: SQLValue {
        if case .real(let number) = self, let whole = Int64(exactly: number) {
            return .integer(whole)
        }
        return self
    }
}
