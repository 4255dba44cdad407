package import DiarioCore
import DiarioSQLite

/// Answers queries from generations of read models, without changing them.
package final class ModelReader {
    private let connection: Connection
    /// The packs that are attached, if tables are told apart by them.
    private let packs: [String]
    private let sources: [Source]
    private let watch = Watch()
    private let places = KnownPlaces()
    private let paths: String
    /// Messages about tables that are not here, by their names in small letters.
    package var missingTables: [String: String] = [:]
    private var timeRemedy = ""
    /// Statements that are asked again and again, by their text.
    private var kept: [String: ReadStatement] = [:]
    fileprivate let progress = Progress()

    /// Of the query that runs; apart from the reader, which has the connection that looks at it.
    fileprivate final class Progress {
        /// True once its time is over.
        var isOver = false
        /// The most that the library may have taken until the next row is there.
        var memoryMax = 0
        /// True once it has taken more memory than it may.
        var isTooLarge = false
    }

    /// A generation to be read.
    package struct Source: Sendable {
        /// The pack's name, by which SQL knows its tables.
        package let pack: String
        package let path: String
        /// True if the file does not change, in a folder that cannot be written.
        package let isImmutable: Bool

        package init(pack: String, path: String, isImmutable: Bool) {
            self.pack = pack
            self.path = path
            self.isImmutable = isImmutable
        }
    }

    /// The bounds of an answer.
    package struct Bounds {
        package var rowCountMax = Limits.queryRowCountMax
        /// Called from time to time; true once the time is over.
        package var isOver: () -> Bool = { false }
        /// The advice after too many rows, and after too long a time.
        package var rowRemedy = "ask for fewer with LIMIT"
        package var timeRemedy = "ask for less"

        package init() {}
    }

    /// Reads the tables of one pack, by their names alone.
    package init(_ source: Source) throws(ProjectionError) {
        paths = source.path
        packs = []
        sources = [source]
        do throws(SQLiteError) {
            connection = try Connection(
                path: source.path,
                source.isImmutable ? .immutable : .readOnly
            )
            try Self.prepare(connection, attachedCount: 0)
            try places.add(to: connection)
        } catch {
            throw .file(path: source.path, error)
        }
        authorize()
    }

    /// Reads the tables of several packs; a table that two packs have is named with its pack, as
    /// in `fish.report`.
    ///
    /// The table `diario_tables` names those of the packs in `list`.
    package init(_ sources: [Source], listing list: [Source] = []) throws(ProjectionError) {
        guard sources.count <= Limits.queryPackCountMax else {
            throw .query(
                .limit,
                "the query may read \(sources.count) packs, and one sees at most "
                    + "\(Limits.queryPackCountMax); ask for less"
            )
        }
        paths = "the read models"
        packs = sources.map { $0.pack }
        self.sources = sources
        var current = paths
        do throws(SQLiteError) {
            connection = try Connection(path: ":memory:", .create)
            try Self.prepare(connection, attachedCount: Limits.queryPackCountMax)
            try places.add(to: connection)
            try connection.execute(
                "CREATE TEMP TABLE diario_tables (pack TEXT, name TEXT, model TEXT)"
            )
            for source in list {
                current = source.path
                try Self.list(source, in: connection)
            }
            for source in sources {
                current = source.path
                try Self.attach(source, to: connection)
            }
        } catch {
            throw .file(path: current, error)
        }
        authorize()
    }

    /// Lets the watch see each statement that is prepared from now on.
    private func authorize() {
        watch.begin(.ourOwn)
        connection.setAuthorizer { [watch] in watch.answer($0) }
    }

    /// One after the other: fewer can be attached at once than there may be.
    private static func list(
        _ source: Source,
        in connection: borrowing Connection
    ) throws(SQLiteError) {
        try attach(source, to: connection)
        let pack = source.pack.quotedName
        try connection.execute(
            "INSERT INTO temp.diario_tables SELECT '\(source.pack)', name, model "
                + "FROM \(pack).diario_table; DETACH \(pack)"
        )
    }

    private static func attach(
        _ source: Source,
        to connection: borrowing Connection
    ) throws(SQLiteError) {
        try connection.attach(
            source.path,
            as: source.pack,
            source.isImmutable ? .immutable : .readOnly
        )
    }

    private static func prepare(
        _ connection: borrowing Connection,
        attachedCount: Int
    ) throws(SQLiteError) {
        try PackConnection.prepare(connection)
        connection.setLimit(.attachedCount, to: attachedCount)
        // Sorted rows that do not fit the memory go to a file. The page cache has the library's
        // 2 MB: a connection is new for each question, and a scan would fill a larger one with
        // memory that nobody has touched yet, which takes longer than to read a page again.
        try connection.execute("PRAGMA temp_store = FILE")
    }

    /// Lets queries ask for the states of blobs; `stateOfBytes` says it of those not erased.
    package func addBlobStates(
        stateOfBytes: @escaping ([UInt8]) throws(UnreadBlob) -> BlobState
    ) throws(ProjectionError) {
        do throws(SQLiteError) {
            try BlobStates(sources, stateOfBytes: stateOfBytes).add(to: connection)
        } catch {
            throw .file(path: paths, error)
        }
    }

    /// Says where the events of the space are; the next query is answered by that.
    package func set(_ new: EventPlaces) throws(ProjectionError) {
        watch.begin(.ourOwn)
        do throws(SQLiteError) { try places.set(new, in: connection) } catch {
            throw .file(path: paths, error)
        }
    }

    /// The tables that its queries have read.
    fileprivate var readTables: Set<String> { watch.readTables }

    // MARK: Answers

    /// The answer to a query, which ends with the next one that is asked.
    ///
    /// `parameters` are by name, without the colon. With `isKept` it is one of a few queries that
    /// are asked many times.
    package func answer(
        _ sql: String,
        _ parameters: [String: SQLValue] = [:],
        _ bounds: Bounds = Bounds(),
        isKept: Bool = false
    ) throws(ProjectionError) -> ModelAnswer {
        (progress.isOver, progress.isTooLarge, timeRemedy) = (false, false, bounds.timeRemedy)
        // Some functions collect all values of a query in one text and check its size at the end.
        // Between two checks there are a few hundred rows, each as large as a value may be.
        connection.setProgress(everySteps: 1000) { [progress] in
            progress.isTooLarge =
                progress.isTooLarge || Connection.memoryUsed > progress.memoryMax
            progress.isOver = progress.isOver || bounds.isOver()
            return progress.isOver || progress.isTooLarge
        }
        let statement = try statement(sql, isKept: isKept)
        // Where an event is changes with what is in the inbox.
        if EventPlaces.areAsked(by: sql) { watch.note(read: EventPlaces.inboxTable) }
        try bind(parameters, to: statement.prepared)
        return ModelAnswer(statement, self, bounds)
    }

    private func statement(
        _ sql: String,
        isKept: Bool
    ) throws(ProjectionError) -> ReadStatement {
        if isKept, let known = kept[sql] {
            known.prepared.reset()
            return known
        }
        watch.begin(.query)
        let statement = ReadStatement(try prepare(sql, isKept: isKept))
        guard statement.prepared.isReadOnly else {
            throw .query(.refused, "a query may only read")
        }
        try checkNames(sql)
        if isKept { kept[sql] = statement }
        return statement
    }

    /// Refuses a table that several packs have and that is named without its pack: its meaning
    /// must not depend on other adopted packs.
    private func checkNames(_ sql: String) throws(ProjectionError) {
        guard packs.count > 1, !watch.currentTables.isEmpty else { return }
        let words = SQLWords(sql)
        let tables = watch.currentTables.sorted()
        for table in tables where words.bare.contains(table.lowercased()) {
            guard words.owners[table.lowercased(), default: []].isDisjoint(with: packs) else {
                continue
            }
            let owners = try owners(of: table)
            guard owners.count > 1 else { continue }
            let names = owners.sorted().map { "\($0).\(table)" }.joined(separator: " or ")
            throw .query(.invalid, "several packs have a table \(table); write \(names)")
        }
    }

    /// The packs that have a table of this name.
    private func owners(of table: String) throws(ProjectionError) -> [String] {
        watch.begin(.ourOwn)
        defer { watch.begin(.query) }
        var owners: [String] = []
        for pack in packs {
            do throws(SQLiteError) {
                let names = try connection.rows("SELECT name FROM \(pack.quotedName).diario_table")
                let isThere = names.contains { $0[0].text?.lowercased() == table.lowercased() }
                if isThere { owners.append(pack) }
            } catch {
                throw .file(path: paths, error)
            }
        }
        return owners
    }

    private func prepare(
        _ sql: String,
        isKept: Bool
    ) throws(ProjectionError) -> Statement {
        // SQLite would take the part before it for all of the query.
        guard !sql.utf8.contains(0) else {
            throw .query(.invalid, "the query has a byte of zero in it; it is no text. Check it")
        }
        do throws(SQLiteError) { return try connection.prepare(sql, isKept: isKept) } catch {
            throw fault(error)
        }
    }

    private func bind(
        _ parameters: [String: SQLValue],
        to statement: borrowing Statement
    ) throws(ProjectionError) {
        var known: Set<String> = []
        for index in 0..<statement.parameterCount {
            guard let name = statement.parameterName(at: index + 1)?.dropFirst() else {
                throw .query(.invalid, "give parameters a name, as in :day, and no number")
            }
            known.insert(String(name))
            guard let value = parameters[String(name)] else {
                throw .query(.invalid, "the parameter \(name) has no value")
            }
            do throws(SQLiteError) { try statement.bind(value, at: index + 1) } catch {
                throw .file(path: paths, error)
            }
        }
        if let other = parameters.keys.sorted().first(where: { !known.contains($0) }) {
            throw .query(.invalid, "the query has no parameter \(other)")
        }
    }

    fileprivate func fault(_ error: SQLiteError) -> ProjectionError {
        switch error.kind {
        case .interrupted where progress.isTooLarge:
            .query(.limit, "the query took more memory than it may; ask for less")
        case .interrupted where progress.isOver:
            .query(.time, "the query took longer than it may; \(timeRemedy)")
        case .refused:
            .query(.refused, watch.refusal?.message ?? error.message)
        case .busy, .full, .damaged, .readOnly, .unavailable, .noMemory, .tooOld:
            .file(path: paths, error)
        case .tooLarge, .interrupted: .query(.limit, error.message)
        case .constraint, .invalid, .other:
            .query(.invalid, explained(error.message))
        }
    }

    /// The message with a remedy, for an unknown name, a pattern that is too long, words that are
    /// no expression, or an early end.
    private func explained(_ message: String) -> String {
        let noTable = "no such table: "
        if message.hasPrefix(noTable) {
            let name = message.dropFirst(noTable.count)
            let table = name.split(separator: ".").last ?? name
            return missingTables[table.lowercased()]
                ?? message + "; all are in the table diario_tables"
        }
        if message.hasPrefix("LIKE or GLOB pattern") {
            return message + "; one may have \(Limits.sqlPatternSizeMax) bytes"
        }
        if message.hasPrefix("fts5: ") {
            return message + "; words with other signs go in double quotes: MATCH '\"o-ring\"'"
        }
        return message == "incomplete input" ? "the query ends too early: \(message)" : message
    }

    /// The position of the read models of a generation.
    package static func applied(_ source: Source) throws(ProjectionError) -> UInt64 {
        let reader = try ModelReader(source)
        do throws(SQLiteError) {
            guard
                case .integer(let value)? = try reader.connection.value(
                    "SELECT coalesce(min(applied), 0) FROM diario_model"
                )
            else { return 0 }
            return UInt64(clamping: value)
        } catch {
            throw .file(path: source.path, error)
        }
    }
}

