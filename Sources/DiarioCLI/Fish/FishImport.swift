import Diario
import DiarioCore
import DiarioCrypto
import DiarioFish
import DiarioHTTP
import DiarioHost
import DiarioSchema

extension Command {
    static let fishImport = Command(
        "fish import",
        "take over reports of a file, each row once",
        takes: [.one("FILE|-", .file)],
        details: """
            Takes the reports of FILE, or of the input: CSV with a first line of column names, or
            JSON, as `diario fish export` writes them. A table of the old app has the columns
            \(ReportColumn.old.map(\.rawValue).joined(separator: ", ")).
            Semicolons or tabs may stand for the commas. Columns with other names are passed over.

            Each row is taken once, however often it is imported, and by whatever device. Rows that
            are alike are one fish each: the second one of a file is known by being the second. If
            two files have rows of one day, import the second one with --more, or its rows that are
            alike in the first one are passed over.

            Rows that cannot be taken are listed on stderr with their lines and reasons, and the
            others are taken; the exit code is 1 then. Correct the file and import it again.

            A row without a day is of the day of --on, and of today if that is not given: the answer
            for the season has to follow from it. What a row was judged by holds, if it says so;
            else the catalogue of that day does. A row may have at most
            \(ReportReader.rowSizeMax / 1024) KiB.
            """,
        options: [
            .choice("unit", ["mm", "cm"], "of lengths without one (default mm)"),
            .value("on DATE", "the day of rows that have none; else today"),
            .flag("more", "a further file of its days: none of its rows is in the others"),
            .value("actor ID", "who imports; else that of `diario actor set`"),
            .flag("dry-run", "only say what would be taken"),
            .language,
            .json, .noProgress,
        ],
        examples: [
            "diario fish import old.csv --unit cm --on 2016-05-04": "a table of the old service",
            "diario -C copy fish import reports.csv": "an export of another space",
        ],
        run: { try FishImport(call: $0).run() }
    )
}

/// The command `diario fish import`.
struct FishImport {
    let call: Invocation

    /// Rows that one call of the command takes.
    private static let rowCountMax = 250
    private static let readSize = 256 * 1024
    /// The characters of a file's name in the name of an import; its hash stands behind it.
    private static let labelSizeMax = 47
    /// The number of refused rows that are listed.
    private static let listedCountMax = 1000

    /// What came of the rows so far.
    private struct Sums {
        var imported: Int64 = 0
        var known: Int64 = 0
        var refused: UInt64 = 0
        var byRule: [(rule: String, count: UInt64)] = []
        /// The first ones, for programs.
        var listed: [Fields] = []
        var unknownNames: [String] = []
    }

    func run() throws {
        let file = call.operands[0]
        let opened = file == "-" ? try InputFile.spooled() : try InputFile.open(file)
        let name = file == "-" ? "the input" : CellText.oneLine(file)
        var input = CommandValues()
        let label = file == "-" ? "input" : InputFile.split(file).name
        input.set("importId", try Self.importID(label, opened))
        input.set("unit", try call.fishUnit().rawValue)
        if call.has("more") { input.set("more", true) }
        // Of one day, also past midnight.
        input.set("on", Fish.day(at: .now))
        if let text = call.value("on") {
            guard let day = CivilDay(text: text) else {
                throw Failure.usage(
                    "--on \(CellText.oneLine(text)) is not right; give a day, as 2026-05-04",
                    in: call.command
                )
            }
            input.set("on", day)
        }
        var wanted = Call("fish.report.import", [])
        wanted.isDryRun = call.has("dry-run")
        try (wanted.isDryRun ? call.reading : call.writing) { space in
            wanted.actor = try call.value("actor") ?? space.defaultActor()
            let models = try ReadModels(space)
            let preferred = try models.language(of: wanted.actor, in: "fish", of: App.domains)
            wanted.language = call.language ?? preferred ?? .usual
            let sums = try call.withBar("Importing", unit: "bytes") { bar in
                try take(opened, name, models, wanted, input, bar)
            }
            try tell(sums, wanted)
        }
    }

    /// The name of an import of this file: another one has another name, whatever it is called.
    private static func importID(_ label: String, _ file: OpenedFile) throws -> String {
        var hasher = SHA256Hasher()
        var offset: Int64 = 0
        while let bytes = try part(of: file, at: offset) {
            hasher.update(bytes.span)
            offset += Int64(bytes.count)
        }
        let name = String(label.unicodeScalars.prefix(labelSizeMax))
        return "\(name)-\(hasher.finalize().text.prefix(16))"
    }

    /// The bytes of a file from an offset on; nil at its end.
    private static func part(of file: OpenedFile, at offset: Int64) throws -> [UInt8]? {
        let bytes = try InputFile.bytes(of: file, from: offset, countMax: readSize)
        return bytes.isEmpty ? nil : bytes
    }

