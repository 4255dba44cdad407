package import DiarioFormat
import DiarioSQLite
package import DiarioSchema

/// Why an event was not applied.
package enum ApplyError: Error {
    /// A read model cannot take it; everything since `begin` must be repeated with savepoints.
    ///
    /// With savepoints this is thrown once for each event that takes too long.
    case needsCare
    /// The file itself cannot be changed.
    case file(ProjectionError)
    /// The source of events failed.
    case source(any Error)
}

extension ModelFile {
    /// The care with which events are applied.
    package enum Care: Sendable {
        /// Without savepoints: fast, but repeated with them at the first event that a read model
        /// cannot take.
        case none
        /// A savepoint for each event and read model: an event that a model cannot take goes to
        /// quarantine.
        case eachEvent
    }

    /// Applies the event to all models that have not had it.
    ///
    /// Canonical events come in order of position. Pending ones are those of the newest section.
    package func apply(_ event: EventLine, _ care: Care) throws(ApplyError) {
        try apply(event, try routes(of: event.type), care)
    }

    /// The same for the events of a window: for at most so many that models of the pack listen to,
    /// and for fewer if the changes should be committed first.
    ///
    /// Gives the event to continue with, and the number applied.
    package func apply(
        _ events: ColumnEvents,
        _ window: ColumnWindow,
        countMax: Int,
        _ care: Care
    ) throws(ApplyError) -> (next: Int, count: Int) {
        var place = try events.start(of: window) { (type) throws(ApplyError) in
            try routes(of: type)
        }
        let wanted = window.wanted.prefix(countMax)
        var count = 0
        // As a rule all models take all events, and none needs care.
        if case .none = care, place.isPlain(where: { models[$0].applied }) {
            count = try applyPlain(wanted, window, &place)
        } else {
            for event in wanted {
                let type = Int(window.types[Int(event)])
                try apply(place.next(Int(event), ofType: type), place.routes(type), care)
                count += 1
                if shouldCommit { break }
            }
        }
        let next = window.wanted.dropFirst(count).first
        return (next.map { Int($0) } ?? window.events.upperBound, count)
    }

    /// Applies events to all models that listen to them, using columns alone.
    ///
    /// Gives their number, up to the point where the changes should be committed.
    private func applyPlain(
        _ events: ArraySlice<Int32>,
        _ window: ColumnWindow,
        _ place: inout ColumnPlace
    ) throws(ApplyError) -> Int {
        defer { stepLimit.end() }
        var count = 0
        do throws(SQLiteError) {
            for event in events {
                stepLimit.begin()
                try place.runNext(ofType: Int(window.types[Int(event)]))
                count += 1
                if isSpent { break }
            }
        } catch {
            let fault = EventFault.sqlite(error, file: "", line: 0, bound: nil)
            if let error = fault.fileError(path) { throw .file(error) }
            throw .needsCare
        }
        for (type, count, routes) in place.taken {
            touched[ObjectIdentifier(type)] = type
            for route in routes { models[route.model].taken += count }
        }
        lastTouched = nil
        return count
    }

    private func apply<Event: EventValues>(
        _ event: Event,
        _ routes: [Route],
        _ care: Care
    ) throws(ApplyError) {
        if lastTouched !== event.type {
            lastTouched = event.type
            touched[ObjectIdentifier(event.type)] = event.type
        }
        for route in routes {
            if let position = event.position, position <= models[route.model].applied { continue }
            switch care {
            case .none:
                do throws(EventFault) { try run(event, route) } catch {
                    if let error = error.fileError(path) { throw .file(error) }
                    throw .needsCare
                }
                models[route.model].taken += 1
            case .eachEvent: try runCarefully(event, route)
            }
        }
    }

    /// The models that listen to a type, with their statements for it.
    private func routes(of type: EventType) throws(ApplyError) -> [Route] {
        let key = ObjectIdentifier(type)
        let isLane = images.isOn
        if let known = isLane ? laneRoutes[key] : routes[key] { return known.routes }
        var found: [Route] = []
        var slot = 0
        for (index, model) in plan.models.enumerated() {
            guard let plan = model.types[type.name] else { continue }
            do throws(ProjectionError) {
                let statements = try preparedModel(index).statements[plan.statements]
                for statement in statements {
                    statement.slot = slot
                    slot += 1
                }
                found.append(Route(model: index, type: plan, statements: Array(statements)))
            } catch {
                throw .file(error)
            }
        }
        let routes = TypeRoutes(type: type, routes: found)
        if isLane { laneRoutes[key] = routes } else { self.routes[key] = routes }
        return found
    }

    /// Notes that all canonical events up to `position` were applied to the models that lag most.
    package func settleLagging(through position: UInt64) {
        let start = applied
        for index in models.indices where models[index].applied == start {
            models[index].applied = position
        }
    }

    /// Notes that every canonical event up to `position` has had its effect on all models.
    package func settle(through position: UInt64) {
        for index in models.indices { models[index].applied = position }
    }

