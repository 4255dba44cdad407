import Diario
import DiarioHost
import DiarioSchema

extension Command {
    static let initialize = Command(
        "init",
        "make a space in a folder",
        on: .nothing,
        takes: [.one("DIR", .folder)],
        details: """
            Makes a space in the folder DIR, which is made if it is missing, with the packs of
            --pack and --schema, whose event types can then be recorded. Without them its only types
            are the engine's own; `diario schema adopt` adds a pack later.

            A space is made whole or not at all.
            """,
        options: [.pack, .schemaFolder, .json],
        examples: [
            "diario init notebook --pack meals": "a space with a pack that comes with the program",
            "diario init garden --schema ./plants": "a space with a pack of your own",
        ],
        run: { try InitCommand.run($0) }
    )
}

/// The command `diario init`.
enum InitCommand {
    static func run(_ call: Invocation) throws {
        let folder = call.operands[0]
        guard call.location.chosen == nil else {
            throw Failure.usage("init takes its folder as an operand: diario init DIR, without -C")
        }
        guard !folder.isEmpty else {
            throw Failure.usage("the folder has no name", in: call.command)
        }
        try SpaceLocation.refuse(folder)
        try call.location.checkOwner(of: folder)
        let packs = try call.packs()
        let space = try Space.create(at: folder, packs: packs)
        try space.close()
        let shown = CellText.oneLine(folder)
        try call.answer(
            "made space \(space.id.text) in \(shown) with \(SchemaCommand.list(packs))",
            ["space": space.id.text, "directory": folder, "packs": packs.map { Fields($0) }]
        )
        if packs.isEmpty, !call.isJSON { call.remarkPackless("diario -C \(shown)") }
    }
}

extension Invocation {
    /// The packs of `--pack` and `--schema`; nothing else adds one to a space.
    func packs(andFolders folders: [String] = []) throws -> [Pack] {
        // A pack has no slash in its name, so such a word is a folder.
        let words = arguments.all("pack")
        var folders = folders + words.filter { $0.contains("/") }
        if arguments.command.option("schema") != nil { folders += arguments.all("schema") }
        return try PackSource.load(names: words.filter { !$0.contains("/") }, folders: folders)
    }

    /// Says how a space gets a pack, without which nothing can be recorded in it.
    func remarkPackless(_ program: String) {
        remark(
            "the space uses no pack yet, so nothing can be recorded. Let it use one: \(program) "
                + "schema adopt --pack NAME"
        )
    }
}
