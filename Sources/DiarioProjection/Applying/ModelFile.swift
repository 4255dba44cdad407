package import DiarioCore
import DiarioSQLite
import DiarioSchema

/// One generation of a pack's read models: an SQLite file with its writer.
///
/// Used by one thread at a time. Changes are made between `begin` and `commit`, so that a reader
/// sees all of them or none.
package final class ModelFile {
    package let plan: PackPlan
    package let path: String
    let connection: Connection
    /// The position of each model of the plan, in its order.
    package internal(set) var models: [AppliedModel] = []
    /// Pending events whose effects are in the tables, oldest first.
    package internal(set) var sections: [LaneSection] = []
    /// The columns and keys of the models' tables, by their names.
    var shapes: [String: TableShape] = [:]
    let images = LaneImages()
    let statements: ModelStatements
    private var ownStatements: [String: PreparedStatement] = [:]
    /// The position at which all models are according to the file; nil if they differ.
    var savedApplied: UInt64?
    /// The sections as they were saved: a long lane has many, of which only the last changes.
    var savedSections: Set<LaneSection> = []
    /// The counts of `taken` when the transaction began.
    private var taken: [UInt64] = []
    /// SQLite's `data_version`: another value once another connection has changed the file.
    private var dataVersion: SQLValue?
    /// Types of which events were applied since changed tables were last asked for.
    var touched: [ObjectIdentifier: EventType] = [:]
    var lastTouched: EventType?
    /// Tables that were changed in another way.
    var changed: Set<String> = []
    /// Events that took too long for a model, and why they were ended.
    var ended: [EndedEvent: EventFault] = [:]
    /// True if one of them still has to be set aside, and if one was in this transaction.
    var owesEnded = false
    var hasSetEndedAside = false
    /// True if changed pages may go to SQLite's log before their transaction ends.
    private var spills = true
    /// Set when a statement has taken too many steps for one event.
    let stepLimit = StepLimit()
    /// The work that is left for the end of a build.
    package let later = LaterWork()

    /// A read model and its position.
    package struct AppliedModel: Hashable, Sendable {
        package let name: String
        package let version: Int
        package let fingerprint: String
        /// All canonical events up to this position have had their effect.
        package internal(set) var applied: UInt64
        /// The number of events applied since the file was opened.
        package internal(set) var taken: UInt64 = 0
    }

    /// The way in which a generation is opened.
    package enum Mode: Hashable, Sendable {
        /// It is there, whole, and for the same read models.
        case existing
        /// It is made if it is not there. Read models whose fingerprint is another start over.
        case building
        /// The same, and what can wait is left for `later`; nothing may read it until that is done.
        case deferring
    }

    /// Opens the generation at `path`, of the space with this id.
    package init(
        path: String,
        plan: PackPlan,
        space: SpaceID,
        history: String = "",
        _ mode: Mode
    ) throws(ProjectionError) {
        self.path = path
        self.plan = plan
        statements = ModelStatements(plan, stepLimit)
        do throws(SQLiteError) {
            connection = try Connection(
                path: path,
                mode == .existing ? .readWrite : .create
            )
            try PackConnection.prepare(connection)
            if mode != .existing { try connection.execute("PRAGMA temp_store = MEMORY") }
            let isEmpty = try connection.value("SELECT 1 FROM sqlite_schema") == nil
            later.isSynced = mode != .deferring || !isEmpty
            try connection.execute(
                later.isSynced
                    ? "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL"
                    : "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF"
            )
            try connection.execute("PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -65536")
            // An erased value must not stay in free pages.
            try connection.execute("PRAGMA secure_delete = ON")
        } catch {
            throw .file(path: path, error)
        }
        if mode != .existing {
            try makeState(of: space, history, isDeferring: mode == .deferring)
        }
        try readState(of: space, mode)
        let (limit, images, later) = (stepLimit, images, later)
        connection.setProgress(everySteps: Int(StepLimit.interval)) {
            limit.isOver(imageSize: images.size) || later.isStopped()
        }
    }

    /// The position at which all models are.
    package var applied: UInt64 { models.map { $0.applied }.min() ?? 0 }

    /// Makes a new generation as a copy of another one, checked, to continue from there.
    package static func copy(_ path: String, to new: String) throws(ProjectionError) {
        do throws(SQLiteError) {
            let source = try Connection(path: path, .readOnly)
            let target = try Connection(path: new, .create)
            try source.copy(to: target)
            try target.checkPages()
            try target.execute("INSERT OR REPLACE INTO diario_state VALUES ('source', 'copy')")
        } catch {
            throw .file(path: path, error)
        }
    }

    // MARK: Transactions

    /// `care` is that with which events are applied until `commit`.
    package func begin(_ care: Care = .none) throws(ProjectionError) {
        try setSpilling(for: care)
        _ = try rows("BEGIN IMMEDIATE")
        taken = models.map { $0.taken }
        hasSetEndedAside = false
        stepLimit.beginTransaction()
    }

    /// Keeps all changed pages in memory while savepoints may be taken back.
    ///
    /// SQLite 3.40 loses count of checksums in its log if that happens to a page that went there
    /// before its transaction ended, and then does not find the transaction after a crash.
    private func setSpilling(for care: Care) throws(ProjectionError) {
        let isWanted = if case .none = care { true } else { false }
        guard isWanted != spills else { return }
        _ = try rows(isWanted ? "PRAGMA cache_spill = ON" : "PRAGMA cache_spill = OFF")
        spills = isWanted
    }

    /// Sets the step budget of the next events together; nil means unlimited.
    package func allow(_ allowance: StepAllowance?) { stepLimit.allow(allowance) }

    /// True once the budget of `allow` is used up, and no ended event is still to be set aside.
    package var isSpent: Bool { stepLimit.isSpent && !owesEnded }

    /// True if changes should be committed first: a slow event would undo the transaction.
    package var shouldCommit: Bool { hasSetEndedAside || isSpent }

    /// Commits all changes since `begin`.
    package func commit() throws(ProjectionError) {
        do throws(ProjectionError) {
            try saveImages()
            try saveState()
            _ = try rows("COMMIT")
        } catch {
            rollback()
            throw error
        }
        // They are in quarantine now; at another position they will be tried again.
        ended = [:]
        owesEnded = false
    }

    /// Takes back all changes since `begin`.
    package func rollback() {
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
        stepLimit.rollBack()
        images.end(connection)
        images.forget()
        savedSections = []
        try? loadState()
        for (index, count) in taken.enumerated() { models[index].taken = count }
    }

    /// Reads how far the file is, if another process has changed it.
    package func refresh() throws(ProjectionError) {
        let version = try rows("PRAGMA data_version").first?.first
        guard version != dataVersion else { return }
        if dataVersion != nil { changed.formUnion(shapes.keys) }
        dataVersion = version
        try loadState()
    }

    /// The tables whose rows may have changed since the last call.
    package func takeChangedTables() -> Set<String> {
        var tables = changed
        for type in touched.values { tables.formUnion(statements.tables(changedBy: type)) }
        changed = []
        touched = [:]
        lastTouched = nil
        return tables
    }

    func run(_ sql: String) throws(ProjectionError) {
        do throws(SQLiteError) { try connection.execute(sql) } catch {
            throw .file(path: path, error)
        }
    }

    func rows(_ sql: String, _ values: [SQLValue] = []) throws(ProjectionError) -> [[SQLValue]] {
        do throws(SQLiteError) {
            let prepared = try prepared(sql)
            defer { prepared.statement.reset() }
            for (index, value) in values.enumerated() {
                try prepared.statement.bind(value, at: index + 1)
            }
            var rows: [[SQLValue]] = []
            while try prepared.statement.step() { rows.append(prepared.statement.row) }
            return rows
        } catch {
            throw .file(path: path, error)
        }
    }

    /// A statement of our own; there are few, and they are prepared once.
    private func prepared(_ sql: String) throws(SQLiteError) -> PreparedStatement {
        if let known = ownStatements[sql] { return known }
        let made = PreparedStatement(try connection.prepare(sql))
        ownStatements[sql] = made
        return made
    }

    /// Moves everything from SQLite's own log into the file, and syncs it.
    package func flush() throws(ProjectionError) {
        _ = try rows("PRAGMA wal_checkpoint(TRUNCATE)")
    }
}

/// Pending events of one replica whose effects were applied and are taken back together.
package struct LaneSection: Hashable, Sendable {
    package let number: Int64
    package let replica: ReplicaID
    package let first: UInt64
    package internal(set) var last: UInt64
    /// Nothing is added to it any more.
    package internal(set) var isClosed: Bool

    package var count: UInt64 { last - first + 1 }
}

/// An event that took too long for a model, by its index.
struct EndedEvent: Hashable {
    let model: Int
    let origin: Origin?
}
