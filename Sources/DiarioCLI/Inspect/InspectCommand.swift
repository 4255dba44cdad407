import Diario
import DiarioStorage

extension Command {
    static let inspect = Command(
        "inspect",
        "show what a file of a space says, byte by byte",
        on: .nothing,
        takes: [.one("FILE", .file)],
        details: """
            Shows each field of a file below .diario (a log file, segment, sidecar, tile,
            manifest, replica file, mark, lock, format, cut, reserve, a batch of the inbox, a note
            of an import, a blob) with offset, size, value and the section that defines it, and
            whether it verifies; the letter in front of a section is that of its document in
            schema/format. Read models are files of SQLite, and those of packs are texts: `diario
            sql` and an editor show them. Goes on after damage where it can, and ends with 1 if
            something does not verify.
            """,
        options: [.flag("rows", "show the rows of blocks too, personal values included"), .json],
        examples: [
            "diario inspect .diario/wal/0000000000000001.dwal --rows":
                "a file of the write-ahead log"
        ],
        run: { try InspectCommand.run($0) }
    )
}

/// The command `diario inspect`.
enum InspectCommand {
    static func run(_ call: Invocation) throws {
        let path = call.operands[0]
        let name = InputFile.split(path).name
        let bytes = try contents(name, path)
        let inspector = FileInspector(bytes, name: name, showsRows: call.has("rows"))
        guard let kind = inspector.kind else {
            guard !bytes.starts(with: "SQLite format 3\0".utf8) else {
                throw Failure.failed(
                    "\(CellText.oneLine(path)): an SQLite database, as read models are. Ask "
                        + "them with diario sql, and compare them with the log: "
                        + "diario rebuild --check"
                )
            }
            throw Failure.failed(
                "\(CellText.oneLine(path)): none of the files that schema/format describes. "
                    + "Give a file below .diario"
            )
        }
        let isJSON = call.isJSON
        if !isJSON {
            let size = ProgressLine.grouped(UInt64(bytes.count))
            try call.output.line(
                "\(CellText.oneLine(path)): \(kind), \(size) bytes. "
                    + "Sections are those of schema/format: R rows.md, B blocks.md, F frames.md, "
                    + "D directory.md, S segments.md, P proofs.md, Y sync.md, O blobs.md."
            )
            try call.output.line("    offset      size  section")
        }
        var badCount: UInt64 = 0
        try inspector.inspect { lines in
            for line in lines {
                if case .bad = line.check { badCount += 1 }
                if isJSON {
                    try call.output.json(fields(line))
                } else {
                    try call.output.line(text(line))
                }
            }
        }
        guard badCount > 0 else { return }
        try call.output.flush()
        throw Failure.failed(
            "\(CellText.oneLine(path)): \(Show.count(badCount, "part")) wrong. Look for WRONG above"
        )
    }

    private static func contents(_ name: String, _ path: String) throws -> [UInt8] {
        guard !name.isEmpty, name != ".", name != "..", !SystemCall.isDirectory(path) else {
            throw Failure.failed("\(CellText.oneLine(path)) is a folder. Give a file in it")
        }
        // A link may be named as well.
        let (folder, name) = InputFile.split(SystemCall.realPath(path) ?? path)
        let directory = try POSIXDirectory(path: folder, access: .read)
        return try Files.contents(of: name, in: directory, sizeMax: FileInspector.sizeMax)
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

    private static func fields(_ line: InspectLine) -> Fields {
        var (isGood, problem): (Bool?, String?)
        switch line.check {
        case .none: break
        case .good: isGood = true
        case .bad(let reason): (isGood, problem) = (false, reason)
        }
        return [
            "offset": line.offset, "size": line.size, "depth": line.depth, "name": line.name,
            "value": ifKnown(line.value.isEmpty ? nil : line.value), "section": line.section,
            "ok": ifKnown(isGood), "problem": ifKnown(problem),
        ]
    }
}
