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
///
/// A column that is not there, or is of another kind than the rule reads, has no value: what is
/// decided without it is not used, and the caller is told which one it was.
public struct CommandRow {
    private let columns: [String]
    private let values: [SQLValue]
    private let query: String
    private let faults: RowFaults

    /// A row of the answer to `query`; what is wrong with it is noted in `faults`.
    package init(
        columns: [String],
        values: [SQLValue],
        of query: String,
        notingIn faults: RowFaults
    ) {
        self.columns = columns
        self.values = values
        self.query = query
        self.faults = faults
    }

    /// The value of a column.
    public subscript(column: String) -> SQLValue {
        let index = columns.firstIndex { $0.hasBytes(of: column) }
        guard let index, index < values.count else {
            faults.note(RowFault(query: query, column: column))
            return .null
        }
        return values[index]
    }

    public func integer(_ column: String) -> Int64? {
        switch self[column] {
        case .integer(let value): return value
        case .null: return nil
        default:
            faults.note(RowFault(query: query, column: column, wanted: "an integer"))
            return nil
        }
    }

    public func text(_ column: String) -> String? {
        switch self[column] {
        case .text(let value): return value
        case .null: return nil
        default:
            faults.note(RowFault(query: query, column: column, wanted: "a text"))
            return nil
        }
    }

    /// True for any integer but 0.
    public func isTrue(_ column: String) -> Bool { integer(column) ?? 0 != 0 }

    /// A date that is kept as text.
    public func day(_ column: String) -> CivilDay? {
        text(column).flatMap { CivilDay(text: $0) }
    }

    public func bytes(_ column: String) -> [UInt8]? {
        switch self[column] {
        case .blob(let value): return value
        case .null: return nil
        default:
            faults.note(RowFault(query: query, column: column, wanted: "a blob"))
            return nil
        }
    }
}

/// A column that a rule reads and that a query has not, or has as another kind of value.
package struct RowFault: Equatable, Sendable {
    package let query: String
    package let column: String
    /// What the rule reads, if the column is there.
    package var wanted: String?
}

/// The first column of the rows of a call that is not as its rules read it.
package final class RowFaults {
    package private(set) var first: RowFault?

    package init() {}

    func note(_ fault: RowFault) {
        if first == nil { first = fault }
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