/// A statement that reads, and the names of its columns.
final class ReadStatement {
    let prepared: Statement
    let columns: [String]

    init(_ statement: consuming Statement) {
        columns = (0..<statement.columnCount).map { statement.columnName(at: $0) }
        prepared = statement
    }
}

/// The rows that answer a query, one after the other.
package final class ModelAnswer {
    /// The tables that it is read from.
    package var readTables: Set<String> { reader.readTables }
    private let statement: ReadStatement
    private let reader: ModelReader
    private let rowCountMax: Int
    private let rowRemedy: String
    private var count = 0

    package var columns: [String] { statement.columns }

    fileprivate init(
        _ statement: ReadStatement,
        _ reader: ModelReader,
        _ bounds: ModelReader.Bounds
    ) {
        self.statement = statement
        self.reader = reader
        (rowCountMax, rowRemedy) = (bounds.rowCountMax, bounds.rowRemedy)
    }

    /// Throws if two columns have one name: as an object, a row would lose one of them.
    package func checkNames() throws(ProjectionError) {
        var known: Set<String> = []
        for name in columns where !known.insert(name).inserted {
            throw .query(
                .invalid,
                "two columns of the answer are named \(name); give one of them another name "
                    + "with AS"
            )
        }
    }

    /// The next row; nil after the last one.
    package func next() throws(ProjectionError) -> [SQLValue]? {
        // Memory counts from one row to the next: another thread may ask for that.
        reader.progress.memoryMax = Connection.memoryUsed + Limits.queryMemorySizeMax
        do throws(SQLiteError) {
            guard try statement.prepared.step() else { return nil }
        } catch {
            throw reader.fault(error)
        }
        count += 1
        guard count <= rowCountMax else {
            statement.prepared.reset()
            throw .query(
                .limit,
                "the answer has more than \(rowCountMax) rows; \(rowRemedy)"
            )
        }
        return statement.prepared.row
    }
}
