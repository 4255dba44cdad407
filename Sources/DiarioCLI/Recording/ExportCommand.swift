import Diario
import DiarioSchema

extension Command {
    static let export = Command(
        "export",
        "write events as JSON, CloudEvents or CSV",
        details: """
            Prints every event with all that is known of it, one JSON object in each line, in order
            of position and then the pending ones. `diario import` reads it again.

            Events that the authority wrote itself are left out, unless --type or --csv names them
            or with --all: those of the engine, as that a pack was adopted, and reference data. From
            an export with --all and without other filters, an import into an empty space makes the
            same space.

            With --cloudevents it is one JSON array of CloudEvents 1.0, which `diario import` reads
            as well. With --csv it is a table (RFC 4180) of the events of one type: the columns that
            begin with _ are those of every event, the others the fields of its newest version, then
            fields that only older versions have. Personal values are included. An empty cell is an
            absent value; an empty text has quotes.

            Texts that a spreadsheet would take for formulas are written as they are. For a file
            that a person opens there, --spreadsheet puts an apostrophe before them: safer, and no
            longer the same text.
            """,
        options: [
            .value("output FILE", "write to FILE, which appears when it is complete", .file),
            .flag("cloudevents", "write a JSON array of CloudEvents"),
            .value("csv TYPE", "write the events of TYPE as a table", .typeName),
            .value("version N", "with --csv: only events of this version of the type"),
            .value(
                "csv-dir DIR",
                "write the file TYPE.csv into DIR for each type that has events",
                .folder
            ),
            .flag("spreadsheet", "with --csv, --csv-dir: put ' before what would be a formula"),
            .value("limit N", "at most N events, the first ones of those that are chosen"),
        ] + CommandOption.filters + [.noProgress],
        examples: [
            "diario export --all --output notebook.jsonl": "a copy of all that happened",
            "diario export --csv meals.weight.recorded --since 2026-01-01":
                "the weights of this year, as a table",
            "diario export --cloudevents --output notebook.json": "all events for another program",
        ],
        run: { try ExportCommand.run($0) }
    )
}

/// The command `diario export`.
enum ExportCommand {
    static func run(_ call: Invocation) throws {
        let arguments = call.arguments
        try checkForms(arguments)
        var filter = try arguments.filter()
        let version = try arguments.count("version", from: 1)
        let limit = try arguments.count("limit", from: 0)
        // All events of a type that is named are wanted.
        if arguments.has("csv") { filter.includesAuthority = true }
        try call.reading { space in
            try space.checkTypes(of: filter)
            let source = try ExportSource(space, filter, limit: limit, call)
            if let folder = arguments.value("csv-dir") {
                let tables = TableFolder(folder, guardsFormulas: arguments.has("spreadsheet"))
                return try tables.export(source, call)
            }
            guard let path = arguments.value("output") else {
                _ = try write(source, to: call.output, version, call)
                return try call.output.flush()
            }
            let file = try NewFile(path)
            Interrupt.catchSignals()
            let count: UInt64
            do {
                count = try write(source, to: file.output, version, call)
                try file.finish()
            } catch {
                file.remove()
                throw error
            }
            call.remark("exported \(Show.count(count, "event")) to \(CellText.oneLine(path))")
        }
    }

    /// Refuses options that contradict each other.
    private static func checkForms(_ arguments: Arguments) throws {
        let command = arguments.command
        let forms = ["cloudevents", "csv", "csv-dir"].filter { arguments.has($0) }
        guard forms.count < 2 else {
            throw Failure.usage(
                "--\(forms[0]) and --\(forms[1]) are two ways to write; choose one",
                in: command
            )
        }
        for (name, others) in [
            ("version", ["csv"]), ("spreadsheet", ["csv", "csv-dir"]),
        ] where arguments.has(name) && !others.contains(where: { arguments.has($0) }) {
            let list = others.map { "--\($0)" }.joined(separator: " or ")
            throw Failure.usage("--\(name) goes with \(list)", in: command)
        }
        for (name, other, reason) in [
            ("csv", "type", "--csv TYPE names the type already"),
            ("csv-dir", "output", "--csv-dir DIR says already where the files go"),
            ("csv-dir", "limit", "--csv-dir DIR is for all events of a type"),
        ] where arguments.has(name) && arguments.has(other) {
            throw Failure.usage("\(reason), so it cannot be with --\(other)", in: command)
        }
    }

