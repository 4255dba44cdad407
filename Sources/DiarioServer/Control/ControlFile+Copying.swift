import DiarioSQLite
package import DiarioStorage

extension ControlFile {
    /// Copies the control file of a data directory to another folder, as it is at one moment;
    /// false if there is none.
    ///
    /// Works beside a server. What the other folder has under that name goes; what it gets is
    /// checked.
    package static func copy(
        of directory: POSIXDirectory,
        to folder: POSIXDirectory
    ) throws(ControlError) -> Bool {
        do throws(StorageError) {
            guard try directory.exists(name) else { return false }
            // What an attempt that was broken off left.
            for ending in ["", "-wal", "-shm", "-journal"] {
                try folder.removeTree(name + ending)
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
        // One file is all there is then.
        do throws(SQLiteError) { try copy.execute("PRAGMA journal_mode = DELETE") } catch {
            throw .sqlite(error)
        }
        return true
    }
}
