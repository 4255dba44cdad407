package import DiarioCore
import DiarioSQLite
package import DiarioStorage

extension ControlFile {
    /// Looks at every page of the file, and at the rows that requests are judged by.
    package func check() throws { try reading { try $0.connection.checkControl() } }

    /// What is wrong with the control file in the folder `.diario` at `path`; nil if nothing is, or
    /// if there is none.
    package static func fault(folder path: String) throws -> Fault? {
        do { try ControlFile(reading: path).check() } catch ControlError.missing {
            return nil
        } catch let error as ControlError {
            guard let fault = error.fault else { throw error }
            return fault
        }
        return nil
    }

    /// Copies the control file of a data directory to another folder, as it is at one moment;
    /// false if there is none.
    ///
    /// Works beside a server. What the other folder has under that name goes; what it gets is
    /// checked, and must have all names that the file at `older` has, a backup: names stay.
    package static func copy(
        of directory: POSIXDirectory,
        to folder: POSIXDirectory,
        older: String? = nil
    ) throws -> Bool {
        do {
            let kept = older.flatMap { try? Connection(path: $0, .immutable).names() } ?? []
            guard try directory.exists(name) else {
                guard kept.isEmpty else { throw lacking(kept) }
                return false
            }
            // What an attempt that was broken off left.
            for ending in ["", "-wal", "-shm", "-journal"] {
                try Files.removeTree(name + ending, in: folder)
            }
            let copy = try Connection(path: folder.fullPath(name), .create)
            try connectToRead(directory.rootPath).copy(to: copy)
            try copy.checkControl()
            let gone = kept.subtracting(try copy.controlVersion() > 0 ? try copy.names() : [])
            guard gone.isEmpty else { throw lacking(gone) }
            // One file is all there is then.
            try copy.execute("PRAGMA journal_mode = DELETE")
            return true
        } catch {
            throw ControlError(error)
        }
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

extension Connection {
    fileprivate func names() throws -> Set<SpaceName> { Set(try spaces().map(\.name)) }
}
