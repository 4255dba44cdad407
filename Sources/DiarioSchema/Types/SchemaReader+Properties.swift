import DiarioCore

extension SchemaReader {
    private static let nestedKeywords = ["title", "description"]
    private static let topKeywords =
        nestedKeywords + ["x-diario-unit", "x-diario-personal", "x-diario-id", "x-diario-blob"]

    /// Reads the members of an object: a block of nodes in byte order of the names.
    ///
    /// Also gives the member that the schema writes first, or -1. Recursion is bounded by
    /// `Limits.jsonDepthMax`, since a nested schema is nested JSON.
    mutating func readObject(
        _ object: JSON.Item,
        path: String
    ) -> (range: SchemaRange, first: Int32) {
        checkObject(object, path: path)
        guard let properties = object.value.member("properties") else {
            _ = readRequired(object, names: [])
            return (SchemaRange(), -1)
        }
        guard case .object(let members) = properties.item.value else {
            problem(properties.line, "properties", "properties must be an object")
            return (SchemaRange(), -1)
        }
        guard members.count <= Limits.fieldCountMax else {
            problem(
                properties.line,
                "field-count",
                "there are \(members.count) fields, above the limit \(Limits.fieldCountMax); "
                    + "make several types"
            )
            return (SchemaRange(), -1)
        }
        let required = readRequired(object, names: members.map { $0.key })
        let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        let range = SchemaRange(start: rules.nodes.count, count: members.count)
        rules.nodes += members.map { _ in SchemaNode(kind: .boolean) }
        var indices: [String: Int32] = [:]
        for (index, member) in zip(range.indices, sorted) {
            indices[member.key] = Int32(index)
            readProperty(member, at: index, path: path)
            rules.nodes[index].isRequired = required.contains(member.key)
        }
        for (member, next) in zip(members, members.dropFirst()) {
            if let index = indices[member.key], let successor = indices[next.key] {
                rules.nodes[Int(index)].successor = successor
            }
        }
        return (range, members.first.flatMap { indices[$0.key] } ?? -1)
    }

    /// Makes the fields of the type from the nodes that `readObject` made first.
    mutating func readFields(_ root: JSON.Item, count: Int) -> [Field] {
        guard count > 0, case .object(let members)? = root.value.member("properties")?.item.value
        else { return [] }
        let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        var newIDName: String?
        return (0..<count).map { index in
            let field = readField(sorted[index], node: rules.nodes[index], index: index)
            if field.isNewID {
                checkNewID(field, line: sorted[index].line)
                if let newIDName {
                    problem(
                        sorted[index].line,
                        "new-id-twice",
                        "\(field.name) is a second new id beside \(newIDName); an event makes one "
                            + "thing, so keep one"
                    )
                }
                newIDName = field.name
            }
            return field
        }
    }

    private mutating func checkObject(_ object: JSON.Item, path: String) {
        let place = path.isEmpty ? "the schema" : path
        if readText(object, "type") != "object" {
            problem(
                object.value.member("type")?.line ?? object.line,
                "object-type",
                "\(place) must have \"type\": \"object\""
            )
        }
        guard case .boolean(false)? = object.value.member("additionalProperties")?.item.value
        else {
            problem(
                object.value.member("additionalProperties")?.line ?? object.line,
                "additional-properties",
                "\(place) must have \"additionalProperties\": false, because unknown fields are "
                    + "always refused"
            )
            return
        }
    }

    private mutating func readRequired(_ object: JSON.Item, names: [String]) -> Set<String> {
        guard let member = object.value.member("required") else { return [] }
        guard case .array(let items) = member.item.value else {
            problem(member.line, "required", "required must be an array of names")
            return []
        }
        let known = Set(names)
        var required: Set<String> = []
        for item in items {
            guard case .string(let name) = item.value else {
                problem(item.line, "required", "required must be an array of names")
                continue
            }
            if !known.contains(name) {
                problems.add(
                    item.line,
                    "required-unknown",
                    "required names no property: \(name)",
                    misspelt: name,
                    among: names,
                    remedy: "add it to properties"
                )
            }
            if !required.insert(name).inserted {
                problem(item.line, "required-twice", "required names \(name) twice; once is enough")
            }
        }
        return required
    }

    private mutating func readProperty(_ member: JSON.Member, at index: Int, path: String) {
        let name = member.key
        // Everything below carries it.
        let told = SchemaNames.told(name)
        let isTop = path.isEmpty
        let path = isTop ? told : "\(path).\(told)"
        if !SchemaNames.isField(name) {
            problem(
                member.line,
                "field-name",
                "\(path) is no name of a field; a name is \(SchemaNames.fieldRule)"
            )
        }
        let token = Array("\"\(name)\":".utf8)
        rules.nodes[index].token = SchemaRange(start: rules.names.count, count: token.count)
        rules.names += token
        readForm(member.item, at: index, path: path, isTop: isTop)
    }

