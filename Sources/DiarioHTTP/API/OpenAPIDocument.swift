import DiarioEngine
import DiarioSchema

/// The description of the interface that a server gives: that of the document, and the commands and
/// views of the packs that the program carries.
enum OpenAPIDocument {
    /// YAML; what is added is JSON, which YAML takes as well.
    static let bytes: [UInt8] = {
        let document = BuiltInPacks.openAPI
        let packs = (try? PackSource.builtIn()) ?? []
        let paths = packs.flatMap { pack in
            pack.declarations.map { declaration in
                let folder = declaration.kind.folder
                let path = "/v1/spaces/{space}/\(folder)/\(declaration.name)"
                let call = DescribedCall(declaration, of: pack)
                return "  \"\(path)\": \(text(call.pathItem))\n"
            }
        }
        let queries = packs.flatMap { pack in
            pack.sql.queries.compactMap { query in
                DescribedQuery(query, of: pack).map { described in
                    let path = "/v1/spaces/{space}/queries/\(pack.name).\(query.name)"
                    return "  \"\(path)\": \(text(described.pathItem))\n"
                }
            }
        }
        let schemas = packs.flatMap { pack in
            pack.named.types.map { named in
                let schema = named.schema.described(in: pack)
                return "    \"\(pack.name).\(named.name)\": \(text(schema))\n"
            }
        }
        return Array(
            document.inserting(paths + queries, below: "\npaths:\n")
                .inserting(schemas, below: "\n  schemas:\n").utf8
        )
    }()

    private static func text(_ json: JSON) -> String {
        String(decoding: json.asWritten, as: UTF8.self)
    }
}

extension String {
    /// Adds lines below a line; nothing if that is not there.
    fileprivate func inserting(_ lines: [String], below line: String) -> String {
        guard let place = firstRange(of: line) else { return self }
        return self[..<place.upperBound] + lines.joined() + self[place.upperBound...]
    }
}

/// A query that says what it answers, as OpenAPI describes it.
private struct DescribedQuery {
    private let pack: Pack
    private let query: PackQuery
    private let row: JSON

    init?(_ query: PackQuery, of pack: Pack) {
        guard let row = query.answerSchema(asNull: true) else { return nil }
        (self.pack, self.query, self.row) = (pack, query, row.described(in: pack))
    }

    var pathItem: JSON {
        let parameters: [JSON] = query.parameters.map { parameter in
            let schema = parameter.values.schema.described(in: pack)
            let isText = parameter.values.kind == .json
            var members: [(String, JSON)] = [
                ("name", .string(parameter.name)), ("in", .string("query")),
                ("required", .boolean(parameter.fallback == nil)),
                ("schema", isText ? .make(["type": .string("string")]) : schema),
            ]
            if let source = parameter.source {
                members.append(("description", .string("One that the query \(source) answers.")))
            }
            return .make(members)
        }
        let rows: JSON = .make(["type": .string("array"), "items": row])
        let good: JSON = .make([
            "description": .string("An object for each row."),
            "content": .make(["application/json": .make(["schema": rows])]),
        ])
        let get: JSON = .make([
            ("operationId", .string("query.\(pack.name).\(query.name)")),
            ("tags", .make([.string("queries")])), ("summary", .string(query.title)),
            ("security", .make([.make(["token": .make([JSON]())]), .make([(String, JSON)]())])),
            ("parameters", .make(parameters)),
            (
                "responses",
                .make([
                    "200": good,
                    "default": .make(["$ref": .string("#/components/responses/Problem")]),
                ])
            ),
        ])
        return .make([
            (
                "parameters",
                .make([.make(["$ref": .string("#/components/parameters/space")])])
            ), ("get", get),
        ])
    }
}

/// A command or a view as OpenAPI describes it.
private struct DescribedCall {
    private let declaration: Declaration
    private let input: JSON
    private let result: JSON

    init(_ declaration: Declaration, of pack: Pack) {
        self.declaration = declaration
        let forms = pack.writtenForms(of: declaration)
        input = forms.input.described(in: pack)
        result = forms.result.described(in: pack)
    }

