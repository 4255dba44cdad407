import DiarioSchema

/// The Swift source for what a pack says to people: functions for its rules and its words.
struct TextSource {
    private let texts: PackTexts
    private let named: NamedTypes
    /// The Swift enum that everything is inside of, such as `Fish`.
    private let name: String

    init(_ pack: Pack, name: String) {
        texts = pack.texts
        named = pack.named
        self.name = name
    }

    func append(to body: inout SwiftText) {
        guard !texts.isEmpty else { return }
        body.line()
        body.block("extension \(name)") { text in
            text.comment(["The languages of its texts."])
            let tags = Set(texts.entries.flatMap { $0.texts.languages }).sorted()
            let list = tags.map { Literal.line($0) }.joined(separator: ", ")
            text.line("public static var languages: [String] { [\(list)] }")
            appendRules(to: &text)
            appendWords(to: &text)
        }
        for type in named.types {
            let values = texts.names(in: "types").first { $0.name == type.name }?.entries
            guard let values, !type.values.isEmpty else { continue }
            body.line()
            body.block("extension \(name).\(type.name)") { text in
                text.comment(["What people call it."])
                text.block("public var texts: Texts") { text in
                    text.line("switch self {")
                    let names = SwiftNames.cases(type.values)
                    for (name, value) in zip(names, type.values) {
                        let key = "types/\(type.name)/\(value)"
                        guard let entry = values.first(where: { $0.key == key }) else { continue }
                        text.line("case .\(name):")
                        text.indented { append(entry, after: "", to: &$0) }
                    }
                    text.line("}")
                }
            }
        }
    }

    private func appendRules(to text: inout SwiftText) {
        let rules = texts.names(in: "rules")
        guard !rules.isEmpty else { return }
        text.line()
        text.comment(["The rules of its commands; each makes the refusal of what would break it."])
        text.block("package enum Rule") { text in
            for (index, (rule, entries)) in rules.enumerated() {
                guard let message = entries.first(where: { $0.key.hasSuffix("/message") }),
                    let remedy = entries.first(where: { $0.key.hasSuffix("/remedy") })
                else { continue }
                if index > 0 { text.line() }
                text.comment([message.texts.english])
                let names = (message.placeholders + remedy.placeholders)
                let needsValue = names.contains("value")
                let others = names.filter { $0 != "value" }.reduce(into: [String]()) { list, name in
                    if !list.contains(name) { list.append(name) }
                }
                let value = needsValue ? "String" : "String? = nil"
                text.line("package static func \(SwiftNames.function(rule))(")
                text.indented { text in
                    text.line("_ field: String? = nil,")
                    text.line("_ value: \(value)\(others.isEmpty ? "" : ",")")
                    for (index, name) in others.enumerated() {
                        let comma = index + 1 < others.count ? "," : ""
                        text.line("\(SwiftNames.field(name)): String\(comma)")
                    }
                }
                text.line(") -> BrokenRule {")
                text.indented { text in
                    text.line("BrokenRule(")
                    text.indented { text in
                        text.line("\(Literal.line(rule)),")
                        text.line("field: field,")
                        text.line("value: value,")
                        append(message, after: "", ",", to: &text)
                        append(remedy, after: "remedy: ", to: &text)
                    }
                    text.line(")")
                }
                text.line("}")
            }
        }
    }

    private func appendWords(to text: inout SwiftText) {
        let words = texts.names(in: "words") + texts.names(in: "units")
        guard !words.isEmpty else { return }
        text.line()
        text.comment(["Words of its answers, and its units."])
        text.block("package enum Words") { text in
            for (index, (word, entries)) in words.enumerated() {
                guard let entry = entries.first else { continue }
                if index > 0 { text.line() }
                let parameters = entry.placeholders.map { "\(SwiftNames.field($0)): String" }
                let head =
                    parameters.isEmpty
                    ? "package static var \(SwiftNames.function(word)): Texts"
                    : "package static func \(SwiftNames.function(word))("
                        + "\(parameters.joined(separator: ", "))) -> Texts"
                text.block(head) { append(entry, after: "", to: &$0) }
            }
        }
    }

    /// Adds the expression for a text, with what it is filled with.
    private func append(
        _ entry: PackTexts.Entry,
        after head: String,
        _ end: String = "",
        to text: inout SwiftText
    ) {
        let values = entry.texts.languages.map { tag in
            let language = Language(tag: tag) ?? .english
            return "(\(Literal.line(tag)), \(Literal.line(entry.texts[language])))"
        }
        let filling = entry.placeholders.map {
            ".filling(\(Literal.line($0)), \(SwiftNames.field($0)))"
        }.joined()
        text.line("\(head)Texts([")
        text.indented { text in for value in values { text.line(value + ",") } }
        text.line("])\(filling)\(end)")
    }
}
