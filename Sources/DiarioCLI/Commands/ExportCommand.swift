import Diario
import DiarioLog
import DiarioSchema

/// The command `diario export`.
enum ExportCommand {
    static func run(_ call: Invocation) throws(Failure) {
        var (filter, version, limit) = try checkingUsage { () throws(UsageError) in
            try checkForms(call.arguments)
            return (
                try call.arguments.filter(), try call.arguments.count("version", from: 1),
                try call.arguments.count("limit", from: 0)
            )
        }
        // What is named is wanted, whoever wrote it.
        if call.arguments.has("csv") { filter.includesAuthority = true }
        let wanted = filter
        try call.withSpace(.readOnly) { (space) throws(Failure) in
            try space.checkTypes(of: wanted)
            let source = try ExportSource(space, wanted, limit: limit, call)
            if source.lost > 0 {
                call.remark(
                    "without \(Show.count(source.lost, "event")) that this space lost; an export "
                        + "with --all is imported with --gaps then"
                )
            }
            if let folder = call.arguments.value("csv-dir") {
                let tables = TableFolder(folder, guardsFormulas: call.arguments.has("spreadsheet"))
                return try tables.export(source, call)
            }
            guard let path = call.arguments.value("output") else {
                _ = try write(source, to: call.output, version, call)
                return try call.output.flush()
            }
            let file = try NewFile(path)
            Interrupt.catchSignals()
            let count: UInt64
            do throws(Failure) {
                count = try write(source, to: file.output, version, call)
                try file.finish()
            } catch {
                file.remove()
                throw error
            }
            let shown = CellText.oneLine(path)
            call.remark("exported \(Show.count(count, "event")) to \(shown)")
        }
    }

    /// Refuses options that say different things about what is written.
    private static func checkForms(_ arguments: Arguments) throws(UsageError) {
        let forms = ["cloudevents", "csv", "csv-dir"].filter { arguments.has($0) }
        guard forms.count < 2 else {
            throw UsageError(
                "--\(forms[0]) and --\(forms[1]) are two ways to write; choose one",
                in: arguments.command
            )
        }
        for (name, others) in [
            ("version", ["csv"]), ("spreadsheet", ["csv", "csv-dir"]),
        ] where arguments.has(name) && !others.contains(where: { arguments.has($0) }) {
            let list = others.map { "--\($0)" }.joined(separator: " or ")
            throw UsageError("--\(name) goes with \(list)", in: arguments.command)
        }
        for (name, other, why) in [
            ("csv", "type", "--csv TYPE names the type already"),
            ("csv-dir", "output", "--csv-dir DIR says already where the files go"),
            ("csv-dir", "limit", "--csv-dir DIR is for all events of a type"),
        ] where arguments.has(name) && arguments.has(other) {
            throw UsageError("\(why), so it cannot be with --\(other)", in: arguments.command)
        }
    }

    /// Writes what is wanted in the form that is wanted; gives how many events these are.
    private static func write(
        _ source: ExportSource,
        to output: Output,
        _ version: UInt64?,
        _ call: Invocation
    ) throws(Failure) -> UInt64 {
        if let name = call.arguments.value("csv") {
            let types = try types(name, version, in: source.space)
            var table = try reporting { () throws(DiarioError) in
                try CSVTable(
                    types,
                    of: source.space,
                    guardsFormulas: call.arguments.has("spreadsheet")
                )
            }
            try output.append { table.appendHeader(to: &$0) }
            return try source.forEach(ofTypes: [name]) { (line) throws(Failure) in
                guard types.contains(where: { $0 === line.type }) else { return false }
                try output.append { table.append(line, to: &$0) }
                return true
            }
        }
        if call.arguments.has("cloudevents") {
            var writer = CloudEventWriter()
            let count = try source.forEach { (line) throws(Failure) in
                try output.append { writer.append(line, to: &$0) }
                return true
            }
            try output.append { writer.finish(&$0) }
            return count
        }
        return try source.forEach { (line) throws(Failure) in
            try output.append {
                EventLineWriter.append(line, to: &$0)
                $0.append(0x0a)
            }
            return true
        }
    }

    /// The versions of a type that are wanted, the newest last.
    private static func types(
        _ name: String,
        _ version: UInt64?,
        in space: Space
    ) throws(Failure) -> [EventType] {
        let all = space.catalog.types.filter { $0.name == name }
        guard !all.isEmpty else { throw space.failure(unknownType: name) }
        guard let version else { return all }
        let chosen = all.filter { UInt64($0.version) == version }
        guard !chosen.isEmpty else {
            let known = all.map { "\($0.version)" }.joined(separator: ", ")
            throw .failed("\(name) has no version \(version). There is: \(known)")
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
    /// How many events there are, if all of them are wanted.
    private let total: UInt64?
    /// How many there were besides.
    let lost: UInt64

    init(
        _ space: Space,
        _ filter: EventFilter,
        limit: UInt64?,
        _ call: Invocation
    ) throws(Failure) {
        self.space = space
        self.filter = filter
        self.limit = limit ?? .max
        self.call = call
        let status = try reportingLog { () throws(LogError) in
            try space.store.status(of: space.id)
        }
        let isChosen = call.arguments.choosesEvents || call.arguments.has("csv")
        let all = status.head - status.released + UInt64(status.pending)
        lost = status.manifest.lost.reduce(0) { $0 + $1.count }
        let count =
            filter.includesAuthority ? all - min(lost, all) : UInt64(clamping: status.events)
        total = isChosen ? nil : min(count, self.limit)
    }

    /// Reads the events that are wanted, or those of them with these types, in order.
    ///
    /// Gives how many of them `body` took: it answers whether it did.
    func forEach(
        ofTypes types: [String]? = nil,
        _ body: (EventLine) throws(Failure) -> Bool
    ) throws(Failure) -> UInt64 {
        // Lines that scroll by on the terminal show by themselves that it goes on.
        let goesToFile = call.arguments.has("output") || call.arguments.has("csv-dir")
        let bar =
            goesToFile || !call.output.isTerminal
            ? call.progressBar("Exporting", unit: "events") : nil
        defer { bar?.finish() }
        var filter = filter
        if let types { filter.types = types }
        let wanted = filter
        var reader = try reporting { () throws(DiarioError) in try EventReader(space, wanted) }
        var count: UInt64 = 0
        var seen: UInt64 = 0
        while count < limit,
            let line = try reporting({ () throws(DiarioError) in try reader.next() })
        {
            if try body(line) { count += 1 }
            seen += 1
            guard seen.isMultiple(of: 1024) else { continue }
            bar?.update(done: seen, total: total)
            if Interrupt.isRaised {
                throw .failed("interrupted. No incomplete file is left")
            }
        }
        return count
    }
}
