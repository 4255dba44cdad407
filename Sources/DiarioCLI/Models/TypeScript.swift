import Diario
import DiarioSchema

/// Types of TypeScript for what a pack records, is asked, and can do.
struct TypeScript {
    private let pack: Pack
    private var text = ""

    init(_ pack: Pack) { self.pack = pack }

    /// The declarations.
    mutating func declarations() -> String {
        line(
            "// Made by `diario schema types` from the pack \(pack.name), version \(pack.version)."
        )
        for named in pack.named.types {
            line()
            comment(named.description)
            // An object is an interface, so that a program can extend it.
            let content = form(named.schema, depth: 0)
            let isObject = named.schema.member("properties") != nil
            line(
                isObject
                    ? "export interface \(name(named.name)) \(content)"
                    : "export type \(name(named.name)) = \(content);"
            )
        }
        for type in pack.types {
            line()
            comment(type.description)
            let fields = pack.writtenSchema(of: type)
            line("export interface \(name(of: type)) \(form(fields, depth: 0))")
        }
        for declaration in pack.declarations {
            let base = name(declaration.shortName)
            line()
            comment(declaration.description.english)
            let forms = pack.writtenForms(of: declaration)
            line("export interface \(base)Input \(form(forms.input, depth: 0))")
            line()
            line("export interface \(base)Result \(form(forms.result, depth: 0))")
        }
        appendTables()
        appendTexts()
        return text
    }

    /// The rules of its commands, and what a file of its texts holds.
    private mutating func appendTexts() {
        guard !pack.texts.isEmpty else { return }
        let rules = pack.texts.names(in: "rules")
        if !rules.isEmpty {
            line()
            line("export type \(name("rule")) =\(union(rules.map(\.name), depth: 0));")
        }
        let sections = [
            ("commands", "string | { title?: string; help?: string }"),
            ("fields", "string | { title?: string; help?: string }"), ("types", nil),
            ("rules", "{ message: string; remedy: string }"), ("words", "string"),
            ("units", "string"),
        ]
        line()
        comment("A file of texts. English has all of them; other languages may lack some.")
        line("export interface \(name("texts")) {")
        for (section, value) in sections {
            let names = pack.texts.names(in: section)
            guard !names.isEmpty else { continue }
            if let value {
                let keys = section == "rules" ? name("rule") : union(names.map(\.name), depth: 1)
                line("  \(section): Record<\(keys), \(value)>;")
                continue
            }
            line("  \(section): {")
            for (type, entries) in names {
                let values = entries.map { String($0.key.dropFirst("types/\(type)/".count)) }
                line("    \(type): Record<\(union(values, depth: 2)), string>;")
            }
            line("  };")
        }
        line("}")
    }

    /// One of these texts, each on a line of its own.
    private func union(_ texts: [String], depth: Int) -> String {
        let margin = String(repeating: "  ", count: depth + 1)
        return texts.map { "\n\(margin)| \"\($0)\"" }.joined()
    }

    /// Which type belongs to which name.
    private mutating func appendTables() {
        table("Events", newestTypes.map { ("\"\($0.name)\"", name(of: $0)) })
        for kind in [Declaration.Kind.command, .view] {
            let entries = pack.declarations.filter { $0.kind == kind }.map { declaration in
                let base = name(declaration.shortName)
                return ("\"\(declaration.name)\"", "{ input: \(base)Input; result: \(base)Result }")
            }
            table(kind == .command ? "Commands" : "Views", entries)
        }
        table(
            "Queries",
            pack.sql.queries.map { query in
                let parameters = query.parameters.map { parameter in
                    let mark = parameter.fallback == nil ? "" : "?"
                    return "\(parameter.name)\(mark): \(form(parameter.values.schema, depth: 1))"
                }
                let asked =
                    parameters.isEmpty ? "{}" : "{ \(parameters.joined(separator: "; ")) }"
                return (
                    "\"\(pack.name).\(query.name)\"",
                    "{\n    parameters: \(asked);\n    row: \(row(of: query));\n  }"
                )
            }
        )
    }

    private mutating func table(_ title: String, _ entries: [(key: String, value: String)]) {
        guard !entries.isEmpty else { return }
        line()
        line("export interface \(name(""))\(title) {")
        for entry in entries { line("  \(entry.key): \(entry.value);") }
        line("}")
    }

    private var newestTypes: [EventType] {
        pack.types.enumerated().filter { index, type in
            index + 1 == pack.types.count || pack.types[index + 1].name != type.name
        }.map(\.element)
    }

    /// `FishReportFiled`, with the version where there is a newer one.
    private func name(of type: EventType) -> String {
        let isNewest = newestTypes.contains { $0 === type }
        let plain = name(type.name.dropFirst(pack.name.count + 1))
        return isNewest ? plain : "\(plain)V\(type.version)"
    }

    /// A name of the pack as one of TypeScript: `report.filed` as `FishReportFiled`.
    private func name(_ text: some StringProtocol) -> String {
        ([Substring(pack.name)] + Substring(text).split { $0 == "." || $0 == "-" })
            .map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    private func row(of query: PackQuery) -> String {
        guard let columns = query.columns else { return "Record<string, unknown>" }
        let lines = columns.map { column in
            let type = form(column.values.schema, depth: 3)
            return "      \(column.name): \(type)\(column.mayBeNull ? " | null" : "");\n"
        }
        return "{\n\(lines.joined())    }"
    }

    /// The type for a schema.
    private func form(_ schema: JSON, depth: Int) -> String {
        if let named = NamedTypes.name(in: schema) { return name(named) }
        if case .array(let values)? = schema.member("enum")?.item.value {
            return values.map { CellText.json(String(decoding: $0.value.asWritten, as: UTF8.self)) }
                .joined(separator: " | ")
        }
        guard case .string(let type)? = schema.member("type")?.item.value else { return "unknown" }
        switch type {
        case "integer", "number": return "number"
        case "boolean": return "boolean"
        case "string": return "string"
        case "array":
            let items = schema.member("items")?.item.value ?? .object([])
            let element = form(items, depth: depth)
            return element.contains("|") ? "(\(element))[]" : "\(element)[]"
        default: return object(schema, depth: depth)
        }
    }

    private func object(_ schema: JSON, depth: Int) -> String {
        guard case .object(let members)? = schema.member("properties")?.item.value,
            !members.isEmpty
        else { return "{}" }
        var required: Set<String> = []
        if case .array(let names)? = schema.member("required")?.item.value {
            for item in names { if case .string(let name) = item.value { required.insert(name) } }
        }
        let margin = String(repeating: "  ", count: depth + 1)
        let lines = members.map { member in
            let mark = required.contains(member.key) ? "" : "?"
            return "\(margin)\(member.key)\(mark): \(form(member.item.value, depth: depth + 1));\n"
        }
        return "{\n\(lines.joined())\(String(repeating: "  ", count: depth))}"
    }

    private mutating func comment(_ words: String?) {
        guard let words else { return }
        line("/** \(words.replacing("*/", with: "* /")) */")
    }

    private mutating func line(_ line: String = "") { text += line + "\n" }
}
