package import DiarioSQLite
package import DiarioStorage

/// Why the control file cannot be used, or not in that way.
package enum ControlError: Error, Equatable, Sendable {
    case sqlite(SQLiteError)
    case storage(StorageError)
    /// There is none.
    case missing
    /// It is some other database.
    case foreign
    /// A program of this version of the format wrote it.
    case newer(version: Int64)
    /// A row that this program would not have written.
    case damaged(what: String)
    case unknownSpace(String)
    case unknownToken(String)
    /// Something has this name already.
    case taken(String)
    case invalid(String)

    /// What is wrong and what can be done.
    package var message: String {
        switch self {
        case .sqlite(let error): "control.sqlite: \(error.message)."
        case .storage(let error): error.message
        case .missing: "There is no control.sqlite here: no token was made yet."
        case .foreign:
            "control.sqlite is not a control file. Move it away, and make the tokens again."
        case .newer(let version):
            "control.sqlite has version \(version), which a newer program wrote. Use that one."
        case .damaged(let what): "control.sqlite is damaged: \(what). Restore it from a backup."
        case .unknownSpace(let name):
            "There is no space \(name). They are listed by: diario space list"
        case .unknownToken(let id):
            "There is no token \(id). They are listed by: diario token list"
        case .taken(let what): "\(what) is taken."
        case .invalid(let message): message
        }
    }
}
