/// Names of Swift for the names of packs, types, fields and values.
enum SwiftNames {
    /// Names that generated code uses itself, or that mean something else inside a type.
    private static let taken: Set = [
        "Any", "Array", "Bool", "CivilDay", "Diario", "Diary", "Double", "EmbeddedPack",
        "Equatable", "Error", "EventFields", "EventSchema", "Int", "JSONText", "Optional",
        "Protocol", "Self", "Sendable", "String", "Swift", "ThingID", "Timestamp", "Type",
        "TypedEvent", "UInt8", "UniqueID",
    ]

    /// Words that need back quotes where they are names.
    private static let keywords: Set = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
        "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for",
        "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil",
        "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows",
        "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws",
        "true", "try", "typealias", "var", "where", "while", "Any", "Self", "Type", "Protocol",
    ]

    /// The name of a type for `text`: each word with a capital, and `suffix` if it means something
    /// else.
    static func type(_ text: some StringProtocol, suffix: String) -> String {
        let name = words(text).map(capitalized).joined()
        let safe = name.first?.isNumber == true || name.isEmpty ? suffix + name : name
        return taken.contains(safe) ? safe + suffix : safe
    }

    /// The name of a field, which is one of Swift already.
    static func field(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// The name of a function for `text`: `unknown-plant` as `unknownPlant`.
    static func function(_ text: String) -> String { field(value(text)) }

    /// The names of the cases for the values of an enumeration.
    static func cases(_ values: [String]) -> [String] {
        distinct(values.map { value($0) }).map { field($0) }
    }

    /// The name of the function that asks a query, beside the members of what is asked.
    static func question(_ query: String) -> String {
        let name = value(query)
        let taken = ["actor", "ask", "chance", "language", "note", "now", "rows"].contains(name)
        return taken ? name + "Query" : field(name)
    }

    /// The name of the case for a value of an enumeration, without back quotes.
    static func value(_ text: String) -> String {
        let words = words(text)
        let rest = words.dropFirst().map(capitalized).joined()
        let name = (words.first.map(lowerCased) ?? "") + rest
        guard let first = name.first else { return "value" }
        return first.isNumber ? "value" + name : name
    }

    /// `names`, with a number after repeated ones.
    static func distinct(_ names: [String]) -> [String] {
        var known = Set(names)
        var used: Set<String> = []
        return names.map { name in
            guard !used.insert(name).inserted else { return name }
            var number = 2
            while known.contains("\(name)\(number)") { number += 1 }
            known.insert("\(name)\(number)")
            return "\(name)\(number)"
        }
    }

    /// The parts of letters and digits.
    private static func words(_ text: some StringProtocol) -> [Substring] {
        Substring(text).split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
    }

    private static func capitalized(_ word: Substring) -> String {
        word.prefix(1).uppercased() + word.dropFirst()
    }

    /// `ABC` as `abc`, and `Abc` as `abc`.
    private static func lowerCased(_ word: Substring) -> String {
        word.allSatisfy { !$0.isLowercase }
            ? word.lowercased() : word.prefix(1).lowercased() + word.dropFirst()
    }
}
