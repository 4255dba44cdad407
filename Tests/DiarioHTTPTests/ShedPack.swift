import DiarioCore
import DiarioSchema

/// A pack that says who may record what: tools are lent by whoever bought them, notes edited by
/// whoever left them first, and a list is the keeper's.
enum ShedPack {
    static func make() throws -> Pack {
        try Pack(files: files.map { PackFile(path: $0.key, bytes: Array($0.value.utf8)) })
    }

    private static let files: [String: String] = [
        "pack.json": """
        {"name":"shed","version":1,"roles":{"keeper":"Keeps the list."},"who":{
        "shed.tool.lent":{"author":true},
        "shed.tool.scrapped":{"author":true,"roles":["keeper"]},
        "shed.list.set":{"roles":["keeper"]},
        "shed.note.edited":{"author":true}}}
        """,
        "events/tool.bought.1.json": schema("tool.bought", 1, "toolId", isNew: true),
        "events/tool.bought.2.json": schema("tool.bought", 2, "toolId", isNew: true),
        "events/tool.lent.1.json": schema("tool.lent", 1, "toolId"),
        "events/tool.lent.2.json": schema("tool.lent", 2, "toolId"),
        "events/tool.scrapped.1.json": schema("tool.scrapped", 1, "toolId"),
        "events/list.set.1.json": schema("list.set", 1, "listId"),
        "events/note.left.1.json": schema("note.left", 1, "noteId"),
        "events/note.edited.1.json": schema("note.edited", 1, "noteId"),
        "readmodel/tools.sql": """
        -- readmodel tools version 1: the tools there are
        CREATE TABLE tool (toolId TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;

        -- on shed.tool.bought
        INSERT INTO tool VALUES (:toolId) ON CONFLICT (toolId) DO NOTHING;
        """,
        "commands/thing.do.1.json": """
        {"title":"shed.thing.do","description":{"en":"Does it.","it":"Lo fa."},
        "events":["shed.tool.bought","shed.tool.lent","shed.tool.scrapped","shed.list.set",
        "shed.note.left","shed.note.edited"],
        "input":{"type":"object","additionalProperties":false,"required":["what"],
        "properties":{"what":{"type":"string","maxLength":40},
        "about":{"type":"string","maxLength":64}}},
        "result":{"type":"object","additionalProperties":false,"properties":{}}}
        """,
    ]

    private static func schema(
        _ name: String,
        _ version: Int,
        _ subject: String,
        isNew: Bool = false
    ) -> String {
        let id = isNew ? "new" : "thing"
        // The second version has one field more.
        let price = version == 1 ? "" : #","price":{"type":"integer"}"#
        return """
            {"title":"shed.\(name)","x-diario-version":\(version),"x-diario-subject":"\(subject)",
            "type":"object","additionalProperties":false,
            "required":[\(isNew ? "" : "\"\(subject)\"")],"properties":{
            "\(subject)":{"type":"string","minLength":1,"maxLength":64,
            "x-diario-id":"\(id)"}\(price)}}
            """
    }

    static let domain = Domain(
        "shed",
        [
            .command { (input: Do, _) throws(BrokenRule) in
                let outcome = Outcome(Do.Result())
                return switch input.what {
                case "tool.bought": outcome.recording(Bought(id: input.about))
                case "tool.lent": outcome.recording(Lent(id: input.about))
                case "tool.scrapped": outcome.recording(Scrapped(id: input.about))
                case "list.set": outcome.recording(ListSet(id: input.about))
                case "note.left": outcome.recording(NoteLeft(id: input.about))
                default: outcome.recording(NoteEdited(id: input.about))
                }
            }
        ]
    )

    struct Do: CommandInput {
        var what: String
        var about: String?

        init(from values: CommandValues) throws(MissingValue) {
            what = try values.required("what", values.text("what"))
            about = values.text("about")
        }

        func encode(into values: inout CommandValues) {
            values.set("what", what)
            values.set("about", about)
        }

        struct Result: NestedValues {
            init() {}
            init(from values: CommandValues) {}
            func encode(into values: inout CommandValues) {}
        }

        static var domain: Domain { ShedPack.domain }

        static var declaration: DeclaredCall {
            DeclaredCall(
                name: "shed.thing.do",
                version: 1,
                text: """
                    {"events":["shed.tool.bought","shed.tool.lent","shed.tool.scrapped",\
                    "shed.list.set","shed.note.left","shed.note.edited"],"input":\
                    {"additionalProperties":false,"properties":{"about":{"maxLength":64,\
                    "type":"string"},"what":{"maxLength":40,"type":"string"}},"required":["what"],\
                    "type":"object"},"result":{"additionalProperties":false,"properties":{},\
                    "type":"object"}}
                    """
            )
        }
    }
}

private protocol About: NewEvent {
    static var field: String { get }
    var id: String? { get }
}

extension About {
    func encode(into values: inout CommandValues) { values.set(Self.field, id) }
}

private struct Bought: About {
    static var type: (name: String, version: Int) { ("shed.tool.bought", 2) }
    static let field = "toolId"
    let id: String?
}

private struct Lent: About {
    static var type: (name: String, version: Int) { ("shed.tool.lent", 2) }
    static let field = "toolId"
    let id: String?
}

private struct Scrapped: About {
    static var type: (name: String, version: Int) { ("shed.tool.scrapped", 1) }
    static let field = "toolId"
    let id: String?
}

private struct ListSet: About {
    static var type: (name: String, version: Int) { ("shed.list.set", 1) }
    static let field = "listId"
    let id: String?
}

private struct NoteLeft: About {
    static var type: (name: String, version: Int) { ("shed.note.left", 1) }
    static let field = "noteId"
    let id: String?
}

private struct NoteEdited: About {
    static var type: (name: String, version: Int) { ("shed.note.edited", 1) }
    static let field = "noteId"
    let id: String?
}
