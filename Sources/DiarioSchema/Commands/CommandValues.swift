public import DiarioCore

/// Values by name: what a command or a view is given, what it answers, or what an event records.
///
/// Generated code writes and reads them; a value that is absent has no entry.
public struct CommandValues: Sendable {
    package private(set) var members: [JSON.Member]

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

    /// A value that the schema requires; it was checked before.
    public func required<Value>(_ value: Value?) -> Value {
        guard let value else { preconditionFailure("what is required was checked") }
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

    public func nested<Value: NestedValues>(_ name: String) -> Value? {
        guard let value = self[name], case .object = value else { return nil }
        return Value(from: CommandValues(value))
    }

    public func list<Value: NestedValues>(_ name: String) -> [Value]? {
        items(name)?.compactMap { item in
            guard case .object = item.value else { return nil }
            return Value(from: CommandValues(item.value))
        }
    }

    public func integers(_ name: String) -> [Int64]? {
        items(name)?.compactMap { if case .integer(let value) = $0.value { value } else { nil } }
    }

    public func integerLists(_ name: String) -> [[Int64]]? {
        items(name)?.map { item in
            guard case .array(let items) = item.value else { return [] }
            return items.compactMap {
                if case .integer(let value) = $0.value { value } else { nil }
            }
        }
    }

    public func texts(_ name: String) -> [String]? {
        items(name)?.compactMap { if case .string(let value) = $0.value { value } else { nil } }
    }

    private func items(_ name: String) -> [JSON.Item]? {
        if case .array(let items)? = self[name] { items } else { nil }
    }
}

/// A type of generated code that is written as values by name.
public protocol NestedValues: Equatable, Sendable {
    init(from values: CommandValues)
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
