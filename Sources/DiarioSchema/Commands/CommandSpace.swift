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
    func rows(_ query: AskedQuery, _ parameters: QueryParameters) -> [RowValues]
    /// Notes that a row is not as the rules read it: what they decide is not used.
    func note(_ fault: RowFault)
}

/// A query that generated code asks, and the columns that it reads.
public struct AskedQuery: Sendable {
    package let name: String
    package let columns: [String]

    /// Made by the program that makes Swift types of a pack.
    public init(_ name: String, _ columns: [String]) {
        self.name = name
        self.columns = columns
    }
}

/// A row of the answer to a query, as a Swift value.
public protocol QueryRow: Equatable, Sendable {
    static var query: AskedQuery { get }
    init(from row: RowValues) throws(RowFault)
}

extension QueryRow {
    /// The rows that answer the query in a space.
    public static func asked(
        of space: any CommandSpace,
        _ parameters: QueryParameters = QueryParameters()
    ) -> [Self] {
        var rows: [Self] = []
        for values in space.rows(query, parameters) {
            do throws(RowFault) { rows.append(try Self(from: values)) } catch {
                space.note(error)
                return []
            }
        }
        return rows
    }
}

/// A column that a rule reads and that a query has not, or in which it has another kind of value.
public struct RowFault: Error, Equatable, Sendable {
    package let query: String
    package let column: String
    /// What the rule reads, if the column is there.
    package var wanted: String?
}

/// The values of parameters of a query, by name; those that are nil are left out.
public struct QueryParameters: Sendable {
    package private(set) var values: [String: SQLValue] = [:]

    public init(_ fill: (inout QueryParameters) -> Void = { _ in }) { fill(&self) }

    public mutating func set(_ name: String, _ value: Int64?) {
        if let value { values[name] = .integer(value) }
    }

    public mutating func set(_ name: String, _ value: Double?) {
        if let value { values[name] = .real(value) }
    }

    public mutating func set(_ name: String, _ value: String?) {
        if let value { values[name] = .text(value) }
    }

    public mutating func set(_ name: String, _ value: Bool?) {
        if let value { values[name] = .integer(value ? 1 : 0) }
    }

    public mutating func set(_ name: String, _ value: CivilDay?) { set(name, value?.text) }

    public mutating func set(_ name: String, _ value: Timestamp?) {
        set(name, value?.milliseconds)
    }

    public mutating func set(_ name: String, _ value: [UInt8]?) {
        if let value { values[name] = .blob(value) }
    }

    /// Sets a list or an object, which `fill` sets as the member `value`.
    public mutating func set(_ name: String, json fill: (inout CommandValues) -> Void) {
        var members = CommandValues()
        fill(&members)
        guard let json = members[CommandValues.only] else { return }
        var bytes: [UInt8] = []
        json.appendCanonical(to: &bytes)
        values[name] = .text(String(decoding: bytes, as: UTF8.self))
    }
}

/// The values of a row, which generated code reads by the places of its columns.
public struct RowValues {
    private let query: AskedQuery
    private let values: [SQLValue]
    /// For each column of the query its place in the row.
    private let places: [Int]

    package init(of query: AskedQuery, _ values: [SQLValue], at places: [Int]) {
        (self.query, self.values, self.places) = (query, values, places)
    }

    /// The place of each column that is read, in rows with these columns.
    package static func places(
        of query: AskedQuery,
        in columns: [String]
    ) throws(RowFault) -> [Int] {
        if columns.elementsEqual(query.columns, by: { $0.hasBytes(of: $1) }) {
            return Array(columns.indices)
        }
        var places: [Int] = []
        for name in query.columns {
            guard let place = columns.firstIndex(where: { $0.hasBytes(of: name) }) else {
                throw RowFault(query: query.name, column: name)
            }
            places.append(place)
        }
        return places
    }

    private func fault(_ column: Int, _ wanted: String) -> RowFault {
        RowFault(query: query.name, column: query.columns[column], wanted: wanted)
    }

    private func value(_ column: Int) -> SQLValue { values[places[column]] }

    /// The value of a column in which NULL may not come.
    public func required<Value>(_ column: Int, _ value: Value?) throws(RowFault) -> Value {
        guard let value else { throw fault(column, "a value") }
        return value
    }

    public func integer(_ column: Int) throws(RowFault) -> Int64? {
        switch value(column) {
        case .integer(let value): return value
        case .null: return nil
        default: throw fault(column, "an integer")
        }
    }

    public func number(_ column: Int) throws(RowFault) -> Double? {
        switch value(column) {
        case .integer(let value): return Double(value)
        case .real(let value): return value
        case .null: return nil
        default: throw fault(column, "a number")
        }
    }

    public func text(_ column: Int) throws(RowFault) -> String? {
        switch value(column) {
        case .text(let value): return value
        case .null: return nil
        default: throw fault(column, "a text")
        }
    }

    public func boolean(_ column: Int) throws(RowFault) -> Bool? {
        switch value(column) {
        case .integer(0): return false
        case .integer(1): return true
        case .null: return nil
        default: throw fault(column, "0 or 1")
        }
    }

    public func day(_ column: Int) throws(RowFault) -> CivilDay? {
        guard let text = try text(column) else { return nil }
        guard let day = CivilDay(text: text) else { throw fault(column, "a day") }
        return day
    }

    public func time(_ column: Int) throws(RowFault) -> Timestamp? {
        try integer(column).map { Timestamp(milliseconds: $0) }
    }

    public func bytes(_ column: Int) throws(RowFault) -> [UInt8]? {
        switch value(column) {
        case .blob(let value): return value
        case .null: return nil
        default: throw fault(column, "bytes")
        }
    }

    public func choice<Value: RawRepresentable>(_ column: Int) throws(RowFault) -> Value?
    where Value.RawValue == String {
        guard let text = try text(column) else { return nil }
        guard let value = Value(rawValue: text) else { throw fault(column, "another value") }
        return value
    }

    /// A list or an object, read by `read` as the member `value`.
    public func json<Value>(
        _ column: Int,
        _ read: (CommandValues) throws(MissingValue) -> Value?
    ) throws(RowFault) -> Value? {
        guard let text = try text(column) else { return nil }
        guard let item = try? JSON.parse(Array(text.utf8)) else { throw fault(column, "JSON") }
        var values = CommandValues()
        values.set(CommandValues.only, to: item.value)
        do throws(MissingValue) {
            if let value = try read(values) { return value }
        } catch {}
        throw fault(column, "another form of JSON")
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
