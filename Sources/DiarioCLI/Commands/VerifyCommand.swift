import DiarioSchema
import Diario
import DiarioCore
import DiarioCrypto
import DiarioLog

/// The command `diario verify`.
enum VerifyCommand {
    static func run(_ call: Invocation) throws(Failure) {
        do throws(Failure) { try verify(call) } catch {
            guard case .damaged(let fault, _) = error, call.arguments.has("json") else {
                throw error
            }
            // It cannot be opened, so that this is all that is known of it.
            let result = SpaceVerification(unopened: fault)
            try call.output.json { fill(&$0, result) }
            throw error
        }
    }

    private static func verify(_ call: Invocation) throws(Failure) {
        guard call.choice.text == nil else { return try verifyOne(call) }
        let place = try call.location.find()
        let folder = try reporting { () throws(DiarioError) in try Space.openAll(at: place) }
        let controlFault = SpaceChoice.controlFault(in: place)
        let isOne = folder.entries.count == 1 && controlFault == nil
        if isOne || folder.entries.isEmpty && !SpaceChoice.holdsControl(place) {
            // One is what most folders have; of a server's there may be none yet.
            try reportingLog { () throws(LogError) in try folder.store.close() }
            return try verifyOne(call)
        }
        call.remarkCut(folder.store)
        do throws(Failure) {
            let names = SpaceChoice.names(in: place)
            try FolderVerification(folder, names: names, controlFault, call).tell(call)
        } catch {
            // The first failure is the one to report, and damage may be why.
            if let damage = call.damage(of: folder.store) { call.remark(damage) }
            try? folder.store.close()
            throw error
        }
        try reportingLog { () throws(LogError) in try folder.store.close() }
    }

    private static func verifyOne(_ call: Invocation) throws(Failure) {
        try call.withSpace(.readOnly) { (space) throws(Failure) in try verify(space, call) }
    }

    private static func verify(_ space: Space, _ call: Invocation) throws(Failure) {
        let total = try eventCount(of: space)
        let bar = call.progressBar("Verifying", unit: "events")
        defer { bar.finish() }
        let result = try reporting { () throws(DiarioError) in
            try space.verify { bar.update(done: UInt64($0), total: total) }
        }
        bar.finish()
        if call.arguments.has("json") {
            try call.output.json { fill(&$0, result) }
        } else {
            try print(result, call)
            if !result.isOK { try tellRemedy(call) }
        }
        guard result.isOK else { throw .found }
    }

    /// The events that are read of a space.
    static func eventCount(of space: Space) throws(Failure) -> UInt64 {
        let status = try reportingLog { () throws(LogError) in
            try space.store.status(of: space.id)
        }
        return status.head - status.released + UInt64(status.pending)
    }

    /// Ranges of lost positions that are told one by one.
    private static let linesMax = 20

    private static func text(_ time: Timestamp) -> String { Show.time(time.milliseconds) }

    static func fill(_ json: inout JSONObjectWriter, _ result: SpaceVerification) {
        json.add("ok", result.isOK)
        json.add("events", result.events)
        if let root = result.root {
            json.add("root", root.text)
        } else {
            json.addNull("root")
        }
        let lost = result.lost.flatMap { lost in
            lost.runs.map { run in
                JSONObjectWriter.object { json in
                    json.add("first", run.lowerBound)
                    json.add("last", run.upperBound)
                    json.add("count", run.upperBound - run.lowerBound + 1)
                    json.add("since", text(lost.since))
                }
            }
        }
        let pending = result.lostPending.map { lost in
            JSONObjectWriter.object { json in
                json.add("replica", lost.replica.text)
                json.add("first", lost.firstSequence)
                json.add("last", lost.lastSequence)
                json.add("count", UInt64(lost.count))
                json.add("since", text(lost.since))
            }
        }
        json.add("lost", list: lost + pending)
        json.add("cut", list: result.cuts.map { JSONObjectWriter.string($0) })
        json.add("faults", list: result.faults.map { object($0) })
    }

    static func object(_ fault: Fault) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("file", fault.file)
            json.add("offset", fault.offset)
            json.add("what", fault.what)
        }
    }

    /// With what a space is called, if there are several.
    static func print(
        _ result: SpaceVerification,
        of name: String? = nil,
        _ call: Invocation
    ) throws(Failure) {
        for fault in result.faults {
            try call.output.line("fault: \(CellText.oneLine(fault.message))")
        }
        for lost in result.lost.prefix(linesMax) {
            try call.output.line("lost: \(lost.message), as found at \(text(lost.since))")
        }
        if result.lost.count > linesMax {
            let rest = result.lost.dropFirst(linesMax).reduce(0) { $0 + $1.count }
            try call.output.line(
                "lost: \(Show.count(rest, "event")) at positions behind these; --json lists all"
            )
        }
        for lost in result.lostPending {
            try call.output.line("pending lost: \(lost.message), as found at \(text(lost.since))")
        }
        for cut in result.cuts {
            try call.output.line(
                "cut: \(CellText.oneLine(cut)) (torn by a crash, never acknowledged)"
            )
        }
        let events = Show.count(UInt64(max(0, result.events)), "event")
        let verdict =
            result.isOK ? "ok" : "NOT OK: \(Show.count(UInt64(result.faults.count), "fault"))"
        let root = result.root.map { ", root \($0.text)" } ?? ""
        try call.output.line("\(name.map { "\($0): " } ?? "")\(verdict), \(events)\(root)")
    }

    static func tellRemedy(_ call: Invocation) throws(Failure) {
        try call.output.line("what can be mended, and what would be lost: diario repair")
    }
}