    /// Reads the rules for one value: of a field of the payload itself (`isTop`), a nested member
    /// or an item.
    mutating func readForm(_ item: JSON.Item, at index: Int, path: String, isTop: Bool) {
        guard case .object(let members) = item.value else {
            problem(
                item.line,
                "property-object",
                "\(path) must be an object with the field's rules"
            )
            return
        }
        let (kind, keywords) = readKind(item, path: path)
        if let kind {
            rules.nodes[index].kind = kind
            let known = keywords + (isTop ? Self.topKeywords : Self.nestedKeywords)
            for member in members where !known.contains(member.key) {
                if Self.topKeywords.contains(member.key) {
                    problem(
                        member.line,
                        "nested-annotation",
                        "\(path): \(member.key) is for the fields of the payload itself; remove it"
                    )
                } else {
                    unknownKeyword(member, known: known, path: path)
                }
            }
            readRules(item, kind: kind, at: index, path: path)
        }
        for key in ["title", "description"] { checkText(item, key, path: path) }
    }

    /// Checks a text for people, which a form may have in several languages.
    private mutating func checkText(_ item: JSON.Item, _ key: String, path: String) {
        guard isForm else {
            _ = readText(item, key)
            return
        }
        guard let member = item.value.member(key), Texts(item.value, key) == nil else { return }
        problem(
            member.line,
            "languages",
            "\(path): \(key) is a text, or one for each language: "
                + "{ \"en\": \"...\", \"it\": \"...\" }"
        )
    }

    /// Which of the forms a value has, and the keywords of that form.
    private mutating func readKind(
        _ item: JSON.Item,
        path: String
    ) -> (kind: SchemaNode.Kind?, keywords: [String]) {
        if item.value.member("enum") != nil { return (.enumeration, ["enum", "type"]) }
        guard let typeMember = item.value.member("type"),
            case .string(let type) = typeMember.item.value
        else {
            problem(
                item.value.member("type")?.line ?? item.line,
                "form",
                "\(path) needs a type: integer, number, string, boolean, object or array, or an "
                    + "enum"
            )
            return (nil, [])
        }
        switch type {
        case "integer": return (.integer, ["type", "minimum", "maximum"])
        case "number": return (.number, ["type", "minimum", "maximum"])
        case "boolean": return (.boolean, ["type"])
        case "object":
            return (.object, ["type", "additionalProperties", "required", "properties"])
        case "array": return (.array, ["type", "items", "minItems", "maxItems"])
        case "string": return readStringKind(item, path: path)
        default:
            problem(
                typeMember.line,
                "form",
                "\(path): the type \(type) is not supported; use integer, number, string, boolean, "
                    + "object or array, and leave an absent field out"
            )
            return (nil, [])
        }
    }

    private mutating func readStringKind(
        _ item: JSON.Item,
        path: String
    ) -> (kind: SchemaNode.Kind?, keywords: [String]) {
        if let member = item.value.member("contentEncoding") {
            guard case .string("base64") = member.item.value else {
                problem(
                    member.line,
                    "content-encoding",
                    "\(path): contentEncoding must be \"base64\""
                )
                return (nil, [])
            }
            return (.bytes, ["type", "contentEncoding", "minLength", "maxLength"])
        }
        guard let member = item.value.member("format") else {
            return (.string, ["type", "minLength", "maxLength", "pattern"])
        }
        switch member.item.value {
        case .string("date"): return (.date, ["type", "format"])
        case .string("date-time"): return (.dateTime, ["type", "format"])
        case .string("uuid"): return (.uuid, ["type", "format"])
        default:
            problem(
                member.line,
                "format",
                "\(path): the format must be date, date-time or uuid"
            )
            return (nil, [])
        }
    }

    mutating func unknownKeyword(_ member: JSON.Member, known: [String], path: String = "") {
        let place = path.isEmpty ? "" : "\(path): "
        problems.add(
            member.line,
            "unknown-keyword",
            "\(place)the keyword \(member.key) is not supported here",
            misspelt: member.key,
            among: known,
            remedy: "remove it"
        )
    }

    /// The string of a keyword; nil if it is absent or no string, which is a problem then.
    mutating func readText(_ item: JSON.Item, _ key: String) -> String? {
        guard let member = item.value.member(key) else { return nil }
        guard case .string(let text) = member.item.value else {
            problem(
                member.line,
                "keyword-value",
                "\(key) must be a string, not \(member.item.value.kindName)"
            )
            return nil
        }
        return text
    }
}
