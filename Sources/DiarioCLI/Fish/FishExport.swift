import Diario
import DiarioCore
import DiarioFish
import DiarioSchema

extension Command {
    static let fishExport = Command(
        "fish export",
        "write reports as a table, for researchers and for the old service",
        details: """
            Prints the reports that count, the oldest first, one by one: a million of them need no
            more memory than one. The first eight columns are those of the old app, with its words;
            --legacy prints no others. The others say what a report was judged by, so that
            `diario fish import` makes the same reports of them in another space.

            As CSV (RFC 4180), texts that a spreadsheet would take for formulas have an apostrophe
            before them, which `fish import` takes away. Lengths are in the unit of --unit, which
            the column `unit` repeats; a table of the old app does not say it.
            """,
        options: [
            .flag("legacy", "only the columns of the old app"),
            .flag("csv", "comma-separated values (the default)"),
            .flag("json", "a list of objects"),
            .choice("unit", ["mm", "cm"], "of lengths (default mm)"),
            .value("first DATE", "only reports of that day and later ones"),
            .value("last DATE", "only reports of that day and earlier ones"),
            .value("status STATUS", "only those of this status: counted if it is not given"),
            .value("output FILE", "write to FILE, which appears when it is complete", .file),
            .noProgress,
        ],
        examples: [
            "diario fish export --legacy --unit cm --output reports.csv": "for the old service",
            "diario fish export --json --first 2026-01-01": "the reports of this year",
        ],
        run: { try FishExport(call: $0).run() }
    )
}

/// The command `diario fish export`.
struct FishExport {
    let call: Invocation
    private let unit: Fish.Unit
    private static let cells = CellWriter(guardsFormulas: true)

    init(call: Invocation) throws {
        self.call = call
        try call.refuseBoth("json", "csv")
        unit = try call.fishUnit()
    }

    func run() throws {
        var values = ["most": "\(Int64.max)"]
        for name in ["first", "last", "status"] {
            if let text = call.value(name) { values[name] = text }
        }
        try QueryCommand.withModels(call) { models, bar in
            let prepared: PreparedQuestion
            do throws(DiarioError) {
                prepared = try models.ask(.named("fish.export", values)) { _, done, total in
                    bar.update(done: done, total: total)
                }
            } catch {
                bar.finish()
                if error.rule == "parameter" { throw Failure.usage(error.message) }
                throw error
            }
            bar.finish()
            for note in models.notes { call.remark(note) }
            let answer = try prepared.answer(rowCountMax: .max)
            guard let path = call.value("output") else {
                _ = try write(answer, to: call.output)
                return try call.output.flush()
            }
            let file = try NewFile(path)
            Interrupt.catchSignals()
            let count: UInt64
            do {
                count = try write(answer, to: file.output)
                try file.finish()
            } catch {
                file.remove()
                throw error
            }
            call.remark("exported \(Show.count(count, "report")) to \(CellText.oneLine(path))")
        }
    }

    /// Writes all rows; gives their number.
    private func write(_ answer: Answer, to output: Output) throws -> UInt64 {
        let table = ReportTable(answer.columns, isOld: call.has("legacy"), unit: unit)
        let names = table.columns.map(\.rawValue)
        let isJSON = call.isJSON
        try output.append { bytes in
            if isJSON { bytes.append(0x5b) } else { Self.add(names.map { .text($0) }, to: &bytes) }
        }
        let hasBar = call.has("output") || !call.output.isTerminal
        let bar = hasBar ? call.progressBar("Exporting", unit: "reports") : nil
        defer { bar?.finish() }
        var count: UInt64 = 0
        while let row = try answer.next() {
            let cells = table.cells(row.values)
            try output.append { bytes in
                guard isJSON else { return Self.add(cells, to: &bytes) }
                if count > 0 { bytes += Array(",\n ".utf8) }
                bytes += Self.object(names, cells)
            }
            count += 1
            guard count.isMultiple(of: 1024) else { continue }
            bar?.update(done: count, total: nil)
            if Interrupt.isRaised {
                throw Failure.failed("interrupted. No incomplete file is left")
            }
        }
        if isJSON { try output.append { $0 += [0x5d, 0x0a] } }
        return count
    }

    private static func add(_ values: [SQLValue], to bytes: inout [UInt8]) {
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(0x2c) }
            switch value {
            case .text(let text): cells.append(text: text.utf8, to: &bytes)
            case .integer(let number): bytes += "\(number)".utf8
            case .null, .real, .blob: break
            }
        }
        bytes += [0x0d, 0x0a]
    }

    private static func object(_ names: [String], _ values: [SQLValue]) -> [UInt8] {
        JSONObjectWriter.object { json in
            for (name, value) in zip(names, values) {
                switch value {
                case .text(let text): json.add(name, text)
                case .integer(let number): json.add(name, number)
                case .null, .real, .blob: json.addNull(name)
                }
            }
        }
    }
}

extension Invocation {
    /// The unit of lengths that are written without one.
    func fishUnit() throws -> Fish.Unit {
        let units: [Fish.Unit] = Fish.Unit.allCases
        return try arguments.choice("unit", units.map { ($0.rawValue, $0) }) ?? .mm
    }
}
