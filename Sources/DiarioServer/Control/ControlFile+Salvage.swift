package import DiarioCore
import DiarioSQLite
package import DiarioStorage

extension ControlFile {
    /// Writes what can be read of the control file of a damaged directory into another folder;
    /// the fault, if not all of it verifies.
    ///
    /// The file is copied with its log first, so that nothing is changed where it was. Then SQLite
    /// recovers the copy; of one that is damaged, rows are read as far as that goes.
    package static func salvage(
        of directory: POSIXDirectory,
        to folder: POSIXDirectory
    ) -> Fault? {
        let draft = "salvaged.sqlite"
        do throws(StorageError) {
            guard try directory.exists(name) else { return nil }
            for ending in ["", "-wal"] where try directory.exists(name + ending) {
                let bytes = try Files.contents(of: name + ending, in: directory, sizeMax: sizeMax)
                try Files.replace(draft + ending, with: bytes, in: folder)
            }
        } catch {
            return Fault(file: name, offset: 0, what: error.message)
        }
        defer {
            for ending in ["", "-wal", "-shm", "-journal"] {
                try? Files.removeTree(draft + ending, in: folder)
            }
        }
        do throws(SQLiteError) {
            let source = try Connection(path: folder.fullPath(draft), .readWrite)
            var problem: String?
            do { try source.checkControl() } catch { problem = ControlError(error).message }
            let target = try Connection(path: folder.fullPath(name), .create)
            if problem == nil {
                try source.copy(to: target)
            } else {
                do { try target.prepareControl() } catch {
                    return Fault(file: name, offset: 0, what: ControlError(error).message)
                }
                try target.execute("PRAGMA foreign_keys = OFF")
                for table in tableNames { copyRows(of: table, from: source, to: target) }
                try target.execute("DELETE FROM token WHERE space NOT IN (SELECT name FROM space)")
                try target.execute("DELETE FROM publication")
            }
            try target.execute("PRAGMA journal_mode = DELETE")
            return problem.map {
                Fault(file: name, offset: 0, what: "\($0); the rows that can be read came along")
            }
        } catch {
            return Fault(file: name, offset: 0, what: error.message)
        }
    }

    private static let sizeMax = 1024 * 1024 * 1024
    private static let tableNames = ["space", "token", "replica", "contact", "blob"]

    /// Copies rows in both directions, each up to the first page that cannot be read.
    private static func copyRows(
        of table: String,
        from source: borrowing Connection,
        to target: borrowing Connection
    ) {
        for order in ["ASC", "DESC"] {
            try? copyRows("SELECT * FROM \(table) ORDER BY 1 \(order)", table, source, target)
        }
    }

    private static func copyRows(
        _ query: String,
        _ table: String,
        _ source: borrowing Connection,
        _ target: borrowing Connection
    ) throws(SQLiteError) {
        let rows = try source.prepare(query)
        let names = (0..<rows.columnCount).map { rows.columnName(at: $0) }
        let places = names.map { _ in "?" }.joined(separator: ", ")
        let insert = try target.prepare(
            "INSERT OR IGNORE INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(places))"
        )
        while try rows.step() {
            for (index, value) in rows.row.enumerated() {
                try insert.bind(value, at: index + 1)
            }
            // A row that breaks a rule of the table is not one of ours.
            try? insert.run()
            insert.reset()
        }
    }
}
