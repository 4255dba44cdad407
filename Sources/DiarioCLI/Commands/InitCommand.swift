import Diario
import DiarioSchema

/// The command `diario init`.
enum InitCommand {
    static func run(_ call: Invocation) throws(Failure) {
        let folder = call.arguments.operands[0]
        if call.location.chosen != nil {
            throw .usage("init takes its folder as an operand: diario init DIR, without -C")
        }
        guard !folder.isEmpty else { throw .usage("the folder has no name. Try: diario help init") }
        try SpaceFolder.refuse(folder)
        try call.location.checkOwner(of: folder)
        let packs = try call.packs()
        let space = try reporting { () throws(DiarioError) in
            try Space.create(at: folder, packs: packs)
        }
        try reporting { () throws(DiarioError) in try space.close() }
        guard call.arguments.has("json") else {
            let shown = CellText.oneLine(folder)
            try call.output.line(
                "made space \(space.id.text) in \(shown) with \(SchemaCommand.list(packs))"
            )
            if packs.isEmpty { call.remarkPackless("diario -C \(shown)") }
            return
        }
        try call.output.json { json in
            json.add("space", space.id.text)
            json.add("directory", folder)
            json.add("packs", list: packs.map { SchemaCommand.json($0) })
        }
    }
}

extension Invocation {
    /// The packs of `--pack` and `--schema`; nobody else adds one to a space.
    ///
    /// What has a slash is a folder: no pack has one in its name.
    func packs(andFolders folders: [String] = []) throws(Failure) -> [Pack] {
        let words = arguments.all("pack")
        var folders = folders + words.filter { $0.contains("/") }
        if arguments.command.option("schema") != nil { folders += arguments.all("schema") }
        let (names, all) = (words.filter { !$0.contains("/") }, folders)
        return try reporting { () throws(DiarioError) in
            try PackSource.load(names: names, folders: all)
        }
    }

    /// Says how a space gets a pack, without which nothing can be recorded in it.
    func remarkPackless(_ program: String) {
        remark(
            "the space uses no pack yet, so nothing can be recorded. Let it use one: \(program) "
                + "schema adopt --pack NAME"
        )
    }
}
