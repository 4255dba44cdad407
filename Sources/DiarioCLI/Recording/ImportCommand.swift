import Diario
import DiarioHost
import DiarioSchema

extension Command {
    static let importEvents = Command(
        "import",
        "take over the events of an export",
        takes: [.one("FILE|-", .file)],
        details: """
            Takes over all events of FILE, or of the input, or none: lines as `diario export` writes
            them, or CloudEvents, if the file begins with [ or with an object that has a
            specversion: in an array, or one after the other. A byte order mark at the start is
            ignored.

            From an export with --all into a space without events of its packs they come as they
            are, with origins, positions and times; the space is then another one, of a new lineage,
            so not in the folder of a server, where others know it. Else they come as new events of
            this replica, each once, however often it is repeated; they get new ids, and references
            to them follow. Where positions come from a server, this replica remembers what it took
            over, and other replicas do not know: import there from one of them. An import that was
            killed goes on where it was when it is repeated.

            CloudEvents of other programs are always recorded as new events, each once by its source
            and id: the type must be one of the space, data a JSON object that fits it, and time
            says when it happened. Other attributes are not recorded, and named on stderr.
            schema/format/cloudevents.md says it all.
            """,
        options: [
            .flag("cloudevents", "take nothing but CloudEvents"),
            .json, .noProgress,
        ],
        examples: [
            "diario -C copy import notebook.jsonl":
                "the events of a file into a space made with `diario init copy --pack all`",
            "diario import --cloudevents readings.json": "events that another program recorded",
        ],
        run: { try ImportCommand.run($0) }
    )
}

/// The command `diario import`.
enum ImportCommand {
    static func run(_ call: Invocation) throws {
        let path = call.arguments.operands[0]
        let file = path == "-" ? try InputFile.spooled() : try InputFile.open(path)
        try call.writing { space in
            let name = path == "-" ? "the input" : CellText.oneLine(path)
            let (packs, id) = (space.packs.map(\.name), space.id)
            let result = try call.withBar("Importing", unit: "bytes") { bar in
                do {
                    return try space.importEvents(
                        of: file,
                        as: call.arguments.has("cloudevents") ? .cloudEvents : .detected(in: file)
                    ) { bar.update(done: UInt64($0), total: UInt64($1)) }
                } catch let error as DiarioError where error.line != nil {
                    throw Failure.failed("\(name), \(error.message)")
                }
            }
            try tell(result, isCopy: result.space.id != id, call)
            // Events that come as they are say which packs the space uses.
            let kept = result.space.packs.map(\.name)
            let gone = packs.filter { !kept.contains($0) }
            guard !gone.isEmpty else { return }
            call.remark(
                "no event of the file adopts the packs \(gone.joined(separator: ", ")), so the "
                    + "space does not use them any more: was the file cut? Take the whole export, "
                    + "or adopt them again: diario schema adopt DIR"
            )
        }
    }

    private static func tell(
        _ result: ImportSummary,
        isCopy: Bool,
        _ call: Invocation
    ) throws {
        let known =
            result.known == 0 ? "" : ", passed over \(Show.grouped(result.known)) imported before"
        let way = isCopy ? " as they were" : result.imported > 0 ? " as new ones" : ""
        let imported = Show.count(UInt64(max(0, result.imported)), "event")
        try call.answer(
            "imported \(imported)\(way)\(known)",
            [
                "imported": result.imported, "known": result.known,
                "unresolved": result.unresolved, "ignored": result.ignoredNames,
            ]
        )
        guard !call.isJSON else { return }
        if result.unresolved > 0 {
            let count = Show.count(UInt64(result.unresolved), "reference")
            call.remark(
                "\(count) to events that are neither in the file nor were imported before: what "
                    + "they name has another id here, so import the file that has it first"
            )
        }
        guard !result.ignoredNames.isEmpty else { return }
        let names = CellText.oneLine(result.ignoredNames.joined(separator: ", "))
        call.remark("not recorded, because events here have none: the attributes \(names)")
    }
}
