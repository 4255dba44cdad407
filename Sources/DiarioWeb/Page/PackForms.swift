import DiarioEngine
import DiarioSchema

/// What a page makes forms and tables of: the declarations of a pack, and its texts.
enum PackForms {
    static func json(of pack: Pack, fingerprint: String) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("name", pack.name)
            json.add("version", pack.version)
            json.add("fingerprint", fingerprint)
            if let title = pack.title { json.add("title", title) }
            if let description = pack.description { json.add("description", description) }
            json.add("commands", list: pack.declarations.map { $0.json })
            json.add("queries", list: pack.sql.queries.map { $0.json(in: pack) })
            json.add("types", list: newestTypes(of: pack).map { form(of: $0, in: pack) })
            if let named = pack.files.first(where: { $0.path == "types.json" }) {
                json.add("named", json: named.bytes)
            }
            json.add("texts", json: texts(of: pack))
        }
    }

    /// The types whose events may be recorded: of each the newest version.
    private static func newestTypes(of pack: Pack) -> [EventType] {
        pack.types.indices.filter { index in
            index + 1 == pack.types.count || pack.types[index + 1].name != pack.types[index].name
        }.map { pack.types[$0] }
    }

    private static func form(of type: EventType, in pack: Pack) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("name", type.name)
            json.add("version", type.version)
            json.add("schema", json: pack.writtenSchema(of: type).asWritten)
            guard let rule = pack.who[type.name] else { return }
            json.add("author", rule.asksAuthor)
            json.add("roles", texts: rule.roles)
        }
    }

    /// By language the files of the folder `texts`.
    private static func texts(of pack: Pack) -> [UInt8] {
        JSONObjectWriter.object { json in
            for file in pack.files where file.path.hasPrefix("texts/") {
                let language = file.path.dropFirst("texts/".count).dropLast(".json".count)
                json.add(String(language), json: file.bytes)
            }
        }
    }
}
