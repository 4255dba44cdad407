import DiarioCore

/// Reads the declaration of a command or a view, and tells all that is wrong with it.
struct DeclarationReader {
    private(set) var problems: ProblemList
    private(set) var budget: PatternBudget
    private let file: PackFile
    private let kind: Declaration.Kind
    /// The full name and the version by the name of the file.
    private let named: (name: String, version: Int)
    private let types: [EventType]
    private let namedTypes: NamedTypes
    private let texts: PackTexts

    private static let keys = ["title", "description", "events", "actor", "input", "result"]
    private static let annotations: Set = ["title", "description"]

    init(
        _ file: PackFile,
        _ kind: Declaration.Kind,
        named: (name: String, version: Int),
        types: [EventType],
        _ namedTypes: NamedTypes,
        _ texts: PackTexts,
        budget: PatternBudget
    ) {
        problems = ProblemList(file: file.path)
        self.file = file
        self.kind = kind
        self.named = named
        self.types = types
        self.namedTypes = namedTypes
        self.texts = texts
        self.budget = budget
    }

    /// The declaration; valid only if there are no problems.
    mutating func read() -> Declaration? {
        var root: JSON.Item
        do { root = try JSON.parse(file.bytes) } catch {
            problems.add(error.line, error.rule, error.message)
            return nil
        }
        root = expandingForms(root)
        guard case .object(let members) = root.value else {
            problems.add(root.line, "declaration", "a declaration is an object; write { ... }")
            return nil
        }
        for member in members where !Self.keys.contains(member.key) {
            problems.add(
                member.line,
                "unknown-keyword",
                "a declaration has no \(member.key)",
                misspelt: member.key,
                among: Self.keys,
                remedy: "remove it"
            )
        }
        readTitle(root)
        let description = readDescription(root)
        let events = readEvents(root)
        let needsActor = readActor(root)
        let (input, result) = (readForm(root, "input"), readForm(root, "result"))
        guard let description, let input, let result, problems.problems.isEmpty else { return nil }
        let canonical: [JSON.Member] = members.filter { !Self.annotations.contains($0.key) }.map {
            switch $0.key {
            case "input", "result": $0.with($0.item.value.withoutAnnotations)
            default: $0
            }
        }
        var text: [UInt8] = []
        JSON.object(canonical).appendCanonical(to: &text)
        let declaration = Declaration(
            Declaration.Parts(
                kind: kind,
                name: named.name,
                version: named.version,
                description: description,
                events: events,
                needsActor: needsActor,
                input: input.parts,
                inputSchema: withTexts(input.schema),
                result: result.parts,
                resultSchema: withTexts(result.schema),
                canonicalText: text
            )
        )
        checkNewThing(declaration, root)
        checkOptions(declaration, root)
        return declaration
    }

    /// The declaration with what names of types stand for in their place.
    private mutating func expandingForms(_ root: JSON.Item) -> JSON.Item {
        guard case .object(let members) = root.value else { return root }
        var expanded: [JSON.Member] = []
        for member in members {
            guard ["input", "result"].contains(member.key) else {
                expanded.append(member)
                continue
            }
            let item = namedTypes.expand(member.item, &problems)
            expanded.append(JSON.Member(key: member.key, line: member.line, item: item))
        }
        return JSON.Item(value: .object(expanded), line: root.line)
    }

    /// Each field of the input has an option of its own on the command line.
    private mutating func checkOptions(_ declaration: Declaration, _ root: JSON.Item) {
        var taken = Declaration.callOptions
        for option in declaration.fileOptions where !taken.insert(option.name).inserted {
            problems.add(
                root.value.member("input")?.line,
                "option-taken",
                "the option --\(option.name) of \(option.blob.name) is that of something else; "
                    + "rename the field"
            )
        }
        for option in declaration.optionTexts {
            for name in Set([option.name, option.shortName]) where !taken.insert(name).inserted {
                problems.add(
                    root.value.member("input")?.line,
                    "option-taken",
                    "the option --\(name) of \(option.field) is that of something else; rename the "
                        + "field"
                )
            }
        }
    }

    private mutating func readTitle(_ root: JSON.Item) {
        guard let member = root.value.member("title"),
            case .string(let title) = member.item.value, title == named.name
        else {
            problems.add(
                root.value.member("title")?.line ?? root.line,
                "title-mismatch",
                "the title must be the full name by the name of the file: \"\(named.name)\""
            )
            return
        }
    }

