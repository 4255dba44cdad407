import DiarioCore
import DiarioSchema

/// A small pack with a command and a view: things are stocked, and taken while there are some.
enum TillPack {
    static func make(_ changes: [String: String] = [:]) throws -> Pack {
        let all = files.merging(changes) { $1 }
        return try Pack(files: all.map { PackFile(path: $0.key, bytes: Array($0.value.utf8)) })
    }

    static let files: [String: String] = [
        "pack.json": #"{"name":"till","version":1}"#,
        "events/item.stocked.1.json": schema(
            "item.stocked",
            subject: "itemId",
            #""itemId":{"type":"string","maxLength":40},"count":{"type":"integer"}"#,
            required: #""itemId","count""#
        ),
        "events/item.taken.1.json": schema(
            "item.taken",
            subject: "takingId",
            #""takingId":{"type":"string","maxLength":64,"x-diario-id":"new"},"#
                + #""itemId":{"type":"string","maxLength":40},"#
                + #""left":{"type":"integer"},"note":{"type":"string","maxLength":20}"#,
            required: #""itemId","left""#
        ),
        "readmodel/stock.sql": """
        -- readmodel stock version 1: how many there are of each thing
        CREATE TABLE stock (itemId TEXT NOT NULL PRIMARY KEY, count INT NOT NULL)
        STRICT, WITHOUT ROWID;
        CREATE TABLE taking (takingId TEXT NOT NULL PRIMARY KEY, actor TEXT) STRICT, WITHOUT ROWID;

        -- on till.item.stocked
        INSERT INTO stock VALUES (:itemId, :count)
        ON CONFLICT (itemId) DO UPDATE SET count = count + excluded.count;

        -- on till.item.taken
        UPDATE stock SET count = count - 1 WHERE itemId = :itemId;
        INSERT INTO taking VALUES (:takingId, :_actor) ON CONFLICT (takingId) DO NOTHING;
        """,
        "queries/stock.sql": """
        -- query stock(item TEXT): how many there are of a thing
        SELECT count FROM stock WHERE itemId = :item;
        """,
        "commands/item.take.1.json": take(noteMax: 20),
        "views/item.left.1.json": """
        {"title":"till.item.left","description":{"en":"What is left.","it":"Quanto resta."},
        "input":{"type":"object","additionalProperties":false,"required":["itemId"],
        "properties":{"itemId":{"type":"string","maxLength":40},"weightMg":{"type":"integer"}}},
        "result":{"type":"object","additionalProperties":false,"required":["count"],
        "properties":{"count":{"type":"integer"},"weightMg":{"type":"integer"}}}}
        """,
    ]

    /// The command's declaration, of which `noteMax` is a part that programs have to agree on.
    static func take(noteMax: Int) -> String {
        """
        {"title":"till.item.take","description":{"en":"Takes one.","it":"Ne prende uno."},
        "events":["till.item.taken"],"actor":"required",
        "input":{"type":"object","additionalProperties":false,"required":["itemId"],
        "properties":{"takingId":{"type":"string","maxLength":64,"x-diario-id":"new"},
        "itemId":{"type":"string","maxLength":40},
        "note":{"type":"string","maxLength":\(noteMax)}}},
        "result":{"type":"object","additionalProperties":false,
        "properties":{"takingId":{"type":"string"},"left":{"type":"integer"}}}}
        """
    }

    private static func schema(
        _ name: String,
        subject: String,
        _ properties: String,
        required: String
    ) -> String {
        #"{"title":"till.\#(name)","x-diario-version":1,"x-diario-subject":"\#(subject)","#
            + #""type":"object","additionalProperties":false,"required":[\#(required)],"#
            + #""properties":{\#(properties)}}"#
    }

    /// The rules, which do `first` before they decide.
    static func domain(_ first: @escaping @Sendable () -> Void = {}) -> Domain {
        Domain(
            "till",
            [
                .command { (input: Take, space) throws(BrokenRule) in
                    let count = stock(of: input.itemId, in: space)
                    first()
                    guard let count, count > 0 else {
                        throw BrokenRule(
                            "out-of-stock",
                            field: "itemId",
                            value: input.itemId,
                            Texts("None is left.", it: "Non ne resta nessuno."),
                            remedy: Texts("Take another thing.", it: "Prendi altro.")
                        )
                    }
                    return Outcome(Take.Result()).recording(
                        Taken(
                            takingId: input.takingId,
                            itemId: input.itemId,
                            left: count - 1,
                            note: input.note
                        )
                    )
                },
                .view { (input: Left, space) throws(BrokenRule) in
                    let count = stock(of: input.itemId, in: space)
                    return Left.Result(count: count ?? 0, weightMg: input.weightMg)
                },
            ]
        )
    }

