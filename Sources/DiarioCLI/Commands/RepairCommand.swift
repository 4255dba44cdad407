import DiarioSchema
import Diario
import DiarioLog

/// The command `diario repair`.
enum RepairCommand {
    static func run(_ call: Invocation) throws(Failure) {
        let (isMeant, isRehearsal) = (call.arguments.has("yes"), call.arguments.has("dry-run"))
        if isMeant, isRehearsal {
            throw .usage("--yes and --dry-run contradict each other; give one of them")
        }
        let folder = try call.location.find()
        var packs: [Pack] = []
        for source in call.arguments.all("schema") {
            packs += try reporting { () throws(DiarioError) in
                try PackSource.load(folder: source)
            }
        }
        var report = try reporting { () throws(DiarioError) in
            try Space.repair(at: folder, packs: packs, isRehearsal: !isMeant)
        }
        // Nothing else has what is in it.
        if let fault = SpaceChoice.controlFault(in: folder) { report.found(fault, nil) }
        if call.arguments.has("json") {
            try call.output.json { fill(&$0, report, isDone: isMeant) }
        } else {
            try print(report, call, isDone: isMeant)
        }
        guard report.isMended, report.isClean || isMeant else { throw .found }
    }

    /// Losses that are told one by one.
    private static let linesMax = 20

    private static func fill(_ json: inout JSONObjectWriter, _ report: RepairReport, isDone: Bool) {
        json.add("ok", report.isMended && (report.isClean || isDone))
        json.add("repaired", isDone && report.isMended && !report.isClean)
        json.add("mendable", report.isMended)
        json.add("events", report.events)
        json.add("lostEvents", report.lostCount)
        let findings = report.findings.map { finding in
            JSONObjectWriter.object { json in
                json.add("file", finding.fault.file)
                json.add("offset", finding.fault.offset)
                json.add("what", finding.fault.what)
                if let remedy = finding.remedy {
                    json.add("remedy", remedy)
                } else {
                    json.addNull("remedy")
                }
            }
        }
        json.add("findings", list: findings)
        let losses = report.losses.map { loss in
            JSONObjectWriter.object { json in
                json.add("space", loss.space.text)
                if case .sequences(let replica) = loss.place { json.add("replica", replica.text) }
                json.add("first", loss.numbers.lowerBound)
                json.add("last", loss.numbers.upperBound)
                json.add("count", loss.count)
            }
        }
        json.add("lost", list: losses)
        json.add("alsoLost", list: report.remarks.map { JSONObjectWriter.string($0) })
        if let setAside = report.setAside {
            json.add("setAside", setAside)
        } else {
            json.addNull("setAside")
        }
        let remaining = report.remaining.map { fault in
            JSONObjectWriter.object { json in
                json.add("file", fault.file)
                json.add("offset", fault.offset)
                json.add("what", fault.what)
            }
        }
        json.add("remaining", list: remaining)
    }

    private static func print(
        _ report: RepairReport,
        _ call: Invocation,
        isDone: Bool
    ) throws(Failure) {
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
