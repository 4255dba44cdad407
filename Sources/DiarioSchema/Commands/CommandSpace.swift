public import DiarioCore

/// The space as commands and views see it, at one moment.
///
/// A question that fails has no rows; the failure is reported in place of what the command
/// answers.
public protocol CommandSpace: AnyObject {
    /// When the command says that it happens.
    var now: Timestamp { get }
    /// The user for whom it runs, if one is known.
    var actor: String? { get }
    var language: Language { get }
    /// 64 bits that nobody can guess.
    func chance() -> UInt64
    /// The rows that answer a query of the pack.
    func rows(_ query: String, _ parameters: [String: SQLValue]) -> [CommandRow]
}

extension CommandSpace {
    /// The first row that answers a query of the pack.
    public func row(_ query: String, _ parameters: [String: SQLValue]) -> CommandRow? {
        rows(query, parameters).first
    }
}

/// A row of the answer to a question.
public struct CommandRow: Sendable {
    private let columns: [String]
    private let values: [SQLValue]

    package init(columns: [String], values: [SQLValue]) {
        self.columns = columns
        self.values = values
    }

    /// The value of a column.
    public subscript(column: String) -> SQLValue {
        guard let index = columns.firstIndex(where: { $0.hasBytes(of: column) }) else {
            preconditionFailure("a query and the command that asks it have the same columns")
        }
        return values[index]
    }

    public func integer(_ column: String) -> Int64? {
        if case .integer(let value) = self[column] { value } else { nil }
    }

    public func text(_ column: String) -> String? {
        if case .text(let value) = self[column] { value } else { nil }
    }

    /// True for any integer but 0.
    public func isTrue(_ column: String) -> Bool { integer(column) ?? 0 != 0 }

    /// A date that is kept as text.
    public func day(_ column: String) -> CivilDay? {
        text(column).flatMap { CivilDay(text: $0) }
    }

    public func bytes(_ column: String) -> [UInt8]? {
        if case .blob(let value) = self[column] { value } else { nil }
    }
}

/// A rule of a domain that a command would break: nothing is recorded.
public struct BrokenRule: Error, Equatable, Sendable {
    /// The stable name of the rule, in kebab case.
    public let rule: String
    /// The field of the input that it is about.
    public let field: String?
    /// The value that it is about, as people write it.
    public let value: String?
    /// What is wrong.
    public let message: Texts
    /// What to do.
    public let remedy: Texts

    public init(
        _ rule: String,
        field: String? = nil,
        value: String? = nil,
        _ message: Texts,
        remedy: Texts
    ) {
        self.rule = rule
        self.field = field
        self.value = value
        self.message = message
        self.remedy = remedy
    }
}
