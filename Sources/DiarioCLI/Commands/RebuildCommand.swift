import Diario
import DiarioCrypto
import DiarioLog
import DiarioProjection
import DiarioSchema

/// The command `diario rebuild`.
enum RebuildCommand {
    static func run(_ call: Invocation) throws(Failure) {
        let ways = ["dry-run", "check", "undo"].filter { call.arguments.has($0) }
        guard ways.count < 2 else {
            throw .usage("--\(ways[0]) and --\(ways[1]) are two things to do; choose one")
        }
        guard call.arguments.value("schema") == nil || ways == ["dry-run"] else {
            throw .usage("--schema says what --dry-run tries; to use packs: diario schema adopt")
        }
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            let models = try reporting { () throws(DiarioError) in try ReadModels(space) }
            let names = try packs(call, models)
            // The live ones may hold more than what can still be read.
            guard space.store.report.fault == nil else {
                throw .failed("nothing is built from a part of the log; mend it first")
            }
            switch ways.first {
            case "dry-run": try preview(call, models, names)
            case "check": try check(call, models, names)
            case "undo": try undo(call, models, names)
            default: try rebuild(call, models, names)
            }
        }
    }

    /// The packs that were named, or all.
    static func packs(_ call: Invocation, _ models: ReadModels) throws(Failure) -> [String] {
        let known = models.packs.map(\.name)
        let named = call.arguments.operands
        for name in named where !known.contains(name) {
            throw .failed(
                "no pack \(CellText.oneLine(name)) with read models is in use here; there "
                    + (known.isEmpty ? "is none" : "are \(known.joined(separator: ", "))")
            )
        }
        return named.isEmpty ? known : named
    }

    static func rebuild(
        _ call: Invocation,
        _ models: ReadModels,
        _ names: [String]
    ) throws(Failure) {
        let bar = call.progressBar("Rebuilding", unit: "events")
        defer { bar.finish() }
        let reports = try reporting { () throws(DiarioError) in
            try models.rebuild(names) { done, total in bar.update(done: done, total: total) }
        }
        bar.finish()
        let found = reports.flatMap { report in report.models.map { (report.pack, $0) } }
        if call.arguments.has("json") {
            return try call.output.json { json in
                json.add("models", list: found.map { Self.json($0.0, $0.1) })
            }
        }
        for (pack, model) in found {
            let quarantined =
                model.quarantined == 0
                ? "" : ", \(Show.count(UInt64(model.quarantined), "event")) in quarantine"
            try call.output.line(
                "\(pack).\(model.name): \(Show.count(model.events, "event")), "
                    + "\(Show.count(UInt64(model.rows), "row"))\(quarantined)"
            )
        }
        if found.isEmpty { try call.output.line("no pack of this space has read models") }
    }

    private static func json(_ pack: String, _ model: ReadModels.Report.Model) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("pack", pack)
            json.add("model", model.name)
            json.add("version", model.version)
            json.add("events", model.events)
            json.add("seconds", model.seconds)
            json.add("rows", model.rows)
            json.add("digest", model.digest.text)
            json.add("quarantined", model.quarantined)
        }
    }

    // MARK: Looking only

    private static func preview(
        _ call: Invocation,
        _ models: ReadModels,
        _ names: [String]
    ) throws(Failure) {
        var packs = models.packs.filter { names.contains($0.name) }
        if let folder = call.arguments.value("schema") {
            packs = try reporting { () throws(DiarioError) in try PackSource.load(folder: folder) }
        }
        let differences = try compare(call, models, packs)
        if call.arguments.has("json") {
            return try call.output.json { json in
                json.add("tables", list: differences.map { Self.json($0.pack, $0.table) })
            }
        }
        let changed = differences.filter { !$0.table.isEmpty }
        for (pack, table) in changed { try call.output.line(text(pack, table)) }
        if changed.isEmpty { try call.output.line("no row would differ") }
    }

    private static func check(
        _ call: Invocation,
        _ models: ReadModels,
        _ names: [String]
    ) throws(Failure) {
        let bar = call.progressBar("Following the log", unit: "events")
        defer { bar.finish() }
        try reporting { () throws(DiarioError) in
            try models.update(names) { _, done, total in bar.update(done: done, total: total) }
        }
        bar.finish()
        let packs = try reporting { () throws(DiarioError) in try models.livePacks(names) }
        for live in packs where live.isHeld {
            call.remark(
                "\(live.pack.name) was undone, so it is compared with what its own pack, version "
                    + "\(live.pack.version), makes of the log. It follows the pack in use again "
                    + "after: diario rebuild \(live.pack.name)"
            )
        }
        let differences = try compare(call, models, packs.map(\.pack))
        let wrong = differences.filter { !$0.table.isEmpty }
        if call.arguments.has("json") {
            try call.output.json { json in
                json.add("isRight", wrong.isEmpty)
                json.add("tables", list: differences.map { Self.json($0.pack, $0.table) })
            }
        } else {
            for (pack, table) in wrong { try call.output.line(text(pack, table)) }
            if wrong.isEmpty {
                let count = UInt64(differences.count)
                try call.output.line("\(Show.count(count, "table")): as the log says")
            }
        }
        guard wrong.isEmpty else { throw .found }
    }

    private static func compare(
        _ call: Invocation,
        _ models: ReadModels,
        _ packs: [Pack]
    ) throws(Failure) -> [(pack: String, table: TableDifference)] {
        let bar = call.progressBar("Building aside", unit: "events")
        defer { bar.finish() }
        return try reporting { () throws(DiarioError) in
            try models.compare(packs) { _, done, total in bar.update(done: done, total: total) }
        }
    }

    private static func json(_ pack: String, _ table: TableDifference) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("pack", pack)
            json.add("table", table.name)
            json.add("shape", table.shape.rawValue)
            json.add("added", table.added)
            json.add("removed", table.removed)
            json.add("changed", table.changed)
        }
    }

    private static func text(_ pack: String, _ table: TableDifference) -> String {
        var parts = [
            (table.added, "added"), (table.removed, "removed"), (table.changed, "changed"),
        ].filter { $0.0 > 0 }.map { "\(Show.count(UInt64($0.0), "row")) \($0.1)" }
        switch table.shape {
        case .same: break
        case .changed: parts.insert("other columns", at: 0)
        case .new: parts.insert("a new table", at: 0)
        case .gone: parts.insert("no such table any more", at: 0)
        }
        return "\(pack).\(table.name): \(parts.joined(separator: ", "))"
    }

    private static func undo(
        _ call: Invocation,
        _ models: ReadModels,
        _ names: [String]
    ) throws(Failure) {
        var undone: [String] = []
        for name in names where try reporting({ () throws(DiarioError) in try models.undo(name) }) {
            undone.append(name)
        }
        if call.arguments.has("json") {
            return try call.output.json { json in
                json.add("packs", list: undone.map { JSONObjectWriter.string($0) })
            }
        }
        guard !undone.isEmpty else { throw .failed("there is nothing to go back to") }
        for name in undone {
            try call.output.line(
                "\(name): as before. It stays so until `diario rebuild \(name)`"
            )
        }
    }
}