    /// Writes the events in the form that is wanted; gives how many they are.
    private static func write(
        _ source: ExportSource,
        to output: Output,
        _ version: UInt64?,
        _ call: Invocation
    ) throws -> UInt64 {
        if let name = call.arguments.value("csv") {
            let types = try types(name, version, in: source.space)
            var table = try CSVTable(
                types,
                of: source.space,
                guardsFormulas: call.arguments.has("spreadsheet")
            )
            try output.append { table.appendHeader(to: &$0) }
            return try source.forEach(ofTypes: [name]) { line in
                guard types.contains(where: { $0 === line.type }) else { return false }
                try output.append { table.append(line, to: &$0) }
                return true
            }
        }
        guard call.arguments.has("cloudevents") else {
            return try source.forEach { line in
                try output.append {
                    EventLineWriter.append(line, to: &$0)
                    $0.append(0x0a)
                }
                return true
            }
        }
        var writer = CloudEventWriter()
        let count = try source.forEach { line in
            try output.append { writer.append(line, to: &$0) }
            return true
        }
        try output.append { writer.finish(&$0) }
        return count
    }

    /// The versions of a type that are wanted, the newest last.
    private static func types(
        _ name: String,
        _ version: UInt64?,
        in space: Space
    ) throws -> [EventType] {
        let all = space.catalog.types.filter { $0.name == name }
        guard !all.isEmpty else { throw space.failure(unknownType: name) }
        guard let version else { return all }
        let chosen = all.filter { UInt64($0.version) == version }
        guard !chosen.isEmpty else {
            let known = all.map { "\($0.version)" }.joined(separator: ", ")
            throw Failure.failed("\(name) has no version \(version). There is: \(known)")
        }
        return chosen
    }
}

/// The events that an export writes, with a progress bar beside.
struct ExportSource {
    let space: Space
    let filter: EventFilter
    /// At most so many events, the first ones.
    private let limit: UInt64
    private let call: Invocation
    /// The number of events, if all of them are wanted.
    private let total: UInt64?

    init(_ space: Space, _ filter: EventFilter, limit: UInt64?, _ call: Invocation) throws {
        self.space = space
        self.filter = filter
        self.limit = limit ?? .max
        self.call = call
        let state = try space.state()
        let count = filter.includesAuthority ? state.storedCount : UInt64(clamping: state.events)
        let isChosen = call.arguments.choosesEvents || call.arguments.has("csv")
        total = isChosen ? nil : min(count, self.limit)
    }

    /// Reads the events that are wanted, or those of them with these types, in order.
    ///
    /// Gives the number of them for which `body` returned true.
    func forEach(
        ofTypes types: [String]? = nil,
        _ body: (EventLine) throws -> Bool
    ) throws -> UInt64 {
        // Lines that scroll by on the terminal show by themselves that it goes on.
        let goesToFile = call.arguments.has("output") || call.arguments.has("csv-dir")
        let hasBar = goesToFile || !call.output.isTerminal
        let bar = hasBar ? call.progressBar("Exporting", unit: "events") : nil
        defer { bar?.finish() }
        var filter = filter
        if let types { filter.types = types }
        var reader = try EventReader(space, filter)
        var count: UInt64 = 0
        var seen: UInt64 = 0
        while count < limit, let line = try reader.next() {
            if try body(line) { count += 1 }
            seen += 1
            guard seen.isMultiple(of: 1024) else { continue }
            bar?.update(done: seen, total: total)
            if Interrupt.isRaised {
                throw Failure.failed("interrupted. No incomplete file is left")
            }
        }
        return count
    }
}
