import DiarioSQLite
package import DiarioStorage

extension ControlFile {
    /// Copies the control file of a data directory to another folder, as it is at one moment;
    /// false if there is none.
    ///
    /// Works beside a server. What the other folder has under that name goes; what it gets is
    /// checked, and must have all names that the file at `older` has, a backup: names stay.
    package static func copy(
        of directory: POSIXDirectory,
        to folder: POSIXDirectory,
        older: String? = nil
    ) throws(ControlError) -> Bool {
        let kept = older.flatMap { try? names($0) } ?? []
        let isThere: Bool
        do throws(StorageError) {
            isThere = try directory.exists(name)
        } catch {
            throw .storage(error)
        }
        guard isThere else {
            guard kept.isEmpty else { throw lacking(kept) }
            return false
        }
        do throws(StorageError) {
            // What an attempt that was broken off left.
            for ending in ["", "-wal", "-shm", "-journal"] {
                try Files.removeTree(name + ending, in: folder)
            }
        } catch {
            throw .storage(error)
        }
        let copy: Connection
        do throws(SQLiteError) {
            copy = try Connection(path: folder.fullPath(name), .create)
        } catch {
            throw .sqlite(error)
        }
        do throws(SQLiteError) { try connectToRead(directory.rootPath).copy(to: copy) } catch {
            throw .sqlite(error)
        }
        try check(copy)
        let known = try version(of: copy) > 0 ? try names(copy) : []
        let gone = kept.subtracting(known)
        guard gone.isEmpty else { throw lacking(gone) }
        // One file is all there is then.
        do throws(SQLiteError) { try copy.execute("PRAGMA journal_mode = DELETE") } catch {
            throw .sqlite(error)
        }
        return true
    }

    private static func names(_ path: String) throws -> Set<SpaceName> {
        let connection = try Connection(path: path, .immutable)
        return try names(connection)
    }

    private static func names(
        _ connection: borrowing Connection
    ) throws(ControlError) -> Set<SpaceName> {
        Set(try spaces(connection, "", []).map(\.name))
    }

    private static func lacking(_ names: Set<SpaceName>) -> ControlError {
        let first = names.map(\.text).min() ?? ""
        let rest = names.count > 1 ? " and \(names.count - 1) more" : ""
        return .damaged(
            what: "it lacks the name \(first)\(rest), which the backup before has; to go on "
                + "without, back up to another folder"
        )
    }
}
