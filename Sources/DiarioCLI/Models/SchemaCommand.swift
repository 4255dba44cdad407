import Diario
import DiarioCrypto
import DiarioHost
import DiarioSchema

extension Command {
    static let schemaCheck = Command(
        "schema check",
        "check a pack, or a folder of packs",
        on: .nothing,
        takes: [.one("DIR", .folder)],
        details: """
            Names all that is wrong with the pack in DIR, or with each pack in a folder of it, its
            examples included: file, line, rule and what to do. Ends with 1 if there is anything.
            Needs no space.
            """,
        options: [.json],
        examples: ["diario schema check ./plants": "a pack of your own"],
        run: { try SchemaCommand.check($0) }
    )

    static let schemaList = Command(
        "schema list",
        "list the packs and event types of the space",
        details: "Lists the packs that the space uses, and the types that can be recorded.",
        options: [.flag("names", "print only the names of the types, each once"), .json],
        examples: [
            "diario schema list": "all types with their newest version",
            "diario schema list --names": "for a script",
        ],
        run: { try SchemaCommand.list($0) }
    )

    static let schemaTypes = Command(
        "schema types",
        "print types for programs that use a pack",
        on: .nothing,
        takes: [.one("PACK")],
        details: """
            PACK is the name of a pack of the program, or a folder if it has a slash. Prints types
            of TypeScript for the payloads of its events, for what its commands and views are given
            and answer, and for the parameters of its queries.
            """,
        options: [.flag("typescript", "types of TypeScript (required)")],
        examples: ["diario schema types meals --typescript > meals.ts": "for a page"],
        run: { try SchemaCommand.types($0) }
    )

    static let schemaAdopt = Command(
        "schema adopt",
        "let the space use packs from now on",
        takes: [.optional("DIR", .folder)],
        details: """
            Adopts the pack, or each of the packs, in the folder DIR, or those of --pack: records
            that the space uses it, and those rows of its reference data that are new or changed. A
            type and version that the space knows already must have the same schema. Works beside a
            running server, with --space in front of the command.
            """,
        options: [.pack, .json, .noProgress],
        examples: [
            "diario schema adopt ./plants": "a pack of your own",
            "diario schema adopt --pack meals": "a pack that comes with the program",
        ],
        run: { try SchemaCommand.adopt($0) }
    )
}

/// The commands `schema check`, `schema list` and `schema adopt`.
enum SchemaCommand {
    static func types(_ call: Invocation) throws {
        guard call.has("typescript") else {
            throw Failure.usage("say which types: --typescript", in: call.command)
        }
        let name = call.operands[0]
        let packs =
            name.contains("/")
            ? try PackSource.load(folders: [name]) : try PackSource.load(names: [name], own: [])
        for pack in packs {
            var types = TypeScript(pack)
            try call.output.append { $0 += Array(types.declarations().utf8) }
        }
    }

    static func check(_ call: Invocation) throws {
        let folder = call.arguments.operands[0]
        let problems = try PackSource.problems(folder: folder)
        let gaps =
            problems.isEmpty
            ? try PackSource.load(folders: [folder]).flatMap { $0.texts.gaps } : []
        if call.isJSON {
            func fields(_ problem: PackProblem) -> Fields {
                [
                    "file": problem.file, "line": ifKnown(problem.line), "rule": problem.rule,
                    "message": problem.message,
                ]
            }
            let answer: Fields = ["problems": problems.map(fields), "gaps": gaps.map(fields)]
            try call.output.json(answer)
        } else {
            for gap in gaps { call.remark(CellText.oneLine(gap.description)) }
            for problem in problems { try call.output.line(CellText.oneLine(problem.description)) }
            if problems.isEmpty { try call.output.line("\(CellText.oneLine(folder)): no problems") }
        }
        guard problems.isEmpty else { throw Failure.found }
    }

    // MARK: Adopting