    private mutating func readDescription(_ root: JSON.Item) -> Texts? {
        let own = Texts(root.value, "description")
        if let found = own ?? texts["commands/\(shortName)/help"] { return found }
        problems.add(
            root.value.member("description")?.line ?? root.line,
            "description-languages",
            "the description is missing: write \"...\" or { \"en\": \"...\", \"it\": \"...\" }, or "
                + "add commands/\(shortName) to texts/en.json"
        )
        return nil
    }

    private var shortName: String { String(named.name.drop { $0 != "." }.dropFirst()) }

    /// A form whose fields have the titles and descriptions of the pack's texts, where they have
    /// none of their own.
    private func withTexts(_ form: JSON) -> JSON {
        guard !texts.isEmpty, case .object(let members) = form else { return form }
        return .object(
            members.map { member in
                guard member.hasKey("properties"), case .object(let fields) = member.item.value
                else { return member }
                return member.with(.object(fields.map { $0.with(texted($0)) }))
            }
        )
    }

    private func texted(_ field: JSON.Member) -> JSON {
        guard case .object(var members) = field.item.value else { return field.item.value }
        for (key, part) in [("title", "title"), ("description", "help")]
        where !members.contains(where: { $0.hasKey(key) }) {
            let found =
                texts["fields/\(shortName).\(field.key)/\(part)"]
                ?? texts["fields/\(field.key)/\(part)"]
            guard let found else { continue }
            let item = JSON.Item(value: found.json, line: field.line)
            members.append(JSON.Member(key: key, line: field.line, item: item))
        }
        return .object(members)
    }

    private mutating func readEvents(_ root: JSON.Item) -> [String] {
        guard let member = root.value.member("events") else {
            if kind == .command {
                problems.add(
                    root.line,
                    "events-missing",
                    "a command names the event types that it may record: \"events\": [ ... ]"
                )
            }
            return []
        }
        guard kind == .command else {
            problems.add(member.line, "view-events", "a view records nothing; remove events")
            return []
        }
        guard case .array(let items) = member.item.value, !items.isEmpty else {
            problems.add(member.line, "events", "events must be a list of names of event types")
            return []
        }
        let known = types.map { $0.name }
        return items.compactMap { item in
            guard case .string(let name) = item.value else {
                problems.add(item.line, "events", "events must be a list of names of event types")
                return nil
            }
            if !known.contains(name) {
                problems.add(
                    item.line,
                    "event-unknown",
                    "the pack has no event type \(name)",
                    misspelt: name,
                    among: known,
                    remedy: "name one that is in events/"
                )
            }
            return name
        }
    }

    private mutating func readActor(_ root: JSON.Item) -> Bool {
        guard let member = root.value.member("actor") else { return false }
        if case .string("required") = member.item.value { return true }
        problems.add(
            member.line,
            "actor",
            "actor must be \"required\", for what belongs to a person; else leave it out"
        )
        return false
    }

    private mutating func readForm(
        _ root: JSON.Item,
        _ key: String
    ) -> (parts: SchemaParts, schema: JSON)? {
        guard let member = root.value.member(key) else {
            problems.add(
                root.line,
                "\(key)-missing",
                "the declaration has no \(key); write a schema of an object, without properties "
                    + "if there are none"
            )
            return nil
        }
        var reader = SchemaReader(file: file.path, budget: budget)
        let parts = reader.readForm(member.item, named.name, version: named.version)
        budget = reader.budget
        for problem in reader.problems.problems {
            problems.add(problem.line, problem.rule, problem.message)
        }
        return parts.map { ($0, member.item.value.withPartsOfBlobs) }
    }

    /// A command that makes a thing can be repeated: its events tell what it was given and what
    /// it answered.
    private mutating func checkNewThing(_ declaration: Declaration, _ root: JSON.Item) {
        guard let field = declaration.newIDField else { return }
        let line = root.value.member("input")?.line
        guard kind == .command else {
            return problems.add(line, "view-new-id", "a view makes nothing, so it has no new id")
        }
        let recorded = types.filter { declaration.events.contains($0.name) }
        if !recorded.contains(where: { declaration.subjectField(ofMaking: $0) != nil }) {
            problems.add(
                line,
                "new-id-event",
                "none of the command's events makes a thing with the id \(field.name) and has that "
                    + "id, or a required field of the input, for its subject, so a repeated "
                    + "command could not be told; name one in events, or do without x-diario-id"
            )
        }
        for result in declaration.result.fields
        where !(result.name.hasBytes(of: Declaration.textField) && !result.isRequired)
            && !recorded.contains(where: { $0.fieldIndex(result.name) != nil })
        {
            problems.add(
                root.value.member("result")?.line,
                "result-unrecorded",
                "no event of the command has the field \(result.name), so a repeated command "
                    + "could not answer it again; record it, or leave it to a view"
            )
        }
    }
}
