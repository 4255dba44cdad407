import Diario
import DiarioCrypto
import DiarioHost
import DiarioSchema

extension Command {
    static let rebuild = Command(
        "rebuild",
        "rebuild read models from the log",
        takes: [.any("PACK")],
        details: """
            Builds the read models of all packs, or of these, beside the live ones, which programs
            go on reading meanwhile; then makes the new ones live. The old ones are kept for --undo.
            A build that is interrupted is continued by the next one, one
            that is killed begins again. Read models that a changed
            pack brings are built by themselves when something is asked.

            With --dry-run nothing is changed: it shows how many rows would be added, removed or
            changed, with the packs in use or those of --schema DIR. With --check it builds all
            aside and compares: ends with 1 if a table differs.
            """,
        options: [
            .flag("dry-run", "only show which rows would differ"),
            .value("schema DIR", "with --dry-run: the packs in DIR", .folder),
            .flag("check", "compare the live read models with new ones"),
            .flag("undo", "go back to what was live before"),
            .json, .noProgress,
        ],
        examples: [
            "diario rebuild --check": "are they what the log says?",
            "diario rebuild --dry-run --schema ./plants": "the effect of a changed pack",
        ],
        run: { try RebuildCommand.run($0) }
    )
}

/// The command `diario rebuild`.
enum RebuildCommand {
    static func run(_ call: Invocation) throws {
        let ways = ["dry-run", "check", "undo"].filter { call.has($0) }
        guard ways.count < 2 else {
            throw Failure.usage("--\(ways[0]) and --\(ways[1]) are two things to do; choose one")
        }
        guard call.value("schema") == nil || ways == ["dry-run"] else {
            throw Failure.usage(
                "--schema says what --dry-run tries; to use packs: diario schema adopt"
            )
        }
        try call.reading { space in
            let models = try ReadModels(space)
            let names = try packs(call, models)
            // The live ones may hold more than what can still be read.
            guard space.damage == nil else {
                throw Failure.failed("nothing is built from a part of the log; see: diario verify")
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
    static func packs(_ call: Invocation, _ models: ReadModels) throws -> [String] {
        let known = models.packs.map(\.name)
        let named = call.operands
        for name in named where !known.contains(name) {
            throw Failure.failed(
                "no pack \(CellText.oneLine(name)) with read models is in use here; there "
                    + (known.isEmpty ? "is none" : "are \(known.joined(separator: ", "))")
            )
        }
        return named.isEmpty ? known : named
    }

    static func rebuild(_ call: Invocation, _ models: ReadModels, _ names: [String]) throws {
        let reports = try call.withBar("Rebuilding", unit: "events") { bar in
            try models.rebuild(names) { done, total in bar.update(done: done, total: total) }
        }
        let found = reports.flatMap { report in report.models.map { (report.pack, $0) } }
        guard !call.isJSON else {
            let fields = found.map { pack, model -> Fields in
                [
                    "pack": pack, "model": model.name, "version": model.version,
                    "events": model.events, "seconds": model.seconds, "rows": model.rows,
                    "digest": model.digest.text, "quarantined": model.quarantined,
                    "rowByRow": model.rowByRow,
                ]
            }
            return try call.output.json(["models": fields])
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

    private static func undo(_ call: Invocation, _ models: ReadModels, _ names: [String]) throws {
        let undone = try names.filter { try models.undo($0) }
        if call.isJSON { return try call.output.json(["packs": undone]) }
        guard !undone.isEmpty else { throw Failure.failed("there is nothing to go back to") }
        for name in undone {
            try call.output.line("\(name): as before. It stays so until `diario rebuild \(name)`")
        }
    }

    // MARK: Looking only

    private typealias Difference = (pack: String, table: TableDifference)

    private static func preview(
        _ call: Invocation,
        _ models: ReadModels,
        _ names: [String]
    ) throws {
        var packs = models.packs.filter { names.contains($0.name) }
        if let folder = call.value("schema") {
            packs = try PackSource.load(folder: folder)
        }
        let differences = try compare(call, models, packs)
        if call.isJSON { return try call.output.json(["tables": differences.map(fields)]) }
        let changed = differences.filter { !$0.table.isEmpty }
        for difference in changed { try call.output.line(text(difference)) }
        if changed.isEmpty { try call.output.line("no row would differ") }
    }

    private static func check(_ call: Invocation, _ models: ReadModels, _ names: [String]) throws {
        try call.withBar("Following the log", unit: "events") { bar in
            try models.update(names) { _, done, total in bar.update(done: done, total: total) }
        }
        let packs = try models.livePacks(names)
        for live in packs where live.isHeld {
            call.remark(
                "\(live.pack.name) was undone, so it is compared with what its own pack, version "
                    + "\(live.pack.version), makes of the log. It follows the pack in use again "
                    + "after: diario rebuild \(live.pack.name)"
            )
        }
        let differences = try compare(call, models, packs.map(\.pack))
        let wrong = differences.filter { !$0.table.isEmpty }
        if call.isJSON {
            try call.output.json(["isRight": wrong.isEmpty, "tables": differences.map(fields)])
        } else {
            for difference in wrong { try call.output.line(text(difference)) }
            if wrong.isEmpty {
                let count = UInt64(differences.count)
                try call.output.line("\(Show.count(count, "table")): as the log says")
            }
        }
        guard wrong.isEmpty else { throw Failure.found }
    }

    private static func compare(
        _ call: Invocation,
        _ models: ReadModels,
        _ packs: [Pack]
    ) throws -> [Difference] {
        try call.withBar("Building aside", unit: "events") { bar in
            try models.compare(packs) { _, done, total in bar.update(done: done, total: total) }
        }
    }

    private static func fields(_ difference: Difference) -> Fields {
        let table = difference.table
        return [
            "pack": difference.pack, "table": table.name, "shape": table.shape.rawValue,
            "added": table.added, "removed": table.removed, "changed": table.changed,
        ]
    }

    private static func text(_ difference: Difference) -> String {
        let table = difference.table
        var parts = [
            (table.added, "added"), (table.removed, "removed"), (table.changed, "changed"),
        ].filter { $0.0 > 0 }.map { "\(Show.count(UInt64($0.0), "row")) \($0.1)" }
        switch table.shape {
        case .same: break
        case .changed: parts.insert("other columns", at: 0)
        case .new: parts.insert("a new table", at: 0)
        case .gone: parts.insert("no such table any more", at: 0)
        }
        return "\(difference.pack).\(table.name): \(parts.joined(separator: ", "))"
    }
}
