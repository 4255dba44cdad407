import Diario
import DiarioLog
import DiarioSchema

extension Command {
    static let repair = Command(
        "repair",
        "mend a damaged space",
        on: .folder,
        details: """
            Keeps what verifies, sets the rest aside, and says what is lost. Without --yes it only
            looks: it names each fault with its file and offset, what would be done about it, and
            which events would be lost, and changes nothing. What it says was tried in memory and
            verified.

            Nothing is deleted: what is damaged is copied to .diario/set-aside/NUMBER, with a file
            why.txt that says where each came from, before anything takes its place. Events keep
            their origin, position and times. Positions whose events are lost stay empty for ever;
            verify lists them. Stop other programs and make a copy of the folder first.

            An adopted pack whose files are damaged is taken from the program, or from the packs in
            DIR, as it was when it was adopted.

            Ends with 0 if nothing is wrong or all was mended, and with 1 if there is something to
            mend still.
            """,
        options: [
            .flag("dry-run", "only look, as without --yes"),
            .flag("yes", "do it"),
            .values("schema DIR", "packs to take the place of damaged ones", .folder),
            .json,
        ],
        examples: [
            "diario repair": "what is wrong, and what would be lost",
            "diario repair --yes": "mend it",
        ],
        run: { try RepairCommand.run($0) }
    )
}

/// The command `diario repair`.
enum RepairCommand {
    static func run(_ call: Invocation) throws {
        let (isMeant, isRehearsal) = (call.arguments.has("yes"), call.arguments.has("dry-run"))
        if isMeant, isRehearsal {
            throw Failure.usage("--yes and --dry-run contradict each other; give one of them")
        }
        let folder = try call.location.find()
        var packs: [Pack] = []
        for source in call.arguments.all("schema") {
            packs += try PackSource.load(folder: source)
        }
        var report = try Space.repair(at: folder, packs: packs, isRehearsal: !isMeant)
        // Nothing else has what is in it.
        if let fault = SpaceChoice.controlFault(in: folder) { report.found(fault, nil) }
        if call.isJSON {
            try call.output.json(fields(report, isDone: isMeant))
        } else {
            try print(report, call, isDone: isMeant)
        }
        guard report.isMended, report.isClean || isMeant else { throw Failure.found }
    }

    /// Losses that are told one by one.
    private static let linesMax = 20

    private static func fields(_ report: RepairReport, isDone: Bool) -> Fields {
        let losses = report.losses.map { loss -> Fields in
            var replica: String?
            if case .sequences(let id) = loss.place { replica = id.text }
            return [
                "space": loss.space.text, "replica": ifKnown(replica),
                "first": loss.numbers.lowerBound, "last": loss.numbers.upperBound,
                "count": loss.count,
            ]
        }
        return [
            "ok": report.isMended && (report.isClean || isDone),
            "repaired": isDone && report.isMended && !report.isClean,
            "mendable": report.isMended, "events": report.events, "lostEvents": report.lostCount,
            "findings": report.findings.map { Fields($0.fault) + ["remedy": $0.remedy] },
            "lost": losses, "alsoLost": report.remarks, "setAside": report.setAside,
            "remaining": report.remaining.map { Fields($0) },
        ]
    }

    private static func print(
        _ report: RepairReport,
        _ call: Invocation,
        isDone: Bool
    ) throws {
        let output = call.output
        if report.isClean {
            let events = Show.count(UInt64(max(0, report.events)), "event")
            try output.line("nothing is wrong, \(events)")
            return
        }
        for finding in report.findings {
            try output.line("fault: \(CellText.oneLine(finding.fault.message))")
            let remedy = finding.remedy ?? "cannot be mended; restore it from a backup"
            try output.line("       \(CellText.oneLine(remedy))")
        }
        for loss in report.losses.prefix(linesMax) { try output.line(text(loss)) }
        if report.losses.count > linesMax {
            let rest = report.losses.dropFirst(linesMax).reduce(0) { $0 + $1.count }
            try output.line("lost: \(Show.count(rest, "event")) besides these; --json lists all")
        }
        for remark in report.remarks { try output.line("lost: \(CellText.oneLine(remark))") }
        for fault in report.remaining {
            try output.line("remains: \(CellText.oneLine(fault.message))")
        }
        let events = Show.count(UInt64(max(0, report.events)), "event")
        let lost = Show.count(report.lostCount, "event")
        if isDone {
            let verdict = report.isMended ? "repaired" : "NOT all repaired"
            try output.line("\(verdict): \(events) kept, \(lost) known to be lost")
            if let setAside = report.setAside {
                try output.line("what was damaged is kept in .diario/\(setAside)")
            }
        } else {
            try output.line("would keep \(events), and lose \(lost) that are known of")
            try output.line(
                report.isMended
                    ? "nothing was changed; stop other programs, make a copy, then: "
                        + "diario repair --yes"
                    : "nothing was changed; not all of it can be mended"
            )
        }
    }

    private static func text(_ loss: RepairReport.Loss) -> String {
        let (first, last) = (loss.numbers.lowerBound, loss.numbers.upperBound)
        let count = Show.count(loss.count, "event")
        switch loss.place {
        case .positions:
            let place = first == last ? "position \(first)" : "positions \(first) to \(last)"
            return "lost: \(place) (\(count))"
        case .sequences(let replica):
            let place = first == last ? "sequence \(first)" : "sequences \(first)-\(last)"
            return "pending lost: replica \(replica.text), \(place) (\(count))"
        }
    }
}
