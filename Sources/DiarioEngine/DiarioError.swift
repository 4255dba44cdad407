package import DiarioCore
package import DiarioFormat
package import DiarioLog
package import DiarioProjection
import DiarioSQLite
package import DiarioSchema
package import DiarioStorage

/// What failed, why, and what to do about it.
public struct DiarioError: Error, Sendable {
    /// What kind of failure this is, for programs to decide by.
    public let kind: Kind
    /// What failed and what to do, in plain English.
    public let message: String
    /// The line of the input, counted from 1, where the failure is one of the input.
    public let line: Int?
    /// The name of the rule that the input broke, if there is one.
    public let rule: String?
    /// Where in the event the rule was broken, if it is known.
    public let field: String?
    /// The value that breaks the rule of a domain, as people write it.
    public let value: String?
    /// What to do, where the message does not say it.
    public let remedy: String?
    /// The place in the data directory, where files are damaged.
    package private(set) var fault: Fault?
    /// Whether events moved while they were read, so that whoever reads should begin anew.
    package private(set) var isOfMovedEvents = false
    /// The spaces of the folder, where it was not said which one is meant.
    package private(set) var spaces: [SpaceID] = []

    /// The kinds of failures.
    @nonexhaustive
    public enum Kind: Sendable {
        /// The input does not fit its schema, or is no JSON.
        case invalid
        /// A command would break a rule of its domain.
        case rule
        /// What was asked for is not there.
        case notFound
        /// The folder has several spaces, and it was not said which one is meant.
        case ambiguous
        /// What was to be made is there already.
        case exists
        /// The disk is full.
        case full
        /// Nothing may be written here.
        case readOnly
        /// Another process has been writing for too long, or read models take longer than anyone
        /// should wait: the next call goes on with them.
        case busy
        /// Files are damaged.
        case corrupt
        /// Written by a newer program, or with packs that are not here.
        case incompatible
        /// An event, a batch or a line is larger than it may be.
        case tooLarge
        /// The operating system refused.
        case system
        /// The authority cannot be reached, or not now.
        case offline
        /// The authority does not let this be done.
        case unauthorized
        /// The authority has other events than this diary.
        case diverged
    }

    package init(
        _ kind: Kind,
        _ message: String,
        line: Int? = nil,
        rule: String? = nil,
        field: String? = nil,
        value: String? = nil,
        remedy: String? = nil
    ) {
        self.kind = kind
        self.message = message
        self.line = line
        self.rule = rule
        self.field = field
        self.value = value
        self.remedy = remedy
    }

    /// True when the same call may succeed later without any change.
    public var isRetryable: Bool {
        switch kind {
        case .full, .busy, .offline: true
        case .invalid, .rule, .notFound, .ambiguous, .exists, .readOnly, .corrupt, .incompatible,
            .tooLarge, .system, .unauthorized, .diverged:
            false
        }
    }
}

extension DiarioError {
    /// Why nothing can be recorded in the folder that people call `shown`, and that can be read.
    package static func notWritable(_ shown: String) -> DiarioError {
        DiarioError(
            .readOnly,
            "nothing can be recorded, because \(shown)/\(LogPaths.directoryName) may not be "
                + "written. Check its permissions and the file system"
        )
    }

    /// The folder at `path` has these spaces, and one of them is meant.
    static func ambiguous(_ spaces: [SpaceID], at path: String) -> DiarioError {
        let shown = spaces.prefix(3).map { $0.text }.joined(separator: ", ")
        let rest = spaces.count > 3 ? " and \(spaces.count - 3) more" : ""
        var error = DiarioError(
            .ambiguous,
            "There are \(spaces.count) spaces in \(path): \(shown)\(rest). Say which one to open."
        )
        error.spaces = spaces
        return error
    }

    package init(_ error: LogError) {
        let kind: Kind =
            switch error {
            case .storage(let error), .stopped(let error): Kind(error)
            case .format(let error): Kind(error)
            case .blob(let error): Kind(error)
            case .corrupt: .corrupt
            case .notALog, .unknownSpace, .released: .notFound
            case .newerFormat, .beforeFirstRelease, .unknownType, .noSchema: .incompatible
            case .readOnly, .closed: .readOnly
            case .notAuthority, .isAuthority, .outOfOrder: .invalid
            case .tooManyReplicas, .tooLarge: .tooLarge
            case .sealing, .moved: .busy
            case .unusableClock: .system
            case .waiting: .diverged
            }
        self.init(kind, error.message)
        if case .corrupt(let fault) = error { self.fault = fault }
        if case .moved = error { isOfMovedEvents = true }
    }

    package init(_ error: ProjectionError) {
        let kind: Kind =
            switch error {
            case .file(_, let error): Kind(error)
            case .damaged: .corrupt
            case .pack: .incompatible
            case .query(let fault):
                switch fault.kind {
                case .invalid: .invalid
                case .refused: .readOnly
                case .limit, .time: .tooLarge
                }
            }
        self.init(kind, error.message)
    }

    package init(_ error: StorageError) { self.init(Kind(error), error.message) }

    package init(_ error: FormatError, line: Int? = nil) {
        self.init(Kind(error), Self.message(error.message, line), line: line)
    }

    package init(_ error: SchemaError, line: Int? = nil) {
        self.init(
            error.kind == .tooLarge ? .tooLarge : .invalid,
            Self.message(error.message, line),
            line: line,
            rule: error.rule,
            field: error.path
        )
    }

    /// The first problem, and how many there are.
    package init(_ error: PackError) {
        let problems = error.problems
        let first = problems.first?.description ?? "the pack is not valid"
        let rest =
            problems.count > 1 ? " (and \(problems.count - 1) more: diario schema check)" : ""
        self.init(.invalid, first + rest, rule: problems.first?.rule)
    }

    private static func message(_ message: String, _ line: Int?) -> String {
        line.map { "line \($0): \(message)" } ?? message
    }
}

extension DiarioError.Kind {
    init(_ error: StorageError) {
        self =
            switch error {
            case .notFound, .notDirectory: .notFound
            case .exists: .exists
            case .full: .full
            case .readOnly, .denied: .readOnly
            case .locked: .busy
            case .tooLarge, .notFile, .damaged: .corrupt
            case .tooManyFiles, .noSlots, .nameTooLong, .removed, .failed, .cut: .system
            }
    }

    init(_ error: BlobError) {
        self =
            switch error {
            case .erased: .notFound
            case .cut, .damaged, .damagedHeader, .damagedChunk: .corrupt
            case .tooLarge: .tooLarge
            case .notBlob: .invalid
            case .unknownVersion: .incompatible
            case .crypto: .system
            }
    }

    init(_ error: SQLiteError) {
        self =
            switch error.kind {
            case .busy: .busy
            case .full: .full
            case .readOnly: .readOnly
            case .damaged: .corrupt
            case .tooLarge, .interrupted: .tooLarge
            case .constraint, .refused, .invalid: .invalid
            case .unavailable, .noMemory, .tooOld, .other: .system
            }
    }

    init(_ error: FormatError) {
        self =
            switch error {
            case .eventTooLarge, .batchTooLarge, .tooManyEvents: .tooLarge
            case .beforeFirstRelease: .incompatible
            case .unresolvedReference, .invalidField, .invalidTime, .invalidActor, .invalidSubject:
                .invalid
            default: .corrupt
            }
    }
}
