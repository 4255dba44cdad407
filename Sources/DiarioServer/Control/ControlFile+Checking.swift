package import DiarioCore
import DiarioSQLite
import DiarioStorage

extension ControlFile {
    /// Looks at every page of the file, and at the rows that requests are judged by.
    ///
    /// Whoever reads a few rows may never come to the part that is damaged.
    package func check() throws(ControlError) {
        try reading { (state) throws(ControlError) in try Self.check(state.connection) }
    }

    static func check(_ connection: borrowing Connection) throws(ControlError) {
        // A new file has nothing yet.
        guard try version(of: connection) > 0 else { return }
        do throws(SQLiteError) { try connection.checkPages() } catch { throw .sqlite(error) }
        _ = try spaces(connection, "", [])
        _ = try tokens(connection, "", [])
    }

    /// What is wrong with the control file in the folder `.diario` at `path`; nil if nothing is, or
    /// if there is none.
    package static func fault(folder path: String) throws(ControlError) -> Fault? {
        do throws(ControlError) {
            try ControlFile(reading: path).check()
            return nil
        } catch {
            if error == .missing { return nil }
            guard let fault = error.fault else { throw error }
            return fault
        }
    }
}

extension ControlError {
    /// The damage as one of the data directory; nil if the file is whole, or cannot be read.
    package var fault: Fault? {
        guard let damage else { return nil }
        return Fault(file: ControlFile.name, offset: 0, what: "\(damage); \(Self.remedy)")
    }
}
