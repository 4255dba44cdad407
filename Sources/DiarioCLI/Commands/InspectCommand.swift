import DiarioSchema
import DiarioStorage

/// The command `diario inspect`.
enum InspectCommand {
    static func run(_ call: Invocation) throws(Failure) {
        let path = call.arguments.operands[0]
        let name = InputFile.split(path).name
        let bytes = try contents(name, path)
        let inspector = FileInspector(bytes, name: name, showsRows: call.arguments.has("rows"))
        guard let kind = inspector.kind else {
            guard !bytes.starts(with: "SQLite format 3\0".utf8) else {
                throw .failed(
                    "\(CellText.oneLine(path)): an SQLite database, as read models are. Ask "
                        + "them with diario sql, and compare them with the log: "
                        + "diario rebuild --check"
                )
            }
            throw .failed(
                "\(CellText.oneLine(path)): none of the files that schema/format/log.md describes. "
                    + "Give a file below .diario"
            )
        }
        let isJSON = call.arguments.has("json")
        if !isJSON {
            let size = ProgressLine.grouped(UInt64(bytes.count))
            try call.output.line(
                "\(CellText.oneLine(path)): \(kind), \(size) bytes. "
                    + "Sections are those of schema/format/log.md; S: segments.md, P: proofs.md, "
                    + "Y: sync.md."
            )
            try call.output.line("    offset      size  section")
        }
        var badCount: UInt64 = 0
        try inspector.inspect { (lines) throws(Failure) in
            for line in lines {
                if case .bad = line.check { badCount += 1 }
                if isJSON {
                    try call.output.json { fill(&$0, line) }
                } else {
                    try call.output.line(text(line))
                }
            }
        }
        guard badCount > 0 else { return }
        try call.output.flush()
        throw .failed(
            "\(CellText.oneLine(path)): \(Show.count(badCount, "part")) wrong. Look for WRONG above"
        )
    }

    private static func contents(
        _ name: String,
        _ path: String
    ) throws(Failure) -> [UInt8] {
        guard !name.isEmpty, name != ".", name != "..", !SystemCall.isDirectory(path) else {
            throw .failed("\(CellText.oneLine(path)) is a folder. Give a file in it")
        }
        do throws(StorageError) {
            // Whoever names a file may name a link to it.
            let (folder, name) = InputFile.split(SystemCall.realPath(path) ?? path)
            let directory = try POSIXDirectory(path: folder, access: .read)
            return try directory.contents(of: name, sizeMax: FileInspector.sizeMax)
        } catch {
            throw .failed(error.message)
        }
    }

    private static func text(_ line: InspectLine) -> String {
        let columns = [padded("\(line.offset)", 10), padded("\(line.size)", 8)]
        let name = String(repeating: "  ", count: line.depth) + line.name
        var text = "\(columns[0])  \(columns[1])  \(line.section)  \(name)"
        if !line.value.isEmpty { text += ": \(line.value)" }
        switch line.check {
        case .none: break
        case .good: text += "  [ok]"
        case .bad(let reason): text += "  [WRONG: \(reason)]"
        }
        return text
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.utf8.count)) + text
    }

    private static func fill(_ json: inout JSONObjectWriter, _ line: InspectLine) {
        json.add("offset", line.offset)
        json.add("size", line.size)
        json.add("depth", line.depth)
        json.add("name", line.name)
        if !line.value.isEmpty { json.add("value", line.value) }
        json.add("section", line.section)
        switch line.check {
        case .none: break
        case .good: json.add("ok", true)
        case .bad(let reason):
            json.add("ok", false)
            json.add("problem", reason)
        }
    }
}