    /// True if all models are at one position.
    package var isEven: Bool { models.allSatisfy { $0.applied == models[0].applied } }

    /// Notes that no model listens to any further event up to `position`.
    ///
    /// This costs nothing: it is written with the next change, or after many events. Until then a
    /// process that opens the file reads these events again.
    package func passOver(through position: UInt64) throws(ProjectionError) {
        guard let saved = savedApplied, position - saved < Self.passedOverMax else {
            try begin()
            settle(through: position)
            return try commit()
        }
        settle(through: position)
    }

    /// Positions that nothing is written down about.
    private static let passedOverMax: UInt64 = 4096

    /// True if a statement for events of a type depends on their position.
    package func usesPlace(_ type: [UInt8]) -> Bool {
        let name = String(decoding: type, as: UTF8.self)
        return plan.models.contains { $0.types[name]?.usesPlace == true }
    }

    private func runCarefully<Event: EventValues>(
        _ event: Event,
        _ route: Route
    ) throws(ApplyError) {
        let name = models[route.model].name
        let key = EndedEvent(model: route.model, origin: event.origin)
        do throws(ProjectionError) {
            if let fault = ended[key] {
                (owesEnded, hasSetEndedAside) = (false, true)
                return try quarantine(event, of: name, fault)
            }
            _ = try rows("SAVEPOINT event")
        } catch {
            throw .file(error)
        }
        let fault: EventFault?
        do throws(EventFault) {
            try run(event, route)
            fault = nil
        } catch {
            fault = error
        }
        if let error = fault?.fileError(path) { throw .file(error) }
        // A statement that is ended takes all of the transaction with it: the next time this event
        // is not tried.
        if let fault, !connection.isInTransaction {
            ended[key] = fault
            owesEnded = true
            throw .needsCare
        }
        do throws(ProjectionError) {
            if let fault {
                _ = try rows("ROLLBACK TO event")
                _ = try rows("RELEASE event")
                return try quarantine(event, of: name, fault)
            }
            _ = try rows("RELEASE event")
        } catch {
            throw .file(error)
        }
        models[route.model].taken += 1
    }

    /// Runs the statements of one model for one event.
    private func run<Event: EventValues>(
        _ event: Event,
        _ route: Route
    ) throws(EventFault) {
        stepLimit.begin()
        defer { stepLimit.end() }
        guard event.type.version == route.type.type.version else {
            return try runUpcast(event, route)
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
        _ route: Route
    ) throws(EventFault) {
        let fields = try upcast(event, route.type)
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

    // MARK: Statements

    /// The statements of a model, prepared when they are needed first.
    ///
    /// Those for pending events are prepared while the hook is set: without it SQLite would not
    /// tell of each row.
    private func preparedModel(_ index: Int) throws(ProjectionError) -> PreparedModel {
        let isLane = images.isOn
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
                prepared.statements.append(try prepare(plan))
                writtenTables[plan.statement.text] = tables.names
            }
            all.append(prepared)
        }
        if isLane { laneStatements = all } else { statements = all }
        return all[index]
    }

    private func prepare(
        _ plan: ModelPlan.StatementPlan
    ) throws(ProjectionError) -> PreparedStatement {
        do throws(SQLiteError) {
            return PreparedStatement(
                try connection.prepare(plan.statement.text),
                sources: plan.sources,
                file: plan.file,
                line: plan.statement.line
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
}

/// Why one read model does not take one event.
enum EventFault: Error {
    case sqlite(SQLiteError, file: String, line: Int, bound: StepLimit.Bound?)
    /// The pack knows no such version, or no way from it to its newest one.
    case version
    /// A required field is empty after an upcast, or has a value that is not allowed.
    case upcast(String)
    case file(ProjectionError)

    /// The error if it is the file that does not work, and not the event.
    func fileError(_ path: String) -> ProjectionError? {
        switch self {
        case .version, .upcast: return nil
        case .file(let error): return error
        case .sqlite(let error, _, _, _):
            switch error.kind {
            case .constraint, .refused, .invalid, .tooLarge, .interrupted, .other: return nil
            case .busy, .full, .damaged, .readOnly, .unavailable, .noMemory, .tooOld:
                return .file(path: path, error)
            }
        }
    }

    /// The rule and its message: schema/format/models.md, section 4.
    var reason: (rule: String, message: String) {
        switch self {
        case .version:
            (
                "version",
                "the pack of these read models has no such version of the type; adopt one that "
                    + "has it, or rebuild them if that was done: diario rebuild"
            )
        case .upcast(let message): ("upcast", message)
        case .file(let error): ("file", error.message)
        case .sqlite(let error, let file, let line, let bound):
            switch bound {
            case .steps:
                ("limit", "\(file), line \(line): the statement takes too long for one event")
            case .images:
                (
                    "limit",
                    "\(file), line \(line): the statement changes too many rows for an event "
                        + "that is pending"
                )
            case nil: ("sql", "\(file), line \(line): \(error.message)")
            }
        }
    }
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
