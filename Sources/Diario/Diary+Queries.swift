public import DiarioCore
import DiarioHost
import DiarioLog
import DiarioSQLite
import DiarioSchema
import DiarioStorage

/// The rows that answer a query.
public struct QueryAnswer: Hashable, Sendable {
    /// The names of the columns.
    public let columns: [String]
    /// The rows in the order of the query, each with a value for every column.
    public let rows: [[SQLValue]]

    /// The number of rows.
    public var count: Int { rows.count }

    /// The value of a column in a row; nil if there is no such column.
    public subscript(row: Int, column: String) -> SQLValue? {
        columns.firstIndex(of: column).map { rows[row][$0] }
    }
}

extension Diary {
    /// Answers a named query of a pack, from read models that hold all that was recorded.
    ///
    /// Parameters are texts, read by the types that the query declares: `["day": "2026-05-04"]`.
    /// One with a default may be left out.
    ///
    /// - Parameters:
    ///   - name: The name of the query, with that of its pack in front (`meals.day`) if several
    ///     packs have one of that name.
    ///   - parameters: Values by name, without the colon.
    /// - Returns: All rows of the answer.
    /// - Throws: `CancellationError` when the task is cancelled; ``DiarioError`` if there is no
    ///   such query, a parameter is missing or of another type, or the answer has too many rows or
    ///   too many bytes.
    public func query(
        _ name: String,
        _ parameters: [String: String] = [:]
    ) async throws -> QueryAnswer {
        try await answer(.named(name, parameters)).answer
    }

    /// Answers a query in SQL over the tables of all packs; it may only read.
    ///
    /// - Parameters:
    ///   - query: One SELECT. A table that two packs have is named with its pack: `meals.day`.
    ///   - parameters: Values by name, without the colon.
    /// - Returns: All rows of the answer.
    /// - Throws: `CancellationError` when the task is cancelled; ``DiarioError`` if SQLite does not
    ///   understand it, if it writes, or if the answer takes too long, or has too many rows or too
    ///   many bytes.
    public func sql(
        _ query: String,
        _ parameters: [String: SQLValue] = [:]
    ) async throws -> QueryAnswer {
        try await answer(.sql(query, parameters)).answer
    }

    /// The answers to a named query: at once, and again each time a table that it reads changed.
    public nonisolated func liveQuery(
        _ name: String,
        _ parameters: [String: String] = [:]
    ) -> LiveQuery {
        LiveQuery(diary: self, question: .named(name, parameters))
    }

    /// The answers to a query in SQL: at once, and again each time a table that it reads changed.
    public nonisolated func liveSQL(
        _ query: String,
        _ parameters: [String: SQLValue] = [:]
    ) -> LiveQuery {
        LiveQuery(diary: self, question: .sql(query, parameters))
    }

    /// Rebuilds the read models of all packs from the log, beside the live ones.
    ///
    /// Other calls still work meanwhile: the build has its own threads. When the task is cancelled
    /// or the diary closed, it ends after its current transaction, and the live read models stay;
    /// the next call continues from there.
    ///
    /// - Parameter progress: Called with the number of applied events and of all, for all packs
    ///   together; on one thread after another.
    /// - Throws: `CancellationError` when the task is cancelled; ``DiarioError`` if the diary is
    ///   closed, if the disk refuses, or if nothing may be written.
    public func rebuild(
        progress: @escaping @Sendable (UInt64, UInt64) -> Void = { _, _ in }
    ) async throws {
        try Task.checkCancellation()
        try refresh()
        let models = try models()
        let rebuild = Rebuild()
        let build = try models.rebuilding(rebuild.stop, progress: progress)
        rebuilds.append(rebuild)
        defer { rebuilds.removeAll { $0 === rebuild } }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                _ = WorkerThread(name: "diario-rebuild") {
                    let result = build()
                    rebuild.hasEnded.raise()
                    continuation.resume(returning: result)
                }
            }
        } onCancel: {
            rebuild.stop.ask()
        }
        if case .failure = result { try Task.checkCancellation() }
        try result.get()
        changes.raise()
    }

    /// Reads what other processes recorded; throws if the diary was closed.
    ///
    /// If one of them replaced the space, the diary continues with the new one.
    func refresh() throws {
        _ = try shared.update { space in try space.refresh() }
    }

    func models() throws -> ReadModels {
        let space = space
        // A replaced space has other read models.
        if let readModels, readModels.spaceID == space.id {
            readModels.space = space
            return readModels
        }
        let made = try ReadModels(space)
        readModels = made
        return made
    }

    /// An answer, and the tables that it was read from.
    struct Reading: Sendable {
        let answer: QueryAnswer
        let tables: Set<String>
    }

    func answer(_ question: Question) async throws -> Reading {
        try await endingWithTask { stop in try ask(question, stop) }
    }

    /// Runs `body` until the task is cancelled or the diary closed, and throws what says so then.
    private func endingWithTask<Value>(
        _ body: (BuildStop) throws -> Value
    ) async throws -> Value {
        let stop = BuildStop(with: closing)
        return try await withTaskCancellationHandler {
            do {
                try stop.check()
                return try body(stop)
            } catch {
                try closing.check()
                try Task.checkCancellation()
                throw error
            }
        } onCancel: {
            stop.ask()
        }
    }

    private func ask(_ question: Question, _ stop: BuildStop) throws -> Reading {
        let prepared = try prepare(question, stop)
        let end = ContinuousClock.now + .seconds(Limits.querySecondsMax)
        return try Reading(
            prepared.answer { stop.hasBeenAsked || ContinuousClock.now > end }
        )
    }

    /// Brings the read models that a question reads up to what this and other processes recorded.
    private func prepare(
        _ question: Question,
        _ stop: BuildStop
    ) throws -> PreparedQuestion {
        try refresh()
        let models = try models()
        models.stop = stop
        return try models.ask(question)
    }

    /// True if one of these tables may have changed since `last`.
    ///
    /// Changes until then are noted for all callers. Pass `now` as `last` the next time.
    func hasChanged(
        _ tables: Set<String>,
        readBy question: Question,
        since last: UInt64
    ) async throws -> (Bool, now: UInt64) {
        let packs = try await endingWithTask { stop in
            try prepare(question, stop).packs
        }
        let changed = try models().takeChangedTables()
        for (pack, tables) in changed where !tables.isEmpty {
            changeNumber += 1
            for table in tables { changeNumbers["\(pack).\(table)"] = changeNumber }
        }
        let isChanged = packs.contains { pack in
            tables.union(["*"]).contains { changeNumbers["\(pack).\($0)", default: 0] > last }
        }
        return (isChanged, changeNumber)
    }
}

