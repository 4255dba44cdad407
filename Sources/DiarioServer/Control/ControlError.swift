package import DiarioCore
import DiarioLog
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

    /// The error of a call that reads or writes the file.
    init(_ error: any Error) {
        switch error {
        case let error as ControlError: self = error
        case let error as SQLiteError: self = .sqlite(error)
        case let error as StorageError: self = .storage(error)
        default: self = .invalid("\(error)")
        }
    }

    /// The damage as one of the data directory; nil if the file is whole, or cannot be read.
    package var fault: Fault? {
        guard let damage else { return nil }
        return Fault(file: ControlFile.name, offset: 0, what: "\(damage); \(Self.remedy)")
    }

    /// The damage of the file, as a clause; nil for other errors.
    var damage: String? {
        switch self {
        case .sqlite(let error) where error.kind == .damaged:
            // Lines with stars have the library's name for the object.
            let lines = error.message.split(separator: "\n").filter { !$0.hasPrefix("***") }
            return "the file is damaged (\(lines.joined(separator: " ")))"
        case .damaged(let what): return "the file is damaged (\(what))"
        case .foreign: return "the file is not a control file"
        case .sqlite, .storage, .missing, .newer, .unknownSpace, .unknownToken, .taken, .invalid:
            return nil
        }
    }

    /// The remedy for damage, as a clause.
    static let remedy =
        "it has the names and tokens, and no events; stop the server, move it away together with "
        + "\(ControlFile.name)-wal and -shm, and copy the \(ControlFile.name) of a backup there, "
        + "with which tokens revoked since are valid again; or give names and tokens anew, by "
        + "`diario space list`, `diario space name` and `diario token create`, with the right "
        + "relay for replicas that were here before"

    /// The same for people with the folder: with the path of the file.
    package func message(in folder: String) -> String {
        let path = "\(folder)/\(LogPaths.directoryName)/\(ControlFile.name)"
        if let damage { return "\(path): \(damage); \(Self.remedy)" }
        guard case .sqlite(let error) = self else { return message }
        switch error.kind {
        case .full:
            return "no space is left to write \(path), or what is beside it. Free some space, and "
                + "try again"
        case .readOnly:
            return "\(path) may not be written, nor what is beside it. Check the permissions of "
                + "the folder and its files, and the file system"
        case .unavailable:
            return "\(path) cannot be opened or written (\(error.message)). Check the permissions "
                + "of the folder and its files, and the disk"
        case .busy:
            return "\(path) is in use by another program (\(error.message)). Wait until it is done"
        case .interrupted, .constraint, .refused, .damaged, .invalid, .tooLarge, .noMemory,
            .tooOld, .other:
            return "\(path): \(error.message)"
        }
    }

    /// What is wrong, and the remedy.
    package var message: String {
        switch self {
        case .sqlite(let error): "control.sqlite: \(error.message)."
        case .storage(let error): error.message
        case .missing:
            "There is no control.sqlite here: no space has a name yet. Make one with `diario space "
                + "create NAME`, or give one a name: diario space name ID NAME"
        case .foreign:
            "control.sqlite is not a control file. Move it away, and make the tokens again."
        case .newer(let version):
            "control.sqlite has version \(version), which a newer program wrote. Use that one."
        case .damaged(let what): "control.sqlite is damaged: \(what). Restore it from a backup."
        case .unknownSpace(let name):
            "There is no space \(name). Those there are: diario space list. To make it: diario "
                + "space create \(name)"
        case .unknownToken(let id):
            "There is no token \(id). They are listed by: diario token list"
        case .taken(let what): "\(what) is taken."
        case .invalid(let message): message
        }
    }
}
