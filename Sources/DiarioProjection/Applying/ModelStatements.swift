import DiarioCore
import DiarioSQLite
import DiarioSchema

/// The statements that events of a pack run in one generation, prepared.
///
/// Each is prepared twice: without and with the hook that effects of pending events need.
final class ModelStatements {
    private let plan: PackPlan
    private let stepLimit: StepLimit
    private var statements: [PreparedModel] = []
    private var laneStatements: [PreparedModel] = []
    private var upcasts: [UpcastKey: PreparedStatement] = [:]
    /// Which models take the events of a type, by the type's identity; for pending events, others.
    private var routes: [ObjectIdentifier: TypeRoutes] = [:]
    private var laneRoutes: [ObjectIdentifier: TypeRoutes] = [:]
    /// The tables that statements write to, themselves or by triggers.
    private var writtenTables: [String: Set<String>] = [:]
    private var binder = EventBinder()
    /// Read models whose derived statements run later.
    private var putOff: Set<String> = []

    init(_ plan: PackPlan, _ stepLimit: StepLimit) {
        self.plan = plan
        self.stepLimit = stepLimit
    }

    /// Leaves derived statements of these read models out until the next call.
    func putOff(_ models: Set<String>) {
        guard models != putOff else { return }
        putOff = models
        (routes, laneRoutes) = ([:], [:])
    }

    /// The tables that events of a type may change.
    func tables(changedBy type: EventType) -> Set<String> {
        var tables: Set<String> = []
        for plan in plan.models {
            guard let range = plan.types[type.name]?.statements else { continue }
            for place in range {
                tables.formUnion(self.tables(writtenBy: plan.statements[place].statement.text))
            }
        }
        return tables
    }

    /// The tables that a statement writes to, itself or by triggers.
    func tables(writtenBy statement: String) -> Set<String> { writtenTables[statement] ?? [] }

    /// The models that listen to a type, with their statements for it.
    func routes(
        of type: EventType,
        isLane: Bool,
        _ connection: borrowing Connection
    ) throws(ProjectionError) -> [Route] {
        let key = ObjectIdentifier(type)
        if let known = isLane ? laneRoutes[key] : routes[key] { return known.routes }
        var found: [Route] = []
        var slot = 0
        for (index, model) in plan.models.enumerated() {
            guard let plan = model.types[type.name] else { continue }
            let prepared = try preparedModel(index, isLane: isLane, connection)
            let isPutOff = putOff.contains(model.model.name)
            let statements = prepared.statements[plan.statements].filter {
                !(isPutOff && $0.isDerived)
            }
            for statement in statements {
                statement.slot = slot
                slot += 1
            }
            found.append(Route(model: index, type: plan, statements: statements))
        }
        let routes = TypeRoutes(type: type, routes: found)
        if isLane { laneRoutes[key] = routes } else { self.routes[key] = routes }
        return found
    }

    /// Runs the statements of one model for one event.
    func run<Event: EventValues>(
        _ event: Event,
        _ route: Route,
        _ connection: borrowing Connection
    ) throws(EventFault) {
        stepLimit.begin()
        defer { stepLimit.end() }
        guard event.type.version == route.type.type.version else {
            return try runUpcast(event, route, connection)
        }
        for prepared in route.statements {
            do throws(SQLiteError) {
                try event.run(prepared, &binder)
            } catch {
                throw fault(error, prepared)
            }
        }
    }

    /// The same for an event of an older version of its type.
    private func runUpcast<Event: EventValues>(
        _ event: Event,
        _ route: Route,
        _ connection: borrowing Connection
    ) throws(EventFault) {
        let fields = try upcast(event, route.type, connection)
        for prepared in route.statements {
            do throws(SQLiteError) {
                for (index, source) in prepared.sources.enumerated() {
                    if case .field(let field) = source {
                        try prepared.statement.bind(fields[field], at: index + 1)
                    } else {
                        try event.bind(source, to: prepared.statement, at: index + 1, &binder)
                    }
                }
                try prepared.statement.run()
            } catch {
                throw fault(error, prepared)
            }
        }
    }

    private func fault(_ error: SQLiteError, _ prepared: PreparedStatement) -> EventFault {
        .sqlite(
            error,
            file: prepared.file,
            line: prepared.line,
            bound: stepLimit.reached
        )
    }

    // MARK: Preparing

    /// The statements of a model, prepared when they are needed first.
    ///
    /// Those for pending events are prepared while the hook is set: without it SQLite would not
    /// tell of each row.
    private func preparedModel(
        _ index: Int,
        isLane: Bool,
        _ connection: borrowing Connection
    ) throws(ProjectionError) -> PreparedModel {
        let known = isLane ? laneStatements : statements
        if index < known.count { return known[index] }
        // Set once: whenever it is, SQLite forgets how it would run all statements before it.
        let tables = WrittenTables()
        connection.setAuthorizer { tables.note($0) }
        defer { connection.setAuthorizer(nil) }
        var all: [PreparedModel] = []
        for model in plan.models {
            var prepared = PreparedModel()
            for plan in model.statements {
                tables.names = []
                prepared.statements.append(try prepare(plan, connection))
                writtenTables[plan.statement.text] = tables.names
            }
            all.append(prepared)
        }
        if isLane { laneStatements = all } else { statements = all }
        return all[index]
    }

