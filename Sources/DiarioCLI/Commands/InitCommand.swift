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
        let schemas = call.arguments.all("schema")
        let packs = try reporting { () throws(DiarioError) in
            guard !schemas.isEmpty else { return try PackSource.builtIn() }
            return try PackSource.load(folders: schemas)
        }
        let space = try reporting { () throws(DiarioError) in
            try Space.create(at: folder, packs: packs)
        }
        try reporting { () throws(DiarioError) in try space.close() }
        let names = packs.map { "\($0.name) \($0.version)" }
        guard call.arguments.has("json") else {
            let list = names.isEmpty ? "no packs" : names.joined(separator: ", ")
            try call.output.line(
                "made space \(space.id.text) in \(CellText.oneLine(folder)) with \(list)"
            )
            return
        }
        try call.output.json { json in
            json.add("space", space.id.text)
            json.add("directory", folder)
            json.add("packs", list: packs.map { SchemaCommand.json($0) })
        }
    }
}