extension Diary.Reading {
    /// Reads all rows of an answer.
    fileprivate init(_ answer: Answer) throws {
        var rows: [[SQLValue]] = []
        var size = 0
        while let row = try answer.next() {
            rows.append(row.values)
            size += row.values.reduce(Self.rowSize) { $0 + $1.sizeInMemory }
            guard size <= Limits.queryMemorySizeMax else {
                throw DiarioError(
                    .tooLarge,
                    "the answer has more than \(Limits.queryMemorySizeMax / 1_048_576) MiB; ask "
                        + "for fewer rows or columns, or for one part after the other with LIMIT"
                )
            }
        }
        self.init(
            answer: QueryAnswer(columns: answer.columns, rows: rows),
            tables: answer.readTables
        )
    }

    /// About what an array takes beside its elements.
    private static let rowSize = 48
}

extension SQLValue {
    /// About how many bytes it takes in an answer.
    fileprivate var sizeInMemory: Int {
        switch self {
        case .null, .integer, .real: MemoryLayout<SQLValue>.stride
        case .text(let text): MemoryLayout<SQLValue>.stride + text.utf8.count
        case .blob(let bytes): MemoryLayout<SQLValue>.stride + bytes.count
        }
    }
}

/// The answers to a query, as what is recorded changes them.
///
/// Changes that come faster than they are asked for are told as one.
public struct LiveQuery: AsyncSequence, Sendable {
    public typealias Element = QueryAnswer

    let diary: Diary
    let question: Question

    public func makeAsyncIterator() -> Iterator { Iterator(diary: diary, question: question) }

    /// Asks again when a table that was read has changed.
    public struct Iterator: AsyncIteratorProtocol {
        let diary: Diary
        let question: Question
        private var last: Diary.Reading?
        private var seen: UInt64 = 0

        /// Others may record too, and only the log tells of that.
        private static let pause = Duration.milliseconds(250)

        init(diary: Diary, question: Question) {
            self.diary = diary
            self.question = question
        }

        /// The next answer that differs from the last one; nil once the task is cancelled.
        public mutating func next() async throws -> QueryAnswer? {
            do {
                while !Task.isCancelled {
                    if let answer = try await look() { return answer }
                }
            } catch {
                if !Task.isCancelled { throw error }
            }
            return nil
        }

        /// Asks if something changed, else waits for that a while; the answer if it is another one.
        private mutating func look() async throws -> QueryAnswer? {
            let version = diary.changes.version
            // The first time this says only from where on changes are to be told.
            let tables = last?.tables ?? []
            let isChanged: Bool
            (isChanged, seen) = try await diary.hasChanged(tables, readBy: question, since: seen)
            guard isChanged || last == nil else {
                await diary.changes.wait(after: version, atMost: Self.pause)
                return nil
            }
            let reading = try await diary.answer(question)
            defer { last = reading }
            return reading.answer == last?.answer ? nil : reading.answer
        }
    }
}