    private static func stock(of item: String, in space: any CommandSpace) -> Int64? {
        Stock.asked(of: space, QueryParameters { $0.set("item", item) }).first?.count
    }

    // MARK: What DiarioPackTool makes of the pack, by hand

    struct Stock: QueryRow {
        var count: Int64

        static var query: AskedQuery { AskedQuery("stock", ["count"]) }

        init(from row: RowValues) throws(RowFault) {
            count = try row.required(0, row.integer(0))
        }
    }

    struct Take: CommandInput {
        var takingId: String?
        var itemId: String
        var note: String?

        init(takingId: String? = nil, itemId: String, note: String? = nil) {
            (self.takingId, self.itemId, self.note) = (takingId, itemId, note)
        }

        init(from values: CommandValues) throws(MissingValue) {
            takingId = values.text("takingId")
            itemId = try values.required("itemId", values.text("itemId"))
            note = values.text("note")
        }

        func encode(into values: inout CommandValues) {
            values.set("takingId", takingId)
            values.set("itemId", itemId)
            values.set("note", note)
        }

        struct Result: NestedValues {
            var takingId: String?
            var left: Int64?

            init() {}

            init(from values: CommandValues) {
                takingId = values.text("takingId")
                left = values.integer("left")
            }

            func encode(into values: inout CommandValues) {
                values.set("takingId", takingId)
                values.set("left", left)
            }
        }

        static var declaration: DeclaredCall {
            DeclaredCall(
                name: "till.item.take",
                version: 1,
                text: """
                    {"actor":"required","events":["till.item.taken"],"input":\
                    {"additionalProperties":false,"properties":{"itemId":{"maxLength":40,\
                    "type":"string"},"note":{"maxLength":20,"type":"string"},"takingId":\
                    {"maxLength":64,"type":"string","x-diario-id":"new"}},"required":["itemId"],\
                    "type":"object"},"result":{"additionalProperties":false,"properties":{"left":\
                    {"type":"integer"},"takingId":{"type":"string"}},"type":"object"}}
                    """
            )
        }

        static var domain: Domain { TillPack.domain() }
    }

    struct Left: CommandInput {
        var itemId: String
        var weightMg: Int64?

        init(from values: CommandValues) throws(MissingValue) {
            itemId = try values.required("itemId", values.text("itemId"))
            weightMg = values.integer("weightMg")
        }

        func encode(into values: inout CommandValues) {
            values.set("itemId", itemId)
            values.set("weightMg", weightMg)
        }

        struct Result: NestedValues {
            var count: Int64
            var weightMg: Int64?

            init(count: Int64, weightMg: Int64?) {
                (self.count, self.weightMg) = (count, weightMg)
            }

            init(from values: CommandValues) throws(MissingValue) {
                count = try values.required("count", values.integer("count"))
                weightMg = values.integer("weightMg")
            }

            func encode(into values: inout CommandValues) {
                values.set("count", count)
                values.set("weightMg", weightMg)
            }
        }

        static var declaration: DeclaredCall {
            DeclaredCall(
                name: "till.item.left",
                version: 1,
                text: """
                    {"input":{"additionalProperties":false,"properties":{"itemId":{"maxLength":40,\
                    "type":"string"},"weightMg":{"type":"integer"}},"required":["itemId"],"type":\
                    "object"},"result":{"additionalProperties":false,"properties":{"count":{"type":\
                    "integer"},"weightMg":{"type":"integer"}},"required":["count"],"type":"object"}}
                    """
            )
        }

        static var domain: Domain { TillPack.domain() }
    }

    private struct Taken: NewEvent {
        static var type: (name: String, version: Int) { ("till.item.taken", 1) }

        var takingId: String?
        var itemId: String
        var left: Int64
        var note: String?

        func encode(into values: inout CommandValues) {
            values.set("takingId", takingId)
            values.set("itemId", itemId)
            values.set("left", left)
            values.set("note", note)
        }
    }
}
