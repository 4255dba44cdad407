import DiarioCore

/// A small JSON tree that remembers on which line each key and value starts; for pack files.
package indirect enum JSON: Sendable {
    case null
    case boolean(Bool)
    /// Any number that is a 64-bit integer, `1.0` and `1e3` too.
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([Item])
    /// The members in the order of the text; no key comes twice.
    case object([Member])

    /// A value and the line on which it starts, counted from 1.
    package struct Item: Sendable {
        package let value: JSON
        package let line: Int
    }

    /// A key with its value.
    package struct Member: Sendable {
        package let key: String
        /// The line of the key, counted from 1.
        package let line: Int
        package let item: Item

        func hasKey(_ other: String) -> Bool { key.hasBytes(of: other) }
    }

    /// Reads all of `text`, strictly.
    package static func parse(_ text: [UInt8]) throws(SchemaError) -> Item {
        let span = text.span
        var parser = JSONTreeParser(span)
        do {
            return try parser.parse()
        } catch {
            throw SchemaError(explaining: error, in: span, line: parser.line(of: error))
        }
    }

    /// Appends the canonical form (RFC 8785).
    package func appendCanonical(to output: inout [UInt8]) { append(to: &output, isSorted: true) }

    /// The same, with members in the order that they have.
    package var asWritten: [UInt8] {
        var output: [UInt8] = []
        append(to: &output, isSorted: false)
        return output
    }

    private func append(to output: inout [UInt8], isSorted: Bool) {
        switch self {
        case .null: output += "null".utf8
        case .boolean(let value): output += (value ? "true" : "false").utf8
        case .integer(let value): JSONWriter.appendInteger(value, to: &output)
        case .number(let value): JSONWriter.appendNumber(value, to: &output)
        case .string(let text): JSONWriter.appendString(text, to: &output)
        case .array(let items):
            output.append(0x5b)
            for (index, item) in items.enumerated() {
                if index > 0 { output.append(0x2c) }
                item.value.append(to: &output, isSorted: isSorted)
            }
            output.append(0x5d)
        case .object(let members):
            output.append(0x7b)
            let members =
                isSorted
                ? members.sorted { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) } : members
            for (index, member) in members.enumerated() {
                if index > 0 { output.append(0x2c) }
                JSONWriter.appendString(member.key, to: &output)
                output.append(0x3a)
                member.item.value.append(to: &output, isSorted: isSorted)
            }
            output.append(0x7d)
        }
    }

    /// An object that was not read, so that its members have no lines.
    package static func object(of members: [(String, JSON)]) -> JSON {
        .object(members.map { Member(key: $0.0, line: 0, item: Item(value: $0.1, line: 0)) })
    }

    /// An array that was not read.
    package static func array(of items: [JSON]) -> JSON {
        .array(items.map { Item(value: $0, line: 0) })
    }

    /// The member named `key`, if this is an object that has one.
    package func member(_ key: String) -> Member? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.hasKey(key) }
    }

    /// The name of this kind in messages.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// Builds a `JSON` tree; recursion is bounded by `Limits.jsonDepthMax`.
