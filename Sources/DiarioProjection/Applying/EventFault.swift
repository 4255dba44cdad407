import DiarioSQLite

/// Why one read model does not take one event.
enum EventFault: Error {
    case sqlite(SQLiteError, file: String, line: Int, bound: StepLimit.Bound?)
    /// The pack knows no such version, or no way from it to its newest one.
    case version
    /// A required field is empty after an upcast, or has a value that is not allowed.
    case upcast(String)
    case file(ProjectionError)

    /// The error if it is the file that does not work, and not the event.
    func fileError(_ path: String) -> ProjectionError? {
        switch self {
        case .version, .upcast: return nil
        case .file(let error): return error
        case .sqlite(let error, _, _, _):
            switch error.kind {
            case .constraint, .refused, .invalid, .tooLarge, .interrupted, .other: return nil
            case .busy, .full, .damaged, .readOnly, .unavailable, .noMemory, .tooOld:
                return .file(path: path, error)
            }
        }
    }

    /// The rule and its message: schema/format/models.md, section 4.
    var reason: (rule: String, message: String) {
        switch self {
        case .version:
            (
                "version",
                "the pack of these read models has no such version of the type; adopt one that "
                    + "has it, or rebuild them if that was done: diario rebuild"
            )
        case .upcast(let message): ("upcast", message)
        case .file(let error): ("file", error.message)
        case .sqlite(let error, let file, let line, let bound):
            switch bound {
            case .steps:
                ("limit", "\(file), line \(line): the statement takes too long for one event")
            case .images:
                (
                    "limit",
                    "\(file), line \(line): the statement changes too many rows for an event "
                        + "that is pending"
                )
            case nil: ("sql", "\(file), line \(line): \(error.message)")
            }
        }
    }
}
