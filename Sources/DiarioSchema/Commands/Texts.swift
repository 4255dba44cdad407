/// A language by its tag (BCP 47), such as `it` or `de-CH`, or several, the best first.
public struct Language: Hashable, Sendable {
    private let tags: [String]

    public static let english = Language(known: "en")
    public static let italian = Language(known: "it")

    /// The tag of the best one.
    package var tag: String { tags[0] }

    private static let sizeMax = 35

    private init(known tag: String) { tags = [tag] }

    /// The language of a tag such as `it-IT`, or of a locale such as `it_IT.UTF-8`; nil if it is
    /// none.
    public init?(tag: some StringProtocol) {
        var text = ""
        for letter in tag.unicodeScalars {
            if letter == "." || letter == "@" { break }
            text.unicodeScalars.append(letter == "_" ? "-" : letter)
        }
        guard Self.isTag(text) else { return nil }
        tags = [text]
    }

    static func isTag(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: 0x2d, omittingEmptySubsequences: false)
        guard let first = parts.first, 2...8 ~= first.count, text.utf8.count <= sizeMax,
            first.allSatisfy({ 0x61...0x7a ~= $0 | 0x20 })
        else { return false }
        return parts.dropFirst().allSatisfy { part in
            1...8 ~= part.count
                && part.allSatisfy { 0x61...0x7a ~= $0 | 0x20 || 0x30...0x39 ~= $0 }
        }
    }

    /// The languages that a header `Accept-Language` likes, the best first; nil if it names none.
    package init?(accepted header: String) {
        var ranges: [(tag: String, weight: Double)] = []
        for range in header.split(separator: ",") {
            let parts = range.split(separator: ";")
            guard let tag = parts.first.map({ Self.trimmed($0) }) else { continue }
            var weight = 1.0
            for part in parts.dropFirst() {
                let text = Self.trimmed(part)
                guard text.hasPrefix("q=") else { continue }
                weight = Double(text.dropFirst(2)) ?? 0
            }
            guard weight > 0, let language = tag == "*" ? .english : Language(tag: tag) else {
                continue
            }
            let place = ranges.firstIndex { $0.weight < weight } ?? ranges.endIndex
            ranges.insert((language.tags[0], weight), at: place)
        }
        guard !ranges.isEmpty else { return nil }
        tags = ranges.map { $0.tag }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " }
        guard let last = start.lastIndex(where: { $0 != " " }) else { return start }
        return start[...last]
    }

    /// The tags, each with what it is a part of behind it: `de-CH`, `de`.
    fileprivate var fallbacks: [Substring] {
        tags.flatMap { tag in
            var list = [tag[...]]
            while let end = list[list.count - 1].lastIndex(of: "-") { list.append(tag[..<end]) }
            return list
        }
    }
}

/// A text for people in one language or more.
public struct Texts: Hashable, Sendable {
    private struct Text: Hashable, Sendable {
        let language: String
        var text: String
    }

    private var all: [Text]

    /// A text of the engine, which has both.
    public init(_ english: String, it italian: String) {
        self.init([("en", english), ("it", italian)])
    }

    /// A text by the tags of languages, of which there is one at least.
    public init(_ texts: [(language: String, text: String)]) {
        all = texts.map { Text(language: $0.language, text: $0.text) }
    }

    /// The languages that it is there in.
    package var languages: [String] { all.map { $0.language } }

    package var english: String { self[.english] }

    /// The text in a language, or in the one that this is a part of; else the English one, or any.
    public subscript(language: Language) -> String {
        for tag in language.fallbacks + ["en"] {
            if let found = all.first(where: { Self.isSame($0.language, tag) }) {
                return found.text
            }
        }
        return all.first?.text ?? ""
    }

    private static func isSame(_ one: String, _ other: Substring) -> Bool {
        one.utf8.count == other.utf8.count
            && zip(one.utf8, other.utf8).allSatisfy { $0 | 0x20 == $1 | 0x20 }
    }

    /// The same with a value in the place of `{name}`.
    public func filling(_ name: String, _ value: String) -> Texts {
        var filled = self
        for index in all.indices {
            filled.all[index].text = Self.filled(all[index].text, "{\(name)}", value)
        }
        return filled
    }

    private static func filled(_ text: String, _ mark: String, _ value: String) -> String {
        let (text, mark) = (Array(text.utf8), Array(mark.utf8))
        var bytes: [UInt8] = []
        var index = 0
        while index < text.count {
            if text[index...].starts(with: mark) {
                bytes += Array(value.utf8)
                index += mark.count
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The names between braces, in the order of the text.
    package static func placeholders(_ text: String) -> [String] {
        var names: [String] = []
        var name: String?
        for letter in text.unicodeScalars {
            switch letter {
            case "{": name = ""
            case "}":
                if let known = name, !known.isEmpty, !names.contains(known) { names.append(known) }
                name = nil
            default: name?.unicodeScalars.append(letter)
            }
        }
        return names
    }
}

extension Texts {
    /// The texts of a keyword in a schema: one of no language, which is English, or an object by
    /// languages; nil if it is neither.
    package init?(_ schema: JSON?, _ key: String) {
        switch schema?.member(key)?.item.value {
        case .string(let text): self.init([("en", text)])
        case .object(let members):
            var texts: [(language: String, text: String)] = []
            for member in members {
                guard Language.isTag(member.key), case .string(let text) = member.item.value else {
                    return nil
                }
                texts.append((member.key, text))
            }
            guard !texts.isEmpty else { return nil }
            self.init(texts)
        default: return nil
        }
    }

    /// An object of JSON by languages.
    package var json: JSON {
        .object(of: all.map { ($0.language, .string($0.text)) })
    }
}
