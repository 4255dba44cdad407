import Diario
import DiarioHost
import DiarioSchema
import DiarioServer

extension Command {
    static let salvage = Command(
        "salvage",
        "write all that verifies of a damaged folder into a new one",
        on: .nothing,
        takes: [.one("DIR", .folder), .one("NEW", .folder)],
        details: """
            Writes every event of DIR that verifies into the folder NEW, which must be empty or
            missing: all spaces, with packs, inbox, and the names and tokens of a server. Nothing is
            changed in DIR; stop the programs that use it first.

            Events keep their origins, times and actors. Each space goes on under a new lineage, and
            its events have positions without gaps. An event whose personal fields cannot be read
            reads as erased. NEW/salvage.txt lists old and new positions, the events that were not
            found, and each damaged file.

            A replica with a server needs only its pending events: diario clone URL COPY --lane-of
            DIR. A server gets back the events of a replica with diario remote restore, and then the
            rest from NEW with export and import: each origin comes once.

            Ends with 0 if all verified, and with 1 if a file was damaged.
            """,
        options: [.schemaFolder, .json, .noProgress],
        examples: ["diario salvage notebook rescued": "keep all that verifies"],
        run: { try SalvageCommand.run($0) }
    )
}

/// The command `diario salvage`.
enum SalvageCommand {
    static func run(_ call: Invocation) throws {
        let (source, target) = (call.arguments.operands[0], call.arguments.operands[1])
        try call.location.checkOwner(of: source)
        let packs = try call.arguments.all("schema").flatMap { try PackSource.load(folder: $0) }
        let bar = call.progressBar("Salvaging", unit: "events")
        defer { bar.finish() }
        let report = try Space.salvage(at: source, to: target, packs: packs) {
            bar.update(done: $0, total: nil)
        } finish: {
            ControlFile.salvage(of: $0, to: $1)
        }
        bar.finish()
        let list = lines(report, source, target, SpaceChoice.names(in: target))
        let text = list.map { $0 + "\n" }.joined()
        try InputFile.replace("salvage.txt", in: target, with: text)
        if call.isJSON {
            try call.output.json(fields(report))
        } else {
            for line in list.prefix(linesMax) { try call.output.line(line) }
            if list.count > linesMax {
                let path = CellText.oneLine(target) + "/salvage.txt"
                try call.output.line("and \(list.count - linesMax) lines more in \(path)")
            }
        }
        guard report.isWhole else { throw Failure.found }
    }

    /// Lines of the list that are shown; the file has all.
    private static let linesMax = 100

    // MARK: The list

    private static func lines(
        _ report: SalvageReport,
        _ source: String,
        _ target: String,
        _ names: [NamedSpace]
    ) -> [String] {
        var lines = report.faults.map { "damaged: \(CellText.oneLine($0.message))" }
        for pack in report.missingPacks {
            lines.append(
                "missing: the pack \(pack), without which its spaces do not open; salvage "
                    + "again with --schema DIR, where DIR has that pack"
            )
        }
        for space in report.spaces {
            let name = names.first { $0.id == space.space }.map { "\($0.name.text) " } ?? ""
            lines.append(
                "space \(name)\(space.space.text): \(Show.count(space.eventCount, "event")) with "
                    + "positions, \(Show.count(space.pendingCount, "event")) pending"
            )
            lines += details(space).map { "  " + $0 }
            lines.append("  next: " + next(space, source, target))
        }
        let verdict =
            report.isWhole
            ? "all files verified, and every event came along" : "not all files verified"
        return lines + [verdict]
    }

    private static func details(_ space: SalvagedSpace) -> [String] {
        var lines = space.moved.map {
            "positions \($0.first)-\($0.last) are now \($0.newFirst)-"
                + "\($0.newFirst + $0.last - $0.first)"
        }
        lines += space.gaps.map { "positions \(text($0)): not found" }
        lines += space.unplaced.map { "new positions \(text($0)): the old ones were not found" }
        lines += space.parted.map { "new positions \(text($0)): a part of a larger batch" }
        let differ = "two files tell different, of which the better one counts"
        lines += space.disputed.map { "new positions \(text($0)): \(differ)" }
        lines += space.disputedPending.map { "pending \(text($0)): \(differ)" }
        lines += space.erased.map { "new positions \(text($0)): personal fields read as erased" }
        lines += space.erasedPending.map { "pending \(text($0)): personal fields read as erased" }
        return lines + space.lostPending.map { "pending \(text($0)): not found" }
    }

    private static func text(_ range: ClosedRange<UInt64>) -> String {
        range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
    }

    private static func text(_ events: SalvagedSpace.Sequences) -> String {
        "\(events.replica.text)-\(text(events.sequences))"
    }

    private static func next(_ space: SalvagedSpace, _ source: String, _ target: String) -> String {
        let (old, new) = (CellText.oneLine(source), CellText.oneLine(target))
        guard space.isAuthority else {
            return "its server has another lineage; diario clone URL COPY --lane-of \(old) makes a "
                + "copy from the server that takes over the pending events"
        }
        return "diario -C \(new) verify. To give a server back its events: first diario remote "
            + "restore from a replica, then diario -C \(new) export | diario import -"
    }

    // MARK: JSON

    private static func fields(_ report: SalvageReport) -> Fields {
        [
            "ok": report.isWhole, "events": report.eventCount,
            "faults": report.faults.map { Fields($0) },
            "missingPacks": report.missingPacks,
            "spaces": report.spaces.map { fields($0) },
        ]
    }

    private static func fields(_ space: SalvagedSpace) -> Fields {
        [
            "space": space.space.text, "authority": space.isAuthority,
            "events": space.eventCount, "pending": space.pendingCount,
            "moved": space.moved.map { moved -> Fields in
                ["first": moved.first, "last": moved.last, "newFirst": moved.newFirst]
            },
            "gaps": space.gaps.map { fields($0) },
            "unplaced": space.unplaced.map { fields($0) },
            "parted": space.parted.map { fields($0) },
            "disputed": space.disputed.map { fields($0) },
            "disputedPending": space.disputedPending.map { fields($0) },
            "erased": space.erased.map { fields($0) },
            "erasedPending": space.erasedPending.map { fields($0) },
            "lostPending": space.lostPending.map { fields($0) },
        ]
    }

    private static func fields(_ range: ClosedRange<UInt64>) -> Fields {
        ["first": range.lowerBound, "last": range.upperBound]
    }

    private static func fields(_ events: SalvagedSpace.Sequences) -> Fields {
        ["replica": events.replica.text] + fields(events.sequences)
    }
}
