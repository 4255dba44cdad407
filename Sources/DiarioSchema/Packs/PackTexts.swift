import DiarioCore

/// What a pack says to people, from its folder `texts`: schema/README.md, "Texts".
package struct PackTexts: Sendable {
    /// A text, by the path of its keys: `rules/unknown-plant/message`.
    package struct Entry: Sendable {
        package let key: String
        package let texts: Texts
        /// What a program fills in.
        package let placeholders: [String]
        let line: Int
    }

    /// In the order of the English file.
    package private(set) var entries: [Entry] = []
    /// What other languages lack; no problem, since English stands for it.
    package private(set) var gaps: [PackProblem] = []

    static let folder = "texts/"
    private static let english = "texts/en.json"
    private static let sections = ["commands", "fields", "types", "rules", "words", "units"]

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    package subscript(key: String) -> Texts? {
        entries.first { $0.key.hasBytes(of: key) }?.texts
    }

    /// The names of a section, each with the entries below it, in the order of the file.
    package func names(in section: String) -> [(name: String, entries: [Entry])] {
        var found: [(name: String, entries: [Entry])] = []
        for entry in entries {
            let parts = entry.key.split(separator: "/", maxSplits: 2)
            guard parts.count >= 2, parts[0] == section else { continue }
            if found.last?.name == String(parts[1]) {
                found[found.count - 1].entries.append(entry)
            } else {
                found.append((String(parts[1]), [entry]))
            }
        }
        return found
    }

    // MARK: Reading

    /// One text of a file.
    private struct Line {
        let key: String
        let text: String
        let line: Int
    }

    init(_ files: [PackFile], _ problems: inout [PackProblem]) {
        guard !files.isEmpty else { return }
        var languages: [(tag: String, file: String, lines: [Line])] = []
        for file in files {
            var found = ProblemList(file: file.path)
            let tag = String(file.path.dropFirst(Self.folder.count).dropLast(".json".count))
            if !Language.isTag(tag) {
                found.add(
                    nil,
                    "text-language",
                    "\(tag) is no tag of a language; name the file as in en.json or de-CH.json"
                )
            }
            languages.append((tag, file.path, Self.lines(of: file, &found)))
            problems += found.problems
        }
        guard let english = languages.first(where: { $0.file == Self.english }) else {
            problems.append(
                PackProblem(
                    file: Self.english,
                    line: nil,
                    rule: "text-english",
                    message: "the texts need English, for which other languages stand in; add this "
                        + "file"
                )
            )
            return
        }
        let others = languages.filter { $0.file != Self.english }
        for other in others {
            var found = ProblemList(file: other.file)
            for line in other.lines { Self.compare(line, with: english.lines, &found) }
            problems += found.problems
            for line in english.lines where !other.lines.contains(where: { $0.key == line.key }) {
                gaps.append(
                    PackProblem(
                        file: other.file,
                        line: nil,
                        rule: "text-gap",
                        message: "\(line.key) is missing; the English text stands for it"
                    )
                )
            }
        }
        entries = english.lines.map { line in
            var texts: [(language: String, text: String)] = [("en", line.text)]
            for other in others {
                if let text = other.lines.first(where: { $0.key == line.key })?.text {
                    texts.append((other.tag, text))
                }
            }
            return Entry(
                key: line.key,
                texts: Texts(texts),
                placeholders: Texts.placeholders(line.text),
                line: line.line
            )
        }
    }

    /// What the English texts lack of a pack with these declarations, and what they have too much.
    func problems(
        of declarations: [Declaration],
        _ named: NamedTypes,
        _ queries: [PackQuery]
    ) -> [PackProblem] {
        guard !entries.isEmpty else { return [] }
        var problems = ProblemList(file: Self.english)
        let fields =
            declarations.flatMap { declaration in
                (declaration.input.fields + declaration.result.fields).flatMap { field in
                    [field.name, "\(declaration.shortName).\(field.name)"]
                }
            } + queries.flatMap { ($0.columns ?? []).map { $0.name } }
        let known: [String: [String]] = [
            "commands": declarations.map { String($0.shortName) }, "fields": fields,
            "types": named.types.map { $0.name },
        ]
        for (section, names) in known {
            for (name, entries) in self.names(in: section)
            where !names.contains(where: { $0.hasBytes(of: name) }) {
                problems.add(
                    entries[0].line,
                    "text-unknown",
                    "the pack has no \(name) among its \(section)",
                    misspelt: name,
                    among: names,
                    remedy: "remove it"
                )
            }
        }
        for type in named.types {
            let texts = names(in: "types").first { $0.name.hasBytes(of: type.name) }?.entries
            guard let texts else { continue }
            let keys = type.values.map { "types/\(type.name)/\($0)" }
            for entry in texts where !keys.contains(where: { $0.hasBytes(of: entry.key) }) {
                problems.add(
                    entry.line,
                    "text-unknown",
                    "\(entry.key) is no value of the type \(type.name); remove it"
                )
            }
            for key in keys where !texts.contains(where: { $0.key.hasBytes(of: key) }) {
                problems.add(texts[0].line, "text-missing", "\(key) is missing; add it")
            }
        }
        for declaration in declarations {
            for field in declaration.inputFields
            where declaration.title(of: field.name) == nil && !declaration.isPartOfBlob(field) {
                problems.add(
                    nil,
                    "text-missing",
                    "fields/\(field.name) is missing, of \(declaration.shortName); add it"
                )
            }
        }
        return problems.problems
    }

    private static func compare(
        _ line: Line,
        with english: [Line],
        _ problems: inout ProblemList
    ) {
        guard let own = english.first(where: { $0.key == line.key }) else {
            return problems.add(
                line.line,
                "text-unknown",
                "en.json has no \(line.key)",
                misspelt: line.key,
                among: english.map { $0.key },
                remedy: "remove it, or add it there"
            )
        }
        let known = Texts.placeholders(own.text)
        for name in Texts.placeholders(line.text) where !known.contains(name) {
            problems.add(
                line.line,
                "text-placeholder",
                "nothing fills {\(name)} in \(line.key), which the English text does not have; "
                    + "remove it, or add it there"
            )
        }
    }

    /// The texts of a file by their keys.
    private static func lines(of file: PackFile, _ problems: inout ProblemList) -> [Line] {
        let root: JSON.Item
        do { root = try JSON.parse(file.bytes) } catch {
            problems.add(error.line, error.rule, error.message)
            return []
        }
        guard case .object(let members) = root.value else {
            problems.add(root.line, "texts", "a file of texts is an object; write { ... }")
            return []
        }
        var lines: [Line] = []
        for section in members {
            guard sections.contains(section.key), case .object(let names) = section.item.value
            else {
                problems.add(
                    section.line,
                    "text-section",
                    "texts have no section \(SchemaNames.told(section.key))",
                    misspelt: section.key,
                    among: sections,
                    remedy: "each is an object: \(sections.joined(separator: ", "))"
                )
                continue
            }
            for name in names {
                lines += read(name, in: section.key, &problems)
            }
        }
        return lines
    }

    private static func read(
        _ member: JSON.Member,
        in section: String,
        _ problems: inout ProblemList
    ) -> [Line] {
        let path = "\(section)/\(member.key)"
        switch (section, member.item.value) {
        case ("commands", .string(let text)):
            return [Line(key: path + "/help", text: text, line: member.line)]
        case ("fields", .string(let text)):
            return [Line(key: path + "/title", text: text, line: member.line)]
        case ("words", .string(let text)), ("units", .string(let text)):
            return [Line(key: path, text: text, line: member.line)]
        case ("commands", .object(let members)), ("fields", .object(let members)),
            ("types", .object(let members)), ("rules", .object(let members)):
            let known: [String]? =
                switch section {
                case "types": nil
                case "rules": ["message", "remedy"]
                default: ["title", "help"]
                }
            var lines: [Line] = []
            for part in members {
                guard known?.contains(part.key) ?? true, case .string(let text) = part.item.value
                else {
                    problems.add(
                        part.line,
                        "text-form",
                        "\(path) has no text \(part.key); it has "
                            + "\(known?.joined(separator: " and ") ?? "one for each value")"
                    )
                    continue
                }
                lines.append(Line(key: "\(path)/\(part.key)", text: text, line: part.line))
            }
            for name in known ?? [] where section == "rules" {
                guard !members.contains(where: { $0.hasKey(name) }) else { continue }
                problems.add(member.line, "text-form", "\(path) has no \(name); add it")
            }
            return lines
        default:
            problems.add(
                member.line,
                "text-form",
                "\(path) is no text, and no object of texts; write \"...\""
            )
            return []
        }
    }
}
