import DiarioSchema
import Diario
import DiarioLog
import DiarioStorage

/// The command `diario import`.
enum ImportCommand {
    static func run(_ call: Invocation) throws(Failure) {
        let path = call.arguments.operands[0]
        let file = path == "-" ? try InputFile.spooled() : try InputFile.open(path)
        try call.withSpace(.readWrite) { (space) throws(Failure) in
            let bar = call.progressBar("Importing", unit: "bytes")
            defer { bar.finish() }
            let name = path == "-" ? "the input" : CellText.oneLine(path)
            let (packs, id) = (space.packs.map(\.name), space.id)
            let result: ImportSummary
            do throws(DiarioError) {
                let form: EventForm =
                    call.arguments.has("cloudevents") ? .cloudEvents : try .detected(in: file)
                result = try space.importEvents(
                    of: file,
                    as: form,
                    takesGaps: call.arguments.has("gaps")
                ) { done, total in
                    bar.update(done: UInt64(done), total: UInt64(total))
                }
            } catch {
                // Which of the files is meant is clear only where a line of one is.
                throw .failed(error.line == nil ? error.message : "\(name), \(error.message)")
            }
            bar.finish()
            try print(result, isCopy: result.space.id != id, call)
            remarkGone(packs, result.space, call)
        }
    }

    /// Events that come as they are say which packs the space uses.
    private static func remarkGone(_ packs: [String], _ space: Space, _ call: Invocation) {
        let kept = space.packs.map(\.name)
        let gone = packs.filter { !kept.contains($0) }
        guard !gone.isEmpty else { return }
        call.remark(
            "no event of the file adopts the packs \(gone.joined(separator: ", ")), so the space "
                + "does not use them any more: was the file cut? Take the whole export, or adopt "
                + "them again: diario schema adopt DIR"
        )
    }

    private static func print(
        _ result: ImportSummary,
        isCopy: Bool,
        _ call: Invocation
    ) throws(Failure) {
        guard !call.arguments.has("json") else {
            try call.output.json { json in
                json.add("imported", result.imported)
                json.add("known", result.known)
                json.add("missing", result.missing)
                json.add("unresolved", result.unresolved)
                json.add("ignored", list: result.ignoredNames.map { JSONObjectWriter.string($0) })
            }
            return
        }
        func grouped(_ value: Int) -> String { ProgressLine.grouped(UInt64(max(0, value))) }
        let known =
            result.known == 0 ? "" : ", passed over \(grouped(result.known)) imported before"
        let way = isCopy ? " as they were" : result.imported > 0 ? " as new ones" : ""
        try call.output.line(
            "imported \(Show.count(UInt64(max(0, result.imported)), "event"))\(way)\(known)"
        )
        if result.missing > 0 {
            call.remark(
                "\(Show.count(result.missing, "position")) had no event: those behind them have "
                    + "lower positions here"
            )
        }
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
