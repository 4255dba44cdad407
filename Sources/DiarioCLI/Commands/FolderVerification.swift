import Diario
import DiarioCore
import DiarioLog
import DiarioSchema
import DiarioServer

/// What `verify` finds in a folder that has several spaces, or none yet.
struct FolderVerification {
    private let results: [(id: SpaceID, name: SpaceName?, result: SpaceVerification)]
    /// What is wrong with the log that all of them have.
    private let logFault: Fault?
    /// What is wrong with the names and tokens.
    private let controlFault: Fault?

    /// Reads and checks all of the spaces, whatever is wrong with one of them.
    init(
        _ folder: Space.Folder,
        names: [NamedSpace],
        _ controlFault: Fault?,
        _ call: Invocation
    ) throws(Failure) {
        var total: UInt64 = 0
        for entry in folder.entries {
            guard case .success(let space) = entry.space else { continue }
            total += try VerifyCommand.eventCount(of: space)
        }
        let bar = call.progressBar("Verifying", unit: "events")
        defer { bar.finish() }
        var done: UInt64 = 0
        var results: [(id: SpaceID, name: SpaceName?, result: SpaceVerification)] = []
        for entry in folder.entries {
            let name = names.first { $0.id == entry.id }?.name
            var read = 0
            let result = try Self.verify(entry) { count in
                read = count
                bar.update(done: done + UInt64(count), total: total)
            }
            done += UInt64(read)
            results.append((entry.id, name, result))
        }
        self.results = results
        logFault = folder.store.report.fault
        self.controlFault = controlFault
    }

    private static func verify(
        _ entry: Space.Entry,
        _ progress: (Int) -> Void
    ) throws(Failure) -> SpaceVerification {
        switch entry.space {
        case .failure(let damage): return SpaceVerification(unopened: damage.fault)
        case .success(let space):
            do throws(DiarioError) { return try space.verify(progress: progress) } catch {
                guard let fault = error.fault else { throw .failed(error.message) }
                return SpaceVerification(unopened: fault)
            }
        }
    }

    private var damaged: Int { results.count { !$0.result.isOK } }

    private var isOK: Bool { damaged == 0 && logFault == nil && controlFault == nil }

    private var events: Int { results.reduce(0) { $0 + max(0, $1.result.events) } }

    func tell(_ call: Invocation) throws(Failure) {
        if call.arguments.has("json") {
            try call.output.json { fill(&$0) }
        } else {
            try print(call)
        }
        guard isOK else { throw .found }
    }

    private func fill(_ json: inout JSONObjectWriter) {
        json.add("ok", isOK)
        json.add("events", events)
        var faults = [logFault, controlFault].compactMap { $0 }
        // Of the log that all of them have there is one, however many of them tell it.
        for fault in results.flatMap(\.result.faults) where !faults.contains(fault) {
            faults.append(fault)
        }
        json.add("faults", list: faults.map { VerifyCommand.object($0) })
        let spaces = results.map { id, name, result in
            JSONObjectWriter.object { json in
                json.add("id", id.text)
                if let name {
                    json.add("space", name.text)
                } else {
                    json.addNull("space")
                }
                VerifyCommand.fill(&json, result)
            }
        }
        json.add("spaces", list: spaces)
    }

    private func print(_ call: Invocation) throws(Failure) {
        for (id, name, result) in results {
            let shown = name.map { "\($0.text) (\(id.text))" } ?? id.text
            try VerifyCommand.print(result, of: shown, call)
        }
        let count = UInt64(results.count)
        let spaces = Show.count(count, "space")
        if let logFault, results.isEmpty { try call.output.line(logFault.message) }
        if let controlFault {
            try call.output.line("fault: \(CellText.oneLine(controlFault.message))")
        }
        let names = controlFault == nil ? "" : "names and tokens, and "
        let verdict = isOK ? "ok, \(spaces)" : "NOT OK: \(names)\(damaged) of \(spaces)"
        try call.output.line("\(verdict), \(Show.count(UInt64(events), "event"))")
        if !isOK { try VerifyCommand.tellRemedy(call) }
    }
}
