package import DiarioSQLite

/// Failures of the files of read models.
///
/// An event that a read model cannot take is no error here: it goes to quarantine.
package enum ProjectionError: Error, Hashable, Sendable {
    /// SQLite cannot use the file at `path`: the disk is full, another program holds it, ...
    case file(path: String, SQLiteError)
    /// The file at `path` is no generation of these read models, or a damaged one.
    case damaged(path: String, what: String)
    /// SQL of the pack does not fit SQLite as this program found it.
    case pack(name: String, file: String, line: Int, message: String)
    /// A query has a mistake, or asks for more than it may.
    case query(QueryFault)

    static func query(_ kind: QueryFault.Kind, _ message: String) -> ProjectionError {
        .query(QueryFault(kind, message))
    }

    package var message: String {
        switch self {
        case .file(let path, let error):
            "\(path): \(error.message)"
                + (error.kind == .damaged ? ". Rebuild it: diario rebuild" : "")
        case .damaged(let path, let what):
            "\(path): \(what). Rebuild it: diario rebuild"
        case .pack(let name, let file, let line, let message):
            "the pack \(name) cannot be used: \(file), line \(line): \(message)"
        case .query(let fault): fault.message
        }
    }
}

/// Why a query gives no answer.
package struct QueryFault: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The query itself is wrong, or a parameter of it.
        case invalid
        /// It reads something that is not allowed, or writes.
        case refused
        /// It gave more rows, or took more memory, than it may.
        case limit
        /// It took longer than it may, or was ended.
        case time
    }

    package let kind: Kind
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
