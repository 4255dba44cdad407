import DiarioSQLite
package import DiarioSchema

/// Why an event was not applied.
package enum ApplyError: Error {
    /// A read model cannot take it; what was done since `begin` has to be done again with care.
    ///
    /// With care this comes as often as there are events that take too long.
    case needsCare
    /// The file itself cannot be changed.
    case file(ProjectionError)
    /// Where events come from gives none.
    case source(any Error)
}

extension ModelFile {
    /// How events are applied.
    package enum Care: Sendable {
        /// Without savepoints: fast, and at the first event that a read model cannot take it has
        /// to be done again with care.
        case none
        /// A savepoint for each event and read model: what one of them cannot take goes to
        /// quarantine.
        case eachEvent
    }

    /// Lets all models that have not had the event take it.
    ///
    /// Canonical events come in order of position. Pending ones are those of the newest section.
    package func apply(_ event: borrowing EventLine, _ care: Care) throws(ApplyError) {
        if lastTouched !== event.type {
            lastTouched = event.type
            touched[ObjectIdentifier(event.type)] = event.type
        }
        for route in routes(of: event.type) {
            let (index, type) = (route.model, route.type)
            if let position = event.position, position <= models[index].applied { continue }
            switch care {
            case .none:
                do throws(EventFault) { try run(event, type, index) } catch {
                    if let error = error.fileError(path) { throw .file(error) }
                    throw .needsCare
                }
                models[index].taken += 1
            case .eachEvent: try runCarefully(event, type, index)
            }
        }
    }

    /// The models that listen to a type.
    private func routes(of type: EventType) -> [Route] {
        let key = ObjectIdentifier(type)
        if let known = routes[key] { return known }
        let found = plan.models.indices.compactMap { index in
            plan.models[index].types[type.name].map { Route(model: index, type: $0) }
        }
        routes[key] = found
        return found
    }

    /// Notes that every canonical event up to `position` has had its effect on the models that
    /// are furthest behind.
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

    /// Whether what events of a type do depends on where they stand.
    package func usesPlace(_ type: [UInt8]) -> Bool {
        let name = String(decoding: type, as: UTF8.self)
        return plan.models.contains { $0.types[name]?.usesPlace == true }
    }

    private func runCarefully(
        _ event: borrowing EventLine,
        _ type: ModelPlan.TypePlan,
        _ index: Int
    ) throws(ApplyError) {
        let key = EndedEvent(model: index, origin: event.origin)
        do throws(ProjectionError) {
            if let fault = ended[key] {
                return try quarantine(event, of: models[index].name, fault)
            }
            try run("SAVEPOINT event")
        } catch {
            throw .file(error)
        }
        let fault: EventFault?
        do throws(EventFault) {
            try run(event, type, index)
            fault = nil
        } catch {
            fault = error
        }
        if let error = fault?.fileError(path) { throw .file(error) }
        // A statement that is ended takes all of the transaction with it: the next time this event
        // is not tried.
        if let fault, !connection.isInTransaction {
            ended[key] = fault
            throw .needsCare
        }
        do throws(ProjectionError) {
            if let fault {
                try run("ROLLBACK TO event; RELEASE event")
                return try quarantine(event, of: models[index].name, fault)
            }
            try run("RELEASE event")
        } catch {
            throw .file(error)
        }
        models[index].taken += 1
    }

    /// Runs the statements of one model for one event.
    private func run(
        _ event: borrowing EventLine,
        _ type: ModelPlan.TypePlan,
        _ index: Int
    ) throws(EventFault) {
        stepLimit.begin()
        defer { stepLimit.end() }
        let prepared: PreparedModel
        do throws(ProjectionError) { prepared = try preparedModel(index) } catch {
            throw .file(error)
        }
        let plan = plan.models[index]
        guard event.type.version == type.type.version else {
            return try runUpcast(event, type, index, prepared)
        }
        for place in type.statements {
            let statement = prepared.statements[place]
            do throws(SQLiteError) {
                try binder.bind(plan.statements[place].sources, event, to: statement.statement)
                try statement.statement.run()
            } catch {
                throw fault(error, plan.statements[place])
            }
        }
    }

    /// The same for an event of an older version of its type.
    private func runUpcast(
        _ event: borrowing EventLine,
        _ type: ModelPlan.TypePlan,
        _ index: Int,
        _ prepared: PreparedModel
    ) throws(EventFault) {
        let fields = try upcast(event, type)
        let plan = plan.models[index]
        for place in type.statements {
            let statement = prepared.statements[place]
            do throws(SQLiteError) {
                let sources = plan.statements[place].sources
                try binder.bindEnvelope(sources, event, to: statement.statement)
                for (offset, source) in sources.enumerated() {
                    guard case .field(let field) = source else { continue }
                    try statement.statement.bind(fields[field], at: offset + 1)
                }
                try statement.statement.run()
            } catch {
                throw fault(error, plan.statements[place])
            }
        }
    }

    private func fault(_ error: SQLiteError, _ plan: ModelPlan.StatementPlan) -> EventFault {
        .sqlite(
            error,
            file: plan.file,
            line: plan.statement.line,
            isOverLimit: stepLimit.wasReached
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
        var all: [PreparedModel] = []
        for model in plan.models {
            var prepared = PreparedModel()
            for plan in model.statements { prepared.statements.append(try prepare(plan)) }
            all.append(prepared)
        }
        if isLane { laneStatements = all } else { statements = all }
        return all[index]
    }

    private func prepare(
        _ plan: ModelPlan.StatementPlan
    ) throws(ProjectionError) -> PreparedStatement {
        let tables = WrittenTables()
        connection.setAuthorizer { tables.note($0) }
        defer { connection.setAuthorizer(nil) }
        do throws(SQLiteError) {
            let prepared = PreparedStatement(try connection.prepare(plan.statement.text))
            writtenTables[plan.statement.text] = tables.names
            return prepared
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
    case sqlite(SQLiteError, file: String, line: Int, isOverLimit: Bool)
    /// The pack knows no such version, or no way from it to its newest one.
    case version
    /// A required field is empty after an upcast, or holds what it may not.
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
            case .busy, .full, .damaged, .unavailable, .noMemory, .tooOld:
                return .file(path: path, error)
            }
        }
    }

    /// The rule and what is told of it: schema/format/models.md, section 4.
    var reason: (rule: String, message: String) {
        switch self {
        case .version: ("version", "the pack has no such version of the type; update it")
        case .upcast(let message): ("upcast", message)
        case .file(let error): ("file", error.message)
        case .sqlite(let error, let file, let line, let isOverLimit):
            isOverLimit
                ? ("limit", "\(file), line \(line): the statement takes too long for one event")
                : ("sql", "\(file), line \(line): \(error.message)")
        }
    }
}

/// Notes which tables a statement writes to while it is prepared.
private final class WrittenTables {
    private(set) var names: Set<String> = []

    func note(_ access: Access) -> AccessAnswer {
        switch access.action {
        case .insert, .update, .delete: if let name = access.first { names.insert(name) }
        default: break
        }
        return .allowed
    }
}
