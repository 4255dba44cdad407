import DiarioCore

extension SchemaReader {
    /// The largest integer of which RFC 8785 knows a canonical form.
    private static let exactIntegerMax: Int64 = 1 << 53 - 1
    /// No text or list is longer, so a higher bound says nothing more.
    private static let lengthCeiling = Int64(Int32.max)
    /// The longest origin has 34 characters; the rest is for later forms.
    private static let newIDLengthMin = 40
    /// Origins as a writer would fill them in: the shortest and the longest.
    private static let sampleOrigins = ["0000000000001-1", "fzzzzzzzzzzzz-18446744073709551615"]

    /// Reads the keywords that belong to one form.
    mutating func readRules(
        _ item: JSON.Item,
        kind: SchemaNode.Kind,
        at index: Int,
        path: String
    ) {
        switch kind {
        case .integer: readIntegerBounds(item, at: index, path: path)
        case .number: readNumberBounds(item, at: index, path: path)
        case .string:
            readCounts(item, "minLength", "maxLength", at: index, path: path)
            readPattern(item, at: index, path: path)
        case .bytes: readCounts(item, "minLength", "maxLength", at: index, path: path)
        case .enumeration: readEnumeration(item, at: index, path: path)
        case .boolean, .date, .dateTime, .uuid: break
        case .object: rules.nodes[index].children = readObject(item, path: path).range
        case .array: readArray(item, at: index, path: path)
        }
    }

    private mutating func readIntegerBounds(_ item: JSON.Item, at index: Int, path: String) {
        for key in ["minimum", "maximum"] {
            guard let member = item.value.member(key) else { continue }
            guard case .integer(let bound) = member.item.value,
                bound.magnitude <= Self.exactIntegerMax.magnitude
            else {
                problem(
                    member.line,
                    "bound",
                    "\(path): \(key) must be an integer of at most \(Self.exactIntegerMax) either "
                        + "way; without it, any 64-bit integer is taken"
                )
                continue
            }
            if key == "minimum" {
                rules.nodes[index].minimum = bound
            } else {
                rules.nodes[index].maximum = bound
            }
        }
        let node = rules.nodes[index]
        if node.minimum > node.maximum { boundsCrossed(item, "minimum", "maximum", path: path) }
    }

    private mutating func readNumberBounds(_ item: JSON.Item, at index: Int, path: String) {
        for key in ["minimum", "maximum"] {
            guard let member = item.value.member(key) else { continue }
            let bound: Double
            switch member.item.value {
            case .integer(let value) where value.magnitude <= Self.exactIntegerMax.magnitude:
                bound = Double(value)
            case .number(let value): bound = value
            default:
                problem(
                    member.line,
                    "bound",
                    "\(path): \(key) must be a number that binary64 holds exactly"
                )
                continue
            }
            if key == "minimum" {
                rules.nodes[index].numberMinimum = bound
            } else {
                rules.nodes[index].numberMaximum = bound
            }
        }
        let node = rules.nodes[index]
        if node.numberMinimum > node.numberMaximum {
            boundsCrossed(item, "minimum", "maximum", path: path)
        }
    }

    /// Reads bounds of a length or of a number of items.
    private mutating func readCounts(
        _ item: JSON.Item,
        _ lowKey: String,
        _ highKey: String,
        at index: Int,
        path: String
    ) {
        rules.nodes[index].minimum = 0
        for key in [lowKey, highKey] {
            guard let member = item.value.member(key) else { continue }
            guard case .integer(let bound) = member.item.value, 0...Self.lengthCeiling ~= bound
            else {
                problem(
                    member.line,
                    "bound",
                    "\(path): \(key) must be an integer from 0 to \(Self.lengthCeiling)"
                )
                continue
            }
            if key == lowKey {
                rules.nodes[index].minimum = bound
            } else {
                rules.nodes[index].maximum = bound
            }
        }
        let node = rules.nodes[index]
        if node.minimum > node.maximum { boundsCrossed(item, lowKey, highKey, path: path) }
    }

    private mutating func boundsCrossed(
        _ item: JSON.Item,
        _ lowKey: String,
        _ highKey: String,
        path: String
    ) {
        problem(
            item.value.member(lowKey)?.line,
            "bounds-crossed",
            "\(path): \(lowKey) is above \(highKey), so no value fits; swap them"
        )
    }

    private mutating func readPattern(_ item: JSON.Item, at index: Int, path: String) {
        guard let text = readText(item, "pattern") else { return }
        do {
            rules.nodes[index].pattern = Int32(rules.patterns.count)
            rules.patterns.append(try Pattern(text, budget: &budget))
        } catch {
            rules.nodes[index].pattern = -1
            problem(
                item.value.member("pattern")?.line,
                "pattern",
                "\(path): pattern, character \(error.position): \(error.message)"
            )
        }
    }

    private mutating func readEnumeration(_ item: JSON.Item, at index: Int, path: String) {
        if let type = item.value.member("type") {
            if case .string("string") = type.item.value {
            } else {
                problem(type.line, "enum", "\(path): an enum holds strings; remove its type")
            }
        }
        guard let member = item.value.member("enum"),
            case .array(let items) = member.item.value, !items.isEmpty
        else {
            problem(
                item.value.member("enum")?.line,
                "enum",
                "\(path): enum must be an array of at least one string"
            )
            return
        }
        var texts: [[UInt8]] = []
        var known: Set<[UInt8]> = []
        for value in items {
            guard case .string(let text) = value.value else {
                problem(value.line, "enum", "\(path): an enum may hold only strings; add quotes")
                continue
            }
            if !known.insert(Array(text.utf8)).inserted {
                problem(value.line, "enum-twice", "\(path): enum has \(text) twice; once is enough")
            }
            texts.append(Array(text.utf8))
        }
        let order = texts.indices.sorted { left, right in
            texts[left].count == texts[right].count
                ? texts[left].lexicographicallyPrecedes(texts[right])
                : texts[left].count < texts[right].count
        }
        rules.nodes[index].children = SchemaRange(start: rules.values.count, count: texts.count)
        for text in texts {
            rules.valueTexts.append(SchemaRange(start: rules.names.count, count: text.count))
            rules.names += text
        }
        let ranges = rules.valueTexts.suffix(texts.count)
        rules.values += order.map { original in
            EnumerationValue(
                text: ranges[ranges.startIndex + original],
                index: Int32(original)
            )
        }
    }