    /// Reads the file to its end, and calls the command for some rows at a time.
    private func take(
        _ file: OpenedFile,
        _ name: String,
        _ models: ReadModels,
        _ wanted: Call,
        _ input: CommandValues,
        _ bar: ProgressBar
    ) throws -> Sums {
        var sums = Sums()
        var reader = ReportReader()
        var rows: [ReportRow] = []
        var ordinals = RowOrdinals()
        var size: Int64 = 0
        var isAtEnd = false
        while !isAtEnd {
            if let bytes = try Self.part(of: file, at: size) {
                reader.add(bytes)
                size += Int64(bytes.count)
            } else {
                reader.finish()
                isAtEnd = true
            }
            do {
                while let found = try reader.next() {
                    switch found {
                    case .row(let row): rows.append(row)
                    case .refused(let line, let broken):
                        note(
                            line: Int64(line),
                            broken.rule,
                            broken.field,
                            broken.value,
                            broken.message[wanted.language],
                            in: &sums,
                            bar
                        )
                    }
                    guard rows.count == Self.rowCountMax else { continue }
                    try record(&rows, &ordinals, models, wanted, input, &sums, bar)
                    bar.update(done: UInt64(size), total: nil)
                }
            } catch let broken as BrokenRule {
                bar.finish()
                let language = wanted.language
                throw Failure.failed(
                    "\(name): \(broken.message[language]) \(broken.remedy[language])"
                )
            }
        }
        try record(&rows, &ordinals, models, wanted, input, &sums, bar)
        sums.unknownNames = reader.unknownNames
        return sums
    }

    /// Calls the command for these rows, and forgets them.
    private func record(
        _ rows: inout [ReportRow],
        _ ordinals: inout RowOrdinals,
        _ models: ReadModels,
        _ wanted: Call,
        _ input: CommandValues,
        _ sums: inout Sums,
        _ bar: ProgressBar
    ) throws {
        guard !rows.isEmpty else { return }
        var (call, input) = (wanted, input)
        var values: [JSON] = []
        for row in rows {
            let text = row.hashedBytes
            let hash = SHA256.hash(text.span).bytes
            values.append(row.values(sha256: hash, ordinal: ordinals.next(sha256: hash)))
        }
        input.set("rows", to: .array(of: values))
        call.input = input.json
        rows.removeAll(keepingCapacity: true)
        let answer = try models.call(call, of: App.domains)
        let result = try Fish.ReportImport.Result(
            from: CommandValues(try JSON.parse(answer.result).value)
        )
        sums.imported += result.imported
        sums.known += result.known
        for row in result.refused {
            note(line: row.line, row.rule, row.field, row.value, row.message, in: &sums, bar)
        }
    }

    /// Lists a row that cannot be taken.
    private func note(
        line: Int64,
        _ rule: String,
        _ field: String?,
        _ value: String?,
        _ message: String,
        in sums: inout Sums,
        _ bar: ProgressBar
    ) {
        sums.refused += 1
        if let index = sums.byRule.firstIndex(where: { $0.rule == rule }) {
            sums.byRule[index].count += 1
        } else {
            sums.byRule.append((rule, 1))
        }
        guard sums.refused <= Self.listedCountMax else { return }
        if call.isJSON {
            sums.listed.append([
                "line": Int(line), "rule": rule, "field": ifKnown(field),
                "value": ifKnown(value), "message": message,
            ])
            return
        }
        let place = field.map { ", \($0)" } ?? ""
        let shown = value.map { " (\(CellText.oneLine($0)))" } ?? ""
        bar.finish()
        call.remark("line \(line)\(place)\(shown): \(message)")
        if sums.refused == Self.listedCountMax {
            call.remark("further rows that cannot be taken are counted, and not listed")
        }
    }

    private func tell(_ sums: Sums, _ wanted: Call) throws {
        let would = wanted.isDryRun ? "would import" : "imported"
        let reports = Show.count(UInt64(sums.imported), "report")
        let known =
            sums.known == 0
            ? "" : ", passed over \(Show.grouped(Int(sums.known))) imported before"
        let refused =
            sums.refused == 0 ? "" : ", refused \(Show.count(sums.refused, "row"))"
        var fields: Fields = [
            "imported": Int(sums.imported), "known": Int(sums.known),
            "refusedCount": sums.refused, "refused": sums.listed,
        ]
        fields =
            fields + [
                "rules": sums.byRule.map { ["rule": $0.rule, "count": $0.count] as Fields },
                "passedOver": sums.unknownNames,
            ]
        try call.answer("\(would) \(reports)\(known)\(refused)", fields)
        try call.output.flush()
        if !call.isJSON {
            if sums.known > 0, !call.has("more") {
                call.remark("rows that are like those of another file of that day: --more")
            }
            if !sums.unknownNames.isEmpty {
                let names = sums.unknownNames.joined(separator: ", ")
                call.remark("columns that were passed over: \(CellText.oneLine(names))")
            }
            if sums.byRule.count > 1 || sums.refused > 1 {
                let list = sums.byRule.map { "\($0.rule) \($0.count)" }.joined(separator: ", ")
                call.remark("refused by rule: \(list)")
            }
        }
        if sums.refused > 0 { throw Failure.found }
    }
}