private struct JSONTreeParser: ~Escapable {
    private var cursor: JSONCursor
    private var line = 1
    /// The line feeds before this offset are counted in `line`.
    private var countedOffset = 0
    /// Memory for the content of one string after the other.
    private var content: [UInt8] = []

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) { cursor = JSONCursor(text) }

    @_lifetime(self: copy self)
    mutating func parse() throws(Fault) -> JSON.Item {
        let item = try parseItem(depth: 0)
        try cursor.expectEnd()
        return item
    }

    func line(of fault: Fault) -> Int {
        let end = min(Int(fault.offset), cursor.count)
        return 1 + (0..<end).reduce(0) { $0 + (cursor.byte(at: $1) == 0x0a ? 1 : 0) }
    }

    @_lifetime(self: copy self)
    private mutating func parseItem(depth: Int) throws(Fault) -> JSON.Item {
        cursor.skipSpace()
        let line = countLines()
        return JSON.Item(value: try parseValue(depth: depth), line: line)
    }

    @_lifetime(self: copy self)
    private mutating func parseValue(depth: Int) throws(Fault) -> JSON {
        switch cursor.current {
        case 0x7b: return try parseObject(depth: depth)
        case 0x5b: return try parseArray(depth: depth)
        case 0x22: return .string(try parseString())
        case 0x74:
            try cursor.expect(literal: "true")
            return .boolean(true)
        case 0x66:
            try cursor.expect(literal: "false")
            return .boolean(false)
        case 0x6e:
            try cursor.expect(literal: "null")
            return .null
        case 0x2d, 0x30...0x39:
            let decimal = try cursor.readDecimal()
            if case .value(let integer) = decimal.integer { return .integer(integer) }
            guard let number = cursor.double(decimal) else {
                throw Fault(.beyondNumber, at: decimal.start)
            }
            return .number(number)
        default: throw cursor.unexpected
        }
    }

    @_lifetime(self: copy self)
    private mutating func parseArray(depth: Int) throws(Fault) -> JSON {
        guard depth < Limits.jsonDepthMax else { throw Fault(.tooDeep, at: cursor.offset) }
        try cursor.expect(0x5b)
        cursor.skipSpace()
        if cursor.take(0x5d) { return .array([]) }
        var items: [JSON.Item] = []
        while true {
            items.append(try parseItem(depth: depth + 1))
            cursor.skipSpace()
            if cursor.take(0x5d) { return .array(items) }
            try cursor.expect(0x2c)
        }
    }

    @_lifetime(self: copy self)
    private mutating func parseObject(depth: Int) throws(Fault) -> JSON {
        guard depth < Limits.jsonDepthMax else { throw Fault(.tooDeep, at: cursor.offset) }
        try cursor.expect(0x7b)
        cursor.skipSpace()
        if cursor.take(0x7d) { return .object([]) }
        var members: [JSON.Member] = []
        var keys = KnownKeys()
        while true {
            cursor.skipSpace()
            let line = countLines()
            let start = cursor.offset
            let key = try parseString()
            guard keys.insert(key, after: members) else {
                throw Fault(.duplicateKey, at: start)
            }
            cursor.skipSpace()
            try cursor.expect(0x3a)
            let item = try parseItem(depth: depth + 1)
            members.append(JSON.Member(key: key, line: line, item: item))
            cursor.skipSpace()
            if cursor.take(0x7d) { return .object(members) }
            try cursor.expect(0x2c)
        }
    }

    @_lifetime(self: copy self)
    private mutating func parseString() throws(Fault) -> String {
        let token = try cursor.readString()
        content.removeAll(keepingCapacity: true)
        cursor.appendContent(of: token, to: &content)
        return String(decoding: content, as: UTF8.self)
    }

    /// The line of the cursor.
    ///
    /// Only white space holds line feeds, so each is passed once.
    @_lifetime(self: copy self)
    private mutating func countLines() -> Int {
        while countedOffset < cursor.offset {
            if cursor.byte(at: countedOffset) == 0x0a { line += 1 }
            countedOffset += 1
        }
        return line
    }
}

/// The keys of an object that is read.
private struct KnownKeys {
    /// As bytes, as in `Member.hasKey`; empty as long as there are few.
    private var many: Set<[UInt8]> = []

    /// Objects of a pack have a few members: those are compared with quicker than hashed.
    private static let fewCount = 16

    /// Notes a key; false if one of `members`, all of which were noted before, has it.
    mutating func insert(_ key: String, after members: [JSON.Member]) -> Bool {
        guard members.count >= Self.fewCount else {
            return !members.contains { $0.hasKey(key) }
        }
        if many.isEmpty { many = Set(members.map { Array($0.key.utf8) }) }
        return many.insert(Array(key.utf8)).inserted
    }
}