    private mutating func readArray(_ item: JSON.Item, at index: Int, path: String) {
        readCounts(item, "minItems", "maxItems", at: index, path: path)
        guard let items = item.value.member("items") else {
            problem(item.line, "items-missing", "\(path) needs items: the form of its elements")
            return
        }
        let child = rules.nodes.count
        rules.nodes.append(SchemaNode(kind: .boolean))
        rules.nodes[index].children = SchemaRange(start: child, count: 1)
        readForm(items.item, at: child, path: "\(path)[]", isTop: false)
    }

    /// Makes the field of a node at the top level of the payload.
    mutating func readField(_ member: JSON.Member, node: SchemaNode, index: Int) -> Field {
        let name = member.key
        var isPersonal = false
        if let personal = member.item.value.member("x-diario-personal") {
            if case .boolean(true) = personal.item.value {
                isPersonal = true
            } else {
                problem(
                    personal.line,
                    "personal",
                    "\(name): x-diario-personal must be true; leave it out where it is not"
                )
            }
        }
        let id = readText(member.item, "x-diario-id")
        if let id, !SchemaNames.isReferenceKind(id) {
            problem(
                member.item.value.member("x-diario-id")?.line,
                "reference-kind",
                "\(name): x-diario-id must be new or a kind: \(SchemaNames.kindRule)"
            )
        }
        let isNewID = id == "new"
        let referenceKind = isNewID ? nil : id
        if referenceKind != nil { checkReference(member, node: node, index: index) }
        return Field(
            name: name,
            kind: node.kind.fieldKind,
            isRequired: node.isRequired,
            isPersonal: isPersonal,
            isNewID: isNewID,
            referenceKind: referenceKind,
            unit: readText(member.item, "x-diario-unit"),
            title: title(of: member),
            description: isForm ? nil : readText(member.item, "description"),
            bounds: bounds(of: node, at: index),
            nameBytes: Array(name.utf8)
        )
    }

    /// The title of a field; that it is a text was checked along with its form.
    private func title(of field: JSON.Member) -> String? {
        guard case .string(let text)? = field.item.value.member("title")?.item.value else {
            return nil
        }
        return text
    }

    private mutating func checkReference(_ member: JSON.Member, node: SchemaNode, index: Int) {
        switch node.kind {
        case .string: rules.nodes[index].isReference = true
        case .uuid, .integer: break
        case .number, .boolean, .enumeration, .date, .dateTime, .bytes, .object, .array:
            problem(
                member.item.value.member("x-diario-id")?.line,
                "reference-form",
                "\(member.key): a field with x-diario-id must be a string, a uuid or an integer"
            )
        }
    }

    /// Checks that the writer may leave `field` out and fill in any origin.
    mutating func checkNewID(_ field: Field, line: Int) {
        if field.isPersonal {
            problem(
                line,
                "new-id-personal",
                "the new id \(field.name) is personal, but an id stays for ever; unmark it"
            )
        }
        if field.isRequired {
            problem(
                line,
                "new-id-required",
                "the new id \(field.name) is required; remove it there, since the writer fills it "
                    + "in"
            )
        }
        guard field.kind == .string else {
            problem(
                line,
                "new-id-kind",
                "the new id \(field.name) must be a string, since an origin is text"
            )
            return
        }
        let fits = Self.sampleOrigins.allSatisfy { origin in
            let bytes = Array(origin.utf8)
            return field.bounds.pattern?.matches(bytes.span) ?? true
        }
        let shortest = Self.sampleOrigins[0].utf8.count
        if field.bounds.lengthMax ?? .max < Self.newIDLengthMin
            || field.bounds.lengthMin ?? 0 > shortest || !fits
        {
            problem(
                line,
                "new-id-narrow",
                "the new id \(field.name) does not take every origin, such as "
                    + "\(Self.sampleOrigins[1]); give it a maxLength of at least "
                    + "\(Self.newIDLengthMin) and no pattern"
            )
        }
    }

    private func bounds(of node: SchemaNode, at index: Int) -> Field.Bounds {
        var bounds = Field.Bounds()
        switch node.kind {
        case .integer:
            bounds.minimum = node.minimum == .min ? nil : node.minimum
            bounds.maximum = node.maximum == .max ? nil : node.maximum
        case .number:
            bounds.numberMinimum = node.numberMinimum.isFinite ? node.numberMinimum : nil
            bounds.numberMaximum = node.numberMaximum.isFinite ? node.numberMaximum : nil
        case .string, .bytes, .array:
            bounds.lengthMin = node.minimum == 0 ? nil : Int(node.minimum)
            bounds.lengthMax = node.maximum == .max ? nil : Int(node.maximum)
            if node.pattern >= 0 { bounds.pattern = rules.patterns[Int(node.pattern)] }
        case .enumeration: bounds.values = rules.values(of: index)
        case .boolean, .date, .dateTime, .uuid, .object: break
        }
        return bounds
    }
}
