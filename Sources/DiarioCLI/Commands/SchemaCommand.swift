import Diario
import DiarioCrypto
import DiarioLog
import DiarioSchema

/// The commands `schema check`, `schema list` and `schema adopt`.
enum SchemaCommand {
    static func check(_ call: Invocation) throws(Failure) {
        let folder = call.arguments.operands[0]
        let problems = try reporting { () throws(DiarioError) in
            try PackSource.problems(folder: folder)
        }
        if call.arguments.has("json") {
            let list = problems.map { problem in
                JSONObjectWriter.object { json in
                    json.add("file", problem.file)
                    if let line = problem.line { json.add("line", line) }
                    json.add("rule", problem.rule)
                    json.add("message", problem.message)
                }
            }
            try call.output.append { bytes in
                bytes.append(0x5b)
                for (index, item) in list.enumerated() {
                    if index > 0 { bytes += Array(",\n ".utf8) }
                    bytes += item
                }
                bytes += Array("]\n".utf8)
            }
        } else {
            for problem in problems { try call.output.line(CellText.oneLine(problem.description)) }
            if problems.isEmpty { try call.output.line("\(CellText.oneLine(folder)): no problems") }
        }
        guard problems.isEmpty else { throw .found }
    }

    static func adopt(_ call: Invocation) throws(Failure) {
        let packs = try call.packs(andFolders: call.arguments.operands)
        guard !packs.isEmpty else {
            throw .usage("schema adopt needs a pack: --pack NAME, or the folder DIR of one")
        }
        try call.withSpace(.readWrite) { (space) throws(Failure) in
            guard try space.hasAuthority else {
                throw .failed(
                    "packs are adopted where events get their positions, so on the server: diario "
                        + "--space NAME schema adopt. Replicas get them with the next sync"
                )
            }
            let used = space.packs
            let bar = call.progressBar("Adopting", unit: "rows of reference data")
            defer { bar.finish() }
            let adopted = try reporting { () throws(DiarioError) in
                try space.adopt(packs) { bar.update(done: UInt64($0), total: UInt64($1)) }
            }
            bar.finish()
            for pack in adopted where pack.isNew {
                guard
                    let old = used.first(where: {
                        $0.name == pack.name && $0.version > pack.version
                    })
                else { continue }
                call.remark(
                    "\(pack.name) \(pack.version) takes the place of \(old.version), a newer one; "
                        + "adopt that again to go back"
                )
            }
            try remarkHeld(adopted.filter(\.isNew).map(\.name), space, call)
            guard !call.arguments.has("json") else {
                try call.output.json { json in
                    json.add("packs", list: adopted.map { SchemaCommand.json($0) })
                }
                return
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
    ) throws(Failure) {
        guard !packs.isEmpty else { return }
        let models = try reporting { () throws(DiarioError) in try ReadModels(space) }
        for pack in packs where models.isHeld(pack) {
            call.remark(
                "the read models of \(pack) were undone, and stay as they are until "
                    + "`diario rebuild \(pack)`"
            )
        }
    }

    static func list(_ call: Invocation) throws(Failure) {
        guard !call.arguments.has("names") else { return try names(call) }
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            let status = try reportingLog { () throws(LogError) in
                try space.store.status(of: space.id)
            }
            var packs: [(adoption: Adoption, pack: Pack)] = []
            for adoption in status.adoptions {
                packs.append((adoption, try pack(adoption.fingerprint, of: space)))
            }
            if call.arguments.has("json") {
                try call.output.json { json in
                    json.add("packs", list: packs.map { Self.json($0.adoption, $0.pack) })
                    json.add("types", list: space.catalog.types.map { Self.json($0) })
                }
            } else {
                try print(packs, space.catalog, call.output)
            }
        }
    }

    /// The names of the types and nothing else, as completion asks for them.
    private static func names(_ call: Invocation) throws(Failure) {
        guard !call.arguments.has("json") else {
            throw .usage("--names and --json are two ways to print; choose one")
        }
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            var last = ""
            for type in space.catalog.types where type.name != last {
                last = type.name
                try call.output.line(last)
            }
        }
    }

    private static func print(
        _ packs: [(adoption: Adoption, pack: Pack)],
        _ catalog: TypeCatalog,
        _ output: Output
    ) throws(Failure) {
        for (adoption, pack) in packs {
            let title = pack.title.map { ", \(CellText.oneLine($0))" } ?? ""
            try output.line(
                "\(pack.name) \(pack.version)\(title), adopted at position \(adoption.position)"
            )
        }
        try output.line("")
        var table = Table(
            [
                Table.Column("TYPE", widthMin: 30),
                Table.Column("VERSION", isRight: true, widthMin: 7),
                Table.Column("DESCRIPTION", widthMin: 10),
            ],
            width: output.width
        )
        let rows = catalog.types.map { type in
            [type.name, "\(type.version)", CellText.oneLine(type.description ?? "")]
        }
        table.fit(rows)
        for row in rows { try output.line(table.line(row)) }
    }

    private static func pack(_ fingerprint: Hash32, of space: Space) throws(Failure) -> Pack {
        let files = try reportingLog { () throws(LogError) in
            try space.store.packFiles(fingerprint)
        }
        do throws(PackError) { return try Pack(files: files) } catch {
            throw .failed(DiarioError(error).message)
        }
    }

    /// Packs on a line, with their versions.
    static func list(_ packs: [Pack]) -> String {
        packs.isEmpty
            ? "no packs" : packs.map { "\($0.name) \($0.version)" }.joined(separator: ", ")
    }

    static func json(_ pack: Pack) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("name", pack.name)
            json.add("version", pack.version)
        }
    }

    private static func json(_ pack: AdoptedPack) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("name", pack.name)
            json.add("version", pack.version)
            json.add("fingerprint", pack.fingerprint.text)
            json.add("isNew", pack.isNew)
            json.add("rows", pack.rowCount)
        }
    }

    private static func json(_ adoption: Adoption, _ pack: Pack) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("name", pack.name)
            json.add("version", pack.version)
            if let title = pack.title { json.add("title", title) }
            json.add("fingerprint", adoption.fingerprint.text)
            json.add("position", adoption.position)
        }
    }

    private static func json(_ type: EventType) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("type", type.name)
            json.add("version", type.version)
            if let description = type.description { json.add("description", description) }
        }
    }
}