    /// The path item.
    var pathItem: JSON {
        let space: JSON = .make(["$ref": .string("#/components/parameters/space")])
        let post = operation("", [("requestBody", body)])
        var members: [(String, JSON)] = [("parameters", .make([space]))]
        if declaration.kind == .view {
            members.append(("get", operation("Get", [("parameters", parameters)])))
        }
        members.append(("post", post))
        return .make(members)
    }

    private func operation(_ suffix: String, _ more: [(String, JSON)]) -> JSON {
        let answer: JSON =
            declaration.kind == .command
            ? .make([
                "allOf": .make([
                    .make(["$ref": .string("#/components/schemas/CommandAnswer")]),
                    .make(["properties": .make(["result": result])]),
                ])
            ]) : result
        let good: JSON = .make([
            "description": .string(declaration.kind == .command ? "It was run." : "Its result."),
            "content": .make(["application/json": .make(["schema": answer])]),
        ])
        let bad: JSON = .make(["$ref": .string("#/components/responses/Problem")])
        var responses: [(String, JSON)] = [("200", good)]
        if declaration.kind == .command { responses.append(("201", good)) }
        responses.append(("default", bad))
        return .make(
            [
                ("operationId", .string(declaration.name + suffix)),
                ("tags", .make([.string("commands")])),
                ("summary", .string(declaration.description.english)),
            ] + more + [("responses", .make(responses))]
        )
    }

    private var body: JSON {
        var properties: [(String, JSON)] = [("input", input)]
        if declaration.kind == .command {
            let call = "#/components/schemas/CommandCall/properties/"
            for name in ["at", "actor", "dryRun"] {
                properties.append((name, .make(["$ref": .string(call + name)])))
            }
        }
        let schema: JSON = .make([
            ("type", .string("object")), ("additionalProperties", .boolean(false)),
            ("required", .make([.string("input")])), ("properties", .make(properties)),
        ])
        return .make([
            ("required", .boolean(true)),
            ("content", .make(["application/json": .make(["schema": schema])])),
        ])
    }

    private var parameters: JSON {
        let properties = input.member("properties")?.item.value
        return .make(
            declaration.inputFields.map { field in
                .make([
                    ("name", .string(field.name)), ("in", .string("query")),
                    ("required", .boolean(field.isRequired)),
                    (
                        "description",
                        .string(declaration.title(of: field.name)?.english ?? field.name)
                    ),
                    (
                        "schema",
                        field.kind == .nested
                            ? .make(["type": .string("string")])
                            : properties?.member(field.name)?.item.value ?? .make([:])
                    ),
                ])
            }
        )
    }
}

extension JSON {
    fileprivate static func make(_ members: KeyValuePairs<String, JSON>) -> JSON {
        make(members.map { ($0.key, $0.value) })
    }

    fileprivate static func make(_ members: [(String, JSON)]) -> JSON {
        .object(of: members)
    }

    fileprivate static func make(_ items: [JSON]) -> JSON {
        .array(of: items)
    }

    /// A schema whose texts for people are the English ones, as OpenAPI wants them, with references
    /// to the types of a pack that have names.
    fileprivate func described(in pack: Pack) -> JSON {
        switch self {
        case .object(let members):
            let named = NamedTypes.name(in: self)
            let kept = members.filter {
                named == nil || ["$ref", "title", "description"].contains($0.key)
            }
            return .make(
                kept.map { member in
                    if let named, member.key == "$ref" {
                        return (member.key, .string("#/components/schemas/\(pack.name).\(named)"))
                    }
                    if member.key == "properties", case .object(let fields) = member.item.value {
                        // A field may be called as a keyword is: `title` of a song.
                        return (
                            member.key,
                            .make(
                                fields.map {
                                    ($0.key, $0.item.value.described(in: pack))
                                }
                            )
                        )
                    }
                    let isText = ["title", "description"].contains(member.key)
                    if isText, let texts = Texts(self, member.key) {
                        return (member.key, .string(texts.english))
                    }
                    return (member.key, member.item.value.described(in: pack))
                }
            )
        case .array(let items): return .make(items.map { $0.value.described(in: pack) })
        default: return self
        }
    }
}
