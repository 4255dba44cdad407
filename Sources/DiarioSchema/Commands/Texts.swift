/// A language in which texts for people are there.
public enum Language: String, CaseIterable, Sendable {
    case english = "en"
    case italian = "it"

    /// The language of a tag such as `it-IT`; nil if there are no texts in it.
    public init?(tag: some StringProtocol) {
        let name = tag.prefix { $0 != "-" && $0 != "_" && $0 != "." }
        guard let language = Language.allCases.first(where: { $0.rawValue == name.lowercased() })
        else { return nil }
        self = language
    }

    /// The language that a header `Accept-Language` likes most of those there are.
    package init?(accepted header: String) {
        var best: (language: Language, weight: Double)?
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
            if weight > best?.weight ?? 0 { best = (language, weight) }
        }
        guard let best else { return nil }
        self = best.language
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " }
        guard let last = start.lastIndex(where: { $0 != " " }) else { return start }
        return start[...last]
    }
}

/// A text for people in each language.
public struct Texts: Hashable, Sendable {
    public var english: String
    public var italian: String

    public init(_ english: String, it italian: String) {
        self.english = english
        self.italian = italian
    }

    public subscript(language: Language) -> String {
        switch language {
        case .english: english
        case .italian: italian
        }
    }
}
