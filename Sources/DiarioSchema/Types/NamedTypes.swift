import DiarioCore

/// The types to which a pack gives names in `types.json`: schema/README.md, "Types with names".
package struct NamedTypes: Sendable {
    /// A schema with a name.
    package struct Named: Sendable {
        package let name: String
        let line: Int
        package let description: String?
        /// With the names of other types beside what they stand for.
        package let schema: JSON

        /// The values of an enumeration; empty for other types.
        package var values: [String] {
            guard case .array(let items)? = schema.member("enum")?.item.value else { return [] }
            return items.compactMap { if case .string(let text) = $0.value { text } else { nil } }
        }
    }

    /// In the order of the file.
    package private(set) var types: [Named] = []

    package static let path = "types.json"

    /// What stands in front of a name, in other files and in this one.
    private static let (outside, inside) = ("../\(path)#/", "#/")
    private static let reference = "$ref"
    /// What a field says for itself, beside the type that it has.
    private static let besides = [
        "title", "description", "x-diario-unit", "x-diario-id", "x-diario-personal",
    ]

    /// The name that a schema refers to; nil if it refers to none.
    package static func name(in schema: JSON) -> String? {
        guard case .string(let text)? = schema.member(reference)?.item.value else { return nil }
        return text.hasPrefix(outside)
            ? String(text.dropFirst(outside.count)) : String(text.dropFirst(inside.count))
    }

    package init() {}

    // MARK: Reading the file

    /// The types of a file; those that are right, if there are problems.
    init(_ file: PackFile, _ problems: inout ProblemList) {
        let root: JSON.Item
        do { root = try JSON.parse(file.bytes) } catch {
            problems.add(error.line, error.rule, error.message)
            return
        }
        guard case .object(let members) = root.value else {
            problems.add(root.line, "types", "types.json is an object; write { ... }")
            return
        }
        var open = members.filter { Self.isSound($0, &problems) }
        // Each needs only those that are known, or they refer to one another in a circle.
        while let index = open.firstIndex(where: { !Self.refers($0.item.value, to: open) }) {
            let member = open.remove(at: index)
            var found = ProblemList(file: file.path)
            let schema = expand(member.item, Self.inside, keepingNames: true, &found)
            check(member, file, &found)
            for problem in found.problems {
                problems.add(problem.line, problem.rule, problem.message)
            }
            guard found.problems.isEmpty else { continue }
            var description: String?
            if case .string(let text)? = member.item.value.member("description")?.item.value {
                description = text
            }
            types.append(
                Named(
                    name: member.key,
                    line: member.line,
                    description: description,
                    schema: schema.value.without(["description"])
                )
            )
        }
        for member in open {
            problems.add(
                member.line,
                "type-circle",
                "\(member.key) is made of itself, by way of what it refers to; write out one of "
                    + "these types"
            )
        }
        let order = members.map { $0.key }
        types.sort { one, other in
            (order.firstIndex { $0.hasBytes(of: one.name) } ?? 0)
                < (order.firstIndex { $0.hasBytes(of: other.name) } ?? 0)
        }
    }

    private static func isSound(_ member: JSON.Member, _ problems: inout ProblemList) -> Bool {
        guard SchemaNames.isNamedType(member.key), !reserved.contains(member.key) else {
            problems.add(
                member.line,
                "type-name",
                "\(SchemaNames.told(member.key)) is no name that Swift and TypeScript can have; a "
                    + "name is a capital letter, then at most 63 letters and digits, and no name "
                    + "of their own"
            )
            return false
        }
        return true
    }

    /// True if a schema refers to one of the types of the file.
    private static func refers(_ schema: JSON, to types: [JSON.Member]) -> Bool {
        if let name = name(in: schema) { return types.contains { $0.hasKey(name) } }
        guard case .object(let members) = schema else { return false }
        return members.contains { member in
            switch member.key {
            case "items": refers(member.item.value, to: types)
            case "properties":
                if case .object(let fields) = member.item.value {
                    fields.contains { refers($0.item.value, to: types) }
                } else {
                    false
                }
            default: false
            }
        }
    }

    /// Checks the schema as that of a field.
    private func check(_ member: JSON.Member, _ file: PackFile, _ problems: inout ProblemList) {
        let plain = expand(member.item, Self.inside, keepingNames: false, &problems)
        guard problems.problems.isEmpty else { return }
        let field = JSON.Member(
            key: "value",
            line: member.line,
            item: JSON.Item(value: plain.value.without(["description"]), line: plain.line)
        )
        let form = JSON.object([
            Self.member("type", .string("object"), member.line),
            Self.member("additionalProperties", .boolean(false), member.line),
            Self.member("properties", .object([field]), member.line),
        ])
        var reader = SchemaReader(file: file.path, budget: PatternBudget())
        _ = reader.readForm(JSON.Item(value: form, line: member.line), "types.json", version: 1)
        for problem in reader.problems.problems {
            problems.add(problem.line, problem.rule, problem.message)
        }
    }

    private static func member(_ key: String, _ value: JSON, _ line: Int) -> JSON.Member {
        JSON.Member(key: key, line: line, item: JSON.Item(value: value, line: line))
    }

    // MARK: Referring to them

    /// A schema of another file, with what the names in it stand for in their place.
    func expand(_ item: JSON.Item, _ problems: inout ProblemList) -> JSON.Item {
        expand(item, Self.outside, keepingNames: false, &problems)
    }

    /// The same, with the names beside that; for what is made of a pack without problems.
    package func withNames(_ item: JSON.Item) -> JSON {
        var problems = ProblemList(file: "")
        return expand(item, Self.outside, keepingNames: true, &problems).value
    }

    private func expand(
        _ item: JSON.Item,
        _ prefix: String,
        keepingNames: Bool,
        _ problems: inout ProblemList
    ) -> JSON.Item {
        guard case .object(let members) = item.value else { return item }
        if let member = item.value.member(Self.reference) {
            return referred(by: member, item, prefix, keepingNames: keepingNames, &problems)
        }
        var expanded: [JSON.Member] = []
        for member in members {
            var value = member.item
            switch (member.key, value.value) {
            case ("items", _):
                value = expand(value, prefix, keepingNames: keepingNames, &problems)
            case ("properties", .object(let fields)):
                var all: [JSON.Member] = []
                for field in fields {
                    let item = expand(field.item, prefix, keepingNames: keepingNames, &problems)
                    all.append(JSON.Member(key: field.key, line: field.line, item: item))
                }
                value = JSON.Item(value: .object(all), line: value.line)
            default: break
            }
            expanded.append(JSON.Member(key: member.key, line: member.line, item: value))
        }
        return JSON.Item(value: .object(expanded), line: item.line)
    }

    /// What stands in the place of a schema that refers to a type.
    private func referred(
        by reference: JSON.Member,
        _ item: JSON.Item,
        _ prefix: String,
        keepingNames: Bool,
        _ problems: inout ProblemList
    ) -> JSON.Item {
        guard case .object(let members) = item.value,
            case .string(let text) = reference.item.value,
            let named = types.first(where: { text.hasBytes(of: prefix + $0.name) })
        else {
            var told = "a value that is no text"
            if case .string(let text) = reference.item.value { told = SchemaNames.told(text) }
            problems.add(
                reference.line,
                "reference",
                "\(told) leads to no type of types.json",
                misspelt: told,
                among: types.map { prefix + $0.name },
                remedy: "write \(prefix)NAME, with a name that is there"
            )
            // Nothing more is said of it.
            return JSON.Item(value: .object(of: [("type", .string("string"))]), line: item.line)
        }
        var own: [JSON.Member] = []
        for member in members where !member.hasKey(Self.reference) {
            guard Self.besides.contains(member.key) else {
                problems.add(
                    member.line,
                    "beside-reference",
                    "\(member.key) cannot stand beside $ref, which says what the value is; add it "
                        + "to the type \(named.name), or write the type out"
                )
                continue
            }
            own.append(member)
        }
        let schema = keepingNames ? named.schema : named.schema.withoutNames
        guard case .object(let content) = schema.placed(at: reference.line) else { return item }
        if keepingNames { own.append(reference) }
        let rest = content.filter { member in !own.contains { $0.hasKey(member.key) } }
        return JSON.Item(value: .object(own + rest), line: item.line)
    }

    /// Names that mean something else in Swift, or that made code uses itself.
    package static let reserved: Set = [
        "Any", "Array", "Bool", "BrokenRule", "CivilDay", "Diario", "Diary", "Domain", "Double",
        "EmbeddedPack", "Equatable", "Error", "EventFields", "EventSchema", "Int", "Int64",
        "JSONText", "Language", "Optional", "Outcome", "Protocol", "Recorded", "Result", "Rows",
        "Rule", "Self", "Sendable", "String", "Swift", "Texts", "ThingID", "Timestamp", "Type",
        "TypedEvent",
        "UInt8", "UniqueID", "Words",
    ]
}

extension JSON {
    /// A schema without the names of types, in schema positions only.
    fileprivate var withoutNames: JSON {
        guard case .object(let members) = self else { return self }
        return .object(
            members.filter { !$0.hasKey("$ref") }.map { member in
                switch (member.key, member.item.value) {
                case ("items", let items): return member.with(items.withoutNames)
                case ("properties", .object(let fields)):
                    return member.with(
                        .object(fields.map { $0.with($0.item.value.withoutNames) })
                    )
                default: return member
                }
            }
        )
    }

    fileprivate func without(_ keys: [String]) -> JSON {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { !keys.contains($0.key) })
    }

    /// The same, with all of it on one line.
    fileprivate func placed(at line: Int) -> JSON {
        switch self {
        case .object(let members):
            .object(
                members.map {
                    Member(
                        key: $0.key,
                        line: line,
                        item: Item(value: $0.item.value.placed(at: line), line: line)
                    )
                }
            )
        case .array(let items):
            .array(items.map { Item(value: $0.value.placed(at: line), line: line) })
        default: self
        }
    }
}
