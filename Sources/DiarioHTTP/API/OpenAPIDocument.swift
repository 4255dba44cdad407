import Diario
import DiarioSchema

/// The description of the interface that a server gives: that of the document, and the commands and
/// views of the packs that the program carries.
enum OpenAPIDocument {
    /// YAML; what is added is JSON, which YAML takes as well.
    static let bytes: [UInt8] = {
        let document = BuiltInPacks.openAPI
        let packs = (try? PackSource.builtIn()) ?? []
        let paths = packs.flatMap(\.declarations).map { declaration in
            let folder = declaration.kind.folder
            let path = "/v1/spaces/{space}/\(folder)/\(declaration.name)"
            let item = String(decoding: declaration.pathItem.asWritten, as: UTF8.self)
            return "  \"\(path)\": \(item)\n"
        }
        guard let end = document.firstRange(of: "\ncomponents:") else {
            return Array(document.utf8)
        }
        return Array(
            (document[..<end.lowerBound] + "\n" + paths.joined()
                + document[end.lowerBound...]
                .dropFirst()).utf8
        )
    }()
}

extension Declaration {
    /// The path item of OpenAPI.
    fileprivate var pathItem: JSON {
        let space: JSON = .make(["$ref": .string("#/components/parameters/space")])
        let post = operation("", [("requestBody", body)])
        var members: [(String, JSON)] = [("parameters", .make([space]))]
        if kind == .view { members.append(("get", operation("Get", [("parameters", parameters)]))) }
        members.append(("post", post))
        return .make(members)
    }

    private func operation(_ suffix: String, _ more: [(String, JSON)]) -> JSON {
        let answer: JSON =
            kind == .command
            ? .make([
                "allOf": .make([
                    .make(["$ref": .string("#/components/schemas/CommandAnswer")]),
                    .make(["properties": .make(["result": resultSchema.withOneLanguage])]),
                ])
            ]) : resultSchema.withOneLanguage
        let good: JSON = .make([
            "description": .string(kind == .command ? "It was run." : "Its result."),
            "content": .make(["application/json": .make(["schema": answer])]),
        ])
        let bad: JSON = .make(["$ref": .string("#/components/responses/Problem")])
        var responses: [(String, JSON)] = [("200", good)]
        if kind == .command { responses.append(("201", good)) }
        responses.append(("default", bad))
        return .make(
            [
                ("operationId", .string(name + suffix)),
                ("tags", .make([.string("commands")])),
                ("summary", .string(description.english)),
            ] + more + [("responses", .make(responses))]
        )
    }

    private var body: JSON {
        var properties: [(String, JSON)] = [("input", inputSchema.withOneLanguage)]
        if kind == .command {
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
        let properties = inputSchema.member("properties")?.item.value
        return .make(
            inputFields.map { field in
                .make([
                    ("name", .string(field.name)), ("in", .string("query")),
                    ("required", .boolean(field.isRequired)),
                    ("description", .string(title(of: field.name)?.english ?? field.name)),
                    (
                        "schema",
                        field.kind == .nested
                            ? .make(["type": .string("string")])
                            : (properties?.member(field.name)?.item.value ?? .make([:]))
                                .withOneLanguage
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

    /// A schema whose texts for people are the English ones, as OpenAPI wants them.
    fileprivate var withOneLanguage: JSON {
        switch self {
        case .object(let members):
            .make(
                members.map { member in
                    let isText = ["title", "description"].contains(member.key)
                    if isText, let texts = Texts(self, member.key) {
                        return (member.key, .string(texts.english))
                    }
                    return (member.key, member.item.value.withOneLanguage)
                }
            )
        case .array(let items): .make(items.map { $0.value.withOneLanguage })
        default: self
        }
    }
}