    static func adopt(_ call: Invocation) throws {
        let packs = try call.packs(andFolders: call.arguments.operands)
        guard !packs.isEmpty else {
            throw Failure.usage("schema adopt needs a pack: --pack NAME, or the folder DIR of one")
        }
        try call.writing { space in
            guard try space.state().hasAuthority else {
                throw Failure.failed(
                    "packs are adopted where events get their positions, so on the server: diario "
                        + "--space NAME schema adopt. Replicas get them with the next sync"
                )
            }
            var space = space
            let used = space.packs
            let adopted = try call.withBar("Adopting", unit: "rows of reference data") { bar in
                try space.adopt(packs) { bar.update(done: UInt64($0), total: UInt64($1)) }
            }
            for pack in adopted where pack.isNew {
                let old = used.first { $0.name == pack.name && $0.version > pack.version }
                guard let old else { continue }
                call.remark(
                    "\(pack.name) \(pack.version) takes the place of \(old.version), a newer one; "
                        + "adopt that again to go back"
                )
            }
            try remarkHeld(adopted.filter(\.isNew).map(\.name), space, call)
            guard !call.isJSON else {
                let fields = adopted.map { pack -> Fields in
                    [
                        "name": pack.name, "version": pack.version,
                        "fingerprint": pack.fingerprint.text, "isNew": pack.isNew,
                        "rows": pack.rowCount,
                    ]
                }
                return try call.output.json(["packs": fields])
            }
            for pack in adopted {
                let rows = pack.rowCount == 0 ? "" : ", \(pack.rowCount) rows of reference data"
                let verb = pack.isNew ? "adopted" : "unchanged"
                try call.output.line("\(pack.name) \(pack.version): \(verb)\(rows)")
            }
        }
    }

    /// Read models that were undone do not follow a pack that is adopted.
    private static func remarkHeld(
        _ packs: [String],
        _ space: Space,
        _ call: Invocation
    ) throws {
        guard !packs.isEmpty else { return }
        let models = try ReadModels(space)
        for pack in packs where models.isHeld(pack) {
            call.remark(
                "the read models of \(pack) were undone, and stay as they are until "
                    + "`diario rebuild \(pack)`"
            )
        }
    }

    // MARK: Listing

    static func list(_ call: Invocation) throws {
        if call.arguments.has("names") { return try names(call) }
        try call.reading { space in
            let types = space.catalog.types
            let packs = try space.adoptedPacks()
            guard !call.isJSON else {
                return try call.output.json([
                    "packs": packs.map { fields($0, $1, $2) }, "types": types.map { fields($0) },
                ])
            }
            for (pack, _, position) in packs {
                let title = pack.title.map { ", \(CellText.oneLine($0))" } ?? ""
                try call.output.line(
                    "\(pack.name) \(pack.version)\(title), adopted at position \(position)"
                )
            }
            try call.output.line("")
            let columns = [
                Table.Column("TYPE", widthMin: 30),
                Table.Column("VERSION", isRight: true, widthMin: 7),
                Table.Column("DESCRIPTION", widthMin: 10),
            ]
            try call.output.table(
                columns,
                types.map { type in
                    [type.name, "\(type.version)", CellText.oneLine(type.description ?? "")]
                }
            )
        }
    }

    /// The names of the types and nothing else, as completion asks for them.
    private static func names(_ call: Invocation) throws {
        try call.refuseBoth("names", "json")
        try call.reading { space in
            var last = ""
            for type in space.catalog.types where type.name != last {
                last = type.name
                try call.output.line(last)
            }
        }
    }

    /// Packs on a line, with their versions.
    static func list(_ packs: [Pack]) -> String {
        packs.isEmpty
            ? "no packs" : packs.map { "\($0.name) \($0.version)" }.joined(separator: ", ")
    }

    private static func fields(
        _ pack: Pack,
        _ fingerprint: Hash32,
        _ position: UInt64
    ) -> Fields {
        [
            "name": pack.name, "version": pack.version, "title": ifKnown(pack.title),
            "fingerprint": fingerprint.text, "position": position,
        ]
    }

    private static func fields(_ type: EventType) -> Fields {
        [
            "type": type.name, "version": type.version, "description": ifKnown(type.description),
        ]
    }
}

extension Fields {
    init(_ pack: Pack) { self = ["name": pack.name, "version": pack.version] }
}
