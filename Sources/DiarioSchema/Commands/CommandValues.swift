public import DiarioCore

/// Values by name: what a command or a view is given, what it answers, or what an event records.
///
/// Generated code writes and reads them; a value that is absent has no entry.
public struct CommandValues: Sendable {
    package private(set) var members: [JSON.Member]

    /// The name of the member for a value without a name.
    static let only = "value"

    package init(_ members: [JSON.Member] = []) { self.members = members }

    package init(_ object: JSON) {
        guard case .object(let members) = object else {
            preconditionFailure("nested values are objects where their schema says so")
        }
        self.members = members
    }

    /// An object of JSON in the form of RFC 8785.
    package var json: [UInt8] {
        var bytes: [UInt8] = []
        JSON.object(members).appendCanonical(to: &bytes)
        return bytes
    }

    package subscript(name: String) -> JSON? {
        members.first { $0.hasKey(name) }?.item.value
    }

    package mutating func set(_ name: String, to value: JSON) {
        let member = JSON.Member(key: name, line: 0, item: JSON.Item(value: value, line: 0))
        if let index = members.firstIndex(where: { $0.hasKey(name) }) {
            members[index] = member
        } else {
            members.append(member)
        }
    }

    // MARK: Writing

    public mutating func set(_ name: String, _ value: Int64?) {
        if let value { set(name, to: .integer(value)) }
    }

    public mutating func set(_ name: String, _ value: Double?) {
        if let value { set(name, to: .number(value)) }
    }

    public mutating func set(_ name: String, _ value: String?) {
        if let value { set(name, to: .string(value)) }
    }

    public mutating func set(_ name: String, _ value: Bool?) {
        if let value { set(name, to: .boolean(value)) }
    }

    public mutating func set(_ name: String, _ value: CivilDay?) { set(name, value?.text) }

    public mutating func set(_ name: String, _ value: Timestamp?) {
        guard let value else { return }
        var bytes: [UInt8] = []
        CivilTime.appendDateTime(value, to: &bytes)
        set(name, String(decoding: bytes, as: UTF8.self))
    }

    public mutating func set(_ name: String, _ value: [UInt8]?) {
        guard let value else { return }
        var bytes: [UInt8] = []
        TextEncodings.appendBase64(value.span, to: &bytes)
        set(name, String(decoding: bytes, as: UTF8.self))
    }

    public mutating func set(_ name: String, _ value: some NestedValues) {
        set(name, to: value.object)
    }

    public mutating func set(_ name: String, _ value: (some NestedValues)?) {
        if let value { set(name, to: value.object) }
    }

    public mutating func set(_ name: String, _ values: [some NestedValues]?) {
        if let values { setList(name, values.map { $0.object }) }
    }

    public mutating func set(_ name: String, _ values: [Int64]?) {
        if let values { setList(name, values.map { .integer($0) }) }
    }

    public mutating func set(_ name: String, _ values: [[Int64]]?) {
        guard let values else { return }
        setList(name, values.map { list in .array(of: list.map { .integer($0) }) })
    }

    public mutating func set(_ name: String, _ values: [String]?) {
        if let values { setList(name, values.map { .string($0) }) }
    }

    private mutating func setList(_ name: String, _ values: [JSON]) {
        set(name, to: .array(of: values))
    }

    // MARK: Reading

    /// A value that the schema requires.
    public func required<Value>(
        _ name: String,
        _ value: Value?
    ) throws(MissingValue) -> Value {
        guard let value else { throw MissingValue(name: name) }
        return value
    }

    public func integer(_ name: String) -> Int64? {
        if case .integer(let value)? = self[name] { value } else { nil }
    }

    public func number(_ name: String) -> Double? {
        switch self[name] {
        case .number(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }

    public func text(_ name: String) -> String? {
        if case .string(let value)? = self[name] { value } else { nil }
    }

    public func boolean(_ name: String) -> Bool? {
        if case .boolean(let value)? = self[name] { value } else { nil }
    }

    public func day(_ name: String) -> CivilDay? { text(name).flatMap { CivilDay(text: $0) } }

    public func time(_ name: String) -> Timestamp? {
        text(name).flatMap { CivilTime.parseDateTime(Array($0.utf8).span) }
    }

    public func bytes(_ name: String) -> [UInt8]? {
        guard let text = text(name) else { return nil }
        var bytes: [UInt8] = []
        return TextEncodings.appendBase64Decoded(Array(text.utf8).span, to: &bytes) ? bytes : nil
    }

    public func nested<Value: NestedValues>(_ name: String) throws(MissingValue) -> Value? {
        guard let value = self[name] else { return nil }
        return try Self.made(value, name)
    }

    public func list<Value: NestedValues>(_ name: String) throws(MissingValue) -> [Value]? {
        try all(name) { (value) throws(MissingValue) in try Self.made(value, name) }
    }

    private static func made<Value: NestedValues>(
        _ value: JSON,
        _ name: String
    ) throws(MissingValue) -> Value {
        guard case .object(let members) = value else { throw MissingValue(name: name) }
        return try Value(from: CommandValues(members))
    }

    public func integers(_ name: String) throws(MissingValue) -> [Int64]? {
        try all(name) { if case .integer(let value) = $0 { value } else { nil } }
    }

    public func integerLists(_ name: String) throws(MissingValue) -> [[Int64]]? {
        try all(name) { list in
            guard case .array(let items) = list else { return nil }
            let values: [Int64] = items.compactMap {
                if case .integer(let value) = $0.value { value } else { nil }
            }
            return values.count == items.count ? values : nil
        }
    }

    public func texts(_ name: String) throws(MissingValue) -> [String]? {
        try all(name) { if case .string(let value) = $0 { value } else { nil } }
    }

    public func choices<Value: RawRepresentable>(
        _ name: String
    ) throws(MissingValue) -> [Value]? where Value.RawValue == String {
        try all(name) { value in
            if case .string(let text) = value { Value(rawValue: text) } else { nil }
        }
    }

    /// The items of a list, all of which have to be there; nil without a list.
    private func all<Value>(
        _ name: String,
        _ read: (JSON) throws(MissingValue) -> Value?
    ) throws(MissingValue) -> [Value]? {
        guard let items = items(name) else { return nil }
        var values: [Value] = []
        for item in items {
            guard let value = try read(item.value) else { throw MissingValue(name: name) }
            values.append(value)
        }
        return values
    }

    private func items(_ name: String) -> [JSON.Item]? {
        if case .array(let items)? = self[name] { items } else { nil }
    }
}

/// A member that is not there, or has another form, where a type of generated code needs it.
public struct MissingValue: Error, Equatable, Sendable {
    package let name: String
}

/// A type of generated code that is written as values by name.
public protocol NestedValues: Equatable, Sendable {
    init(from values: CommandValues) throws(MissingValue)
    func encode(into values: inout CommandValues)
}

extension NestedValues {
    fileprivate var object: JSON {
        var values = CommandValues()
        encode(into: &values)
        return .object(values.members)
    }

    package var values: CommandValues {
        var values = CommandValues()
        encode(into: &values)
        return values
    }
}