    private func prepare(
        _ plan: ModelPlan.StatementPlan,
        _ connection: borrowing Connection
    ) throws(ProjectionError) -> PreparedStatement {
        do throws(SQLiteError) {
            return PreparedStatement(
                try connection.prepare(plan.statement.text),
                sources: plan.sources,
                file: plan.file,
                line: plan.statement.line,
                isDerived: plan.statement.isDerived
            )
        } catch {
            throw .pack(
                name: self.plan.pack.name,
                file: plan.file,
                line: error.offset.map { plan.statement.line(at: $0) } ?? plan.statement.line,
                message: error.message
            )
        }
    }

    // MARK: Upcasts

    /// The fields of the newest version of a type, as the pack's upcasts make them of an older one.
    func upcast<Event: EventValues>(
        _ event: Event,
        _ plan: ModelPlan.TypePlan,
        _ connection: borrowing Connection
    ) throws(EventFault) -> [SQLValue] {
        var version = event.type.version
        var fields: [SQLValue] = []
        while version != plan.type.version {
            guard let upcast = plan.upcasts[version],
                let target = self.plan.pack.types.first(where: {
                    $0.name == upcast.type && $0.version == upcast.to
                })
            else { throw .version }
            let place = "\(upcast.file), line \(upcast.statement.line)"
            let row: [SQLValue]?
            do throws(SQLiteError) {
                let prepared = try prepared(upcast, connection)
                for (offset, name) in upcast.statement.parameterNames.enumerated() {
                    if version != event.type.version,
                        let index = type(upcast.type, version)?.fieldIndex(name)
                    {
                        try prepared.statement.bind(fields[index], at: offset + 1)
                    } else {
                        var source = ParameterSource(name, event.type)
                        // A field that was removed has no value.
                        if version != event.type.version, case .field = source {
                            source = .nothing
                        }
                        try event.bind(source, to: prepared.statement, at: offset + 1, &binder)
                    }
                }
                row = try Self.fields(of: target, from: prepared.statement)
            } catch {
                throw .sqlite(
                    error,
                    file: upcast.file,
                    line: upcast.statement.line,
                    bound: stepLimit.reached
                )
            }
            guard let row else { throw .upcast("\(place): it gives one row for each event") }
            do throws(UpcastRow.Fault) {
                fields = try UpcastRow.conforming(row, to: target)
            } catch {
                throw .upcast("\(place): \(error.message)")
            }
            version = target.version
        }
        return fields
    }

    private func type(_ name: String, _ version: Int) -> EventType? {
        plan.pack.types.first { $0.name == name && $0.version == version }
    }

    private func prepared(
        _ upcast: Upcast,
        _ connection: borrowing Connection
    ) throws(SQLiteError) -> PreparedStatement {
        let key = UpcastKey(type: upcast.type, from: upcast.from)
        if let known = upcasts[key] { return known }
        let made = PreparedStatement(try connection.prepare(upcast.statement.text))
        upcasts[key] = made
        return made
    }

    /// The row that an upcast gives, in the order of the type's fields; nil if it does not give
    /// exactly one.
    private static func fields(
        of type: EventType,
        from statement: borrowing Statement
    ) throws(SQLiteError) -> [SQLValue]? {
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        var fields = [SQLValue](repeating: .null, count: type.fields.count)
        for column in 0..<statement.columnCount {
            guard let index = type.fieldIndex(statement.columnName(at: column)) else { continue }
            fields[index] = statement.value(at: column)
        }
        return try statement.step() ? nil : fields
    }
}

/// That a read model takes events of a type, and by which statements.
final class Route {
    let model: Int
    let type: ModelPlan.TypePlan
    let statements: [PreparedStatement]

    init(model: Int, type: ModelPlan.TypePlan, statements: [PreparedStatement]) {
        self.model = model
        self.type = type
        self.statements = statements
    }
}

/// The read models that take events of a type, which is held so that its identity stays its own.
struct TypeRoutes {
    let type: EventType
    let routes: [Route]
}

/// A prepared statement in a place that arrays can hold.
final class PreparedStatement {
    let statement: Statement
    /// The sources of its parameters; none if it is one of the engine's.
    let sources: [ParameterSource]
    /// Its file in the pack.
    let file: String
    let line: Int
    let isDerived: Bool
    /// Its place among all statements that run for events of its type.
    var slot = 0

    init(
        _ statement: consuming Statement,
        sources: [ParameterSource] = [],
        file: String = "",
        line: Int = 0,
        isDerived: Bool = false
    ) {
        self.statement = statement
        self.sources = sources
        self.file = file
        self.line = line
        self.isDerived = isDerived
    }
}

/// The statements of one read model, in the order of its plan.
struct PreparedModel {
    var statements: [PreparedStatement] = []
}

/// An upcast of a type, from the version it is for.
struct UpcastKey: Hashable {
    let type: String
    let from: Int
}

/// Notes which tables a statement writes to while it is prepared.
private final class WrittenTables {
    var names: Set<String> = []

    func note(_ access: Access) -> AccessAnswer {
        switch access.action {
        case .insert, .update, .delete: if let name = access.first { names.insert(name) }
        default: break
        }
        return .allowed
    }
}
