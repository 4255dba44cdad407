import Diario
import DiarioSchema

/// A folder with a table for each event type, as `diario export --csv-dir` fills it.
struct TableFolder {
    private let path: String
    private let guardsFormulas: Bool

    /// So many files are open at once; with more types the log is read once more.
    private static let openFileCountMax = 64

    /// A table that is being written.
    private struct Table {
        var content: CSVTable
        let file: NewFile
    }

    init(_ path: String, guardsFormulas: Bool) {
        self.path = path
        self.guardsFormulas = guardsFormulas
    }

    /// Writes the tables of all types that have events; each appears when it is complete.
    func export(_ source: ExportSource, _ call: Invocation) throws {
        if case .failed(let code) = SystemCall.makeDirectory(path) {
            throw Failure.failed(
                "cannot make the folder \(CellText.oneLine(path)): \(SystemCall.text(ofCode: code))"
            )
        }
        Interrupt.catchSignals()
        var names = Self.names(source)[...]
        var count: UInt64 = 0
        var fileCount = 0
        while !names.isEmpty {
            let group = Array(names.prefix(Self.openFileCountMax))
            names = names.dropFirst(group.count)
            var tables: [String: Table] = [:]
            do {
                count += try source.forEach(ofTypes: group) { line in
                    try write(line, source.space, &tables)
                    return true
                }
                for name in group { try tables[name]?.file.finish() }
            } catch {
                // Those that have their names already are gone from under the temporary ones.
                for table in tables.values { table.file.remove() }
                throw error
            }
            fileCount += tables.count
        }
        let files = Show.count(UInt64(fileCount), "file")
        call.remark(
            "exported \(Show.count(count, "event")) to \(files) in \(CellText.oneLine(path))"
        )
    }

    private func write(_ line: EventLine, _ space: Space, _ tables: inout [String: Table]) throws {
        let known = tables[line.type.name]
        var table: Table
        if let known { table = known } else { table = try begin(line.type.name, space, &tables) }
        try table.file.output.append { table.content.append(line, to: &$0) }
        tables[line.type.name] = table
    }

    private func begin(
        _ name: String,
        _ space: Space,
        _ tables: inout [String: Table]
    ) throws -> Table {
        let types = space.catalog.types.filter { $0.name == name }
        let content = try CSVTable(types, of: space, guardsFormulas: guardsFormulas)
        // The name of a type holds nothing that a file's name may not.
        let table = Table(content: content, file: try NewFile("\(path)/\(name).csv"))
        // Known from now on, so that the file is taken away if the next step fails.
        tables[name] = table
        try table.file.output.append { content.appendHeader(to: &$0) }
        return table
    }

    /// The types that are wanted, each once.
    private static func names(_ source: ExportSource) -> [String] {
        let wanted = source.filter.types
        var names: [String] = []
        for type in source.space.catalog.types where type.name != names.last {
            let isWanted =
                wanted.isEmpty
                || wanted.contains { $0.hasSuffix(".") ? type.name.hasPrefix($0) : type.name == $0 }
            if isWanted { names.append(type.name) }
        }
        return names
    }
}
